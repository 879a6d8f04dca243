"""Lists the files and folders below a folder, with kinds, sizes and a total.

Used by ``tools.files.list_files``.

Nearest to the folder first, so that a cap cuts off what is deep. Hidden entries, what
``.gitignore`` leaves out and what a project's tools make are not shown, nor are links followed; a
folder that is named itself is always looked into. Blocks; callers choose the thread.
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
    outer_rules,
    with_folder_rules,
)
from jupyter_ai_shoulders.guard.search.globs import Glob


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """One entry, by its ready-to-use path; ``size`` in bytes, of files."""

    path: str
    kind: EntryKind
    size: int | None = None


@dataclass(frozen=True, slots=True)
class DirectoryListing:
    """What was found, sorted by path, the first ``limit`` of ``total``.

    Not ``complete`` when the walk stopped after so many entries: then there are more than
    ``total``.
    """

    entries: tuple[DirectoryEntry, ...]
    total: int
    complete: bool


def list_entries(
    workspace: Workspace, folder: str, *, depth: int, limit: int, glob: Glob | None = None
) -> DirectoryListing:
    """Return what is below a folder; with a glob only the files whose path from there it meets."""
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
    """Yield every entry looked at, and whether it is to be shown."""
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
            if (is_folder and entry.name in generated) or any(
                rule.matches(path) for rule in ignored
            ):
                yield name, entry, False
                continue
            relative = name[len(folder) :].lstrip("/")
            yield name, entry, glob is None or (not is_folder and glob.matches(relative))
            if is_folder and level < depth:
                folders.append((name, level + 1, ignored))


def _applicable_outer_rules(workspace: Workspace, folder: str) -> tuple[GitignoreRules, ...]:
    """Return the patterns from above, but for a folder that they leave out: it was named."""
    rules = outer_rules(workspace, folder)
    return tuple(rule for rule in rules if not rule.matches(f"{folder}/"))


def _sorted(found: list[DirectoryEntry]) -> tuple[DirectoryEntry, ...]:
    return tuple(sorted(found, key=lambda entry: entry.path))
