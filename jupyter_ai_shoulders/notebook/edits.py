"""The rule for cell edits: whether they apply, the cells after them, and their inverse.

Pure; the page has the same rule in ``labextension/src/text/edits.ts``. Used by the disk back end
and by the overlay of an absent page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.notebook.cells import (
    make_cell,
    summary_of,
    with_outputs,
    with_source,
)
from jupyter_ai_shoulders.wire.frames import CellConflict
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
    NotebookCell,
)

Reason = Literal["changed", "deleted", "protected", "exists"]


@dataclass(frozen=True, slots=True)
class EditedNotebook:
    """The notebook after the edits: its order, and the new or changed cells."""

    order: tuple[CellId, ...]
    changed: Mapping[CellId, NotebookCell]
    applied: Applied


def needs_outputs(edits: Sequence[CellEdit]) -> frozenset[CellId]:
    """Return the cells whose outputs are needed to undo the edits."""
    return frozenset(edit.cell_id for edit in edits if isinstance(edit, CellDelete | CellOutputs))


def apply_edits(
    order: Sequence[CellId],
    find: Callable[[CellId], NotebookCell],
    edits: Sequence[CellEdit],
    expected: Mapping[CellId, Version],
) -> EditedNotebook | Conflicted:
    """Apply all edits in order, or none when a cell does not have the expected version.

    ``find`` returns any cell of ``order``; the cells of ``needs_outputs`` with their outputs.
    """
    draft = _Draft(list(order), set(order), find)
    for cell_id, version in expected.items():
        if cell_id not in draft.known:
            draft.refuse(cell_id, "deleted")
        elif find(cell_id).version != version:
            draft.refuse(cell_id, "changed")
    inverse: list[CellEdit] = []
    for edit in edits:
        undo = _apply(draft, edit)
        if undo is not None:
            inverse.append(undo)
    if draft.conflicts:
        return Conflicted(tuple(draft.conflicts.values()))
    versions = {
        edit.cell_id: draft.cell(edit.cell_id).version
        for edit in edits
        if edit.cell_id in draft.known
    }
    return EditedNotebook(
        tuple(draft.order), draft.changed, Applied(versions, tuple(reversed(inverse)))
    )


@dataclass(slots=True)
class _Draft:
    """The state of the notebook while edits are tried."""

    order: list[CellId]
    known: set[CellId]
    original: Callable[[CellId], NotebookCell]
    changed: dict[CellId, NotebookCell] = field(default_factory=dict[CellId, NotebookCell])
    conflicts: dict[CellId, CellConflict] = field(default_factory=dict[CellId, CellConflict])

    def cell(self, cell_id: CellId) -> NotebookCell:
        return self.changed.get(cell_id) or self.original(cell_id)

    def before(self, cell_id: CellId) -> CellId | None:
        index = self.order.index(cell_id)
        return self.order[index - 1] if index else None

    def insert(self, cell_id: CellId, after: CellId | None) -> None:
        self.order.insert(0 if after is None else self.order.index(after) + 1, cell_id)

    def refuse(self, cell_id: CellId, reason: Reason) -> None:
        """Record the first reason against a cell, with its current state."""
        if cell_id in self.conflicts:
            return
        cell = self.cell(cell_id) if cell_id in self.known else None
        self.conflicts[cell_id] = CellConflict(
            cell_id=cell_id,
            current=cell.source if cell else None,
            version=cell.version if cell else None,
            reason=reason,
        )

    def lacks(self, *cell_ids: CellId | None) -> bool:
        """Refuse, and return True, when one of the cells does not exist."""
        missing = [item for item in cell_ids if item is not None and item not in self.known]
        for cell_id in missing:
            self.refuse(cell_id, "deleted")
        return bool(missing)


def _apply(draft: _Draft, edit: CellEdit) -> CellEdit | None:
    """Apply one edit; return its inverse, None when it is refused."""
    match edit:
        case CellSource():
            return _set_source(draft, edit)
        case CellInsert():
            return _insert(draft, edit)
        case CellDelete():
            return _delete(draft, edit)
        case CellMove():
            return _move(draft, edit)
        case CellOutputs():
            return _set_outputs(draft, edit)
        case _:
            assert_never(edit)


def _set_source(draft: _Draft, edit: CellSource) -> CellEdit | None:
    if draft.lacks(edit.cell_id):
        return None
    cell = draft.cell(edit.cell_id)
    if cell.metadata.get("editable") is False:
        draft.refuse(edit.cell_id, "protected")
        return None
    draft.changed[edit.cell_id] = with_source(cell, edit.source)
    return CellSource(cell_id=edit.cell_id, source=cell.source)


def _insert(draft: _Draft, edit: CellInsert) -> CellEdit | None:
    if edit.cell_id in draft.known:
        draft.refuse(edit.cell_id, "exists")
        return None
    if draft.lacks(edit.after):
        return None
    draft.changed[edit.cell_id] = inserted_cell(edit)
    draft.known.add(edit.cell_id)
    draft.insert(edit.cell_id, edit.after)
    return CellDelete(cell_id=edit.cell_id)


def inserted_cell(edit: CellInsert) -> NotebookCell:
    """Return the inserted cell."""
    code = edit.cell_type == "code"
    return make_cell(
        edit.cell_id,
        edit.cell_type,
        edit.source,
        metadata=edit.metadata,
        execution_count=edit.execution_count if code else None,
        summaries=tuple(map(summary_of, edit.outputs)) if code else (),
        outputs=edit.outputs if code else (),
    )


def _delete(draft: _Draft, edit: CellDelete) -> CellEdit | None:
    if draft.lacks(edit.cell_id):
        return None
    cell = draft.cell(edit.cell_id)
    if cell.metadata.get("deletable") is False:
        draft.refuse(edit.cell_id, "protected")
        return None
    undo = CellInsert(
        cell_id=cell.id,
        cell_type=cell.cell_type,
        source=cell.source,
        metadata=cell.metadata,
        after=draft.before(cell.id),
        outputs=cell.outputs or (),
        execution_count=cell.execution_count,
    )
    draft.order.remove(cell.id)
    draft.known.remove(cell.id)
    draft.changed.pop(cell.id, None)
    return undo


def _move(draft: _Draft, edit: CellMove) -> CellEdit | None:
    if draft.lacks(edit.cell_id, edit.after):
        return None
    undo = CellMove(cell_id=edit.cell_id, after=draft.before(edit.cell_id))
    if edit.after != edit.cell_id:
        draft.order.remove(edit.cell_id)
        draft.insert(edit.cell_id, edit.after)
    return undo


def _set_outputs(draft: _Draft, edit: CellOutputs) -> CellEdit | None:
    if draft.lacks(edit.cell_id):
        return None
    cell = draft.cell(edit.cell_id)
    if cell.cell_type != "code":
        # The user made it a text cell, which has no outputs.
        draft.refuse(edit.cell_id, "changed")
        return None
    after = with_outputs(cell, edit.outputs)
    draft.changed[cell.id] = after.model_copy(update={"execution_count": edit.execution_count})
    return CellOutputs(
        cell_id=cell.id, outputs=cell.outputs or (), execution_count=cell.execution_count
    )
