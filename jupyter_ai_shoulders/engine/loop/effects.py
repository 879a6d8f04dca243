"""Effects: what ``advance`` asks the driver to do, in order.

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
    """Show the session so, with its totals."""

    status: SessionStatus


@dataclass(frozen=True, slots=True)
class StartOperation:
    """Start an operation."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class StopOperation:
    """Stop the operation that runs; it ends with ``OperationStopped``, or with its own end."""


@dataclass(frozen=True, slots=True)
class StopBackgroundRuns:
    """Stop what goes on beside the steps; each run tells of its end."""


@dataclass(frozen=True, slots=True)
class ContinueQueue:
    """The turn ended while messages wait: begin one from them."""


@dataclass(frozen=True, slots=True)
class SyncLog:
    """Bring the log to the disk."""


@dataclass(frozen=True, slots=True)
class RefuseCommand:
    """The signal makes no sense now; the state is unchanged."""

    code: ErrorCode
    message: str

    def error(self) -> Conflict:
        """Return what the caller is told."""
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
