"""Entry point of ``jupyter shoulders``.

``run_command_line`` does the slow imports. Called by the script of the package and by ``__main__``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

_ERROR = 1
_CANCELLED = 130
"""As in ``exit_codes.ExitCode``, which may not be imported yet."""


def main(given: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (``exit_codes``), also when Ctrl+C ends it early."""
    try:
        try:
            from jupyter_ai_shoulders.cli.dispatch import run_command_line
        except (ImportError, AttributeError, TypeError) as error:  # of a broken installation
            return _cannot_start(error)
        return run_command_line(sys.argv[1:] if given is None else given)
    except KeyboardInterrupt:
        sys.stderr.write("\njupyter shoulders: stopped\n")
        return _CANCELLED


def _cannot_start(error: Exception) -> int:
    """Print which packages are missing or too old; return the exit code."""
    from jupyter_ai_shoulders.cli.doctor.dependencies import DISTRIBUTION, check_dependencies
    from jupyter_ai_shoulders.cli.output import write_error

    write_error(f"jupyter shoulders cannot start: {type(error).__name__}: {error}\n")
    broken = [each for each in check_dependencies() if each.state == "failure"]
    for each in broken:
        write_error(f"{each.about}: {each.text} → {each.advice}\n")
    if not broken:
        write_error(f"Reinstall it: pip install --force-reinstall {DISTRIBUTION}\n")
    return _ERROR
