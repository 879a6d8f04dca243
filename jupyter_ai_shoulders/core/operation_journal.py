"""Changes of documents as the operation log has them, and the port of that log (chapter 07).

Asked for by ``files``, the recorder of notebooks and the review; implemented by
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
    """On whose behalf files are changed: a call of a session, or the user."""

    session_id: SessionId | None
    turn_id: TurnId | None = None
    call_id: CallId | None = None
    by: Literal["agent", "user"] = "agent"
    batch: str | None = None
    """Changes of one batch are taken back together; None: each by itself."""
    undoes: OperationId | None = None
    """The change that this one takes back."""
    review: bool = False
    """The user let it be done, and the text is the agent's: it awaits review all the same."""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """A change as the operation log is told of it, before and after it is made."""

    kind: OperationKind
    document: str
    origin: ChangeOrigin
    cell_id: str | None = None
    new_document: str | None = None
    before_version: Version | None = None
    after_version: Version | None = None
    before: BlobHash | None = None
    """What it takes to put the file's bytes back; None where nothing was there."""
    after: BlobHash | None = None
    mode: int | None = None
    """Permission bits of the file before."""
    cannot_undo: str | None = None
    """The honest reason why it cannot be taken back; None: it can."""
    kept_as: OperationId | None = None
    """The change under which the trash has a deleted file, if not this one."""


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """What is known of a change only once it is made; None leaves what was written before."""

    after_version: Version | None = None
    before_version: Version | None = None
    before: BlobHash | None = None
    after: BlobHash | None = None
    cannot_undo: str | None = None
    """Why it failed, or why it cannot be taken back, in words for the user."""


class OperationJournal(Protocol):
    """The operation log.

    Implemented by ``storage.operation_journal``. Calls block for a commit only.
    """

    def begin(self, change: LoggedChange) -> OperationId:
        """Write a change down before it is made; ``sync`` brings it to the disk."""
        ...

    def end(
        self, operation_id: OperationId, state: OperationState, outcome: ChangeOutcome | None = None
    ) -> None:
        """Say what became of it: ``done``, ``failed`` (nothing was changed) or ``undone``.

        A done change that ``undoes`` another makes that one ``undone``; what an undone change
        undid is ``done`` again.
        """
        ...

    async def sync(self) -> None:
        """Return once everything written so far is on the disk."""
        ...

    def get(self, operation_id: OperationId) -> Operation:
        """Return a row. Raises ``NotFound``."""
        ...

    def change(self, operation_id: OperationId) -> LoggedChange:
        """Return what was written down of it, its outcome included. Raises ``NotFound``."""
        ...

    def begun(self) -> Sequence[Operation]:
        """Return the rows that were never ended, in order: what a crash left behind."""
        ...

    def of_batch(self, batch: str) -> Sequence[Operation]:
        """Return the rows of a batch, in order."""
        ...

    def latest(
        self, *, session_id: SessionId | None = None, path: str | None = None, limit: int = 100
    ) -> Sequence[Operation]:
        """Return rows, the latest first."""
        ...

    def of_turn(self, session_id: SessionId, turn_id: TurnId) -> Sequence[Operation]:
        """Return what a turn did, in order."""
        ...

    def of_session(self, session_id: SessionId) -> Sequence[Operation]:
        """Return what a session did, in order."""
        ...


_WITH_TURN = "Changes of cells are taken back with their turn, or in the notebook itself."
"""Rows of cells were written with this as their reason; they can be undone with their turn."""
_REASONS: dict[OperationState, str] = {
    "begun": "It has not ended yet.",
    "failed": "It failed: nothing was changed.",
    "undone": "It was taken back already.",
}


def to_operation(
    operation_id: OperationId, at: str, change: LoggedChange, state: OperationState
) -> Operation:
    """Return a row."""
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
    """Return the change with what is known of it since."""
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
