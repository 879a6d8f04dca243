"""The names of all visible, unignored entries of the workspace, kept in memory.

Made by ``host``; used by ``host.context.mentions`` and ``tools.files.list_files``. The entries are
those of ``guard.search.directory_listing``. Before an answer each folder's identity and times are
compared with those it was read with, about 2 µs per folder, and changed folders are read again.
An entry costs some 100 bytes. Blocks; callers choose the thread.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.file_tree import EntryKind, can_be_named, entry_kind
from jupyter_ai_shoulders.guard.search.generated_folders import generated_folder_names
from jupyter_ai_shoulders.guard.search.gitignore import (
    IGNORE_FILE,
    GitignoreRules,
    is_ignored,
    with_folder_rules,
)

INDEX_LIMIT = 200_000
"""Maximum number of indexed entries, nearest to the root first."""
SETTLED_NS = 2_000_000_000
"""A folder changed less than this before it was read is read again: file systems round times, to
2 s at most.
"""

_Signature = tuple[int, int, int, int, int]
"""Inode, device, size, and the times of the last changes of content and metadata."""


@dataclass(frozen=True, slots=True, eq=False)
class IndexedFolder:
    """The listed entries of a folder."""

    path: str
    files: tuple[str, ...]
    """Names of all entries but folders, sorted."""
    kinds: Mapping[str, EntryKind]
    """Of ``files`` that are not regular files."""
    folders: tuple[str, ...]
    """Paths of the sub-folders, sorted."""
    outer: tuple[GitignoreRules, ...]
    rules: tuple[GitignoreRules, ...]
    """The ignore rules of the outer folders, and those that apply inside."""
    location: str
    signature: _Signature | None
    """None if the folder must be read again."""
    ignore_signature: _Signature | None
    """Of its ignore file, None without one."""


@dataclass(frozen=True, slots=True, eq=False)
class IndexedTree:
    """All indexed folders by path, breadth-first; not ``complete`` when the limit cut some off."""

    folders: dict[str, IndexedFolder]
    complete: bool


class PathIndex:
    """The index of one workspace, built on first use."""

    def __init__(
        self,
        workspace: Workspace,
        clock: Callable[[], float] = time.monotonic,
        limit: int = INDEX_LIMIT,
    ) -> None:
        self._workspace = workspace
        self._clock = clock
        self._limit = limit
        self._lock = threading.Lock()
        self._tree: IndexedTree | None = None
        self._checked_at = 0.0

    @property
    def is_built(self) -> bool:
        """Whether ``tree`` only has to read what changed."""
        return self._tree is not None

    def age(self) -> float:
        """Return the seconds since the index was last compared with the disk."""
        return self._clock() - self._checked_at if self._tree else float("inf")

    def tree(self, max_age: float = 0.0) -> IndexedTree:
        """Return the tree as it is now, or was ``max_age`` seconds ago; the same object if nothing
        changed.
        """
        with self._lock:
            if self._tree is not None and self.age() < max_age:
                return self._tree
            started = self._clock()
            known: Mapping[str, IndexedFolder] = self._tree.folders if self._tree else {}
            changed = {
                path
                for path, folder in known.items()
                if folder.signature != _signature(folder.location) or _has_other_rules(folder)
            }
            if self._tree is None or changed:
                self._tree = self._read(known, changed)
            self._checked_at = started
            return self._tree

    def _read(self, known: Mapping[str, IndexedFolder], changed: set[str]) -> IndexedTree:
        """Walk the tree, reading the folders that are new, changed, or under changed rules."""
        found: dict[str, IndexedFolder] = {}
        count = 0
        waiting: deque[tuple[str, tuple[GitignoreRules, ...]]] = deque([("", ())])
        while waiting:
            path, outer = waiting.popleft()
            folder = known.get(path)
            if folder is None or path in changed or folder.outer is not outer:
                folder = self._read_folder(path, outer, folder)
            count += len(folder.files) + len(folder.folders)
            if count > self._limit:
                return IndexedTree(found, complete=False)
            found[path] = folder
            waiting.extend((below, folder.rules) for below in folder.folders)
        return IndexedTree(found, complete=True)

    def _read_folder(
        self, path: str, outer: tuple[GitignoreRules, ...], old: IndexedFolder | None
    ) -> IndexedFolder:
        location = str(self._workspace.directory / path)
        now = time.time_ns()
        kinds: dict[str, EntryKind] = {}
        try:
            with self._workspace.open_folder_path(WorkspacePath(path)) as opened:
                signature = _signature(opened)
                with os.scandir(opened) as entries:
                    kinds = {entry.name: entry_kind(entry) for entry in entries}
        except (OSError, ShouldersError):  # deleted or not readable
            signature = _signature(location)
        ignore_signature = _signature(f"{location}/{IGNORE_FILE}") if IGNORE_FILE in kinds else None
        rules = outer
        if ignore_signature:
            rules = with_folder_rules(self._workspace, path, outer)
        if old is not None and old.outer is outer and old.rules == rules:
            rules = old.rules  # the same object, so that folders below are not read again
        settled = _is_settled(signature, now) and _is_settled(ignore_signature, now)
        if IGNORE_FILE in kinds and not ignore_signature:  # a link to nothing yet
            settled = False
        prefix = f"{path}/" if path else ""
        listed = _listed(prefix, kinds, rules)
        return IndexedFolder(
            path=path,
            files=tuple(name for name in listed if kinds[name] != "folder"),
            kinds={name: kinds[name] for name in listed if kinds[name] in {"link", "other"}},
            folders=tuple(f"{prefix}{name}" for name in listed if kinds[name] == "folder"),
            outer=outer,
            rules=rules,
            location=location,
            signature=signature if settled else None,
            ignore_signature=ignore_signature,
        )


def _listed(
    prefix: str, kinds: Mapping[str, EntryKind], rules: tuple[GitignoreRules, ...]
) -> list[str]:
    """Return the names that are neither hidden, ignored nor generated, sorted."""
    visible = sorted(filter(can_be_named, kinds))
    generated = generated_folder_names(visible)
    return [
        name
        for name in visible
        if not ((is_folder := kinds[name] == "folder") and name in generated)
        and not (rules and is_ignored(f"{prefix}{name}{'/' * is_folder}", rules))
    ]


def _has_other_rules(folder: IndexedFolder) -> bool:
    """Return whether the folder's ignore file was changed since it was read."""
    ignore = folder.ignore_signature
    return ignore is not None and ignore != _signature(f"{folder.location}/{IGNORE_FILE}")


def _is_settled(signature: _Signature | None, now_ns: int) -> bool:
    return signature is None or max(signature[3:]) < now_ns - SETTLED_NS


def _signature(path: str) -> _Signature | None:
    """Return what changes with a folder or file; None when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 a Path would double the time
    except OSError:
        return None
    return (found.st_ino, found.st_dev, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
