"""Pending edits as they are shown: what the agent changed, beside the text as it stands. Pure.

Used by ``changes.review.service``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from jupyter_ai_shoulders.changes.remaining_hunks import (
    TextWithoutAgent,
    hunks_between,
    remove_agent_changes,
)
from jupyter_ai_shoulders.changes.review.current_text import CurrentDocument
from jupyter_ai_shoulders.changes.review.deleted_cells import DeletedCell
from jupyter_ai_shoulders.changes.review.pending_edits import TrackedEdit, version_of
from jupyter_ai_shoulders.wire.edits import PendingEdit
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.notebooks import CellType

Settled = Literal["settled"]
"""Nothing of the agent's change is left."""


@dataclass(frozen=True, slots=True)
class EditTexts:
    """What the log knows of an edit."""

    before: str | None
    after: str | None
    lost: ErrorInfo | None = None
    """Why there are none, where they are lost or damaged."""


def build_view(
    unit: TrackedEdit, texts: EditTexts, standing: CurrentDocument, gone: DeletedCell | None
) -> PendingEdit | Settled | None:
    """Return how an edit is shown; None while what was changed is not there.

    A cell or a file that the user removed may come back, by an undo or from a trash.
    """
    if standing.error is not None:
        return _shown(unit, standing, gone, TextWithoutAgent(texts.before), texts.after)
    if not standing.is_there and unit.cell_id is not None:
        return None
    current = standing.text_of(unit.cell_id)
    if texts.lost is not None and (current is None) == (unit.after is None):
        return _shown(unit, replace(standing, error=texts.lost), gone, TextWithoutAgent(None), None)
    if unit.after is None or texts.after is None:
        gone_still = _shown(unit, standing, gone, TextWithoutAgent(texts.before), None)
        return gone_still if current is None else "settled"
    return None if current is None else _changed(unit, texts.before, texts.after, standing, current)


def _changed(
    unit: TrackedEdit, before: str | None, after: str, standing: CurrentDocument, current: str
) -> PendingEdit | Settled:
    found = remove_agent_changes(before, after, current)
    if found.baseline == current and not found.conflict:
        return "settled"
    return _shown(unit, standing, None, found, current)


def _shown(
    unit: TrackedEdit,
    standing: CurrentDocument,
    gone: DeletedCell | None,
    found: TextWithoutAgent,
    current: str | None,
) -> PendingEdit:
    cell_type, position = _place(unit, standing, gone)
    return PendingEdit(
        id=unit.id,
        session_id=unit.session_id,
        turn_id=unit.turn_id,
        document=unit.document,
        cell_id=unit.cell_id,
        cell_type=cell_type,
        position=position,
        baseline=found.baseline,
        baseline_version=version_of(found.baseline, unit.cell_id),
        current=current,
        current_version=version_of(current, unit.cell_id),
        hunks=hunks_between(found.baseline, current),
        conflict=found.conflict,
        error=standing.error,
    )


def _place(
    unit: TrackedEdit, standing: CurrentDocument, gone: DeletedCell | None
) -> tuple[CellType | None, int | None]:
    if unit.cell_id is None:
        return None, None
    cell = standing.cells.get(unit.cell_id)
    if cell is not None:
        return cell.cell_type, standing.order.index(unit.cell_id)
    if gone is not None:
        return gone.cell_type, gone.place(standing.order)
    return None, None
