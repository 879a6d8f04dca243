"""Finds notebooks with names similar to a path that does not exist; made by ``host``."""

from __future__ import annotations

import asyncio
import difflib

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.file_tree import find_file_names

NAMED = 5


class WorkspaceNotebookIndex:
    """The ``NotebookIndex`` of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def near(self, path: str) -> tuple[str, ...]:
        """Return the notebooks most similar to ``path``, best first; any when none is similar."""
        return most_similar(path, await self.all())

    async def all(self) -> list[str]:
        """Return all visible notebooks, nearest to the root first."""
        return await asyncio.to_thread(find_file_names, self._workspace, ".ipynb")


def most_similar(path: str, names: list[str]) -> tuple[str, ...]:
    """Return up to five names, by similarity of file name and folder."""
    return tuple(sorted(names, key=lambda name: (-_likeness(path, name), name))[:NAMED])


def _likeness(path: str, name: str) -> float:
    files = path.rpartition("/")[2], name.rpartition("/")[2]
    return 2 * _ratio(*files) + _ratio(path, name)


def _ratio(first: str, second: str) -> float:
    return difflib.SequenceMatcher(None, first.lower(), second.lower()).ratio()
