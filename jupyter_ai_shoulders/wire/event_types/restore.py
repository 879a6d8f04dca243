"""What is needed to take back what an agent did to documents, and that it was (chapter 06).

Part of ``wire.events``. ``checkpoint`` and ``cells-change`` are written before and after each
change of a notebook (``changes.recording.recorder``); ``restore`` says what was put back.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.event_types.base import EventBase
from jupyter_ai_shoulders.wire.event_types.sessions import Replaced
from jupyter_ai_shoulders.wire.ids import (
    BlobHash,
    CallId,
    CellId,
    MessageId,
    ProposalId,
    RestoreId,
    TurnId,
    Version,
)

RestorePart = Literal["notebook", "files", "conversation"]
KeptReason = Literal["changed", "run", "protected", "unknown"]
"""``changed`` by the user, ``run`` by the user, ``protected`` by its metadata, ``unknown`` what
the agent's run left, because the server was killed in it."""
FileOutcome = Literal["rewritten", "merged", "removed", "returned", "moved", "kept"]
"""What became of a file: ``merged`` keeps what the user changed since, ``kept`` is as it was."""
KernelSince = Literal["same", "restarted", "gone", "unknown"]


class DocumentSnapshot(WireModel):
    """A notebook's cells in order, with their texts, as a blob; outputs come with their cells."""

    document: str
    blob: BlobHash


class CellSnapshot(WireModel):
    """A cell with outputs and attachments as a blob, before a call touched more than its text."""

    document: str
    cell_id: CellId
    blob: BlobHash


class RestoreOrder(WireModel):
    """What a user asked to be put back, and to before which event."""

    restore_id: RestoreId
    seq: int
    what: tuple[RestorePart, ...]
    turn_id: TurnId | None = None
    """The turn whose changes alone are taken back."""


class Checkpoint(EventBase):
    """Documents were snapshotted before they were changed."""

    type: Literal["checkpoint"] = "checkpoint"
    documents: tuple[DocumentSnapshot, ...]
    cells: tuple[CellSnapshot, ...] = ()
    order: RestoreOrder | None = None
    """Of the checkpoint that a restore begins with."""


class CellDeed(WireModel):
    """What was done to one cell."""

    cell_id: CellId
    what: Literal["made", "edited", "deleted", "moved", "outputs", "ran", "scratch"]
    """``scratch`` is code that ran without a cell; its ``cell_id`` is empty."""
    title: str
    """The first line of its text."""
    source: str | None = None
    """The text it was given (``made``, ``edited``), or that was run (``ran``)."""
    base: str | None = None
    """The text that was ``edited``; null where the same turn, or restore, had left it so."""
    version: Version | None = None
    """Of the text it was given; of a cell that was ``deleted``, of the text that it had."""
    outputs: str | None = None
    """Hash of the outputs it was left with; of a run, null until it ended."""
    execution_count: int | None = None
    kernel: str | None = None
    """The kernel that ran it, as ``notebook.kernels.generation`` names it."""


class CellsChange(EventBase):
    """What a call, or a restore, did to the cells of a notebook."""

    type: Literal["cells-change"] = "cells-change"
    call_id: CallId | None
    document: str
    cells: tuple[CellDeed, ...]
    restore_id: RestoreId | None = None
    """The restore that did it."""


class CellName(WireModel):
    """A cell as it is named to people."""

    cell_id: CellId
    title: str


class KeptCell(WireModel):
    """A cell that was not put back."""

    cell_id: CellId
    title: str
    reason: KeptReason
    proposal_id: ProposalId | None = None
    """Shows the text the cell would have been given."""


class RestoredDocument(WireModel):
    """What was put back in one document."""

    document: str
    removed: tuple[CellName, ...] = ()
    """Cells the agent had made."""
    returned: tuple[CellName, ...] = ()
    """Cells the agent had deleted."""
    rewritten: tuple[CellName, ...] = ()
    moved: tuple[CellName, ...] = ()
    outputs: tuple[CellName, ...] = ()
    """Cells whose outputs are those of before."""
    kept: tuple[KeptCell, ...] = ()
    file: FileOutcome | None = None
    """Of a file as a whole; null where cells of a notebook were put back."""
    proposal_id: ProposalId | None = None
    """Shows the text a ``kept`` file would have been given."""
    error: ErrorInfo | None = None
    """Why nothing of it was put back."""


class RanCell(WireModel):
    """A cell that the agent ran, whose effects may still be in the kernel."""

    cell_id: CellId
    title: str
    names: tuple[str, ...]
    """What it defines, as far as its code tells."""


class KernelDrift(WireModel):
    """What a notebook's kernel holds that the notebook does not say any more."""

    document: str
    kernel: KernelSince
    """``restarted`` and ``gone``: the effects are gone as well."""
    cells: tuple[RanCell, ...]


class Restore(EventBase):
    """The user went back to before a message, or took a restore back."""

    type: Literal["restore"] = "restore"
    restore_id: RestoreId
    seq_before: int
    """The event before which everything was put back: a message's, or a restore's."""
    what: tuple[RestorePart, ...]
    documents: tuple[RestoredDocument, ...]
    drift: tuple[KernelDrift, ...]
    conversation: Replaced | None = None
    """What is hidden of the conversation from now on."""
    message_id: MessageId | None = None
    """The message; null where a restore was taken back."""
    undone: RestoreId | None = None
    """The restore that was taken back."""
    undone_turn: TurnId | None = None
    """The turn whose changes alone were taken back."""
