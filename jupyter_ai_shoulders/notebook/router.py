"""Finds a notebook's back end at each call: a room, a page, or the disk.

The tools' ``Notebooks``; made by ``host``. A notebook may be opened or closed between two calls of
one tool, so the choice is made for each read and each change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import OutputSelection
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.backends.shared.notebooks import SharedNotebooks
from jupyter_ai_shoulders.notebook.backends.shared.rooms import NoRooms, Room
from jupyter_ai_shoulders.notebook.base import (
    Applied,
    Backend,
    Conflicted,
    NotebookSnapshot,
    NotebookStore,
)
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit


class NotebookRouter:
    """The notebooks of a workspace, in any back end."""

    def __init__(
        self,
        workspace: Workspace,
        live: OpenNotebooks,
        disk: NotebookStore,
        shared: SharedNotebooks | None = None,
    ) -> None:
        self._workspace = workspace
        self._shared = shared or SharedNotebooks(workspace, NoRooms(), disk)
        self._live = live
        self._disk = disk

    def open(self, path: str) -> RoutedNotebook:
        """Return the notebook at a path; aliases of a file give the same notebook.

        Raises ``NotFound``; ``InvalidRequest`` (``outside_workspace``, ``not_a_notebook``).
        """
        name = self._live.current(self._workspace.path(path))
        if not name.endswith(".ipynb"):
            raise InvalidRequest(
                f"{path} is not a notebook.",
                code="not_a_notebook",
                hint="Notebooks end in .ipynb; other files have tools of their own.",
            )
        room = self._shared.find(name)
        if room is None and not self._live.is_live(name):
            self._disk.check(name)
        return RoutedNotebook(name, room, self._shared, self._live, self._disk)

    def in_page(self, path: str) -> bool:
        """Return whether a connected page has the notebook open, so that an edit can be reviewed
        there.
        """
        if self._live.owner(path) is not None:
            return True
        room = self._shared.find(self._workspace.path(path))
        return room is not None and room.has_pages


class RoutedNotebook:
    """One notebook (``notebook.base.Notebook``)."""

    def __init__(
        self,
        name: WorkspacePath,
        room: Room | None,
        shared: SharedNotebooks,
        live: OpenNotebooks,
        disk: NotebookStore,
    ) -> None:
        self._opened = name
        self._room = room
        self._shared = shared
        self._live = live
        self._disk = disk

    @property
    def _name(self) -> WorkspacePath:
        """The current path: the notebook may have been renamed since it was opened."""
        if self._room is not None and self._room.is_open:
            return self._shared.name_of(self._room) or self._opened
        return self._live.current(self._opened)

    @property
    def path(self) -> str:
        """Return the workspace-relative path."""
        return self._name

    @property
    def backend(self) -> Backend:
        """Return its current back end."""
        if self._shared.find(self._name) is not None:
            return "shared"
        return "live" if self._live.is_live(self._name) else "disk"

    async def read(self, outputs: OutputSelection = ()) -> NotebookSnapshot:
        """Return the notebook now, with the outputs of the named cells.

        Raises ``NotFound``, ``InvalidNotebook``, ``Conflict`` (page not responding).
        """
        name = self._name
        if self._shared.find(name) is not None:
            return await self._shared.read(name, outputs)
        if self._live.is_live(name):
            return await self._live.read(name, outputs)
        return await self._disk.read(name, outputs)

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Apply all edits, or none. Raises like ``read``."""
        name = self._name
        if self._shared.find(name) is not None:
            return await self._shared.apply(name, edits, expected)
        if self._live.is_live(name):
            return await self._live.apply(name, edits, expected)
        outcome = await self._disk.apply(name, edits, expected)
        self._live.wrote(name)
        return outcome
