"""Messages, turns, answers to questions, model requests and background runs of sessions."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.host.metrics.incoming_trace import set_traceparent
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import (
    LONG_TEXT_BYTES,
    MAX_BODY_BYTES,
    MESSAGE_BYTES,
)
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    EditMessage,
    RestoreSession,
    ResumeTurn,
    SendMessage,
    StartRun,
    SupplyResult,
    UndoTurn,
)
from jupyter_ai_shoulders.wire.api.model_requests import PreviewMessage
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, TurnId


class MessagesHandler(ShouldersHandler):
    """``sessions/{id}/messages``."""

    max_body_bytes = MESSAGE_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Accept a message; the client's id makes it idempotent."""
        session = self.session(session_id)
        command = self.body(SendMessage)
        if command.client_id is None:
            command = command.model_copy(update={"client_id": self.client_id})
        self.host.services.current_page.set_client(command.client_id)
        set_traceparent(self.request.headers.get("traceparent"))
        self.answer(await self.host.engine.send(session.id, command), 202)


class MessageHandler(ShouldersHandler):
    """``sessions/{id}/messages/{message_id}``, queued messages only."""

    max_body_bytes = LONG_TEXT_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str, message_id: str) -> None:
        """Send a queued message and those queued beside it now, after the turn they waited for has
        ended.
        """
        session = self.session(session_id)
        await self.host.engine.messages.send_queued(session.id, MessageId(message_id))
        self.accepted()

    @web.authenticated
    @authorized
    async def patch(self, session_id: str, message_id: str) -> None:
        """Change the text of a queued message."""
        session = self.session(session_id)
        command = self.body(EditMessage)
        await self.host.engine.messages.edit_queued(session.id, MessageId(message_id), command)
        self.accepted()

    @web.authenticated
    @authorized
    async def delete(self, session_id: str, message_id: str) -> None:
        """Remove a queued message."""
        session = self.session(session_id)
        await self.host.engine.messages.remove_queued(session.id, MessageId(message_id))
        self.no_content()


class CancelHandler(ShouldersHandler):
    """``sessions/{id}/cancel``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Stop the running turn, if any."""
        await self.host.engine.cancel(self.session(session_id).id)
        self.accepted()


class CompactHandler(ShouldersHandler):
    """``sessions/{id}/compact``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Request a summary of earlier messages before the next answer."""
        await self.host.engine.compact(self.session(session_id).id)
        self.accepted()


class ResumeHandler(ShouldersHandler):
    """``sessions/{id}/resume``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Continue an interrupted turn, or discard it."""
        session = self.session(session_id)
        await self.host.engine.resume(session.id, self.body(ResumeTurn))
        self.accepted()


class RestoreHandler(ShouldersHandler):
    """``sessions/{id}/restore``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Restore the state before a message; answer with the event that lists the changes."""
        session = self.session(session_id)
        command = self.body(RestoreSession)
        self.answer(await self.host.engine.restores.restore(session.id, command), 202)


class UndoHandler(ShouldersHandler):
    """``sessions/{id}/undo``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Undo a turn's changes; answer with the event that lists what was restored."""
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
        await self.host.engine.responses.answer_approval(session.id, CallId(call_id), command)
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
        await self.host.engine.responses.answer_question(session.id, CallId(call_id), command)
        self.accepted()


class InputHandler(ShouldersHandler):
    """``sessions/{id}/stdin/{call_id}``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str, call_id: str) -> None:
        """Send running code its input, which is not stored; the first answer counts."""
        session = self.session(session_id)
        command = self.body(AnswerInput)
        await self.host.engine.responses.answer_input(session.id, CallId(call_id), command)
        self.accepted()


class SuppliedResultHandler(ShouldersHandler):
    """``sessions/{id}/tool-results/{call_id}``, where tools are ``parse_only``."""

    max_body_bytes = LONG_TEXT_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str, call_id: str) -> None:
        """Accept the result of a call that the user made."""
        session = self.session(session_id)
        command = self.body(SupplyResult)
        await self.host.engine.responses.supply_result(session.id, CallId(call_id), command)
        self.accepted()


class RequestQuery(CommandModel):
    """Query arguments of ``GET sessions/{id}/requests/{step}``."""

    turn: TurnId | None = None


class SentRequestHandler(ShouldersHandler):
    """``sessions/{id}/requests/{step}``."""

    @web.authenticated
    @authorized
    async def get(self, session_id: str, step: str) -> None:
        """Show the request of a step of the latest turn, or of ``?turn=``."""
        session = self.session(session_id)
        turn = self.query(RequestQuery).turn
        self.answer_redacted(await self.host.engine.requests.sent(session.id, int(step), turn))


class PreviewHandler(ShouldersHandler):
    """``sessions/{id}/preview``."""

    max_body_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Show the request that this message would cause."""
        session = self.session(session_id)
        command = self.body(PreviewMessage)
        self.answer_redacted(await self.host.engine.requests.preview(session, command))


class RunsHandler(ShouldersHandler):
    """``runs``."""

    max_body_bytes = MESSAGE_BYTES

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Send a prompt; 201 with a new session, 200 with an existing one."""
        set_traceparent(self.request.headers.get("traceparent"))
        session, is_new = await self.host.runs.start(self.body(StartRun), owner=self.user)
        self.answer(session, 201 if is_new else 200)
