"""Lists the files and folders below a folder, with kinds, sizes and a total.

Used by ``tools.files.list_files``. Breadth-first, so that a limit cuts off the deepest entries.
Leaves out hidden, ignored and generated entries and does not follow links; the folder itself is
always listed. Blocks; callers choose the thread.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.file_tree import (
    ENTRY_LIMIT,
    EntryKind,
    FolderEntry,
    visible_entries,
)
from jupyter_ai_shoulders.guard.search.generated_folders import generated_folder_names
from jupyter_ai_shoulders.guard.search.gitignore import (
    GitignoreRules,
    is_ignored,
    outer_rules,
    with_folder_rules,
)
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.path_index import IndexedFolder, IndexedTree


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """An entry with its workspace path; ``size`` in bytes, for files."""

    path: str
    kind: EntryKind
    size: int | None = None


@dataclass(frozen=True, slots=True)
class DirectoryListing:
    """The first ``limit`` of ``total`` entries, sorted by path.

    Not ``complete`` when the walk stopped at its entry limit; then there are more than ``total``.
    """

    entries: tuple[DirectoryEntry, ...]
    total: int
    complete: bool


def list_entries(
    workspace: Workspace, folder: str, *, depth: int, limit: int, glob: Glob | None = None
) -> DirectoryListing:
    """Return the entries below a folder; with a glob only files whose relative path matches."""
    found: list[DirectoryEntry] = []
    total = 0
    for visited, (name, entry, fits) in enumerate(_walk(workspace, folder, depth, glob)):
        if visited >= ENTRY_LIMIT:
            return DirectoryListing(_sorted(found), total, complete=False)
        if fits:
            total += 1
            if len(found) < limit:
                found.append(DirectoryEntry(name, entry.kind, entry.size))
    return DirectoryListing(_sorted(found), total, complete=True)


def list_indexed(
    workspace: Workspace, tree: IndexedTree, folder: str, *, depth: int, limit: int, glob: Glob
) -> DirectoryListing | None:
    """Return what ``list_entries`` would, from the index; None where the index has not all of it.

    That is a folder that is left out of its parent's listing, and a tree with too many entries.
    """
    if folder not in tree.folders or not tree.complete:
        return None
    found: list[DirectoryEntry] = []
    total = 0
    prefix = f"{folder}/" if folder else ""
    deepest = prefix.count("/") + depth
    for path, current in tree.folders.items():
        if path != folder and not (path.startswith(prefix) and path.count("/") + 1 < deepest):
            continue
        matches = glob.names_in(path[len(prefix) :])
        names = [] if matches is None else [*filter(matches, current.files)]
        if names and len(found) < limit:
            found += _entries(workspace, current, names[: limit - len(found)])
        total += len(names)
    return DirectoryListing(_sorted(found), total, complete=True)


def _entries(
    workspace: Workspace, folder: IndexedFolder, names: Sequence[str]
) -> Iterator[DirectoryEntry]:
    """Yield entries with the sizes they have now."""
    prefix = f"{folder.path}/" if folder.path else ""
    try:
        with workspace.open_folder_path(WorkspacePath(folder.path)) as opened:
            sizes = [_size(f"{opened}/{name}") for name in names]
    except ShouldersError:  # deleted since
        sizes = [None for _ in names]
    for name, size in zip(names, sizes, strict=True):
        kind = folder.kinds.get(name, "file")
        yield DirectoryEntry(f"{prefix}{name}", kind, size if kind == "file" else None)


def _size(path: str) -> int | None:
    try:
        return os.lstat(path).st_size
    except OSError:  # deleted since
        return None


def _walk(
    workspace: Workspace, folder: str, depth: int, glob: Glob | None
) -> Iterator[tuple[str, FolderEntry, bool]]:
    """Yield every visited entry, and whether it is part of the listing."""
    folders = deque([(folder, 1, _applicable_outer_rules(workspace, folder))])
    while folders:
        current, level, ignored = folders.popleft()
        ignored = with_folder_rules(workspace, current, ignored)
        entries = visible_entries(workspace, current)
        generated = generated_folder_names({entry.name for entry in entries})
        for entry in entries:
            name = f"{current}/{entry.name}" if current else entry.name
            is_folder = entry.kind == "folder"
            path = f"{name}/" if is_folder else name
            if (is_folder and entry.name in generated) or is_ignored(path, ignored):
                yield name, entry, False
                continue
            relative = name[len(folder) :].lstrip("/")
            yield name, entry, glob is None or (not is_folder and glob.matches(relative))
            if is_folder and level < depth:
                folders.append((name, level + 1, ignored))


def _applicable_outer_rules(workspace: Workspace, folder: str) -> tuple[GitignoreRules, ...]:
    """Return the rules of outer folders, except those that ignore the named folder itself."""
    rules = outer_rules(workspace, folder)
    if not is_ignored(f"{folder}/", rules):
        return rules
    return tuple(rule for rule in rules if not rule.decide(f"{folder}/"))


def _sorted(found: list[DirectoryEntry]) -> tuple[DirectoryEntry, ...]:
    return tuple(sorted(found, key=lambda entry: entry.path))
