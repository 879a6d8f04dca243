"""Names of the notebooks there are, to answer a path that names none; made by ``host``."""

from __future__ import annotations

import asyncio
import difflib

from jupyter_ai_shoulders.guard.listing import file_names
from jupyter_ai_shoulders.guard.paths import Workspace

NAMED = 5


class WorkspaceNotebookNames:
    """The ``NotebookNames`` of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def near(self, path: str) -> tuple[str, ...]:
        """Return the notebooks most like ``path``, best first; any when none is like it."""
        return most_alike(path, await self.all())

    async def all(self) -> list[str]:
        """Return all notebooks, nearest to the root first, without hidden ones."""
        return await asyncio.to_thread(file_names, self._workspace, ".ipynb")


def most_alike(path: str, names: list[str]) -> tuple[str, ...]:
    """Return up to five names, those with the most similar file name and folder first."""
    return tuple(sorted(names, key=lambda name: (-_likeness(path, name), name))[:NAMED])


def _likeness(path: str, name: str) -> float:
    files = path.rpartition("/")[2], name.rpartition("/")[2]
    return 2 * _ratio(*files) + _ratio(path, name)


def _ratio(first: str, second: str) -> float:
    return difflib.SequenceMatcher(None, first.lower(), second.lower()).ratio()
