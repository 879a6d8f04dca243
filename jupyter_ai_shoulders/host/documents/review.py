"""Builds the review of the agent's changes, over notebooks and files.

Part of the composition root: called by ``host.build``. ``PendingEdits`` is made earlier, since
files and notebooks report their changes to it.
"""

from __future__ import annotations

from dataclasses import replace

from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.review.current_text import CurrentDocumentReader
from jupyter_ai_shoulders.changes.review.deleted_cells import DeletedCells
from jupyter_ai_shoulders.changes.review.pending_edits import PendingEdits
from jupyter_ai_shoulders.changes.review.reverting import ChangeReverter
from jupyter_ai_shoulders.changes.review.service import ReviewService
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.core.operation_journal import OperationJournal
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.files.file_changes import DiskChanges
from jupyter_ai_shoulders.host.documents.files import FileServices
from jupyter_ai_shoulders.host.documents.notebooks import NotebookServices
from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.wire.ids import SessionId


def build_review_service(
    pending_edits: PendingEdits,
    store: StateStore,
    documents: NotebookServices,
    files: FileServices,
    recorder: ChangeRecorder,
) -> ReviewService:
    """Return the review service."""

    def session_exists(session_id: SessionId) -> bool:
        try:
            store.sessions.header(session_id)
        except NotFound:
            return False  # deleted: its changes cannot be reviewed until it is restored
        return True

    return ReviewService(
        pending_edits=pending_edits,
        event_log=store.log,
        documents=CurrentDocumentReader(documents.notebooks, files.texts),
        deleted_cells=DeletedCells(store.log, store.blobs),
        reverting=ChangeReverter(
            recorder,
            store.log,
            documents.notebooks,
            files.texts,
            TrashBackedFiles(files.changes, files.journal),
        ),
        session_exists=session_exists,
        show_elsewhere=documents.live.show_elsewhere,
    )


class TrashBackedFiles:
    """``FileRestorer`` with the trash."""

    def __init__(self, changes: DiskChanges, journal: OperationJournal) -> None:
        self._changes = changes
        self._journal = journal

    async def remove(self, path: str, origin: ChangeOrigin) -> None:
        """Move a file into the trash. Raises ``NotFound``, ``Conflict``, ``StateUnavailable``."""
        await self._changes.delete(path, origin)

    async def bring_back(self, path: str, text: str, origin: ChangeOrigin) -> None:
        """Restore a deleted file from the trash, or create it with its text.

        Raises ``Conflict`` when another file has its name, ``StateUnavailable``.
        """
        for row in self._journal.recent(path=path, limit=50):
            if row.kind == "delete" and row.state == "done" and row.document == path:
                try:
                    await self._changes.restore_deleted(
                        row.id, path, replace(origin, undoes=row.id)
                    )
                except NotFound:
                    break  # the trash was emptied
                return
        await self._changes.create(path, text, origin)
