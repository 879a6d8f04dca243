"""Reports activity to Jupyter while a turn runs, so that a hub does not stop the server.

Made by ``server.app``; a listener of the event bus.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from datetime import datetime

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.events import SessionCreate, SessionUpdate
from jupyter_ai_shoulders.wire.ids import SessionId

REPORT_SECONDS = 60.0
"""Hubs check for idle servers every few minutes; a cell may run that long without an event."""


class ActivityReporter:
    """Keeps the time of last activity current while any session is ``running``."""

    def __init__(self, times: MutableMapping[str, datetime], clock: Clock) -> None:
        """``times`` is the application's ``last_activity_times``."""
        self._times = times
        self._clock = clock
        self._running: set[SessionId] = set()
        self._timer: asyncio.TimerHandle | None = None

    def on_event(self, logged: LoggedEvent) -> None:
        """Record sessions that start or stop running."""
        event = logged.event
        if not isinstance(event, SessionCreate | SessionUpdate):
            return
        if event.session.status == "running":
            self._running.add(event.session.id)
        elif event.session.id in self._running:
            self._running.remove(event.session.id)
        else:
            return
        self._report()

    def close(self) -> None:
        """Stop reporting."""
        self._running.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _report(self) -> None:
        self._times["shoulders"] = self._clock.now()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._running:
            self._timer = asyncio.get_running_loop().call_later(REPORT_SECONDS, self._report)
