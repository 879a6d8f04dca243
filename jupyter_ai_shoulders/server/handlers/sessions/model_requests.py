"""``sessions/{id}/requests/{step}`` and ``preview``: what a model was sent, or would be."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import MAX_BODY_BYTES
from jupyter_ai_shoulders.storage.json_encoding import encode_model
from jupyter_ai_shoulders.wire.api.model_requests import PreviewMessage, RequestView
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.ids import TurnId


class RequestQuery(CommandModel):
    """Query arguments of ``GET sessions/{id}/requests/{step}``."""

    turn: TurnId | None = None


class _RequestHandler(ShouldersHandler):
    """Answers with a request, keys taken out."""

    def answer_request(self, view: RequestView) -> None:
        """Finish with the request."""
        self.answer_text(self.host.redact(encode_model(view)[1]))


class SentRequestHandler(_RequestHandler):
    """``sessions/{id}/requests/{step}``."""

    @web.authenticated
    @authorized
    async def get(self, session_id: str, step: str) -> None:
        """Show what was sent for a step of the latest turn, or of ``?turn=``."""
        session = self.session(session_id)
        turn = self.query(RequestQuery).turn
        self.answer_request(await self.host.engine.requests.sent(session.id, int(step), turn))


class PreviewHandler(_RequestHandler):
    """``sessions/{id}/preview``."""

    most_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Show what sending this message now would send."""
        session = self.session(session_id)
        command = self.body(PreviewMessage)
        self.answer_request(await self.host.engine.requests.preview(session, command))
