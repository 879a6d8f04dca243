"""Changes of documents: proposed, applied, kept or undone (chapter 07).

Part of ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.edits import Hunk, Proposal, ProposalState
from jupyter_ai_shoulders.wire.event_types.base import Author, EventBase
from jupyter_ai_shoulders.wire.ids import BlobHash, CallId, CellId, EditId, ProposalId, Version


class EditPending(EventBase):
    """An applied change awaits keep or undo.

    Said again, with the same ``edit_id``, when more is changed or a part of it was decided: the
    last one counts. There is one for each file or cell, over all turns.
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
    """The text the user last had or accepted; None of what was made."""
    after: BlobHash | None = None
    """The text as the agent left it; None of what is gone."""
    title: str = ""
    """The first line of the cell's text; empty of files."""


class EditResolve(EventBase):
    """A pending edit was kept or undone."""

    type: Literal["edit-resolve"] = "edit-resolve"
    edit_id: EditId
    decision: Literal["keep", "undo"]
    hunks: tuple[int, ...] | None
    """Of the list that was shown; empty where the page said what is left. Null: all of it."""
    by: Author
    document: str | None = None


class ProposalAdd(EventBase):
    """A change is proposed and not applied."""

    type: Literal["proposal-add"] = "proposal-add"
    call_id: CallId | None
    proposal: Proposal


class ProposalResolve(EventBase):
    """A proposal was decided, or overtaken."""

    type: Literal["proposal-resolve"] = "proposal-resolve"
    proposal_id: ProposalId
    state: ProposalState
    by: Author
    run: bool = False
    """Whether its cell runs now; the conversation is told how that ends."""
