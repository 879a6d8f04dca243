"""Names of files in the workspace, found by a bounded walk that follows no links.

Used to name the files a wrong path may have meant, and to tell a model what is there. Blocks;
callers choose the thread.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.paths import Workspace

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

ENTRY_LIMIT = 20_000
"""Directory entries looked at, nearest to the root first."""
_IGNORE_FILE_LIMIT = 65_536
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def file_names(workspace: Workspace, suffix: str, limit: int = ENTRY_LIMIT) -> list[str]:
    """Return workspace-relative paths of files that end in ``suffix``, without hidden ones."""
    found: list[str] = []
    folders = deque([""])
    while folders and limit > 0:
        folder = folders.popleft()
        for entry in _entries(workspace, folder):
            limit -= 1
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED:
                    folders.append(name)
            elif entry.name.endswith(suffix):
                found.append(name)
    return found


@dataclass(frozen=True, slots=True)
class Tree:
    """Paths below a folder, folders with a closing ``/``; ``whole`` when none was left out."""

    paths: tuple[str, ...]
    whole: bool


def tree(workspace: Workspace, folder: str = "", *, limit: int, depth: int) -> Tree:
    """Return what is below a folder, nearest first, without hidden or ignored entries.

    ``.gitignore`` files count where they stand. Looks at ``ENTRY_LIMIT`` entries at most.
    """
    found: list[str] = []
    looked, whole = 0, True
    folders = deque([(folder, 1, _ignored_above(workspace, folder))])
    while folders:
        current, level, ignored = folders.popleft()
        ignored = _with_own(workspace, current, ignored)
        for entry in _entries(workspace, current):
            looked += 1
            name = f"{current}/{entry.name}" if current else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            shown = f"{name}/" if is_folder else name
            if entry.name in SKIPPED or any(rules.matches(shown) for rules in ignored):
                continue
            if len(found) >= limit or looked > ENTRY_LIMIT:
                return Tree(tuple(sorted(found)), whole=False)
            found.append(shown)
            if is_folder and level < depth:
                folders.append((name, level + 1, ignored))
            whole = whole and not (is_folder and level >= depth)
    return Tree(tuple(sorted(found)), whole)


@dataclass(frozen=True, slots=True)
class _Ignored:
    """The patterns of one ``.gitignore``, and the folder it stands in."""

    folder: str
    spec: GitIgnoreSpec

    def matches(self, path: str) -> bool:
        below = path.removeprefix(f"{self.folder}/") if self.folder else path
        return self.spec.match_file(below)


def _ignored_above(workspace: Workspace, folder: str) -> tuple[_Ignored, ...]:
    parts = folder.split("/") if folder else []
    above = ["/".join(parts[:count]) for count in range(len(parts))]
    ignored: tuple[_Ignored, ...] = ()
    for place in above:
        ignored = _with_own(workspace, place, ignored)
    return ignored


def _with_own(
    workspace: Workspace, folder: str, ignored: tuple[_Ignored, ...]
) -> tuple[_Ignored, ...]:
    name = f"{folder}/.gitignore" if folder else ".gitignore"
    try:
        content = workspace.head(workspace.path(name), _IGNORE_FILE_LIMIT).content
    except ShouldersError:
        return ignored  # most folders have none
    return (*ignored, _Ignored(folder, _spec(content.decode("utf-8", "replace").splitlines())))


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """Return the patterns that can be read; git passes over the others, too."""
    from pathspec import GitIgnoreSpec

    readable: list[str] = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        readable.append(line)
    return GitIgnoreSpec.from_lines(readable)


def _entries(workspace: Workspace, folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(workspace.directory / folder) as entries:
            shown = [entry for entry in entries if _can_be_named(entry.name)]
    except OSError:
        return []  # gone meanwhile, or not readable: then nothing in it can be meant
    return sorted(shown, key=lambda entry: entry.name)


def _can_be_named(name: str) -> bool:
    """Return whether a name is not hidden and is text: some file systems hold any bytes."""
    return not name.startswith(".") and not any("\ud800" <= sign <= "\udfff" for sign in name)
