"""Checks the engine: state directory, models and keys, settings, sandbox, running server.

Called by ``command``.
"""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_ai_shoulders import __version__
from jupyter_ai_shoulders.cli.backend import BackendFacts
from jupyter_ai_shoulders.cli.doctor.finding import Finding, failure, ok, warning
from jupyter_ai_shoulders.wire.api.responses import ModelInfo, ModelList
from jupyter_ai_shoulders.wire.errors import ErrorInfo


def check_engine(facts: BackendFacts) -> Iterator[Finding]:
    """Yield the findings."""
    yield server(facts)
    yield broken_or(
        "state directory", facts.state_error, f"{facts.workspace}: conversations are kept"
    )
    yield broken_or("usage", facts.usage_error, "counted, and limits hold")
    yield from models(facts.models)
    for problem in (*facts.models.problems, *facts.settings_problems):
        where = problem.file if problem.line is None else f"{problem.file}, line {problem.line}"
        yield failure(
            "settings", f"{where}: {problem.message}", "Correct it; until then it is not used."
        )
    for error in facts.package_errors:
        yield failure("tools of packages", error.message, error.hint or "")
    for text in facts.permission_problems:
        yield failure("permissions", text, "Correct .shoulders/tools.json.")
    yield sandbox(facts.sandbox)


def server(facts: BackendFacts) -> Finding:
    """Report the engine: a server with its version, or one in this process."""
    if facts.server_url is None:
        return ok("engine", "no server serves this folder; commands start the engine themselves")
    if facts.server_version != __version__:
        return failure(
            "engine",
            f"the server at {facts.server_url} runs version {facts.server_version}, "
            f"installed is {__version__}",
            "Restart the Jupyter server.",
        )
    return ok("engine", f"the server at {facts.server_url}, version {facts.server_version}")


def models(listed: ModelList) -> Iterator[Finding]:
    """Report which models are available."""
    ready = [model.id for model in listed.models if model.available and model.label is None]
    if ready:
        yield ok("models", f"{len(ready)} can answer; the default is {listed.default}")
    elif (default := _default(listed)) is not None and default.unavailable_reason is not None:
        yield warning(
            "models",
            f"no model can answer; the default is {default.id}",
            default.unavailable_reason,
        )
    else:
        names = [each.key_name for each in listed.providers if each.needs_key and each.key_name]
        yield warning(
            "models",
            "only the demo can answer; it is not an AI model",
            "Set a key: jupyter shoulders keys set PROVIDER, or one of " + ", ".join(names) + ".",
        )
    for provider in listed.providers:
        if provider.state == "failing" and provider.error is not None:
            hint = provider.error.hint or f"jupyter shoulders keys test {provider.id}"
            yield failure(f"provider {provider.id}", provider.error.message, hint)


def _default(listed: ModelList) -> ModelInfo | None:
    return next((model for model in listed.models if model.id == listed.default), None)


def sandbox(kind: str) -> Finding:
    """Report the sandbox of the agent's commands."""
    if kind == "none":
        return warning(
            "sandbox",
            "this system has none: every command of the agent asks",
            "On Linux: kernel 5.13 or newer with Landlock, or bubblewrap.",
        )
    return ok("sandbox", kind)


def broken_or(about: str, error: ErrorInfo | None, text: str) -> Finding:
    """Return a failure with the error's own advice, or a success."""
    if error is None:
        return ok(about, text)
    return failure(about, error.message, error.hint or "The server's log says more.")
