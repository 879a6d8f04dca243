"""Text files and file changes, with their journal, trash and undo.

Part of the composition root: ``host.build`` makes it, ``host.host`` starts and closes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.files.base import ChangeObserver, ChangeOutcome
from jupyter_ai_shoulders.files.crash_recovery import CrashRecovery
from jupyter_ai_shoulders.files.disk_texts import DiskTexts, PathLocks
from jupyter_ai_shoulders.files.file_changes import DiskChanges
from jupyter_ai_shoulders.files.open_files.open_text_files import OpenTextFiles, PageTimeouts
from jupyter_ai_shoulders.files.open_files.page_texts import PageTexts
from jupyter_ai_shoulders.files.text_router import TextRouter
from jupyter_ai_shoulders.files.trash import Trash
from jupyter_ai_shoulders.files.undo.file_undo import FileUndo, RecordedUndo
from jupyter_ai_shoulders.files.undo.shell_undo import ShellUndo
from jupyter_ai_shoulders.files.word.word_editor import WordEditor
from jupyter_ai_shoulders.files.word.word_files import WordFiles
from jupyter_ai_shoulders.files.word.word_texts import WordTexts
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.live_documents.file_watch import FileWatch
from jupyter_ai_shoulders.live_documents.page_requests import PageTransport
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.wire.operations import OperationKind


class FileServices:
    """The files of a workspace for tools, review and restore; ``start`` and ``aclose`` it."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        store: StateStore,
        notebooks: OpenNotebooks,
        pages: PageTransport,
        observer: ChangeObserver,
        renamed: Callable[[str, str], Awaitable[None]],
        clock: Clock,
        ids: IdSource,
        current_page: CurrentPage | None = None,
        times: PageTimeouts | None = None,
        tracked_changes: Callable[[], bool] = lambda: True,
        others: Mapping[OperationKind, RecordedUndo] | None = None,
    ) -> None:
        """``tracked_changes``: whether changes of Word documents are tracked."""
        self.journal, blobs = store.operations, store.blobs
        self._trash = trash = Trash(store.directory.prepare_trash)
        self._crash_recovery = crash_recovery = CrashRecovery(workspace, trash)
        self.live = OpenTextFiles(
            workspace=workspace,
            transport=pages,
            clock=clock,
            ids=ids,
            acting=current_page,
            times=times,
        )
        self.word = WordFiles()
        locks = PathLocks()
        self.word_texts = WordTexts(self.word, clock, tracked_changes)
        disk = self._disk(workspace, blobs, observer, locks)
        self.word_editor = WordEditor(workspace, disk, self.word, self.word_texts)
        self._watch = FileWatch(workspace, disk, self.live)
        self.texts = self._text_router(workspace, disk, blobs, observer, clock)
        self.changes = DiskChanges(
            workspace=workspace,
            trash=trash,
            journal=self.journal,
            store=blobs,
            observer=observer,
            open_files=WorkspaceOpenFiles(self.live, notebooks, renamed),
            ids=ids,
            locks=locks,
            recovery=crash_recovery,
        )
        self.commands = ShellUndo(
            workspace=workspace, trash=trash, journal=self.journal, recovery=crash_recovery, ids=ids
        )
        self.undo = self._undo(blobs, disk, ids, others)

    def _disk(
        self, workspace: Workspace, blobs: FileBlobs, observer: ChangeObserver, locks: PathLocks
    ) -> DiskTexts:
        decode = self.word_texts.decode
        return DiskTexts(workspace, self.journal, blobs, observer, locks, decode=decode)

    def _text_router(
        self,
        workspace: Workspace,
        disk: DiskTexts,
        blobs: FileBlobs,
        observer: ChangeObserver,
        clock: Clock,
    ) -> TextRouter:
        edits = PageTexts(
            workspace=workspace,
            live=self.live,
            disk=disk,
            journal=self.journal,
            blobs=blobs,
            observer=observer,
            clock=clock,
        )
        return TextRouter(workspace, self.live, edits, disk)

    def _undo(
        self,
        blobs: FileBlobs,
        disk: DiskTexts,
        ids: IdSource,
        others: Mapping[OperationKind, RecordedUndo] | None,
    ) -> FileUndo:
        return FileUndo(
            journal=self.journal,
            texts=self.texts,
            disk=disk,
            changes=self.changes,
            store=blobs,
            ids=ids,
            others=others,
        )

    async def start(self) -> None:
        """Determine how changes begun by the last process ended. Raises ``StateUnavailable``.

        Files are read in a thread.
        """
        self._watch.start()
        left = [(row.id, self.journal.change(row.id)) for row in self.journal.unfinished()]
        if not left:
            return
        for operation_id, verdict in await asyncio.to_thread(self._crash_recovery.verdicts, left):
            self.journal.end(operation_id, verdict.state, ChangeOutcome(cannot_undo=verdict.why))
            crash_point("files.settle.ended")

    async def aclose(self) -> None:
        """Stop the file watch and close the trash."""
        async with AsyncExitStack() as stack:
            stack.callback(self._trash.close)
            stack.push_async_callback(self._watch.aclose)


class WorkspaceOpenFiles:
    """``OpenFiles`` of notebooks and text files together."""

    def __init__(
        self,
        texts: OpenTextFiles,
        notebooks: OpenNotebooks,
        renamed: Callable[[str, str], Awaitable[None]],
    ) -> None:
        """``renamed`` is called for files and folders that we move."""
        self._renamed = renamed
        self._texts = texts
        self._notebooks = notebooks

    def unsaved(self, path: str) -> Sequence[str]:
        """Return the paths at or below ``path`` with unsaved changes in a page."""
        return sorted({*self._texts.unsaved(path), *self._notebooks.unsaved(path)})

    async def moved(self, path: str, new_path: str) -> None:
        """Update pages, and whatever refers to a notebook, after a move."""
        self._notebooks.renamed(path, new_path)
        await self._renamed(path, new_path)
        await self._texts.moved(path, new_path)

    async def removed(self, path: str) -> None:
        """Make pages close a deleted document."""
        await self._texts.removed(path)
