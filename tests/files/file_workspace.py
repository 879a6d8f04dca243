"""A workspace with its file services, real except for the log and the pages."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.files.crash_recovery import CrashRecovery
from jupyter_ai_shoulders.files.disk_texts import DiskTexts, PathLocks
from jupyter_ai_shoulders.files.file_changes import DiskChanges
from jupyter_ai_shoulders.files.trash import Trash
from jupyter_ai_shoulders.files.undo.file_undo import FileUndo
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.testing.memory_file_changes import (
    MemoryChangeObserver,
    MemoryJournal,
    MemoryOpenFiles,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryBlobs
from jupyter_ai_shoulders.wire.ids import CallId, SessionId, TurnId

SESSION = SessionId("session_1")


def origin(turn: str = "turn_1", call: str = "call_1") -> ChangeOrigin:
    """Return the origin of tests' changes."""
    return ChangeOrigin(SESSION, TurnId(turn), CallId(call))


@dataclass(slots=True)
class FileWorkspace:
    """A workspace and its services."""

    root: Path
    workspace: Workspace
    trash_folder: Path
    trash: Trash
    journal: MemoryJournal
    blobs: MemoryBlobs
    witness: MemoryChangeObserver
    pages: MemoryOpenFiles
    texts: DiskTexts
    changes: DiskChanges
    settling: CrashRecovery
    undo: FileUndo

    def write(self, path: str, content: bytes | str) -> Path:
        """Write a file and its folders."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        return (self.root / path).read_bytes()

    def names(self) -> list[str]:
        """Return all names, folders with a slash, without the trash."""
        return sorted(
            f"{path.relative_to(self.root).as_posix()}{'/' if path.is_dir() else ''}"
            for path in self.root.rglob("*")
        )

    def states(self) -> list[tuple[str, str, str]]:
        """Return kind, document and state of every row."""
        return [
            (row.change.kind, row.change.document, row.state) for row in self.journal.rows.values()
        ]


def undo_of(
    journal: MemoryJournal,
    texts: DiskTexts,
    changes: DiskChanges,
    blobs: MemoryBlobs,
    ids: CountingIds,
) -> FileUndo:
    """Return undo without pages."""
    return FileUndo(journal=journal, texts=texts, disk=texts, changes=changes, store=blobs, ids=ids)


@contextmanager
def file_workspace(folder: Path, trash: Path | None = None) -> Generator[FileWorkspace]:
    """Make a workspace below ``folder``; ``trash`` elsewhere."""
    root = folder / "workspace"
    root.mkdir(exist_ok=True)
    trash_folder = trash or folder / "state" / "trash"

    def prepare() -> Path:
        trash_folder.mkdir(parents=True, exist_ok=True)
        return trash_folder

    workspace, bin_ = Workspace(root), Trash(prepare)
    journal, blobs, witness = MemoryJournal(), MemoryBlobs(), MemoryChangeObserver()
    ids = CountingIds()
    pages, locks, settling = MemoryOpenFiles(), PathLocks(), CrashRecovery(workspace, bin_)
    texts = DiskTexts(workspace, journal, blobs, witness, locks)
    changes = DiskChanges(
        workspace=workspace,
        trash=bin_,
        journal=journal,
        store=blobs,
        observer=witness,
        open_files=pages,
        ids=ids,
        locks=locks,
        recovery=settling,
    )
    try:
        yield FileWorkspace(
            root=root,
            workspace=workspace,
            trash_folder=trash_folder,
            trash=bin_,
            journal=journal,
            blobs=blobs,
            witness=witness,
            pages=pages,
            texts=texts,
            changes=changes,
            settling=settling,
            undo=undo_of(journal, texts, changes, blobs, ids),
        )
    finally:
        workspace.close()
        bin_.close()
