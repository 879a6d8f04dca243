"""Closes the conversations of sub-agents whose call has its result.

A call gets its result without its sub-agent when the server died or the call was left behind; the
sub-agent then stays interrupted until the parent's turn is resumed or discarded, which records the
call's result. Made by ``host.host``, which adds it to the event bus.
"""

from __future__ import annotations

import asyncio
import logging

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.host.delegation.sub_agent_ids import sub_agent_id
from jupyter_ai_shoulders.storage.base import EventLog, LoggedEvent
from jupyter_ai_shoulders.storage.sessions.table import SUB_AGENT, SessionFilter, SqliteSessions
from jupyter_ai_shoulders.tools.agent.withheld_tools import DELEGATE
from jupyter_ai_shoulders.wire.events import ToolResult
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import ParentCall

_log = logging.getLogger(__name__)

_PAGE = 200
_OPEN = frozenset({"running", "waiting", "interrupted"})


class OrphanedSubAgents:
    """Ends turns of sub-agents that nobody waits for."""

    def __init__(self, sessions: SqliteSessions, log: EventLog, engine: Engine) -> None:
        self._sessions = sessions
        self._log = log
        self._engine = engine
        self._tasks: set[asyncio.Task[None]] = set()

    def on_event(self, logged: LoggedEvent) -> None:
        """Close the sub-agent of a call that has its result."""
        event = logged.event
        if isinstance(event, ToolResult) and event.tool == DELEGATE:
            child = sub_agent_id(event.session_id, event.call_id)
            task = asyncio.create_task(self._close(child))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def catch_up(self) -> None:
        """Close those whose call got its result just before the last process ended."""
        cursor: str | None = None
        while True:
            found = self._sessions.page(SessionFilter(source=SUB_AGENT), cursor, _PAGE)
            for session in found.sessions:
                if session.status in _OPEN and session.parent is not None:
                    await self._close_if_answered(session.id, session.parent)
            cursor = found.next_cursor
            if cursor is None:
                return

    async def aclose(self) -> None:
        """Stop closing."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _close_if_answered(self, child: SessionId, parent: ParentCall) -> None:
        try:
            results = self._log.find(("tool-result",), parent.session_id)
            call_ids = [
                each.event.call_id for each in results if isinstance(each.event, ToolResult)
            ]
        except NotFound:
            call_ids = [parent.call_id]
        if parent.call_id in call_ids:
            await self._close(child)

    async def _close(self, child: SessionId) -> None:
        engine = self._engine
        try:
            if self._sessions.get(child).status not in _OPEN:
                return
            await engine.cancel(child)
            await engine.settled(child)
            if self._sessions.get(child).status in _OPEN:  # the server's stop interrupted it
                await engine.cancel(child)
            crash_point("delegation.child.closed")
        except NotFound:  # it never began, or is deleted
            return
        except ShouldersError:
            _log.exception("The sub-agent %s could not be closed.", child)
