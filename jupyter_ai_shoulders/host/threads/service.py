"""Task threads for tools: opens them beside a conversation and lists them.

Made by ``host.build`` before the engine, whose tools need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.host.sessions.recent_messages import recent_messages
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter, SqliteSessions
from jupyter_ai_shoulders.tools.conversation.task_threads import (
    LISTED_THREADS,
    MAX_THREADS,
    ThreadRequest,
    ThreadSummary,
)
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.wire.api.commands import CreateSession, SendMessage
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.events import Opener, SessionCreate, UntrustedTextSource
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId
from jupyter_ai_shoulders.wire.sessions import Anchor, Session
from jupyter_ai_shoulders.wire.versions import well_formed

LAST = 2_000
"""Characters of a thread's last message."""
DEEPEST = 2
"""Maximum nesting of threads that agents open below a conversation of the user."""


class ThreadEngine(Protocol):
    """The part of the engine that is needed here."""

    async def send(self, session_id: SessionId, command: SendMessage) -> MessageAccepted:
        """Accept a message."""
        ...

    def sources(self, session_id: SessionId) -> Sequence[TaintSource]:
        """Return the sources of a conversation's text that may not be the user's."""
        ...


class ThreadService:
    """``ThreadAnchors`` and ``Threads`` on the stored sessions."""

    def __init__(
        self,
        sessions: SqliteSessions,
        log: EventLog,
        ids: IdSource,
        *,
        conversations: Callable[[], SessionService],
        engine: Callable[[], ThreadEngine],
        has_owners: bool = False,
    ) -> None:
        """``conversations`` and ``engine`` are called when a thread is opened."""
        self._sessions = sessions
        self._log = log
        self._ids = ids
        self._conversations = conversations
        self._engine = engine
        self._has_owners = has_owners

    def anchor(self, session_id: SessionId) -> Anchor | None:
        """See ``ThreadAnchors.anchor``. Raises ``NotFound`` for a session that was deleted."""
        return self._sessions.get(session_id).anchor

    async def open(self, request: ThreadRequest) -> Session:
        """Open a thread with its opener's settings, but never in ``bypass``."""
        by = self._sessions.get(request.opened_by)
        opener = self._opener(request)
        created = CreateSession(
            kind="task",
            model=by.model,
            mode="ask" if request.mode == "bypass" else request.mode,
            toolset=by.toolset,
            anchor=request.anchor,
            interactive=by.interactive,
        )
        message = SendMessage(id=MessageId(self._ids.new("msg")), text=well_formed(request.prompt))
        session = self._conversations().create(created, by.owner, opener=opener)
        crash_point("threads.session.created")
        try:
            await self._engine().send(session.id, message)
        except ShouldersError:
            await self._conversations().delete(session)
            raise
        return self._sessions.get(session.id)

    async def delete_unstarted(self) -> None:
        """Delete threads that never got a message, after a crash or a refusal.

        Threads that users open have a day for it; all can be restored like other deleted sessions.
        """
        for session in self._sessions.empty_threads():
            await self._conversations().delete(session)
            crash_point("threads.session.cleared")

    def _opener(self, opening: ThreadRequest) -> Opener:
        """Return the thread's record of its opener. Raises ``PolicyRefusal``."""
        (first,) = self._log.read(opening.opened_by, 0, 1)
        opener = first.event.opener if isinstance(first.event, SessionCreate) else None
        depth = 1 + (opener.depth if opener else 0)
        if depth > DEEPEST:
            raise PolicyRefusal(
                f"This task was itself opened by a task; no more than {DEEPEST} follow each other.",
                hint="Do it in this conversation, or leave it to the one that opened this task.",
            )
        return Opener(
            session_id=opening.opened_by,
            call_id=opening.call_id,
            depth=depth,
            sources=tuple(
                UntrustedTextSource(label=source.label, path=source.path)
                for source in self._engine().sources(opening.opened_by)
            ),
        )

    async def list_threads(self, by: SessionId, document: str | None) -> Sequence[ThreadSummary]:
        """Return the threads of the same owner, and those without one."""
        chosen = SessionFilter(kind="task", document=document)
        if self._has_owners:
            owner = self._sessions.get(by).owner
            # A shared session sees those without an owner.
            chosen = replace(chosen, owner=owner or "")
        found = self._sessions.page(chosen, None, MAX_THREADS).sessions
        others = [session for session in found if session.id != by]
        news = [await self._summary(session) for session in others[:LISTED_THREADS]]
        return [*news, *(ThreadSummary(session, "") for session in others[LISTED_THREADS:])]

    async def _summary(self, session: Session) -> ThreadSummary:
        try:
            said = await recent_messages(self._log, session.id)
        except NotFound:  # deleted at this moment
            said = []
        answers = [text for who, text in said if who == "Agent"]
        return ThreadSummary(session, answers[-1][:LAST] if answers else "")
