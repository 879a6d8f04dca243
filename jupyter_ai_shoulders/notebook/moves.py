"""The new paths of notebooks that were renamed while someone knew them by the old one.

Used by ``notebook.live``: an agent in the middle of a turn, and a run in the middle of its cell, go
on with the path they know.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.paths import Workspace, WorkspacePath


class Moves:
    """Old paths and the new ones they lead to, as long as nothing else stands at the old path."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._new: dict[WorkspacePath, WorkspacePath] = {}

    def add(self, old: WorkspacePath, new: WorkspacePath) -> None:
        """Take note of a rename."""
        self._new.pop(new, None)
        self._new[old] = new

    def current(self, path: WorkspacePath) -> WorkspacePath:
        """Return where the notebook is now."""
        seen: set[WorkspacePath] = set()
        while path in self._new and path not in seen and not self._exists(path):
            seen.add(path)
            path = self._new[path]
        return path

    def _exists(self, path: WorkspacePath) -> bool:
        try:
            self._workspace.stat(path)
        except ShouldersError:
            return False
        return True
