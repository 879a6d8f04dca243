"""``operations``: every change of a document, by whom, and whether it can be taken back.

``operations/{id}/undo`` takes one back, with what was done in one go with it.
"""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.storage.operation_journal import operations_page
from jupyter_ai_shoulders.wire.ids import OperationId
from jupyter_ai_shoulders.wire.operations import Operation, OperationsQuery, OperationUndone


class OperationsHandler(ShouldersHandler):
    """``operations``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List changes, the latest first; on a hub nobody else's."""
        query = self.query(OperationsQuery)
        database = self.host.database
        self.answer(await asyncio.to_thread(operations_page, database, query, self.user))


class OperationUndoHandler(ShouldersHandler):
    """``operations/{id}/undo``."""

    @web.authenticated
    @authorized
    async def post(self, operation_id: str) -> None:
        """Take a change of files back; 409 says why it cannot be, and nothing was changed."""
        row = self._row(OperationId(operation_id))
        origin = ChangeOrigin(row.session_id, by="user")
        report = await self.host.files.undo.undo(row.id, origin)
        undone = tuple(undone.operation.id for undone in report.undone)
        kept = tuple(f"{kept.operation.document}: {kept.reason}" for kept in report.kept)
        self.answer(OperationUndone(undone=undone, kept=kept))

    def _row(self, operation_id: OperationId) -> Operation:
        """Return the change. Raises ``NotFound``, also for somebody else's."""
        row = self.host.files.journal.get(operation_id)
        seen = self.user is None if row.session_id is None else self.may_see(row.session_id)
        if not seen:
            raise NotFound(f"There is no change {operation_id} in the log.")
        return row
