"""``edits``, ``operations`` and ``proposals``: pending, past and proposed changes of documents."""

from __future__ import annotations

import asyncio
from typing import Literal

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.changes.review.service import EditOutdated
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import LONG_TEXT_BYTES, MAX_BODY_BYTES
from jupyter_ai_shoulders.storage.operation_journal import operations_page
from jupyter_ai_shoulders.wire.api.commands import (
    DecideEdit,
    DecideEdits,
    DecideProposal,
    PutCellText,
)
from jupyter_ai_shoulders.wire.api.responses import ProposalList
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.edits import EditConflict, ProposalState
from jupyter_ai_shoulders.wire.ids import EditId, OperationId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.operations import Operation, OperationsQuery, OperationUndone


class EditQuery(CommandModel):
    """Query arguments of ``GET edits``."""

    status: Literal["pending"] = "pending"
    document: str | None = None
    session: SessionId | None = None


class EditsHandler(ShouldersHandler):
    """``edits``."""

    max_body_bytes = LONG_TEXT_BYTES

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List pending edits, by document and in the order of the cells."""
        query = self.query(EditQuery)
        self.answer(await self.host.review.list(query.document, query.session, self.may_see))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Decide on several edits; the answer names those that failed."""
        command = self.body(DecideEdits)
        self.answer(await self.host.review.decide_all(command, self.may_see))


class CellTextHandler(ShouldersHandler):
    """``sessions/{id}/cell-text``."""

    max_body_bytes = LONG_TEXT_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Put the answer of an edit in place into its cell, for review."""
        session = self.session(session_id)
        self.answer(await self.host.cell_answers.put(session, self.body(PutCellText)))


class EditHandler(ShouldersHandler):
    """``edits/{id}``."""

    max_body_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self, edit_id: str) -> None:
        """Keep or undo an edit or a part of it; 409 contains its current state."""
        command = self.body(DecideEdit)
        unit = self.host.review.get(EditId(edit_id))
        if not self.may_see(unit.session_id):
            raise NotFound(f"Edit {edit_id} is no longer pending.")
        try:
            self.answer(await self.host.review.decide(unit.id, command))
        except EditOutdated as error:
            self.answer(EditConflict(error=error.info, edit=error.edit), 409)


class OperationsHandler(ShouldersHandler):
    """``operations``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List operations, newest first; on a hub only the user's own."""
        query = self.query(OperationsQuery)
        database = self.host.database
        self.answer(await asyncio.to_thread(operations_page, database, query, self.user))


class OperationUndoHandler(ShouldersHandler):
    """``operations/{id}/undo``."""

    @web.authenticated
    @authorized
    async def post(self, operation_id: str) -> None:
        """Undo an operation on files; 409 says why it failed without any change."""
        row = self._row(OperationId(operation_id))
        origin = ChangeOrigin(row.session_id, by="user")
        report = await self.host.files.undo.undo(row.id, origin)
        undone = tuple(undone.operation.id for undone in report.undone)
        kept = tuple(f"{kept.operation.document}: {kept.reason}" for kept in report.kept)
        self.answer(OperationUndone(undone=undone, kept=kept))

    def _row(self, operation_id: OperationId) -> Operation:
        """Return the operation. Raises ``NotFound``, also for another user's."""
        row = self.host.files.journal.get(operation_id)
        if row.session_id is not None:
            seen = self.may_see(row.session_id)
        else:
            own_memory = row.kind == "memory" and self.host.memory.is_of(row.document, self.user)
            seen = self.user is None or own_memory
        if not seen:
            raise NotFound(f"There is no change {operation_id} in the log.")
        return row


class ProposalQuery(CommandModel):
    """Query arguments of ``GET proposals``."""

    status: ProposalState | None = None


class ProposalsHandler(ShouldersHandler):
    """``proposals``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List proposals, oldest first."""
        status = self.query(ProposalQuery).status
        known = self.host.proposals.list(self.may_see)
        chosen = (proposal for proposal in known if status in {None, proposal.state})
        self.answer(ProposalList(proposals=tuple(chosen)))


class ProposalHandler(ShouldersHandler):
    """``proposals/{id}``."""

    max_body_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self, proposal_id: str) -> None:
        """Apply or dismiss a proposal; the answer has its new state."""
        proposal = self.host.proposals.get(ProposalId(proposal_id))
        if not self.may_see(proposal.session_id):
            raise NotFound(f"There is no proposal {proposal_id}.")
        command = self.body(DecideProposal)
        self.answer(await self.host.proposals.decide(proposal.id, command))
