"""Finds files and folders of the workspace by a part of their names, for mentions.

Made by ``host.build`` for ``host.context.mentions``. Searches the index of paths without likely
secrets, closed folders, links, and folders that have no other files.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.fuzzy_matching import (
    FolderNames,
    best_matches,
    folder_names,
    in_order,
)
from jupyter_ai_shoulders.core.sensitive_files.secret_files import secret_names
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.path_index import IndexedFolder, IndexedTree, PathIndex
from jupyter_ai_shoulders.wire.api.mentions import MATCH_LIMIT, FileMatch, FileMatches

MAX_AGE_SECONDS = 1.0
"""A file made this long ago is found; a query within this time after another does not wait."""
REFRESH_SECONDS = 0.4
"""After an answer from an older index the next one is prepared, so that typing does not wait."""
_NOTEBOOK = ".ipynb"


@dataclass(frozen=True, slots=True, eq=False)
class _Searched:
    """What was made of an indexed folder and its sub-folders that have names."""

    folder: IndexedFolder
    below: tuple[str, ...]
    names: FolderNames | None


class FileSearch:
    """Searches one workspace; call ``aclose`` at the end."""

    def __init__(self, workspace: Workspace, index: PathIndex) -> None:
        self._workspace = workspace
        self._index = index
        self._names: tuple[IndexedTree | None, Sequence[FolderNames]] = (None, ())
        """What is searched, and the tree it was made from."""
        self._known: dict[str, _Searched] = {}
        self._refresh: asyncio.Task[None] | None = None

    async def files(self, query: str) -> FileMatches:
        """Return the best matching files and folders, without hidden or ignored ones."""
        found = await asyncio.to_thread(self._find, query)
        if self._index.age() > REFRESH_SECONDS and (self._refresh is None or self._refresh.done()):
            self._refresh = asyncio.create_task(self._prepare(), name="shoulders-path-index")
        return found

    async def aclose(self) -> None:
        """Wait for a running thread."""
        if self._refresh is not None:
            await asyncio.wait({self._refresh})

    def _find(self, query: str) -> FileMatches:
        tree = self._index.tree(MAX_AGE_SECONDS)
        matches = best_matches(query, self._searched(tree), MATCH_LIMIT)
        return FileMatches(matches=tuple(map(_match, matches)), complete=tree.complete)

    async def _prepare(self) -> None:
        await asyncio.to_thread(lambda: self._searched(self._index.tree()))

    def _searched(self, tree: IndexedTree) -> Sequence[FolderNames]:
        """Return the names of a tree; those of unchanged folders are kept.

        Two threads may do it at once: both get the same result.
        """
        made_from, names = self._names
        if made_from is tree:
            return names
        known = self._known
        searched: dict[str, _Searched] = {}
        for path, folder in reversed(tree.folders.items()):  # folders after their sub-folders
            below = tuple(each for each in folder.folders if each in searched)
            old = known.get(path)
            if old is None or old.folder is not folder or old.below != below:
                old = _Searched(folder, below, self._names_in(folder, below))
            if old.names is not None:
                searched[path] = old
        names = in_order(each.names for each in searched.values() if each.names)
        self._known, self._names = searched, (tree, names)
        return names

    def _names_in(self, folder: IndexedFolder, below: Sequence[str]) -> FolderNames | None:
        if self._workspace.is_closed(folder.path):
            return None
        files = [name for name in folder.files if name not in folder.kinds]
        secret = set(secret_names(folder.path, files))
        names = [name for name in files if name not in secret]
        names += [f"{path.rpartition('/')[2]}/" for path in below]
        return folder_names(folder.path, names) if names else None


def _match(path: str) -> FileMatch:
    if path.endswith("/"):
        return FileMatch(path=path.rstrip("/"), kind="folder")
    return FileMatch(path=path, kind="notebook" if path.endswith(_NOTEBOOK) else "file")
