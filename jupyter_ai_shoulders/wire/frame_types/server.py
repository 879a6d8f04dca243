"""Frames that the server sends over the page socket (chapters 02 and 06).

Batches of events, requests to read, change or draw the notebooks a page has open, and what a page
shows beside them. Imported from ``wire.frames``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import JsonObject, Timestamp, WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Event
from jupyter_ai_shoulders.wire.ids import CellId, OperationId, RunId, SessionId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellMark, CellType


class RecoveredCell(WireModel):
    """A cell's text that is in no notebook, made of ``base`` (null when the cell is new)."""

    id: CellId
    cell_type: CellType
    after: CellId | None
    """The cell it stood below."""
    base: str | None
    source: str


class Welcome(WireModel):
    """Answer to ``hello``."""

    type: Literal["welcome"] = "welcome"
    wire_version: int
    server_version: str
    now_ms: int
    """The server's clock, in milliseconds since the epoch of 1970: deadlines are by it."""


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
    """By the server's clock, see ``Welcome``; after it the page refuses."""
    path: str
    expected: dict[CellId, Version]
    edits: tuple[CellEdit, ...]


class DocumentSaved(WireModel):
    """Another page has saved this notebook: take up what the file says now."""

    type: Literal["document-saved"] = "document-saved"
    path: str


class DocumentElsewhere(WireModel):
    """The agent changed cells of this notebook in another page; the text here is kept.

    It could not be merged with what was typed here: the next save brings both texts together.
    """

    type: Literal["document-elsewhere"] = "document-elsewhere"
    path: str
    cells: tuple[CellId, ...]


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
    """By the server's clock, see ``Welcome``; after it the page does nothing."""


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


SettingsPart = Literal["settings", "providers", "budget", "trust", "state"]
"""``state``: whether conversations can be stored; fetch ``GET status``."""


class SettingsUpdate(WireModel):
    """Settings were changed by a page or program: fetch that part again where it is shown."""

    type: Literal["settings-update"] = "settings-update"
    part: SettingsPart


class EditsUpdate(WireModel):
    """What waits for review in a document changed: fetch ``GET edits`` where it is shown."""

    type: Literal["edits-update"] = "edits-update"
    document: str


class FrameError(WireModel):
    """A frame of the page could not be understood or served."""

    type: Literal["frame-error"] = "frame-error"
    error: ErrorInfo
