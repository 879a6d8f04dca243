"""Lists the files and folders below a folder, with kinds, sizes and a total.

Used by ``tools.files.list_files``. Breadth-first, so that a limit cuts off the deepest entries.
Leaves out hidden, ignored and generated entries and does not follow links; the folder itself is
always listed. Blocks; callers choose the thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
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
