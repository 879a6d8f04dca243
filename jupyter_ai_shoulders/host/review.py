"""The review of the agent's changes, over notebooks and files.

Part of the composition root: ``host.build`` makes it. The book comes first, since files and
notebooks tell it what they change.
"""

from __future__ import annotations

from dataclasses import replace

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.core.operations import OperationJournal
from jupyter_ai_shoulders.engine.restore.recorder import Recorder
from jupyter_ai_shoulders.engine.review.book import EditBook
from jupyter_ai_shoulders.engine.review.desk import ReviewDesk
from jupyter_ai_shoulders.engine.review.gone import GoneCells
from jupyter_ai_shoulders.engine.review.reverting import Reverting
from jupyter_ai_shoulders.engine.review.standing import Standings
from jupyter_ai_shoulders.files.base import Origin
from jupyter_ai_shoulders.files.changes import DiskChanges
from jupyter_ai_shoulders.host.documents import Documents
from jupyter_ai_shoulders.host.files import Files
from jupyter_ai_shoulders.host.store import Store
from jupyter_ai_shoulders.wire.ids import SessionId


def review_desk(
    book: EditBook, store: Store, documents: Documents, files: Files, recorder: Recorder
) -> ReviewDesk:
    """Return the desk at which the user decides."""

    def is_there(session_id: SessionId) -> bool:
        try:
            store.sessions.header(session_id)
        except NotFound:
            return False  # deleted: what it changed is not for review as long as it is
        return True

    return ReviewDesk(
        book=book,
        event_log=store.log,
        standings=Standings(documents.notebooks, files.texts),
        gone=GoneCells(store.log, store.blobs),
        reverting=Reverting(
            recorder,
            store.log,
            documents.notebooks,
            files.texts,
            ReturnedFiles(files.changes, files.journal),
        ),
        is_there=is_there,
        show_elsewhere=documents.live.show_elsewhere,
    )


class ReturnedFiles:
    """``FileReturns`` with the trash."""

    def __init__(self, changes: DiskChanges, journal: OperationJournal) -> None:
        self._changes = changes
        self._journal = journal

    async def remove(self, path: str, origin: Origin) -> None:
        """Move a file into the trash. Raises ``NotFound``, ``Conflict``, ``StateUnavailable``."""
        await self._changes.delete(path, origin)

    async def bring_back(self, path: str, text: str, origin: Origin) -> None:
        """Take a deleted file out of the trash, or make it anew with its text.

        Raises ``Conflict`` when another file has its name, ``StateUnavailable``.
        """
        for row in self._journal.latest(path=path, limit=50):
            if row.kind == "delete" and row.state == "done" and row.document == path:
                try:
                    await self._changes.bring_back(row.id, path, replace(origin, undoes=row.id))
                except NotFound:
                    break  # somebody has emptied the trash
                return
        await self._changes.create(path, text, origin)
