"""The new paths of renamed notebooks, for callers that still use the old path.

Used by ``notebook.backends.live.open_notebooks`` for an agent in a turn, a run in its cell, a page
that slept and a pending proposal. Stored across restarts.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath

MAX_RENAMES = 500
"""Renames that are remembered, the newest."""


class NotebookRenames:
    """Maps old paths to new ones, as long as nothing else exists at the old path."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._new: dict[str, str] = {}

    @property
    def known(self) -> Mapping[str, str]:
        """The new path by the old one."""
        return self._new

    def restore(self, known: Mapping[str, str]) -> None:
        """Load the renames of a former process."""
        self._new = {**known, **self._new}

    def add(self, old: WorkspacePath, new: WorkspacePath) -> None:
        """Record that a file or a directory was renamed."""
        self._new.pop(new, None)
        self._new.pop(old, None)
        self._new[old] = new
        while len(self._new) > MAX_RENAMES:
            del self._new[next(iter(self._new))]

    def current(self, path: WorkspacePath) -> WorkspacePath:
        """Return the notebook's current path."""
        seen: set[str] = set()
        while path not in seen and (new := self._renamed(path)) and not self._exists(path):
            seen.add(path)
            path = self._workspace.path(new)
        return path

    def _renamed(self, path: WorkspacePath) -> str | None:
        """Return the new path of the file, or of the nearest renamed directory above it."""
        above, below = str(path), ""
        while above and above not in self._new:
            above, _, last = above.rpartition("/")
            below = f"/{last}{below}"
        return f"{self._new[above]}{below}" if above else None

    def _exists(self, path: WorkspacePath) -> bool:
        try:
            self._workspace.stat(path)
        except ShouldersError:
            return False
        return True
