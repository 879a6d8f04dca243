"""What a watcher remembers: the files it has seen, and a change whose run has not started.

Used by ``host.automation.watchers.service``. One file of the state directory for each watcher,
replaced atomically, so that a change is recorded in the same step in which it stops being new.
"""

from __future__ import annotations

import json

from jupyter_ai_shoulders.core.file_changes.snapshot import (
    ChangeKind,
    FileChange,
    Snapshot,
    decode_snapshot,
    encode_snapshot,
)
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.wire.base import WireModel

MOST_KEPT = 200
"""Changes of a burst that are kept with their names."""


class StoredChange(WireModel):
    """A ``FileChange`` as it is stored."""

    kind: ChangeKind
    path: str
    old_path: str | None = None


class PendingChange(WireModel):
    """A settled change whose run is not recorded yet; ``key`` makes starting it idempotent."""

    key: str
    at_ns: int
    total: int
    changes: tuple[StoredChange, ...]

    def file_changes(self) -> tuple[FileChange, ...]:
        """Return the first of the changes."""
        return tuple(FileChange(each.kind, each.path, each.old_path) for each in self.changes)


class WatchRecord(WireModel):
    """Content of a watcher's file."""

    version: int = 1
    globs: tuple[str, ...]
    looked_ns: int
    """When the files were compared last."""
    files: dict[str, str]
    pending: PendingChange | None = None

    def snapshot(self) -> Snapshot:
        """Return the files it has seen. Raises ``ValueError``."""
        return decode_snapshot(self.files)


class WatchRecords:
    """The files of all watchers; calls block."""

    def __init__(self, directory: StateDirectory) -> None:
        self._directory = directory

    def read(self, watch_id: str) -> WatchRecord | None:
        """Return a watcher's record; None without a usable one. Raises ``StateUnavailable``."""
        text = self._file(watch_id).read()
        if text is None:
            return None
        try:
            record = WatchRecord.model_validate(json.loads(text))
            record.snapshot()
        except ValueError:
            return None
        return record

    def write(self, watch_id: str, record: WatchRecord) -> None:
        """Replace a watcher's record. Raises ``StateUnavailable``, ``TooLarge``."""
        self._file(watch_id).write(record.model_dump_json())

    def remove(self, watch_id: str) -> None:
        """Forget a watcher."""
        self._file(watch_id).remove()

    def _file(self, watch_id: str) -> StateFile:
        return StateFile(self._directory, f"{watch_id}.watched.json")


def record_of(
    globs: tuple[str, ...], snapshot: Snapshot, now_ns: int, pending: PendingChange | None = None
) -> WatchRecord:
    """Return the record of a comparison."""
    return WatchRecord(
        globs=globs, looked_ns=now_ns, files=encode_snapshot(snapshot), pending=pending
    )


def pending_change(key: str, changes: tuple[FileChange, ...], now_ns: int) -> PendingChange:
    """Return the changes in the form that is stored."""
    return PendingChange(
        key=key,
        at_ns=now_ns,
        total=len(changes),
        changes=tuple(
            StoredChange(kind=each.kind, path=each.path, old_path=each.old_path)
            for each in changes[:MOST_KEPT]
        ),
    )
