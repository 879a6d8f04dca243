"""Pending edits, and proposals that need a decision."""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.event_types.restore import KernelDrift
from jupyter_ai_shoulders.wire.ids import CellId, EditId, ProposalId, SessionId, TurnId, Version
from jupyter_ai_shoulders.wire.notebooks import CellType

ProposalState = Literal["proposed", "applied", "edited", "conflict", "stale", "dismissed", "undone"]


class Hunk(WireModel):
    """A changed region: half-open line ranges, 0-based, in the text before and after."""

    before_from: int
    before_to: int
    after_from: int
    after_to: int


class PendingEdit(WireModel):
    """The agent's unreviewed change of one file or cell.

    ``baseline`` is the text without the agent's changes but with all later changes of the user;
    null if the agent created it. ``current`` is the document's text; null if it no longer exists.
    """

    id: EditId
    session_id: SessionId
    turn_id: TurnId | None
    """The session and turn of the last change."""
    document: str
    cell_id: CellId | None
    cell_type: CellType | None
    position: int | None
    """Index of the cell in its notebook, from 0; for a deleted cell, where it would be restored.
    Null for files.
    """
    baseline: str | None
    baseline_version: Version | None
    current: str | None
    current_version: Version | None
    hunks: tuple[Hunk, ...]
    """Between ``baseline`` and ``current``; empty where one of them is null."""
    conflict: bool = False
    """The user changed the same lines since. ``baseline`` has the user's version there, so the
    agent's part can only be kept.
    """
    kind: Literal["text", "word"] = "text"
    """``word``: the texts are those of a Word document, one line per paragraph (U+2028 is a line
    break in it), and the edit is kept or undone as a whole.
    """
    error: ErrorInfo | None = None
    """Why the document cannot be read; ``current`` is then the agent's text. Or why the stored
    texts of the edit cannot be read: both are null then, and the edit can only be kept.
    """


class PendingEditList(WireModel):
    """``GET edits``: sorted by document, cells in notebook order."""

    edits: tuple[PendingEdit, ...]


class EditDecision(WireModel):
    """The answer of ``POST edits/{id}``."""

    edit: PendingEdit | None
    """The part still pending; null when nothing is."""
    drift: KernelDrift | None
    """For an undo: effects of the undone code that remain in the kernel."""


class EditConflict(WireModel):
    """The body of 409 of ``POST edits/{id}``: nothing was changed."""

    error: ErrorInfo
    edit: PendingEdit | None
    """The current edit; null when it was decided."""


class EditDecisions(WireModel):
    """The answer of ``POST edits``."""

    resolved: tuple[EditId, ...]
    left: tuple[EditConflict, ...]
    """Edits that could not be decided, each with the reason."""
    drift: tuple[KernelDrift, ...]


class CellTextAnswer(WireModel):
    """The answer of ``POST sessions/{id}/cell-text``: the cell's current text."""

    text: str


class Proposal(WireModel):
    """A change that is applied only when the user decides so.

    It changes ``old`` to ``new``, and is merged into the current text when it is applied.
    ``current`` is the text when the proposal was recorded; it differs from ``old`` where the user
    changed the same lines and must choose.
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
