"""Names of files in the workspace, found by a bounded walk that follows no links.

Used to name the files a wrong path may have meant, and to tell a model what is there. Blocks;
callers choose the thread.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.generated_folders import ALWAYS
from jupyter_ai_shoulders.guard.search.gitignore import outer_rules, with_folder_rules

ENTRY_LIMIT = 20_000
"""Directory entries looked at, nearest to the root first."""

EntryKind = Literal["folder", "file", "link", "other"]


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """What stands in a folder; ``size`` in bytes, of files."""

    name: str
    kind: EntryKind
    size: int | None = None


def find_file_names(workspace: Workspace, suffix: str, limit: int = ENTRY_LIMIT) -> list[str]:
    """Return workspace-relative paths of files that end in ``suffix``, without hidden ones."""
    found: list[str] = []
    folders = deque([""])
    while folders and limit > 0:
        folder = folders.popleft()
        for entry in visible_entries(workspace, folder):
            limit -= 1
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.kind == "folder":
                if entry.name not in ALWAYS:
                    folders.append(name)
            elif entry.name.endswith(suffix):
                found.append(name)
    return found


@dataclass(frozen=True, slots=True)
class FileTree:
    """Paths below a folder, folders with a closing ``/``; ``whole`` when none was left out."""

    paths: tuple[str, ...]
    complete: bool


def file_tree(workspace: Workspace, folder: str = "", *, limit: int, depth: int) -> FileTree:
    """Return what is below a folder, nearest first, without hidden or ignored entries.

    ``.gitignore`` files count where they stand. Looks at ``ENTRY_LIMIT`` entries at most.
    """
    found: list[str] = []
    visited, complete = 0, True
    folders = deque([(folder, 1, outer_rules(workspace, folder))])
    while folders:
        current, level, ignored = folders.popleft()
        ignored = with_folder_rules(workspace, current, ignored)
        for entry in visible_entries(workspace, current):
            visited += 1
            name = f"{current}/{entry.name}" if current else entry.name
            is_folder = entry.kind == "folder"
            shown = f"{name}/" if is_folder else name
            if entry.name in ALWAYS or any(rules.matches(shown) for rules in ignored):
                continue
            if len(found) >= limit or visited > ENTRY_LIMIT:
                return FileTree(tuple(sorted(found)), complete=False)
            found.append(shown)
            if is_folder and level < depth:
                folders.append((name, level + 1, ignored))
            complete = complete and not (is_folder and level >= depth)
    return FileTree(tuple(sorted(found)), complete)


def visible_entries(workspace: Workspace, folder: str) -> list[FolderEntry]:
    """Return what is in a folder and not hidden, sorted by name; nothing when it is gone."""
    try:
        with (
            workspace.open_folder_path(WorkspacePath(folder)) as folder_path,
            os.scandir(folder_path) as found,
        ):
            shown = [_folder_entry(entry) for entry in found if _can_be_named(entry.name)]
    except (OSError, ShouldersError):
        return []  # gone meanwhile, or not readable: then nothing in it can be meant
    return sorted(shown, key=lambda entry: entry.name)


def _folder_entry(entry: os.DirEntry[str]) -> FolderEntry:
    """Return the facts at once: the folder is let go of right after."""
    if entry.is_symlink():
        return FolderEntry(entry.name, "link")
    if entry.is_dir(follow_symlinks=False):
        return FolderEntry(entry.name, "folder")
    if not entry.is_file(follow_symlinks=False):
        return FolderEntry(entry.name, "other")
    try:
        return FolderEntry(entry.name, "file", entry.stat(follow_symlinks=False).st_size)
    except OSError:  # gone in this moment
        return FolderEntry(entry.name, "file")


def _can_be_named(name: str) -> bool:
    """Return whether a name is not hidden and is text: some file systems hold any bytes."""
    return not name.startswith(".") and not any(
        "\ud800" <= character <= "\udfff" for character in name
    )
