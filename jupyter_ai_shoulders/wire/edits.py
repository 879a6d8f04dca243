"""Edits awaiting review and proposals awaiting a decision (chapter 07)."""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.ids import CellId, EditId, ProposalId, SessionId, TurnId, Version

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
    document: str
    cell_id: CellId | None
    baseline: str | None
    current: str | None
    current_version: Version | None
    hunks: tuple[Hunk, ...]
    """Between ``baseline`` and ``current``."""
    conflict: bool = False
    """The user changed the same lines since, so that a part of it can only be kept."""


class PendingEditList(WireModel):
    """``GET edits``: sorted by document, cells in their order."""

    edits: tuple[PendingEdit, ...]


class Proposal(WireModel):
    """A change that is not applied until the user says so.

    ``old`` is the text the change was made against, ``new`` what the agent wants, ``current``
    what stood there when the proposal was recorded (they differ from ``old`` after a conflict).
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
