"""The shared back end: notebooks in collaboration rooms, edited on the server.

Used by ``notebook.router``, for which a room takes precedence over pages, and by the run display of
rooms. The room saves the file by itself; this module never writes it while the room is open.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import OutputSelection
from jupyter_ai_shoulders.notebook.backends.shared.rooms import Room, Rooms
from jupyter_ai_shoulders.notebook.backends.shared.snapshots import SharedCells, SharedSnapshot
from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import (
    attachments_of,
    object_of,
    read_cell,
    well_formed_edit,
    ycells_of,
)
from jupyter_ai_shoulders.notebook.backends.shared.ydoc_edits import YCells, apply_checked_edits
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted, NotebookSnapshot, NotebookStore
from jupyter_ai_shoulders.notebook.edits import apply_edits, needs_outputs
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

if TYPE_CHECKING:
    from jupyter_ydoc import YNotebook

log = logging.getLogger(__name__)

ORIGIN = "jupyter-ai-shoulders"
"""The origin of our transactions, so that others can tell them from typing."""


class SharedNotebooks:
    """The notebooks that are in a room now; as ``NotebookStore``, also the files of all others."""

    def __init__(self, workspace: Workspace, rooms: Rooms, files: NotebookStore) -> None:
        self._workspace = workspace
        self._rooms = rooms
        self._files = files

    @property
    def has_rooms(self) -> bool:
        """Whether any notebook is in a room; cheap, because runs ask often and resolving a path is
        slow.
        """
        return bool(self._rooms.all())

    def find(self, name: WorkspacePath) -> Room | None:
        """Return the room of a notebook."""
        rooms = self._rooms.all()
        return next((room for room in rooms if room.path == name), None) or next(
            (room for room in rooms if self.name_of(room) == name), None
        )

    def name_of(self, room: Room) -> WorkspacePath | None:
        """Return the path of the room's file, under whichever name its pages know it."""
        try:
            return None if room.path is None else self._workspace.path(room.path)
        except ShouldersError:
            return None  # outside the workspace: not ours to edit

    def check(self, path: WorkspacePath) -> None:
        """Raise ``NotFound`` when it is known that there is neither room nor file."""
        if self.find(path) is None:
            self._files.check(path)

    async def read(self, path: WorkspacePath, outputs: OutputSelection = ()) -> NotebookSnapshot:
        """Return a notebook from its room or its file.

        Raises ``NotFound``, ``InvalidNotebook``, ``Conflict``.
        """
        room = await self._settled(path)
        if room is None:
            return await self._files.read(path, outputs)
        document = room.document
        metadata = object_of(document.ydoc["meta"].get("metadata"))
        cells = SharedCells(document, outputs)
        return SharedSnapshot(path, "shared", cells, metadata, dirty=bool(document.dirty))

    async def apply(
        self, path: WorkspacePath, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Apply all edits to a room in one transaction, or to a file; or none.

        Typing that has not arrived yet is merged by the room's document. Raises ``NotFound``,
        ``InvalidNotebook``, ``Conflict``.
        """
        room = await self._settled(path)
        if room is None:
            return await self._files.apply(path, edits, expected)
        outcome = edit_document(room.document, edits, expected)
        crash_point("shared.room.applied")
        if isinstance(outcome, Conflicted) or room.has_pages:
            return outcome
        # A room without pages is closed after a while, and loses unsaved changes.
        await room.save()
        crash_point("shared.room.saved")
        if room.is_open or not room.document.dirty:
            return outcome
        log.warning("The room of %s was closed before it saved: its file is edited", path)
        return await self._to_file(path, outcome, edits, expected)

    async def _settled(self, path: WorkspacePath) -> Room | None:
        """Return the room, ready until the next await; None when there is none."""
        while (room := self.find(path)) is not None:
            await room.settle()
            if room.is_open:
                return room
        return None

    async def _to_file(
        self,
        name: WorkspacePath,
        outcome: Applied,
        edits: Sequence[CellEdit],
        expected: Mapping[CellId, Version],
    ) -> Applied | Conflicted:
        """Apply to the file the edits it lacks."""
        snapshot = await self._files.read(name)
        versions = {cell.id: cell.version for cell in snapshot.cells}
        missing = [edit for edit in edits if not _is_there(edit, outcome, versions)]
        saved = {edit.cell_id for edit in edits if _is_there(edit, outcome, versions)}
        checked = {cell: version for cell, version in expected.items() if cell not in saved}
        written = await self._files.apply(name, missing, checked)
        return outcome if isinstance(written, Applied) else written


def edit_document(
    document: YNotebook, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
) -> Applied | Conflicted:
    """Check and apply the edits without a gap."""
    edits = [well_formed_edit(edit) for edit in edits]
    with agent_transaction(document):
        outcome = _edit_checked(YCells(ycells_of(document)), edits, expected)
        if isinstance(outcome, Applied):
            document.dirty = True
    return outcome


@contextmanager
def agent_transaction(document: YNotebook) -> Generator[None]:
    """Group the changes of the body into one transaction of ours for all users of the room."""
    try:
        with document.ydoc.transaction(origin=ORIGIN):
            yield
    except ExceptionGroup:
        # Another observer failed after the change; pycrdt raises it here.
        log.exception("What watches a shared notebook failed")


def _edit_checked(
    cells: YCells, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
) -> Applied | Conflicted:
    shown = needs_outputs(edits)

    def find(cell_id: CellId) -> NotebookCell:
        return read_cell(cells.find(cell_id), with_outputs=cell_id in shown)

    outcome = apply_edits(cells.order, find, edits, expected)
    if isinstance(outcome, Conflicted):
        return outcome
    inverse = tuple(_with_attachments(edit, cells) for edit in outcome.applied.inverse)
    apply_checked_edits(cells, edits)
    return replace(outcome.applied, inverse=inverse)


def _with_attachments(edit: CellEdit, before: YCells) -> CellEdit:
    """Add the attachments of a deleted cell to the inverse edit."""
    if not isinstance(edit, CellInsert) or edit.cell_id not in before.order:
        return edit
    attachments = attachments_of(before.find(edit.cell_id))
    return edit.model_copy(update={"attachments": attachments}) if attachments else edit


def _is_there(edit: CellEdit, outcome: Applied, versions: Mapping[CellId, Version]) -> bool:
    match edit:
        case CellSource():
            return versions.get(edit.cell_id) == outcome.versions.get(edit.cell_id)
        case CellInsert():
            return edit.cell_id in versions
        case CellDelete():
            return edit.cell_id not in versions
        case CellMove() | CellOutputs():
            return False  # repeating it changes nothing
