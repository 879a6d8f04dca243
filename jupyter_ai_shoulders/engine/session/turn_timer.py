"""Measures the working time of a turn; pauses while the turn waits for the user.

Used by ``engine.session.driver``; a restart or resume starts from zero.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from jupyter_ai_shoulders.core.clock import Clock


class TurnTimer:
    """Calls ``elapsed`` once the turn has worked for ``limit_s`` seconds; None is no limit."""

    def __init__(self, limit_s: float | None, clock: Clock, elapsed: Callable[[], None]) -> None:
        self._limit = limit_s
        self._left = limit_s
        self._clock = clock
        self._elapsed = elapsed
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def restart(self) -> None:
        """Reset the time for a new turn."""
        running = self._timer is not None
        self.set_working(working=False)
        self._left = self._limit
        self.set_working(working=running)

    def set_working(self, *, working: bool) -> None:
        """Run or pause the timer."""
        if self._left is None or working == (self._timer is not None):
            return
        if working:
            self._since = self._clock.monotonic()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(self._left, 0.0), self._ring)
        elif self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left -= self._clock.monotonic() - self._since

    def _ring(self) -> None:
        self._timer = None
        self._left = 0.0
        self._elapsed()
