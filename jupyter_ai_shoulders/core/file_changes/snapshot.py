"""Compares two snapshots of the files that a watcher's pattern matches.

Pure; used by ``host.automation.watchers``. Comparing snapshots instead of reading the stream of
notifications makes bursts, atomic saves and lost notifications look like what they amount to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

ChangeKind = Literal["created", "modified", "deleted", "renamed"]


@dataclass(frozen=True, slots=True)
class FileState:
    """What is known of a file without reading it; times in nanoseconds since 1970."""

    size: int
    modified_ns: int
    inode: int
    changed_ns: int = 0
    """When content or metadata last changed, by the file system's clock; 0: not known."""

    def has_same_content(self, other: FileState) -> bool:
        """Return whether size and time are equal. Inodes differ after a mount of some systems."""
        return self.size == other.size and self.modified_ns == other.modified_ns


Snapshot = Mapping[str, FileState]
"""Files by workspace path."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What happened to a file between two snapshots."""

    kind: ChangeKind
    path: str
    old_path: str | None = None
    """Of a renamed file."""


def changes_between(before: Snapshot, after: Snapshot) -> tuple[FileChange, ...]:
    """Return the changes, sorted by path.

    A file that has a new name and the same inode, size and time is renamed.
    """
    gone = {_identity(before[path]): path for path in before.keys() - after.keys()}
    found: list[FileChange] = []
    for path, state in after.items():
        earlier = before.get(path)
        if earlier is None:
            old = gone.pop(_identity(state), None)
            kind: ChangeKind = "created" if old is None else "renamed"
            found.append(FileChange(kind, path, old))
        elif not earlier.has_same_content(state):
            found.append(FileChange("modified", path))
    renamed = {change.old_path for change in found}
    found.extend(FileChange("deleted", path) for path in before.keys() - after.keys() - renamed)
    return tuple(sorted(found, key=lambda change: change.path))


def with_changes(before: Snapshot, after: Snapshot, changes: Iterable[FileChange]) -> Snapshot:
    """Return the earlier snapshot with these changes only."""
    found = dict(before)
    for change in changes:
        if change.old_path is not None:
            found.pop(change.old_path, None)
        if change.path in after:
            found[change.path] = after[change.path]
        else:
            found.pop(change.path, None)
    return found


def encode_snapshot(snapshot: Snapshot) -> dict[str, str]:
    """Return a form for a file: one short text for each file."""
    return {
        path: f"{state.size} {state.modified_ns} {state.inode}" for path, state in snapshot.items()
    }


def decode_snapshot(stored: Mapping[str, str]) -> Snapshot:
    """Return the snapshot of such a form. Raises ``ValueError``."""
    found: dict[str, FileState] = {}
    for path, text in stored.items():
        size, modified_ns, inode = map(int, text.split())
        found[path] = FileState(size, modified_ns, inode)
    return found


def _identity(state: FileState) -> tuple[int, int, int]:
    return (state.inode, state.size, state.modified_ns)
