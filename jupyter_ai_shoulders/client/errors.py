"""Errors of the client; each says what was tried and what to do.

::

    ClientError
    ├── ServerNotFound      no server is known, or several are
    ├── Unreachable         the server does not answer
    ├── Refused             it answered with an error: ``status`` and ``info``
    │   └── NotAllowed      401, 403: the token is missing or wrong
    ├── Waiting             the turn needs the user: ``event`` says for what
    └── TurnFailed          the turn ended without an answer: ``answer`` has the partial one
        └── BudgetReached   at a spending limit; nothing more is sent
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_ai_shoulders.client.turn_reader import Answer
    from jupyter_ai_shoulders.wire.errors import ErrorInfo
    from jupyter_ai_shoulders.wire.events import Event


class ClientError(Exception):
    """Base of all errors of the client."""


class ServerNotFound(ClientError):
    """No Jupyter server is known, or several are."""


class Unreachable(ClientError):
    """The server does not answer."""


class Refused(ClientError):
    """The server answered with an error."""

    def __init__(self, status: int, info: ErrorInfo) -> None:
        super().__init__(describe_error(info))
        self.status = status
        self.info = info


class NotAllowed(Refused):
    """The token is missing, or does not open this server."""


class Waiting(ClientError):
    """The turn waits for the user, who can answer in the side panel or through the client."""

    def __init__(self, message: str, event: Event) -> None:
        super().__init__(message)
        self.event = event


class TurnFailed(ClientError):
    """The turn ended without an answer."""

    def __init__(self, message: str, answer: Answer) -> None:
        super().__init__(message)
        self.answer = answer


class BudgetReached(TurnFailed):
    """A spending limit was reached."""


def describe_error(info: ErrorInfo) -> str:
    """Return an error in words, with what to do about it."""
    return " ".join(filter(None, (info.message, info.hint)))
