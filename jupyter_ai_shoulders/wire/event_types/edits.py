"""Changes of documents: proposed, applied, kept or undone.

Part of ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.edits import Hunk, Proposal, ProposalState
from jupyter_ai_shoulders.wire.event_types.base import Author, EventBase
from jupyter_ai_shoulders.wire.ids import BlobHash, CallId, CellId, EditId, ProposalId, Version


class EditPending(EventBase):
    """An applied change needs to be kept or undone.

    Repeated with the same ``edit_id`` when more is changed or a part was decided; the last one
    counts. There is one for each file or cell, over all turns.
    """

    type: Literal["edit-pending"] = "edit-pending"
    edit_id: EditId
    call_id: CallId | None
    document: str
    cell_id: CellId | None
    before_version: Version | None
    after_version: Version | None
    hunks: tuple[Hunk, ...]
    before: BlobHash | None = None
    """The last text of the user or accepted by the user; None for a created document."""
    after: BlobHash | None = None
    """The agent's text; None for a deleted document."""
    title: str = ""
    """The first line of the cell's text; empty for files."""


class EditResolve(EventBase):
    """A pending edit was kept or undone."""

    type: Literal["edit-resolve"] = "edit-resolve"
    edit_id: EditId
    decision: Literal["keep", "undo"]
    hunks: tuple[int, ...] | None
    """Indexes into the displayed list; empty when the page sent the remaining baseline. Null for
    all of it.
    """
    by: Author
    document: str | None = None


class ProposalAdd(EventBase):
    """A change was proposed and not applied."""

    type: Literal["proposal-add"] = "proposal-add"
    call_id: CallId | None
    proposal: Proposal


class ProposalResolve(EventBase):
    """A proposal was decided or became obsolete."""

    type: Literal["proposal-resolve"] = "proposal-resolve"
    proposal_id: ProposalId
    state: ProposalState
    by: Author
    run: bool = False
    """Whether its cell is run; the outcome is reported to the conversation."""
