"""Brings what long calls say into their sessions, which may have been put away meanwhile.

Made by ``engine.engine``; ``engine.calls.background_tasks`` calls ``hear``.
"""

from __future__ import annotations

import asyncio
import logging

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.engine.session.cache import SessionCache
from jupyter_ai_shoulders.wire.events import Event
from jupyter_ai_shoulders.wire.ids import CallId, SessionId

_log = logging.getLogger(__name__)


class BackgroundEventRouter:
    """Finds the session of what is said."""

    def __init__(self, shelf: SessionCache) -> None:
        self._shelf = shelf
        self._tasks: set[asyncio.Task[None]] = set()

    def route(self, session_id: SessionId, event: Event) -> None:
        """Take an event of a session. Raises ``StateUnavailable``."""
        driver = self._shelf.get_loaded(session_id)
        if driver is not None and not driver.broken:
            driver.accept_background_event(event)
            return
        task = asyncio.create_task(self._hear(session_id, event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait_until_delivered(self) -> None:
        """Return when all that was said is in its session."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _hear(self, session_id: SessionId, event: Event) -> None:
        try:
            (await self._shelf.get_driver(session_id)).accept_background_event(event)
        except ShouldersError:  # deleted, or not readable: the outputs are in the notebook
            _log.exception("What a run of %s said is not in its log.", session_id)


class NullInputReceiver:
    """``InputReceiver`` of engines whose tools run no code."""

    def answer(self, session_id: SessionId, call_id: CallId, text: str) -> bool:
        """Return that nothing waits."""
        del session_id, call_id, text
        return False
