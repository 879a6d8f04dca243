"""Frames sent by a page over the page socket.

A page sends hello, subscribes to sessions, announces its open notebooks and answers requests of the
server about them. Imported from ``wire.frames``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.api.commands import INPUT_LIMIT, SendMessage
from jupyter_ai_shoulders.wire.base import CommandModel, JsonObject, WireModel
from jupyter_ai_shoulders.wire.ids import (
    CellId,
    ClientId,
    OperationId,
    RunId,
    SessionId,
    Version,
)
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellOrder, CellType, NotebookCell


class AnnouncedCell(WireModel):
    """A cell of an open notebook as announced by the page; a null source means unchanged."""

    id: CellId
    cell_type: CellType
    version: Version
    source: str | None
    execution_count: int | None = None
    executed_version: Version | None = None
    """Version of the source at the cell's last run in the current kernel, if the page saw it."""


class Hello(CommandModel):
    """First frame of a page; ``cursors`` are the sessions it shows and their last known events."""

    type: Literal["hello"] = "hello"
    client_id: ClientId
    wire_version: int
    cursors: dict[SessionId, int]


class Subscribe(CommandModel):
    """Subscribe to this session's events after ``after``."""

    type: Literal["subscribe"] = "subscribe"
    session_id: SessionId
    after: int


class Unsubscribe(CommandModel):
    """Unsubscribe from this session."""

    type: Literal["unsubscribe"] = "unsubscribe"
    session_id: SessionId


class MessageSend(CommandModel):
    """Send a message, as ``POST sessions/{id}/messages`` does, without a request of its own.

    Answered by ``message-sent`` or ``message-refused``. A page whose socket closes before that
    sends the same message by HTTP: its id makes it idempotent.
    """

    type: Literal["message-send"] = "message-send"
    session_id: SessionId
    message: SendMessage


class DocumentOpen(CommandModel):
    """The page has opened this notebook; its file is no longer written directly."""

    type: Literal["document-open"] = "document-open"
    path: str
    claim_epoch: int
    """Increases each time this page opens or re-announces a document."""
    cells: tuple[AnnouncedCell, ...]
    dirty: bool
    saved_at: str | None
    """The contents manager's last-modified stamp of the last save known to this page."""
    kernel_id: str | None
    kernel_restarts: int = 0
    """Number of kernel restarts seen by this page: each loses all names."""


class DocumentChange(CommandModel):
    """The open notebook changed (debounced): the cells that differ from the last announcement.

    New sources only. Without ``order``, ``cells`` is the whole list.
    """

    type: Literal["document-change"] = "document-change"
    path: str
    claim_epoch: int
    cells: tuple[AnnouncedCell, ...]
    dirty: bool
    saved_at: str | None
    kernel_id: str | None
    kernel_restarts: int = 0
    """Number of kernel restarts seen by this page: each loses all names."""
    order: CellOrder | None = None


class DocumentFocus(CommandModel):
    """The user focused this notebook in this page."""

    type: Literal["document-focus"] = "document-focus"
    path: str


class DocumentClose(CommandModel):
    """The notebook was closed in this page."""

    type: Literal["document-close"] = "document-close"
    path: str
    discarded: bool


class DocumentRename(CommandModel):
    """The notebook has a new path; its state is kept."""

    type: Literal["document-rename"] = "document-rename"
    path: str
    new_path: str


class CellRunTaken(CommandModel):
    """The user runs a cell the agent is running: its later outputs belong to the user's run."""

    type: Literal["cell-run-taken"] = "cell-run-taken"
    run_id: RunId
    path: str
    cell_id: CellId


class CellInputAnswer(CommandModel):
    """The user's input for a running cell; the first answer counts."""

    type: Literal["cell-input-answer"] = "cell-input-answer"
    run_id: RunId
    path: str
    cell_id: CellId
    number: int
    """Number of the run's question that is answered."""
    text: str = Field(max_length=INPUT_LIMIT)


class DocumentContent(CommandModel):
    """Answer to ``document-read``: the cells that changed since the answer that it names, and those
    whose outputs it asks for. Without ``order``, ``cells`` is the whole list, unless the revision
    is the one that the request names: then nothing changed.
    """

    type: Literal["document-content"] = "document-content"
    operation_id: OperationId
    path: str
    cells: tuple[NotebookCell, ...]
    metadata: JsonObject | None
    """The notebook's own; null when unchanged."""
    dirty: bool
    order: CellOrder | None = None
    revision: int | None = None
    """Names this state of the notebook for ``document-read``."""


class DocumentApplied(CommandModel):
    """Answer to ``document-apply``: applied, with the new versions and the inverse edits."""

    type: Literal["document-applied"] = "document-applied"
    operation_id: OperationId
    versions: dict[CellId, Version]
    inverse: tuple[CellEdit, ...]


class CellConflict(WireModel):
    """A cell that differs from the agent's last read; ``current`` is null if it was deleted."""

    cell_id: CellId
    current: str | None
    version: Version | None
    reason: Literal["changed", "deleted", "protected", "exists"]


class DocumentConflict(CommandModel):
    """Answer to ``document-apply``: nothing was applied."""

    type: Literal["document-conflict"] = "document-conflict"
    operation_id: OperationId
    conflicts: tuple[CellConflict, ...]


class DocumentRefused(CommandModel):
    """Answer to a request of an old epoch, past its deadline, or for a document not open here."""

    type: Literal["document-refused"] = "document-refused"
    operation_id: OperationId
    reason: Literal["epoch", "deadline", "not_open", "read_only", "failed"]
    message: str


class DocumentRecoveryAnswer(CommandModel):
    """The user's decision on a recovery offer; restored text was announced before this."""

    type: Literal["document-recovery-answer"] = "document-recovery-answer"
    path: str
    recovery_id: str
    action: Literal["restored", "discarded"]


class OutputPicture(CommandModel):
    """Answer to ``output-draw``: a PNG as base64, or null when the page cannot draw the output."""

    type: Literal["output-picture"] = "output-picture"
    operation_id: OperationId
    data: str | None
