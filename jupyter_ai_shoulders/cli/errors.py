"""Errors that end a command with a message instead of a traceback; caught by ``dispatch``."""

from __future__ import annotations

from jupyter_ai_shoulders.cli.exit_codes import ExitCode


class CommandFailed(Exception):
    """The command failed; the message says why and what to do."""

    def __init__(self, message: str, code: ExitCode = ExitCode.ERROR) -> None:
        super().__init__(message)
        self.code = code


class UsageError(CommandFailed):
    """The command line names something that does not exist."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.USAGE)
