"""``sessions``, ``anchors`` and ``away``: conversations, thread anchors and the away report."""

from __future__ import annotations

import re
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from pydantic import Field
from tornado import web
from tornado.iostream import StreamClosedError

from jupyter_ai_shoulders.host.export.exporter import Format
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import MAX_BODY_BYTES
from jupyter_ai_shoulders.storage.errors import session_not_found
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.api.anchors import AdoptThreads, MoveAnchors
from jupyter_ai_shoulders.wire.api.away_report import AwayAnswer
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
        """List sessions, newest update first."""
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
        """Create a session."""
        session = self.host.session_service.create(self.body(CreateSession), owner=self.user)
        self.answer(session, 201)


class SessionHandler(ShouldersHandler):
    """``sessions/{id}``."""

    @web.authenticated
    @authorized
    async def get(self, session_id: str) -> None:
        """Show a session."""
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
        """Delete a session; it can be restored for 30 days."""
        await self.host.session_service.delete(self.session(session_id))
        self.no_content()


class ForkHandler(ShouldersHandler):
    """``sessions/{id}/fork``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Copy a session up to a message; 201 with the copy."""
        session = self.session(session_id)
        self.answer(await self.host.forks.fork(session, self.body(ForkSession)), 201)


class UndeleteHandler(ShouldersHandler):
    """``sessions/{id}/undelete``."""

    @web.authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        """Restore a deleted session."""
        session = self.host.session_service.undelete(SessionId(session_id), owner=self.user)
        self.host.pending_edits.reload_session(session.id)
        self.answer(self.host.anchors.follow_after_undelete(session))


class AnchorsHandler(ShouldersHandler):
    """``anchors``."""

    max_body_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Update the anchors of threads; the answer says which were refused, and why."""
        self.answer(await self.host.anchors.move(self.body(MoveAnchors), self.may_see))


class AdoptHandler(ShouldersHandler):
    """``anchors/adopt``."""

    max_body_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Return the threads for those that a document lists in its metadata."""
        self.answer(await self.host.thread_import.adopt(self.body(AdoptThreads), self.may_see))


class AwayHandler(ShouldersHandler):
    """``away``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Report what happened, until it is dismissed."""
        self.answer(AwayAnswer(report=await self.host.away.report(self.user)))

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Dismiss the report."""
        self.host.away.dismiss(self.user)
        self.no_content()


_TYPES: dict[Format, str] = {
    "md": "text/markdown; charset=utf-8",
    "jsonl": "application/x-ndjson; charset=utf-8",
    "ipynb": "application/x-ipynb+json; charset=utf-8",
}
_UNFIT = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]+')
"""Characters that some system forbids in file names."""


class ExportQuery(CommandModel):
    """Query arguments of ``GET sessions/{id}/export``."""

    format: Format = "md"


class ExportHandler(ShouldersHandler):
    """``sessions/{id}/export``."""

    @web.authenticated
    @authorized
    async def get(self, session_id: str) -> None:
        """Send the conversation as a download; a quarantined one as far as it is readable."""
        form = self.query(ExportQuery).format
        owner, title = self.host.sessions.header(SessionId(session_id))
        if self.user is not None and owner not in {None, self.user}:
            raise session_not_found(SessionId(session_id))
        self._announce(f"{_UNFIT.sub(' ', title).strip(' .')[:80] or 'conversation'}.{form}", form)
        try:
            async for piece in self.host.exporter.export(SessionId(session_id), form):
                self.write(piece.encode("utf-8", "replace"))
                await self.flush()
            await self.finish(set_content_type=_TYPES[form])
        except StreamClosedError:
            return  # the client disconnected

    def _announce(self, name: str, form: Format) -> None:
        self.set_header("Content-Type", _TYPES[form])
        self.set_download_headers(f"attachment; filename*=UTF-8''{quote(name)}")
        self.set_header("Cache-Control", "private, no-cache")
