"""Forks: copies of a conversation up to a message, for another direction or document.

Called by the handler of ``sessions/{id}/fork`` and by ``host.threads.thread_import``. The source is
not changed, even while it runs.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.session.fork_point import ForkPoint, find_fork_point
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.storage.sessions.forks import SqliteForks, copied_proposal_id
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.wire.api.commands import ForkSession
from jupyter_ai_shoulders.wire.events import Event, ForkOrigin, ProposalResolve
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Anchor, Session

_FORKED = re.compile(r"(?P<title>.*?) ?\(fork(?: (?P<number>[0-9]{1,6}))?\)")


class Forks:
    """Copies conversations."""

    def __init__(
        self,
        *,
        log: SqliteEventLog,
        sessions: SqliteSessions,
        copies: SqliteForks,
        artifacts: ArtifactFiles,
        engine: Engine,
        ids: IdSource,
    ) -> None:
        self._log = log
        self._sessions = sessions
        self._copies = copies
        self._artifacts = artifacts
        self._engine = engine
        self._ids = ids

    async def fork(self, session: Session, command: ForkSession) -> Session:
        """Return a new session with the events of this one up to ``command.seq``.

        Open items are closed in the copy: calls get results, questions and approvals are not asked
        again, proposals are dismissed. Grants of the session are asked for again. Raises
        ``InvalidRequest``, ``Conflict`` (``turn_running``), ``StateUnavailable``; with code
        ``quarantined`` when the log cannot be understood.
        """
        return await self._fork(session, command.seq, {"title": fork_title(session.title)})

    async def pin_copy(self, thread: Session, anchor: Anchor) -> Session:
        """Return a copy of a thread for a copy of its document. Raises as ``fork`` does."""
        status = "resolved" if thread.status == "resolved" else "idle"
        return await self._fork(thread, None, {"anchor": anchor, "status": status})

    async def _fork(
        self, session: Session, seq: int | None, changes: Mapping[str, object]
    ) -> Session:
        running = self._engine.is_running(session.id)
        point = await find_fork_point(self._log, session, seq, running=running)
        fork = _start_event(session, SessionId(self._ids.new("ses")), point, changes)
        await asyncio.to_thread(self._artifacts.share, session.id, fork.id, point.artifacts)
        crash_point("forks.artifacts.shared")
        origin = ForkOrigin(session_id=session.id, seq=point.seq, root=point.root)
        first = await self._copies.copy(fork, origin, point.opener)
        for event in (*point.closing, *_dismissed(point, fork.id)):
            self._log.append(fork.id, event)
        self._copies.reveal(first)
        shown = self._sessions.update(fork)
        await self._log.sync()
        return shown


def fork_title(title: str) -> str:
    """Return the title of a copy: "Plot" → "Plot (fork)" → "Plot (fork 2)"."""
    found = _FORKED.fullmatch(title)
    if found is None:
        return f"{title} (fork)".strip()
    number = int(found["number"] or 1) + 1
    return f"{found['title']} (fork {number})".strip()


def _start_event(
    session: Session, fork_id: SessionId, point: ForkPoint, changes: Mapping[str, object]
) -> Session:
    return session.model_copy(
        update={
            "id": fork_id,
            "mode": "ask" if session.mode == "bypass" else session.mode,
            "status": "idle",
            "source": "chat" if session.parent else session.source,
            "parent": None,  # a copy of a sub-agent's conversation is the user's own
            "message_count": 0,
            "last_seq": 0,
            "tokens_used": point.tokens_used,
            "window": point.window,
            "cost_micro_usd": 0,
            "created_at": "",
            "updated_at": "",
            **changes,
        }
    )


def _dismissed(point: ForkPoint, fork_id: SessionId) -> tuple[Event, ...]:
    return tuple(
        ProposalResolve(
            proposal_id=copied_proposal_id(proposal, fork_id), state="dismissed", by="system"
        )
        for proposal in point.proposals
    )
