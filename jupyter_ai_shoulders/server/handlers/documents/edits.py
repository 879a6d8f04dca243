"""``edits`` and ``edits/{id}``: the agent's changes that await review."""

from __future__ import annotations

from typing import Literal

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.changes.review.service import EditOutdated
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import LONG_TEXT_BYTES, MAX_BODY_BYTES
from jupyter_ai_shoulders.wire.api.commands import DecideEdit, DecideEdits, PutCellText
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.edits import EditConflict
from jupyter_ai_shoulders.wire.ids import EditId, SessionId


class EditQuery(CommandModel):
    """Query arguments of ``GET edits``."""

    status: Literal["pending"] = "pending"
    document: str | None = None
    session: SessionId | None = None


class EditsHandler(ShouldersHandler):
    """``edits``."""

    most_bytes = LONG_TEXT_BYTES

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List what awaits review, by document and in the order of the cells."""
        query = self.query(EditQuery)
        self.answer(await self.host.review.list(query.document, query.session, self.may_see))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Decide on several; the answer says which could not be."""
        command = self.body(DecideEdits)
        self.answer(await self.host.review.decide_all(command, self.may_see))


class CellTextHandler(ShouldersHandler):
    """``sessions/{id}/cell-text``."""

    most_bytes = LONG_TEXT_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Put the answer of an edit in place into its cell, for review."""
        session = self.session(session_id)
        self.answer(await self.host.cell_answers.put(session, self.body(PutCellText)))


class EditHandler(ShouldersHandler):
    """``edits/{id}``."""

    most_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self, edit_id: str) -> None:
        """Keep or undo one, or a part of it; 409 has it as it stands."""
        command = self.body(DecideEdit)
        unit = self.host.review.get(EditId(edit_id))
        if not self.may_see(unit.session_id):
            raise NotFound(f"Edit {edit_id} is no longer pending.")
        try:
            self.answer(await self.host.review.decide(unit.id, command))
        except EditOutdated as error:
            self.answer(EditConflict(error=error.info, edit=error.edit), 409)
