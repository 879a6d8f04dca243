"""The trash for deleted files: a folder of the state directory, one entry per operation.

Used by ``files.file_changes`` and ``files.crash_recovery``. A file is renamed into it with its
metadata; if the state directory is on another file system it is copied, synced and then removed.
Blocks: for threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import (
    DifferentFileSystem,
    FileChanged,
    FileStat,
    Workspace,
    WorkspacePath,
)
from jupyter_ai_shoulders.wire.ids import OperationId


class Trash:
    """Deleted files by the operation that deleted them; a resource: ``close`` it."""

    def __init__(self, prepare: Callable[[], Path]) -> None:
        """``prepare`` makes the private folder and returns it. Raises ``StateUnavailable``."""
        self._prepare = prepare
        self._lock = threading.Lock()
        self._opened: Workspace | None = None

    def close(self) -> None:
        """Close the folder."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def add(
        self,
        workspace: Workspace,
        path: WorkspacePath,
        expected: FileStat,
        operation_id: OperationId,
    ) -> None:
        """Move the file that was read as ``expected`` into the trash, durably.

        Raises ``FileChanged`` when it is another file, which then stays in place.
        """
        folder = self._folder()
        entry = folder.path(operation_id)
        try:
            workspace.move(path, entry, folder)
        except DifferentFileSystem:
            self._copied(workspace, path, expected, entry)
            return
        if folder.stat(entry) != expected:
            folder.move(entry, path, workspace)
            raise FileChanged(
                f"{path} was changed by someone else in the meantime; it was not deleted.",
                hint="Read it again.",
                retryable=True,
            )

    def restore(self, workspace: Workspace, path: WorkspacePath, operation_id: OperationId) -> None:
        """Restore a file to a path that must be free, durably.

        Raises ``Conflict`` (taken), ``NotFound`` (not in the trash, or its folder is missing).
        """
        folder = self._folder()
        entry = folder.path(operation_id)
        if not self.has(operation_id):
            raise NotFound(
                f"{path} is no longer in the trash.",
                hint="The trash may have been emptied; a backup may have the file.",
            )
        try:
            folder.move(entry, path, workspace)
        except DifferentFileSystem:
            folder.copy(entry, path, workspace)
            crash_point("files.trash.copied_back")
            folder.remove(entry, folder.stat(entry))

    def add_copy(
        self, workspace: Workspace, path: WorkspacePath, operation_id: OperationId
    ) -> None:
        """Copy a file that a command is about to delete."""
        folder = self._folder()
        workspace.copy(path, folder.path(operation_id), folder)

    def has(self, operation_id: OperationId) -> bool:
        """Return whether the file of this operation is in the trash."""
        folder = self._folder()
        try:
            return folder.kind(folder.path(operation_id)) == "file"
        except NotFound:
            return False

    def sha256(self, operation_id: OperationId) -> str:
        """Return the hash of a file in the trash. Raises ``NotFound``."""
        folder = self._folder()
        return folder.digest(folder.path(operation_id)).sha256

    def _copied(
        self, workspace: Workspace, path: WorkspacePath, expected: FileStat, entry: WorkspacePath
    ) -> None:
        folder = self._folder()
        copy = workspace.copy(path, entry, folder)
        crash_point("files.trash.copied")
        try:
            workspace.remove(path, expected)
        except BaseException:
            if _exists(workspace, path):  # else only the copy is left: a disk may fail late
                folder.remove(entry, copy.stat)
            raise

    def _folder(self) -> Workspace:
        with self._lock:
            if self._opened is None:
                self._opened = Workspace(self._prepare())
            return self._opened


def _exists(workspace: Workspace, path: WorkspacePath) -> bool:
    try:
        workspace.kind(path)
    except NotFound:
        return False
    return True
