"""The files of the workspace that a watcher's pattern matches, and the folders to watch for it.

Used by ``host.automation.watchers``. Hidden, ignored and generated files, links, names that are not
text and the backup files of editors are left out. Blocks; callers choose the thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.file_changes.snapshot import FileState
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.path_index import IndexedFolder, IndexedTree

MOST_FILES = 4_000
"""Of one pattern."""
_PARTIAL = (".swp", ".swx", ".tmp", ".part", ".crdownload", ".download", ".bak~")
_WILD = frozenset("*?[{")


class TooManyFiles(Exception):
    """A pattern matches more than ``MOST_FILES`` files."""


def matching_files(
    workspace: Workspace, tree: IndexedTree, globs: Sequence[Glob]
) -> dict[str, FileState]:
    """Return the state of each file that a glob matches. Raises ``TooManyFiles``."""
    found: dict[str, FileState] = {}
    for folder in tree.folders.values():
        names = _matching_names(folder, globs)
        if not names:
            continue
        if len(found) + len(names) > MOST_FILES:
            raise TooManyFiles
        prefix = f"{folder.path}/" if folder.path else ""
        for name, state in _states(workspace, folder.path, names):
            found[f"{prefix}{name}"] = state
    return found


def folders_to_watch(tree: IndexedTree, pattern: str) -> set[str]:
    """Return the folders in which a match of a glob may appear, and those above them."""
    parts = pattern.removeprefix("./").strip("/").split("/")
    literal: list[str] = []
    for part in parts[:-1]:
        if _WILD & set(part):
            break
        literal.append(part)
    base = "/".join(literal)
    above = {"/".join(literal[:count]) for count in range(len(literal) + 1)}
    return {
        path
        for path in tree.folders
        if path in above or not base or path == base or path.startswith(f"{base}/")
    }


def is_unfinished_name(name: str) -> bool:
    """Return whether editors and downloads name a file so that is not the final one."""
    return name.endswith("~") or name.endswith(_PARTIAL) or (name[:1] == "#" == name[-1:])


def _matching_names(folder: IndexedFolder, globs: Sequence[Glob]) -> list[str]:
    matchers = [matches for glob in globs if (matches := glob.names_in(folder.path)) is not None]
    return [
        name
        for name in folder.files
        if name not in folder.kinds
        and any(matches(name) for matches in matchers)
        and not is_unfinished_name(name)
    ]


def _states(workspace: Workspace, folder: str, names: list[str]) -> Iterator[tuple[str, FileState]]:
    try:
        with workspace.open_folder_path(WorkspacePath(folder)) as opened:
            for name in names:
                state = _state(f"{opened}/{name}")
                if state is not None:
                    yield name, state
    except ShouldersError:  # deleted
        return


def _state(path: str) -> FileState | None:
    try:
        found = os.lstat(path)
    except OSError:  # deleted
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return FileState(found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)
