"""``sessions/{id}/cancel``, ``compact``, ``resume``, and what a turn waits for.

Approvals, answers, results.
"""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import LONG_TEXT_BYTES
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    RestoreSession,
    ResumeTurn,
    SupplyResult,
    UndoTurn,
)
from jupyter_ai_shoulders.wire.ids import CallId


class CancelHandler(ShouldersHandler):
    """``sessions/{id}/cancel``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Stop the running turn; nothing happens when none runs."""
        await self.host.engine.cancel(self.session(session_id).id)
        self.accepted()


class CompactHandler(ShouldersHandler):
    """``sessions/{id}/compact``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Have earlier messages summarised before the next one is answered."""
        await self.host.engine.compact(self.session(session_id).id)
        self.accepted()


class ResumeHandler(ShouldersHandler):
    """``sessions/{id}/resume``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Go on with an interrupted turn, or discard it."""
        session = self.session(session_id)
        await self.host.engine.resume(session.id, self.body(ResumeTurn))
        self.accepted()


class RestoreHandler(ShouldersHandler):
    """``sessions/{id}/restore``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Go back to before a message; answer with the event that says what was put back."""
        session = self.session(session_id)
        command = self.body(RestoreSession)
        self.answer(await self.host.engine.restores.restore(session.id, command), 202)


class UndoHandler(ShouldersHandler):
    """``sessions/{id}/undo``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Take back what a turn did; answer with the event that says what was put back."""
        session = self.session(session_id)
        command = self.body(UndoTurn)
        self.answer(await self.host.engine.restores.undo(session.id, command), 202)


class ApprovalHandler(ShouldersHandler):
    """``sessions/{id}/approvals/{call_id}``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str, call_id: str) -> None:
        """Answer a pending approval; the first answer counts."""
        session = self.session(session_id)
        command = self.body(AnswerApproval)
        await self.host.engine.answer_approval(session.id, CallId(call_id), command)
        if command.decision == "allow" and command.scope == "always":
            self.host.pages.tools_changed()
        self.accepted()


class ClarificationHandler(ShouldersHandler):
    """``sessions/{id}/clarifications/{call_id}``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str, call_id: str) -> None:
        """Answer a question; the first answer counts."""
        session = self.session(session_id)
        command = self.body(AnswerQuestion)
        await self.host.engine.answer_question(session.id, CallId(call_id), command)
        self.accepted()


class InputHandler(ShouldersHandler):
    """``sessions/{id}/stdin/{call_id}``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str, call_id: str) -> None:
        """Give running code the text it waits for, which is kept nowhere; the first one counts."""
        session = self.session(session_id)
        command = self.body(AnswerInput)
        await self.host.engine.answer_input(session.id, CallId(call_id), command)
        self.accepted()


class SuppliedResultHandler(ShouldersHandler):
    """``sessions/{id}/tool-results/{call_id}``, where tools are ``parse_only``."""

    most_bytes = LONG_TEXT_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str, call_id: str) -> None:
        """Take the result of a call that the user made."""
        session = self.session(session_id)
        command = self.body(SupplyResult)
        await self.host.engine.supply_result(session.id, CallId(call_id), command)
        self.accepted()
