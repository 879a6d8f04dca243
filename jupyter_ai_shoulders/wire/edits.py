"""Edits awaiting review and proposals awaiting a decision (chapter 07)."""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.event_types.restore import KernelDrift
from jupyter_ai_shoulders.wire.ids import CellId, EditId, ProposalId, SessionId, TurnId, Version
from jupyter_ai_shoulders.wire.notebooks import CellType

ProposalState = Literal["proposed", "applied", "edited", "conflict", "stale", "dismissed", "undone"]


class Hunk(WireModel):
    """One changed region: half-open line ranges, 0-based, in the text before and after."""

    before_from: int
    before_to: int
    after_from: int
    after_to: int


class PendingEdit(WireModel):
    """What the agent changed in one file or cell and the user has not looked through yet.

    ``baseline`` is the text without the agent's changes and with everything the user changed since;
    null of what the agent made. ``current`` is the text as it stands; null of what is gone.
    """

    id: EditId
    session_id: SessionId
    turn_id: TurnId | None
    """The session and the turn that changed it last."""
    document: str
    cell_id: CellId | None
    cell_type: CellType | None
    position: int | None
    """Where the cell stands in its notebook, from 0; of a cell that is gone, where it would come
    back. Null of files."""
    baseline: str | None
    baseline_version: Version | None
    current: str | None
    current_version: Version | None
    hunks: tuple[Hunk, ...]
    """Between ``baseline`` and ``current``; empty where one of them is null."""
    conflict: bool = False
    """The user changed the same lines since: ``baseline`` has the user's there, so that the
    agent's part of them can only be kept."""
    error: ErrorInfo | None = None
    """Why the document cannot be read now; ``current`` is then what the agent left. Or why what is
    kept of the edit cannot be read: both texts are null then, and the edit can only be kept."""


class PendingEditList(WireModel):
    """``GET edits``: sorted by document, cells in their order."""

    edits: tuple[PendingEdit, ...]


class EditDecision(WireModel):
    """The answer of ``POST edits/{id}``."""

    edit: PendingEdit | None
    """What is left to look through; null when nothing is."""
    drift: KernelDrift | None
    """Of what was undone: the kernel still holds what it did when it ran."""


class EditConflict(WireModel):
    """The body of 409 of ``POST edits/{id}``: nothing was changed."""

    error: ErrorInfo
    edit: PendingEdit | None
    """The edit as it stands now; null when it was decided."""


class EditDecisions(WireModel):
    """The answer of ``POST edits``."""

    resolved: tuple[EditId, ...]
    left: tuple[EditConflict, ...]
    """Those that could not be decided, each with the reason."""
    drift: tuple[KernelDrift, ...]


class CellText(WireModel):
    """The answer of ``POST sessions/{id}/cell-text``: what the cell reads now."""

    text: str


class Proposal(WireModel):
    """A change that is not applied until the user says so.

    It is what makes ``new`` of ``old``, and is merged into the text as it is when it is applied.
    ``current`` is the text when the proposal was recorded; it differs from ``old`` where the user
    changed the same lines, so that they have to choose.
    """

    id: ProposalId
    session_id: SessionId
    turn_id: TurnId | None
    document: str
    cell_id: CellId | None
    old: str
    new: str
    current: str
    current_version: Version
    reason: str
    state: ProposalState
