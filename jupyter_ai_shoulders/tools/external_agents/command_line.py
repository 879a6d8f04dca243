"""The shell line of a command that an agent requests (``terminal/create``); pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence


def command_line(
    command: str,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    folder: str = "",
) -> str:
    """Return the line that does the same in the workspace, as the approval shows it.

    Without ``arguments``, ``command`` may itself be a shell line. ``folder`` is a path in the
    workspace, empty for the workspace itself.
    """
    line = shlex.join((command, *arguments)) if arguments else command
    if environment:
        names = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        line = f"export {names}; {line}"
    return f"cd {shlex.quote(folder)} && {line}" if folder not in {"", "."} else line
