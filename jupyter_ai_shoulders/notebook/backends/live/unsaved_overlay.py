"""The notebook of an absent page: the file, the page's last announcement and the agent's edits.

Used by ``notebook.backends.live.open_notebooks`` to read such a notebook, and to write the agent's
edits to the file when the page does not return.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import OutputSelection
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.backends.live.unsaved_edits import (
    UnsavedEdit,
    UnsavedEdits,
    is_applied,
    prepare_replay,
)
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted, NotebookSnapshot, NotebookStore
from jupyter_ai_shoulders.notebook.cells import make_cell, with_source
from jupyter_ai_shoulders.notebook.edits import apply_edits
from jupyter_ai_shoulders.wire.frames import AnnouncedCell
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellOutputs, NotebookCell

log = logging.getLogger(__name__)


async def read_overlay(
    disk: NotebookStore, claim: NotebookClaim, journal: UnsavedEdits, outputs: OutputSelection
) -> NotebookSnapshot:
    """Return the notebook as the page would show it. Raises ``InvalidNotebook``."""
    try:
        below = await disk.read(claim.path, outputs)
    except NotFound:
        below = NotebookSnapshot(claim.path, "disk", (), {}, dirty=True)
    wanted = set(claim.order) if outputs == "all" else set(outputs)
    cells = merge_unsaved(below.cells, claim.cells, journal)
    shown = tuple(_shown(cell, wanted) for cell in cells)
    return NotebookSnapshot(claim.path, "live", shown, below.metadata, dirty=True)


def merge_unsaved(
    on_disk: Sequence[NotebookCell], announced: Sequence[AnnouncedCell], journal: UnsavedEdits
) -> list[NotebookCell]:
    """Return the file's cells with the announced texts and the unannounced edits."""
    found = {cell.id: cell for cell in on_disk}
    cells = [_announced_cell(cell, found.get(cell.id)) for cell in announced]
    for entry in journal:
        if entry.client is None or isinstance(entry.edit, CellOutputs):
            cells = _tried(cells, entry.edit)
    return cells


def _tried(cells: list[NotebookCell], edit: CellEdit) -> list[NotebookCell]:
    by_id = {cell.id: cell for cell in cells}
    outcome = apply_edits(list(by_id), by_id.__getitem__, [edit], {})
    if isinstance(outcome, Conflicted):
        return cells
    by_id.update(outcome.changed)
    return [by_id[cell_id] for cell_id in outcome.order]


def _announced_cell(cell: AnnouncedCell, on_disk: NotebookCell | None) -> NotebookCell:
    if on_disk is None:
        return make_cell(cell.id, cell.cell_type, cell.source or "", outputs=())
    if cell.source is None or on_disk.version == cell.version:
        return on_disk
    return with_source(on_disk, cell.source)


async def replay_edits(
    disk: NotebookStore, claim: NotebookClaim, journal: UnsavedEdits
) -> list[UnsavedEdit]:
    """Write the edits to the file, each checked by itself; return those that failed."""
    return [
        entry for entry in journal if not entry.stored and not await store_edit(disk, claim, entry)
    ]


async def store_edit(disk: NotebookStore, claim: NotebookClaim, entry: UnsavedEdit) -> bool:
    """Write an edit to the file; return whether the file has it now."""
    try:
        return await _replay_one(disk, claim, entry)
    except ShouldersError as error:
        log.warning("An edit to %s cannot be put on the disk: %s", claim.path, error)
        return False


async def _replay_one(disk: NotebookStore, claim: NotebookClaim, entry: UnsavedEdit) -> bool:
    snapshot = await disk.read(claim.path)
    versions = {cell.id: cell.version for cell in snapshot.cells}
    if is_applied(entry, versions):
        return True
    edit, expected = prepare_replay(entry, claim.order, versions, in_file=True)
    return isinstance(await disk.apply(claim.path, [edit], expected), Applied)


def _shown(cell: NotebookCell, wanted: Collection[CellId]) -> NotebookCell:
    return cell if cell.id in wanted else cell.model_copy(update={"outputs": None})
