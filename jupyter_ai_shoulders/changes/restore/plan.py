"""Plans the edits that restore a notebook to its state before the agent and keep the user's work.
Pure.

Compares three states of each cell: before the agent, as the agent left it, and now. A cell as the
agent left it is restored; one that the user changed since is kept, and its earlier text is
proposed. Used by ``changes.restore.restorer``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.changes.recording.change_history import CellHistory, DocumentHistory
from jupyter_ai_shoulders.changes.recording.snapshots import (
    StoredCell,
    StoredCellText,
    StoredNotebook,
    outputs_hash,
    title_of,
)
from jupyter_ai_shoulders.core.text_merge import merge_texts
from jupyter_ai_shoulders.wire.event_types.restore import CellName, UnrestoredCell, UnrestoredReason
from jupyter_ai_shoulders.wire.events import RestoredDocument
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


@dataclass(frozen=True, slots=True)
class RestoreConflict:
    """A cell that the user changed after the agent; its earlier text is proposed."""

    cell: NotebookCell
    ours: str
    before: str


@dataclass(slots=True)
class RestorePlan:
    """Edits in the order to apply them, and the report about them."""

    merges: bool = False
    """Whether texts that the user changed since are merged where that is possible."""
    edits: list[CellEdit] = field(default_factory=list[CellEdit])
    expected: dict[CellId, Version] = field(default_factory=dict[CellId, Version])
    removed: list[CellName] = field(default_factory=list[CellName])
    returned: list[CellName] = field(default_factory=list[CellName])
    rewritten: list[CellName] = field(default_factory=list[CellName])
    moved: list[CellName] = field(default_factory=list[CellName])
    outputs: list[CellName] = field(default_factory=list[CellName])
    kept: list[UnrestoredCell] = field(default_factory=list[UnrestoredCell])
    conflicts: list[RestoreConflict] = field(default_factory=list[RestoreConflict])

    def keep_cell(self, cell: NotebookCell, reason: UnrestoredReason) -> None:
        """Keep a cell as it is and report the reason."""
        kept = UnrestoredCell(cell_id=cell.id, title=title_of(cell.source), reason=reason)
        self.kept.append(kept)

    def expect(self, cell: NotebookCell) -> None:
        """Require the cell to be unchanged since it was read."""
        self.expected[cell.id] = cell.version

    def merged(self, ours: str | None, now: str, before: str) -> str | None:
        """Return the text without the agent's changes; None where that is not clear."""
        return merge_texts(ours, now, before) if self.merges and ours is not None else None

    def to_document_report(self, document: str) -> RestoredDocument:
        """Return the report for the log."""
        return RestoredDocument(
            document=document,
            removed=tuple(self.removed),
            returned=tuple(self.returned),
            rewritten=tuple(self.rewritten),
            moved=tuple(self.moved),
            outputs=tuple(self.outputs),
            kept=tuple(self.kept),
        )


def plan_restore(
    before: StoredNotebook,
    stored: Mapping[CellId, tuple[StoredCell, StoredCell]],
    history: DocumentHistory,
    now: Sequence[NotebookCell],
    *,
    merges: bool = False,
) -> RestorePlan:
    """Return the plan for a notebook; ``merges`` removes the agent's lines from changed texts.

    ``stored`` holds cells as they were before the agent's first and last change. The cells of
    ``now`` whose outputs the agent changed must be read with outputs.
    """
    plan = RestorePlan(merges=merges)
    present = {cell.id: cell for cell in now}
    was = {cell.id: cell for cell in before.cells}
    order = [cell.id for cell in now]
    _move_back(plan, before, history, present, order)
    _return_deleted(plan, before, stored, history, order)  # needs the final order
    for cell in now:
        cell_history = history.cells.get(cell.id)
        if cell_history is None:
            continue
        if cell.id in was:
            _put_back(plan, cell, was[cell.id], cell_history, stored.get(cell.id))
        elif cell_history.created:
            _remove(plan, cell, cell_history)
    return plan


def _return_deleted(
    plan: RestorePlan,
    before: StoredNotebook,
    stored: Mapping[CellId, tuple[StoredCell, StoredCell]],
    history: DocumentHistory,
    order: list[CellId],
) -> None:
    for position, cell in enumerate(before.cells):
        cell_history = history.cells.get(cell.id)
        if cell_history is None or not cell_history.deleted or cell.id in order:
            continue
        first, last = stored.get(cell.id, (None, None))
        source = _text_of_deleted(cell, cell_history, last)
        after = _above(before, position, order)
        code = cell.cell_type == "code" and first is not None
        plan.edits.append(
            CellInsert(
                cell_id=cell.id,
                cell_type=cell.cell_type,
                source=source,
                metadata=cell.metadata,
                after=after,
                outputs=first.outputs if first and code else (),
                execution_count=first.execution_count if first and code else None,
                attachments=last.attachments if last else None,
            )
        )
        order.insert(0 if after is None else order.index(after) + 1, cell.id)
        plan.returned.append(CellName(cell_id=cell.id, title=title_of(source)))


def _text_of_deleted(
    cell: StoredCellText, cell_history: CellHistory, last: StoredCell | None
) -> str:
    """Return the text before the agent, or the user's version at the deletion."""
    if last is None or last.version in {cell_history.version, cell.version}:
        return cell_history.without_agent_changes(cell.source) or ""
    return last.source


def _move_back(
    plan: RestorePlan,
    before: StoredNotebook,
    history: DocumentHistory,
    present: Mapping[CellId, NotebookCell],
    order: list[CellId],
) -> None:
    for position, cell in enumerate(before.cells):
        cell_history = history.cells.get(cell.id)
        if cell_history is None or not cell_history.moved or cell.id not in present:
            continue
        others = [cell_id for cell_id in order if cell_id != cell.id]
        after = _above(before, position, others)
        index = 0 if after is None else others.index(after) + 1
        back = [*others[:index], cell.id, *others[index:]]
        if _same_order(back, order, history):
            continue
        order[:] = back
        plan.edits.append(CellMove(cell_id=cell.id, after=after))
        plan.moved.append(CellName(cell_id=cell.id, title=title_of(cell.source)))


def _same_order(back: list[CellId], order: list[CellId], history: DocumentHistory) -> bool:
    """Return whether the orders are equal apart from cells that are removed."""

    def stays(cell_id: CellId) -> bool:
        return cell_id not in history.cells or not history.cells[cell_id].created

    return [*filter(stays, back)] == [*filter(stays, order)]


def _above(before: StoredNotebook, position: int, order: Sequence[CellId]) -> CellId | None:
    """Return the nearest cell above that still exists; None for the top."""
    above = (cell.id for cell in reversed(before.cells[:position]))
    return next((cell_id for cell_id in above if cell_id in order), None)


def _remove(plan: RestorePlan, cell: NotebookCell, cell_history: CellHistory) -> None:
    if cell.version != cell_history.version or cell_history.without_agent_changes(None) is not None:
        plan.keep_cell(cell, "changed")
    elif cell.metadata.get("deletable") is False:
        plan.keep_cell(cell, "protected")
    else:
        plan.expect(cell)
        plan.edits.append(CellDelete(cell_id=cell.id))
        plan.removed.append(CellName(cell_id=cell.id, title=title_of(cell.source)))


def _put_back(
    plan: RestorePlan,
    cell: NotebookCell,
    was: StoredCellText,
    cell_history: CellHistory,
    stored: tuple[StoredCell, StoredCell] | None,
) -> None:
    """Restore the cell's text and outputs, each only if it is as the agent left it."""
    before = cell_history.without_agent_changes(was.source) or ""
    rewritten = cell_history.version is not None and cell.source != before
    text: str | None = before
    if rewritten and cell.version != cell_history.version:
        text = plan.merged(cell_history.source, cell.source, before)
    if text is None:
        plan.keep_cell(cell, "changed")
        plan.conflicts.append(RestoreConflict(cell, cell_history.source or "", before))
        return
    if rewritten and cell.metadata.get("editable") is False:
        plan.keep_cell(cell, "protected")
        return
    name = CellName(cell_id=cell.id, title=title_of(was.source))
    if rewritten:
        plan.expect(cell)
        plan.edits.append(CellSource(cell_id=cell.id, source=text))
        plan.rewritten.append(name)
    if cell_history.outputs_touched and stored is not None and cell.cell_type == "code":
        _outputs_back(plan, cell, stored[0], cell_history)


def _outputs_back(
    plan: RestorePlan, cell: NotebookCell, was: StoredCell, cell_history: CellHistory
) -> None:
    now = (outputs_hash(cell.outputs or ()), cell.execution_count)
    if now == (outputs_hash(was.outputs), was.execution_count):
        return
    if cell_history.outputs is None:
        plan.keep_cell(cell, "unknown")
    elif now != (cell_history.outputs, cell_history.execution_count):
        plan.keep_cell(cell, "run")
    else:
        plan.expect(cell)
        plan.edits.append(
            CellOutputs(cell_id=cell.id, outputs=was.outputs, execution_count=was.execution_count)
        )
        plan.outputs.append(CellName(cell_id=cell.id, title=title_of(was.source)))
