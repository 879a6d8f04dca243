"""Frames of the page socket (chapters 02 and 06).

A page says hello, subscribes to sessions and announces the notebooks it has open; the server
sends batches of events and asks the page to read or change those notebooks.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, JsonObject, Timestamp, WireModel
from jupyter_ai_shoulders.wire.commands import INPUT_LIMIT
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Event
from jupyter_ai_shoulders.wire.ids import (
    CellId,
    ClientId,
    OperationId,
    RunId,
    SessionId,
    Version,
)
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellMark, CellType, NotebookCell


class AnnouncedCell(WireModel):
    """A cell of an open notebook, as the page announces it; source null means unchanged."""

    id: CellId
    cell_type: CellType
    version: Version
    source: str | None
    execution_count: int | None = None
    executed_version: Version | None = None
    """Of the source at the cell's last run in the kernel's present life, where the page saw it."""


class RecoveredCell(WireModel):
    """A cell's text that is in no notebook, made of ``base`` (null when the cell is new)."""

    id: CellId
    cell_type: CellType
    after: CellId | None
    """The cell it stood below."""
    base: str | None
    source: str


# page → server


class Hello(CommandModel):
    """First frame of a page; ``cursors`` are the sessions it shows and how far it is."""

    type: Literal["hello"] = "hello"
    client_id: ClientId
    wire_version: int
    cursors: dict[SessionId, int]


class Subscribe(CommandModel):
    """Send me this session's events after ``after``."""

    type: Literal["subscribe"] = "subscribe"
    session_id: SessionId
    after: int


class Unsubscribe(CommandModel):
    """No more events of this session."""

    type: Literal["unsubscribe"] = "unsubscribe"
    session_id: SessionId


class DocumentOpen(CommandModel):
    """The page has this notebook open; from now on nobody writes its file underneath it."""

    type: Literal["document-open"] = "document-open"
    path: str
    claim_epoch: int
    """Counts up each time this page opens or re-announces a document."""
    cells: tuple[AnnouncedCell, ...]
    dirty: bool
    saved_at: str | None
    """The contents manager's last-modified stamp of the last save this page knows of."""
    kernel_id: str | None
    kernel_restarts: int = 0
    """How many restarts of the kernel this page saw: each begins a life without names."""


class DocumentChange(CommandModel):
    """The open notebook changed (debounced); ``cells`` is the whole order, sources where new."""

    type: Literal["document-change"] = "document-change"
    path: str
    claim_epoch: int
    cells: tuple[AnnouncedCell, ...]
    dirty: bool
    saved_at: str | None
    kernel_id: str | None
    kernel_restarts: int = 0
    """How many restarts of the kernel this page saw: each begins a life without names."""


class DocumentFocus(CommandModel):
    """The user looked at this notebook in this page."""

    type: Literal["document-focus"] = "document-focus"
    path: str


class DocumentClose(CommandModel):
    """The notebook was closed in this page."""

    type: Literal["document-close"] = "document-close"
    path: str
    discarded: bool


class DocumentRename(CommandModel):
    """The notebook has another path now; what was said about the old one holds for the new one."""

    type: Literal["document-rename"] = "document-rename"
    path: str
    new_path: str


class CellRunTaken(CommandModel):
    """The user runs a cell the agent is running: what the cell shows from now on is the user's."""

    type: Literal["cell-run-taken"] = "cell-run-taken"
    run_id: RunId
    path: str
    cell_id: CellId


class CellInputAnswer(CommandModel):
    """The user typed what a running cell asks for; the first answer counts."""

    type: Literal["cell-input-answer"] = "cell-input-answer"
    run_id: RunId
    path: str
    cell_id: CellId
    number: int
    """Which of the run's questions is answered."""
    text: str = Field(max_length=INPUT_LIMIT)


class DocumentContent(CommandModel):
    """Answer to ``document-read``."""

    type: Literal["document-content"] = "document-content"
    operation_id: OperationId
    path: str
    cells: tuple[NotebookCell, ...]
    metadata: JsonObject
    dirty: bool


class DocumentApplied(CommandModel):
    """Answer to ``document-apply``: done, with the versions now and how to take it back."""

    type: Literal["document-applied"] = "document-applied"
    operation_id: OperationId
    versions: dict[CellId, Version]
    inverse: tuple[CellEdit, ...]


class CellConflict(WireModel):
    """A cell that is not what the agent last read; ``current`` null means it is gone."""

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
    """What the user decided on a recovery; restored text was announced before this."""

    type: Literal["document-recovery-answer"] = "document-recovery-answer"
    path: str
    recovery_id: str
    action: Literal["restored", "discarded"]


class OutputPicture(CommandModel):
    """Answer to ``output-draw``: a PNG as base64, null when the page cannot draw the output."""

    type: Literal["output-picture"] = "output-picture"
    operation_id: OperationId
    data: str | None


PageFrame = Annotated[
    Hello
    | Subscribe
    | Unsubscribe
    | DocumentOpen
    | DocumentChange
    | DocumentFocus
    | DocumentClose
    | DocumentRename
    | CellRunTaken
    | CellInputAnswer
    | DocumentContent
    | DocumentApplied
    | DocumentConflict
    | DocumentRefused
    | OutputPicture
    | DocumentRecoveryAnswer,
    Field(discriminator="type"),
]


# server → page


class Welcome(WireModel):
    """Answer to ``hello``."""

    type: Literal["welcome"] = "welcome"
    wire_version: int
    server_version: str


class Events(WireModel):
    """A batch of events, of any sessions this page shows."""

    type: Literal["events"] = "events"
    events: tuple[Event, ...]


class Resync(WireModel):
    """Events were left out: fetch ``GET sessions/{id}/events?after=`` and subscribe again."""

    type: Literal["resync"] = "resync"
    session_id: SessionId
    after: int


class DocumentRead(WireModel):
    """Send the notebook as it is now; ``outputs`` names the cells whose outputs are wanted."""

    type: Literal["document-read"] = "document-read"
    operation_id: OperationId
    claim_epoch: int
    path: str
    outputs: tuple[CellId, ...]


class DocumentApply(WireModel):
    """Change the notebook as one undo step; all edits or none."""

    type: Literal["document-apply"] = "document-apply"
    operation_id: OperationId
    claim_epoch: int
    deadline_ms: int
    """Milliseconds since the epoch of 1970; after it the page refuses."""
    path: str
    expected: dict[CellId, Version]
    edits: tuple[CellEdit, ...]


class DocumentSaved(WireModel):
    """Another page has saved this notebook: take up what the file says now."""

    type: Literal["document-saved"] = "document-saved"
    path: str


class DocumentRecovery(WireModel):
    """Text that is in no notebook: typed in a page that did not come back, or an agent's edit of a
    cell that the user had changed. It is kept until it is answered; said again at each opening.
    """

    type: Literal["document-recovery"] = "document-recovery"
    path: str
    recovery_id: str
    at: Timestamp
    author: Literal["user", "agent"]
    cells: tuple[RecoveredCell, ...]


class DocumentRecovered(WireModel):
    """A recovery needs no answer any more: put the notice away."""

    type: Literal["document-recovered"] = "document-recovered"
    path: str
    recovery_id: str


class DocumentMarks(WireModel):
    """The cells that do not show what running the notebook would; those not named do, or may."""

    type: Literal["document-marks"] = "document-marks"
    path: str
    marks: dict[CellId, CellMark]


class CellRunStart(WireModel):
    """The agent runs a cell: clear its outputs and show it busy."""

    type: Literal["cell-run-start"] = "cell-run-start"
    run_id: RunId
    path: str
    cell_id: CellId
    in_room: bool = False
    """Whether a collaboration room shows it to all its pages: then this page is not to."""


class CellRunOutput(WireModel):
    """Outputs of the running cell from position ``index`` on are now these (nbformat dicts)."""

    type: Literal["cell-run-output"] = "cell-run-output"
    run_id: RunId
    path: str
    cell_id: CellId
    index: int
    outputs: tuple[JsonObject, ...]


class CellInputRequest(WireModel):
    """The running cell asks for input: show a field below its outputs."""

    type: Literal["cell-input-request"] = "cell-input-request"
    run_id: RunId
    path: str
    cell_id: CellId
    number: int
    """Counts the run's questions from 1."""
    prompt: str
    password: bool


class CellInputEnd(WireModel):
    """The question was answered somewhere, or its run is over: take the field away."""

    type: Literal["cell-input-end"] = "cell-input-end"
    run_id: RunId
    path: str
    cell_id: CellId
    number: int


class CellRunEnd(WireModel):
    """The cell's run is over."""

    type: Literal["cell-run-end"] = "cell-run-end"
    run_id: RunId
    path: str
    cell_id: CellId
    execution_count: int | None


class KernelRestart(WireModel):
    """Restart the notebook's kernel as its Kernel menu does, so that the page shows it so."""

    type: Literal["kernel-restart"] = "kernel-restart"
    path: str
    kernel_id: str
    """A notebook that has another kernel by now is left alone."""
    deadline_ms: int
    """Milliseconds since the epoch of 1970; after it the page does nothing."""


class OutputDraw(WireModel):
    """Draw an output of a cell as it is shown, for a model to see; ``index`` counts from 0."""

    type: Literal["output-draw"] = "output-draw"
    operation_id: OperationId
    path: str
    cell_id: CellId
    index: int


class SessionDelete(WireModel):
    """A conversation was deleted; one that is brought back comes as a ``session-update``."""

    type: Literal["session-delete"] = "session-delete"
    session_id: SessionId


class ToolsUpdate(WireModel):
    """The permissions changed: fetch ``GET tools`` where they are shown."""

    type: Literal["tools-update"] = "tools-update"


class FrameError(WireModel):
    """A frame of the page could not be understood or served."""

    type: Literal["frame-error"] = "frame-error"
    error: ErrorInfo


ServerFrame = Annotated[
    Welcome
    | Events
    | Resync
    | DocumentRead
    | DocumentApply
    | DocumentSaved
    | DocumentRecovery
    | DocumentRecovered
    | DocumentMarks
    | CellRunStart
    | CellRunOutput
    | CellInputRequest
    | CellInputEnd
    | CellRunEnd
    | KernelRestart
    | OutputDraw
    | SessionDelete
    | ToolsUpdate
    | FrameError,
    Field(discriminator="type"),
]
