"""The operation log: one row for every change of a document."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, Timestamp, WireModel
from jupyter_ai_shoulders.wire.event_types.base import Author
from jupyter_ai_shoulders.wire.ids import CallId, CellId, OperationId, SessionId, TurnId, Version

OperationKind = Literal[
    "edit",
    "create",
    "delete",
    "move",
    "copy",
    "mkdir",
    "outputs",
    "command",
    "database",
    "memory",
]
"""``memory``: a statement of a memory file, which ``document`` names with its id."""
OperationState = Literal["begun", "done", "failed", "undone"]
"""``begun`` and not ended after a crash is settled by the file's hash at the next start."""


class Operation(WireModel):
    """One change of a file or cell by a tool, an undo or a restore."""

    id: OperationId
    at: Timestamp
    session_id: SessionId | None
    turn_id: TurnId | None
    call_id: CallId | None
    by: Author
    kind: OperationKind
    document: str
    cell_id: CellId | None
    new_document: str | None
    """The target of a move or copy."""
    before_version: Version | None
    after_version: Version | None
    batch: str | None
    """Changes of one batch are undone together."""
    state: OperationState
    undoes: OperationId | None
    can_undo: bool
    """Whether it can be undone: a file's change by itself or with its batch, a cell's with its
    turn.
    """
    reason: str | None
    """Why it cannot be undone, for the user."""


class OperationsPage(WireModel):
    """``GET operations``, the latest first."""

    operations: tuple[Operation, ...]
    next_cursor: str | None


class OperationUndone(WireModel):
    """``POST operations/{id}/undo``: the changes undone together, and those that were not."""

    undone: tuple[OperationId, ...]
    kept: tuple[str, ...]
    """Why parts of the batch were not undone, in words, such as a folder that is not empty."""


class OperationsQuery(CommandModel):
    """Query arguments of ``GET operations``."""

    session: SessionId | None = None
    path: str | None = None
    cursor: str | None = None
    limit: int = Field(default=100, ge=1, le=1000)
