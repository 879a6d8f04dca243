"""``sessions/{id}/messages``: send a message; change or take back one that still waits."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import LONG_TEXT_BYTES, MESSAGE_BYTES
from jupyter_ai_shoulders.wire.api.commands import EditMessage, SendMessage
from jupyter_ai_shoulders.wire.ids import MessageId


class MessagesHandler(ShouldersHandler):
    """``sessions/{id}/messages``."""

    most_bytes = MESSAGE_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Accept a message; the client's id makes it idempotent."""
        session = self.session(session_id)
        command = self.body(SendMessage)
        if command.client_id is None:
            command = command.model_copy(update={"client_id": self.client_id})
        self.answer(await self.host.engine.send(session.id, command), 202)


class MessageHandler(ShouldersHandler):
    """``sessions/{id}/messages/{message_id}``, queued messages only."""

    most_bytes = LONG_TEXT_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str, message_id: str) -> None:
        """Send it now, with what is queued beside it, after the turn that left it has ended."""
        session = self.session(session_id)
        await self.host.engine.send_queued(session.id, MessageId(message_id))
        self.accepted()

    @web.authenticated
    @authorized
    async def patch(self, session_id: str, message_id: str) -> None:
        """Change its text."""
        session = self.session(session_id)
        command = self.body(EditMessage)
        await self.host.engine.edit_message(session.id, MessageId(message_id), command)
        self.accepted()

    @web.authenticated
    @authorized
    async def delete(self, session_id: str, message_id: str) -> None:
        """Take it back."""
        session = self.session(session_id)
        await self.host.engine.remove_message(session.id, MessageId(message_id))
        self.no_content()
