"""Frames sent by the server over the page socket.

Batches of events, requests to read, change or draw open notebooks, and their markers. Imported from
``wire.frames``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.base import JsonObject, Timestamp, WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Event
from jupyter_ai_shoulders.wire.ids import (
    CellId,
    MessageId,
    OperationId,
    RunId,
    SessionId,
    Version,
)
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellMark, CellType


class RecoveredCell(WireModel):
    """Text of a cell that is in no notebook, derived from ``base`` (null for a new cell)."""

    id: CellId
    cell_type: CellType
    after: CellId | None
    """The cell above it."""
    base: str | None
    source: str


class Welcome(WireModel):
    """Answer to ``hello``."""

    type: Literal["welcome"] = "welcome"
    wire_version: int
    server_version: str
    now_ms: int
    """The server's clock in milliseconds since 1970, which deadlines refer to."""


class Events(WireModel):
    """A batch of events of sessions this page shows."""

    type: Literal["events"] = "events"
    events: tuple[Event, ...]


class Resync(WireModel):
    """Events were left out: fetch ``GET sessions/{id}/events?after=`` and subscribe again."""

    type: Literal["resync"] = "resync"
    session_id: SessionId
    after: int


class MessageSent(WireModel):
    """The message of a ``message-send`` is accepted and on the disk."""

    type: Literal["message-sent"] = "message-sent"
    session_id: SessionId
    message_id: MessageId
    accepted: MessageAccepted


class MessageRefused(WireModel):
    """The message of a ``message-send`` was not accepted."""

    type: Literal["message-refused"] = "message-refused"
    session_id: SessionId
    message_id: MessageId
    status: int
    """The HTTP status that ``POST sessions/{id}/messages`` answers with."""
    error: ErrorInfo


class DocumentRead(WireModel):
    """Request the current notebook, or what changed since an earlier answer.

    ``outputs`` names the cells whose outputs are wanted.
    """

    type: Literal["document-read"] = "document-read"
    operation_id: OperationId
    claim_epoch: int
    path: str
    outputs: tuple[CellId, ...]
    since: int | None = None
    """The revision of the last answer; null asks for everything."""


class DocumentAnnounce(WireModel):
    """Announce the whole notebook again: a change did not fit what the server has."""

    type: Literal["document-announce"] = "document-announce"
    path: str


class DocumentApply(WireModel):
    """Change the notebook as one undo step; all edits or none."""

    type: Literal["document-apply"] = "document-apply"
    operation_id: OperationId
    claim_epoch: int
    deadline_ms: int
    """Time on the server's clock, see ``Welcome``, after which the page refuses."""
    path: str
    expected: dict[CellId, Version]
    edits: tuple[CellEdit, ...]


class DocumentSaved(WireModel):
    """Another page has saved this notebook: reload it."""

    type: Literal["document-saved"] = "document-saved"
    path: str


class DocumentElsewhere(WireModel):
    """The agent changed cells of this notebook in another page; the text here is kept.

    It could not be merged with the text typed here; the next save merges both.
    """

    type: Literal["document-elsewhere"] = "document-elsewhere"
    path: str
    cells: tuple[CellId, ...]


class DocumentRecovery(WireModel):
    """Text that is in no notebook: typed in a page that did not reconnect, or an agent's edit of a
    cell that the user had changed. It is kept until answered, and repeated at each opening.
    """

    type: Literal["document-recovery"] = "document-recovery"
    path: str
    recovery_id: str
    at: Timestamp
    author: Literal["user", "agent"]
    cells: tuple[RecoveredCell, ...]


class DocumentRecovered(WireModel):
    """A recovery offer was resolved: hide the notice."""

    type: Literal["document-recovered"] = "document-recovered"
    path: str
    recovery_id: str


class DocumentMarks(WireModel):
    """The cells that do not show what running the notebook would; unlisted cells do, or may."""

    type: Literal["document-marks"] = "document-marks"
    path: str
    marks: dict[CellId, CellMark]


class CellRunStart(WireModel):
    """The agent runs a cell: clear its outputs and show it as running."""

    type: Literal["cell-run-start"] = "cell-run-start"
    run_id: RunId
    path: str
    cell_id: CellId
    in_room: bool = False
    """Whether a collaboration room shows the run to all its pages, so that this page must not."""


class CellRunOutput(WireModel):
    """The outputs of the running cell from position ``index`` on (nbformat dicts)."""

    type: Literal["cell-run-output"] = "cell-run-output"
    run_id: RunId
    path: str
    cell_id: CellId
    index: int
    outputs: tuple[JsonObject, ...]


class CellInputRequest(WireModel):
    """The running cell requests input: show a field below its outputs."""

    type: Literal["cell-input-request"] = "cell-input-request"
    run_id: RunId
    path: str
    cell_id: CellId
    number: int
    """Number of the run's question, from 1."""
    prompt: str
    password: bool


class CellInputEnd(WireModel):
    """The question was answered or its run is over: remove the field."""

    type: Literal["cell-input-end"] = "cell-input-end"
    run_id: RunId
    path: str
    cell_id: CellId
    number: int


class CellRunEnd(WireModel):
    """The cell's run has ended."""

    type: Literal["cell-run-end"] = "cell-run-end"
    run_id: RunId
    path: str
    cell_id: CellId
    execution_count: int | None


class KernelRestart(WireModel):
    """Restart the notebook's kernel through JupyterLab, so that the page shows it."""

    type: Literal["kernel-restart"] = "kernel-restart"
    path: str
    kernel_id: str
    """A notebook with another kernel is left alone."""
    deadline_ms: int
    """Time on the server's clock, see ``Welcome``, after which the page does nothing."""


class OutputDraw(WireModel):
    """Draw an output of a cell as shown, for a model; ``index`` counts from 0."""

    type: Literal["output-draw"] = "output-draw"
    operation_id: OperationId
    path: str
    cell_id: CellId
    index: int


class SessionDelete(WireModel):
    """A conversation was deleted; a restored one is sent as a ``session-update``."""

    type: Literal["session-delete"] = "session-delete"
    session_id: SessionId


class ToolsUpdate(WireModel):
    """The permissions changed: fetch ``GET tools`` again if shown."""

    type: Literal["tools-update"] = "tools-update"


SettingsPart = Literal[
    "settings",
    "providers",
    "budget",
    "trust",
    "state",
    "search",
    "services",
    "mcp",
    "schedules",
    "notifications",
    "memory",
]
"""``state``: whether conversations can be stored; fetch ``GET status``. ``search``: the state of
the index; fetch ``GET search/index``. ``services``: the web services; fetch ``GET services``.
``schedules``: schedules, watchers or their runs; fetch ``GET schedules``. ``notifications``: fetch
``GET notifications``.
``memory``: fetch ``GET memory``.
"""


class SettingsUpdate(WireModel):
    """A page or program changed the settings: fetch that part again if shown."""

    type: Literal["settings-update"] = "settings-update"
    part: SettingsPart


class EditsUpdate(WireModel):
    """The pending edits of a document changed: fetch ``GET edits`` if shown."""

    type: Literal["edits-update"] = "edits-update"
    document: str


class FrameError(WireModel):
    """A frame of the page was invalid or could not be handled."""

    type: Literal["frame-error"] = "frame-error"
    error: ErrorInfo
