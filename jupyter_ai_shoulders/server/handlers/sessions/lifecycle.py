"""``sessions`` and ``sessions/{id}``: list, make, change, delete and bring back conversations."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from pydantic import Field
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.api.commands import CreateSession, ForkSession, PatchSession
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import SessionKind, SessionSource


class SessionQuery(CommandModel):
    """Query arguments of ``GET sessions``."""

    kind: SessionKind | None = None
    source: SessionSource | None = None
    document: str | None = None
    text: str | None = None
    cursor: str | None = None
    limit: int = Field(default=50, ge=1, le=500)


class SessionsHandler(ShouldersHandler):
    """``sessions``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List, newest update first."""
        query = self.query(SessionQuery)
        chosen = SessionFilter(
            kind=query.kind,
            source=query.source,
            document=query.document,
            text=query.text,
            owner=self.user,
        )
        self.answer(self.host.sessions.page(chosen, query.cursor, query.limit))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Make one."""
        session = self.host.session_service.create(self.body(CreateSession), owner=self.user)
        self.answer(session, 201)


class SessionHandler(ShouldersHandler):
    """``sessions/{id}``."""

    @web.authenticated
    @authorized
    async def get(self, session_id: str) -> None:
        """Show it."""
        self.answer(self.session(session_id))

    @web.authenticated
    @authorized
    async def patch(self, session_id: str) -> None:
        """Change title, model, mode, tools or status."""
        session = self.session(session_id)
        self.answer(self.host.session_service.change(session, self.body(PatchSession)))

    @web.authenticated
    @authorized
    async def delete(self, session_id: str) -> None:
        """Delete it; it can be brought back for 30 days."""
        await self.host.session_service.delete(self.session(session_id))
        self.no_content()


class ForkHandler(ShouldersHandler):
    """``sessions/{id}/fork``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Copy it up to a message; 201 with the copy."""
        session = self.session(session_id)
        self.answer(await self.host.forks.fork(session, self.body(ForkSession)), 201)


class UndeleteHandler(ShouldersHandler):
    """``sessions/{id}/undelete``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Bring it back."""
        session = self.host.session_service.undelete(SessionId(session_id), owner=self.user)
        self.host.book.reload_session(session.id)
        self.answer(self.host.anchors.follow_after_undelete(session))
