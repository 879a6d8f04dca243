"""The port of the operation log, and document changes as it stores them.

Used by ``files``, the recorder of notebooks and the review; implemented by
``storage.operation_journal`` on SQLite and by ``testing.memory_file_changes`` in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from jupyter_ai_shoulders.wire.ids import (
    BlobHash,
    CallId,
    CellId,
    OperationId,
    SessionId,
    TurnId,
    Version,
)
from jupyter_ai_shoulders.wire.operations import Operation, OperationKind, OperationState


@dataclass(frozen=True, slots=True)
class ChangeOrigin:
    """Who changes files: a call of a session, or the user."""

    session_id: SessionId | None
    turn_id: TurnId | None = None
    call_id: CallId | None = None
    by: Literal["agent", "user"] = "agent"
    batch: str | None = None
    """Changes of one batch are undone together; None: each by itself."""
    undoes: OperationId | None = None
    """The change that this change undoes."""
    review: bool = False
    """Whether the change needs review although the user approved it, because the agent wrote the
    text.
    """


BY_USER = ChangeOrigin(session_id=None, by="user")
"""The user, apart from any conversation."""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """A change for the operation log, before and after it is made."""

    kind: OperationKind
    document: str
    origin: ChangeOrigin
    cell_id: str | None = None
    new_document: str | None = None
    before_version: Version | None = None
    after_version: Version | None = None
    before: BlobHash | None = None
    """The content needed to restore the file; None if there was no file."""
    after: BlobHash | None = None
    mode: int | None = None
    """Permission bits of the file before the change."""
    cannot_undo: str | None = None
    """Why it cannot be undone; None if it can."""
    kept_as: OperationId | None = None
    """The operation under which the trash holds a deleted file, if not this one."""


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """Facts known only after a change; None keeps the recorded value."""

    after_version: Version | None = None
    before_version: Version | None = None
    before: BlobHash | None = None
    after: BlobHash | None = None
    cannot_undo: str | None = None
    """Why it failed or cannot be undone, in words for the user."""


class OperationJournal(Protocol):
    """The operation log; a call blocks for one commit."""

    def begin(self, change: LoggedChange) -> OperationId:
        """Record a change before it is made; ``sync`` makes the record durable."""
        ...

    def end(
        self, operation_id: OperationId, state: OperationState, outcome: ChangeOutcome | None = None
    ) -> None:
        """Record the outcome: ``done``, ``failed`` (nothing was changed) or ``undone``.

        A done change that ``undoes`` another makes that one ``undone``; undoing it makes that one
        ``done`` again.
        """
        ...

    async def sync(self) -> None:
        """Return when all earlier writes are on disk."""
        ...

    def get(self, operation_id: OperationId) -> Operation:
        """Return an operation. Raises ``NotFound``."""
        ...

    def change(self, operation_id: OperationId) -> LoggedChange:
        """Return the recorded change with its outcome. Raises ``NotFound``."""
        ...

    def unfinished(self) -> Sequence[Operation]:
        """Return the unfinished operations in order, as left by a crash."""
        ...

    def of_batch(self, batch: str) -> Sequence[Operation]:
        """Return the operations of a batch in order."""
        ...

    def recent(
        self, *, session_id: SessionId | None = None, path: str | None = None, limit: int = 100
    ) -> Sequence[Operation]:
        """Return operations, the latest first."""
        ...

    def of_turn(self, session_id: SessionId, turn_id: TurnId) -> Sequence[Operation]:
        """Return the operations of a turn in order."""
        ...

    def of_session(self, session_id: SessionId) -> Sequence[Operation]:
        """Return the operations of a session in order."""
        ...


_WITH_TURN = "Changes of cells are taken back with their turn, or in the notebook itself."
"""Old rows of cell changes carry this reason, although they can be undone with their turn."""
_REASONS: dict[OperationState, str] = {
    "begun": "It has not ended yet.",
    "failed": "It failed: nothing was changed.",
    "undone": "It was taken back already.",
}


def to_operation(
    operation_id: OperationId, at: str, change: LoggedChange, state: OperationState
) -> Operation:
    origin = change.origin
    reason = change.cannot_undo if state in {"done", "failed"} else None
    if reason == _WITH_TURN:
        reason = None
    reason = reason or _REASONS.get(state)
    return Operation(
        id=operation_id,
        at=at,
        session_id=origin.session_id,
        turn_id=origin.turn_id,
        call_id=origin.call_id,
        by=origin.by,
        kind=change.kind,
        document=change.document,
        cell_id=None if change.cell_id is None else CellId(change.cell_id),
        new_document=change.new_document,
        before_version=change.before_version,
        after_version=change.after_version,
        batch=origin.batch,
        state=state,
        undoes=origin.undoes,
        can_undo=reason is None,
        reason=reason,
    )


def with_outcome(change: LoggedChange, outcome: ChangeOutcome | None) -> LoggedChange:
    """Return the change updated with its outcome."""
    if outcome is None:
        return change
    return replace(
        change,
        before_version=outcome.before_version or change.before_version,
        after_version=outcome.after_version or change.after_version,
        before=outcome.before or change.before,
        after=outcome.after or change.after,
        cannot_undo=outcome.cannot_undo or change.cannot_undo,
    )
