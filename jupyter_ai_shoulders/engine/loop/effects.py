"""Effects: the actions ``advance`` asks for, in order.

Performed by ``engine.session.driver``.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.engine.loop.operations import Operation
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.events import (
    Event,
)
from jupyter_ai_shoulders.wire.sessions import SessionStatus


@dataclass(frozen=True, slots=True)
class AppendEvent:
    """Append the event to the log."""

    event: Event


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Show this status, with the session's totals."""

    status: SessionStatus


@dataclass(frozen=True, slots=True)
class StartOperation:
    """Start an operation."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class StopOperation:
    """Stop the running operation; it ends with ``OperationStopped`` or its own end."""


@dataclass(frozen=True, slots=True)
class StopBackgroundRuns:
    """Stop the runs in the background; each reports its end."""


@dataclass(frozen=True, slots=True)
class ContinueQueue:
    """Start a turn from the messages that were queued when the turn ended."""


@dataclass(frozen=True, slots=True)
class SyncLog:
    """Sync the log to disk."""


@dataclass(frozen=True, slots=True)
class RefuseCommand:
    """Refuse a signal that the phase does not accept; the state is unchanged."""

    code: ErrorCode
    message: str

    def error(self) -> Conflict:
        """Return the error for the caller."""
        return Conflict(self.message, code=self.code)


Effect = (
    AppendEvent
    | SetStatus
    | StartOperation
    | StopOperation
    | StopBackgroundRuns
    | ContinueQueue
    | SyncLog
    | RefuseCommand
)
