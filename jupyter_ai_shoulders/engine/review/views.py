"""Pending edits as they are shown: what the agent changed, beside the text as it stands. Pure.

Used by ``engine.review.desk``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from jupyter_ai_shoulders.engine.review.book import Unit, version_of
from jupyter_ai_shoulders.engine.review.gone import GoneCell
from jupyter_ai_shoulders.engine.review.standing import Standing
from jupyter_ai_shoulders.engine.review.texts import Look, hunks_between, look
from jupyter_ai_shoulders.wire.edits import PendingEdit
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.notebooks import CellType

Settled = Literal["settled"]
"""Nothing of the agent's change is left."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What the log knows of an edit."""

    before: str | None
    after: str | None
    lost: ErrorInfo | None = None
    """Why there are none, where they are lost or damaged."""


def view_of(
    unit: Unit, texts: Texts, standing: Standing, gone: GoneCell | None
) -> PendingEdit | Settled | None:
    """Return how an edit is shown; None while what was changed is not there.

    A cell or a file that the user removed may come back, by an undo or from a trash.
    """
    if standing.error is not None:
        return _shown(unit, standing, gone, Look(texts.before), texts.after)
    if not standing.is_there and unit.cell_id is not None:
        return None
    current = standing.text_of(unit.cell_id)
    if texts.lost is not None and (current is None) == (unit.after is None):
        return _shown(unit, replace(standing, error=texts.lost), gone, Look(None), None)
    if unit.after is None or texts.after is None:
        gone_still = _shown(unit, standing, gone, Look(texts.before), None)
        return gone_still if current is None else "settled"
    return None if current is None else _changed(unit, texts.before, texts.after, standing, current)


def _changed(
    unit: Unit, before: str | None, after: str, standing: Standing, current: str
) -> PendingEdit | Settled:
    found = look(before, after, current)
    if found.baseline == current and not found.conflict:
        return "settled"
    return _shown(unit, standing, None, found, current)


def _shown(
    unit: Unit, standing: Standing, gone: GoneCell | None, found: Look, current: str | None
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
    unit: Unit, standing: Standing, gone: GoneCell | None
) -> tuple[CellType | None, int | None]:
    if unit.cell_id is None:
        return None, None
    cell = standing.cells.get(unit.cell_id)
    if cell is not None:
        return cell.cell_type, standing.order.index(unit.cell_id)
    if gone is not None:
        return gone.cell_type, gone.place(standing.order)
    return None, None
