"""Events of restores: the state needed to revert document changes, and the restores made.

Part of ``wire.events``. ``checkpoint`` and ``cells-change`` are written before and after each
change of a notebook (``changes.recording.recorder``); ``restore`` reports what was restored.
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
UnrestoredReason = Literal["changed", "run", "protected", "unknown"]
"""``changed`` by the user, ``run`` by the user, ``protected`` by its metadata, ``unknown`` result
of an agent's run during which the server was killed.
"""
FileOutcome = Literal["rewritten", "merged", "removed", "returned", "moved", "kept"]
"""The result for a file: ``merged`` keeps the user's later changes, ``kept`` is unchanged."""
KernelStatus = Literal["same", "restarted", "gone", "unknown"]


class DocumentSnapshot(WireModel):
    """A notebook's cells in order, with their texts, as a blob; outputs are stored with their
    cells.
    """

    document: str
    blob: BlobHash


class CellSnapshot(WireModel):
    """A cell with outputs and attachments as a blob, before a call changed more than its text."""

    document: str
    cell_id: CellId
    blob: BlobHash


class RestoreRequest(WireModel):
    """A user's request to restore, and the event before which to restore to."""

    restore_id: RestoreId
    seq: int
    what: tuple[RestorePart, ...]
    turn_id: TurnId | None = None
    """The turn whose changes alone are undone."""


class Checkpoint(EventBase):
    """Documents were snapshotted before they were changed."""

    type: Literal["checkpoint"] = "checkpoint"
    documents: tuple[DocumentSnapshot, ...]
    cells: tuple[CellSnapshot, ...] = ()
    order: RestoreRequest | None = None
    """For the checkpoint at the start of a restore."""


class CellOperation(WireModel):
    """An operation on one cell."""

    cell_id: CellId
    what: Literal["made", "edited", "deleted", "moved", "outputs", "ran", "scratch"]
    """``scratch`` is code that ran without a cell; its ``cell_id`` is empty."""
    title: str
    """The first line of its text."""
    source: str | None = None
    """The new text (``made``, ``edited``), or the text that was run (``ran``)."""
    base: str | None = None
    """The text that was ``edited``; null if the same turn or restore had produced it."""
    version: Version | None = None
    """Version of the new text; for a ``deleted`` cell, of its former text."""
    outputs: str | None = None
    """Hash of the resulting outputs; for a run, null until it ended."""
    execution_count: int | None = None
    kernel: str | None = None
    """The kernel that ran it, as identified by ``notebook.kernels.generation``."""


class CellsChange(EventBase):
    """The operations of a call or a restore on the cells of a notebook."""

    type: Literal["cells-change"] = "cells-change"
    call_id: CallId | None
    document: str
    cells: tuple[CellOperation, ...]
    restore_id: RestoreId | None = None
    """The restore that made the changes."""


class CellName(WireModel):
    """A cell as named to users."""

    cell_id: CellId
    title: str


class UnrestoredCell(WireModel):
    """A cell that was not restored."""

    cell_id: CellId
    title: str
    reason: UnrestoredReason
    proposal_id: ProposalId | None = None
    """The proposal with the text the cell would have got."""


class RestoredDocument(WireModel):
    """The restored content of one document."""

    document: str
    removed: tuple[CellName, ...] = ()
    """Cells the agent had created."""
    returned: tuple[CellName, ...] = ()
    """Cells the agent had deleted."""
    rewritten: tuple[CellName, ...] = ()
    moved: tuple[CellName, ...] = ()
    outputs: tuple[CellName, ...] = ()
    """Cells whose outputs were restored."""
    kept: tuple[UnrestoredCell, ...] = ()
    file: FileOutcome | None = None
    """The result for a whole file; null where cells of a notebook were restored."""
    proposal_id: ProposalId | None = None
    """The proposal with the text a ``kept`` file would have got."""
    error: ErrorInfo | None = None
    """Why nothing of it was restored."""


class RanCell(WireModel):
    """A cell run by the agent whose effects may remain in the kernel."""

    cell_id: CellId
    title: str
    names: tuple[str, ...]
    """Names it defines, as far as its code shows."""


class KernelDrift(WireModel):
    """State of a notebook's kernel that the notebook no longer describes."""

    document: str
    kernel: KernelStatus
    """``restarted`` and ``gone``: the effects are gone as well."""
    cells: tuple[RanCell, ...]


class Restore(EventBase):
    """The user restored the state before a message, or reverted a restore."""

    type: Literal["restore"] = "restore"
    restore_id: RestoreId
    seq_before: int
    """The event before which everything was restored: a message's, or a restore's."""
    what: tuple[RestorePart, ...]
    documents: tuple[RestoredDocument, ...]
    drift: tuple[KernelDrift, ...]
    conversation: Replaced | None = None
    """The newly hidden part of the conversation."""
    message_id: MessageId | None = None
    """The message; null if a restore was reverted."""
    undone: RestoreId | None = None
    """The restore that was reverted."""
    undone_turn: TurnId | None = None
    """The turn whose changes alone were undone."""
