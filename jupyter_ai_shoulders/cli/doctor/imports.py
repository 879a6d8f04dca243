"""Imports the server extension in a separate process, as a server does, and reports the first
error.

``install`` calls ``check_imports``; the process runs this module, which needs only the standard
library until it imports.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

from jupyter_ai_shoulders.cli.doctor.finding import Finding, failure, ok

_MODULES = (
    "jupyter_ai_shoulders.server.app",
    "jupyter_ai_shoulders.server.extension_services",
    "jupyter_ai_shoulders.server.routes",
    "jupyter_ai_shoulders.server.proxy.routes",
    "jupyter_ai_shoulders.host.preload",
)
"""Modules a server imports at its start, and with the first request."""
_LATE = (
    "jupyter_ai_shoulders.providers.http.client",
    "jupyter_ai_shoulders.client.page_socket",
    "httpx",
    "websocket",
    "mistune",
    "prompt_toolkit",
)
"""Modules that model calls, magics and the terminal chat import on first use."""
_SECONDS = 120.0
_ABOUT = "imports"
_REINSTALL = "pip install --force-reinstall jupyter-ai-shoulders"


def check_imports() -> Finding:
    """Import the server extension in another process."""
    from jupyter_ai_shoulders.guard.process.worker_process import run_worker  # not in that process

    done = run_worker(__name__, (), b"", _SECONDS)
    if done.status is None:
        return failure(
            _ABOUT, f"the server extension was not imported in {_SECONDS:.0f} s", _REINSTALL
        )
    try:
        said: dict[str, str] = json.loads(done.output.splitlines()[-1])
    except (IndexError, ValueError):
        lines = done.stderr_tail.strip().splitlines() or ["no message"]
        return failure(_ABOUT, f"Python ended with code {done.status}: {lines[-1]}", _REINSTALL)
    if not said:
        return ok(_ABOUT, "the server extension can be imported")
    missing = said["missing"]
    advice = f"pip install {missing}" if missing else f"Reinstall it: {_REINSTALL}"
    return failure(_ABOUT, f"{said['module']} cannot be imported: {said['error']}", advice)


def main() -> int:
    """Import everything; print the first error as JSON, or an empty object."""
    error = _first_error()  # a package may print while it is imported
    sys.stdout.write(f"\n{json.dumps(error)}\n")
    return 0


def _first_error() -> dict[str, str]:
    module = ""
    try:
        for module in (*_MODULES, *_LATE):
            import_module(module)
        module = "what the first turn needs"
        from jupyter_ai_shoulders.host.preload import import_for_turns

        import_for_turns()
    except Exception as error:  # noqa: BLE001 - whatever an installed package raises
        name = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
        missing = "" if "." in name else name  # else the package exists but is incomplete
        text = f"{type(error).__name__}: {error}"
        return {"module": module, "error": text, "missing": missing}
    return {}


if __name__ == "__main__":
    sys.exit(main())
