"""Finds file names in the workspace by a bounded walk that follows no links.

Used to suggest files for a wrong path, and to describe the workspace to a model. Blocks; callers
choose the thread.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.generated_folders import ALWAYS
from jupyter_ai_shoulders.guard.search.gitignore import is_ignored, outer_rules, with_folder_rules

ENTRY_LIMIT = 20_000
"""Maximum number of visited entries, nearest to the root first."""

EntryKind = Literal["folder", "file", "link", "other"]


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """An entry of a folder; ``size`` in bytes, for files."""

    name: str
    kind: EntryKind
    size: int | None = None


def find_file_names(workspace: Workspace, suffix: str, limit: int = ENTRY_LIMIT) -> list[str]:
    """Return the workspace-relative paths of visible files that end in ``suffix``."""
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
    """Paths below a folder, folders with a final ``/``; ``complete`` when none was left out."""

    paths: tuple[str, ...]
    complete: bool


def file_tree(workspace: Workspace, folder: str = "", *, limit: int, depth: int) -> FileTree:
    """Return the visible, unignored entries below a folder, nearest first.

    Applies the ``.gitignore`` file of each folder. Visits at most ``ENTRY_LIMIT`` entries.
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
            if entry.name in ALWAYS or is_ignored(shown, ignored):
                continue
            if len(found) >= limit or visited > ENTRY_LIMIT:
                return FileTree(tuple(sorted(found)), complete=False)
            found.append(shown)
            if is_folder and level < depth:
                folders.append((name, level + 1, ignored))
            complete = complete and not (is_folder and level >= depth)
    return FileTree(tuple(sorted(found)), complete)


def visible_entries(workspace: Workspace, folder: str) -> list[FolderEntry]:
    """Return a folder's visible entries, sorted by name; none when the folder is gone."""
    try:
        with (
            workspace.open_folder_path(WorkspacePath(folder)) as folder_path,
            os.scandir(folder_path) as found,
        ):
            shown = [_folder_entry(entry) for entry in found if can_be_named(entry.name)]
    except (OSError, ShouldersError):
        return []  # deleted or not readable
    return sorted(shown, key=lambda entry: entry.name)


def entry_kind(entry: os.DirEntry[str]) -> EntryKind:
    """Return the kind of an entry, without following a link."""
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _folder_entry(entry: os.DirEntry[str]) -> FolderEntry:
    """Read the metadata now, because the folder is closed right after."""
    kind = entry_kind(entry)
    if kind != "file":
        return FolderEntry(entry.name, kind)
    try:
        return FolderEntry(entry.name, "file", entry.stat(follow_symlinks=False).st_size)
    except OSError:  # deleted since
        return FolderEntry(entry.name, "file")


def can_be_named(name: str) -> bool:
    """Return whether a name is visible and valid text: some file systems allow any bytes."""
    if name.startswith("."):
        return False
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)
