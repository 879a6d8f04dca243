"""Builds the views of pending edits from the stored and the current texts. Pure.

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
from jupyter_ai_shoulders.files.word.file_names import is_word
from jupyter_ai_shoulders.wire.edits import PendingEdit
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.notebooks import CellType

Settled = Literal["settled"]
"""None of the agent's changes remain."""


@dataclass(frozen=True, slots=True)
class EditTexts:
    """The stored texts of an edit."""

    before: str | None
    after: str | None
    lost: ErrorInfo | None = None
    """Why the texts are missing or damaged."""


def build_view(
    unit: TrackedEdit, texts: EditTexts, document: CurrentDocument, deleted_cell: DeletedCell | None
) -> PendingEdit | Settled | None:
    """Return the view of an edit; None while its cell or file does not exist.

    A cell or file that the user removed may come back by undo or from a trash.
    """
    if document.error is not None:
        return _visible_edits(
            unit, document, deleted_cell, TextWithoutAgent(texts.before), texts.after
        )
    if not document.exists and unit.cell_id is not None:
        return None
    current = document.text_of(unit.cell_id)
    if texts.lost is not None and (current is None) == (unit.after is None):
        return _visible_edits(
            unit, replace(document, error=texts.lost), deleted_cell, TextWithoutAgent(None), None
        )
    if unit.after is None or texts.after is None:
        gone_still = _visible_edits(
            unit, document, deleted_cell, TextWithoutAgent(texts.before), None
        )
        return gone_still if current is None else "settled"
    return None if current is None else _changed(unit, texts.before, texts.after, document, current)


def _changed(
    unit: TrackedEdit, before: str | None, after: str, document: CurrentDocument, current: str
) -> PendingEdit | Settled:
    found = remove_agent_changes(before, after, current)
    if found.baseline == current and not found.conflict:
        return "settled"
    return _visible_edits(unit, document, None, found, current)


def _visible_edits(
    unit: TrackedEdit,
    document: CurrentDocument,
    deleted_cell: DeletedCell | None,
    found: TextWithoutAgent,
    current: str | None,
) -> PendingEdit:
    cell_type, position = _place(unit, document, deleted_cell)
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
        kind="word" if unit.cell_id is None and is_word(unit.document) else "text",
        error=document.error,
    )


def _place(
    unit: TrackedEdit, document: CurrentDocument, deleted_cell: DeletedCell | None
) -> tuple[CellType | None, int | None]:
    if unit.cell_id is None:
        return None, None
    cell = document.cells.get(unit.cell_id)
    if cell is not None:
        return cell.cell_type, document.order.index(unit.cell_id)
    if deleted_cell is not None:
        return deleted_cell.cell_type, deleted_cell.place(document.order)
    return None, None
