"""Timeouts of live notebooks, and the timers of absent pages.

Used by ``notebook.backends.live.open_notebooks``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.clock import Sleep
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim


@dataclass(frozen=True, slots=True)
class LiveTimeouts:
    """Timeouts in seconds.

    ``answer`` is for a page's answer. ``absence`` is how long a page with unsaved user text may be
    absent before its notebook is the file again. After ``agent_absence``, if it is shorter, the
    agent's edits to cells without such text are in the file; where all unsaved changes are the
    agent's, it ends the wait. ``restart_absence`` is the minimum after a start of the server: pages
    try to reconnect at least every 30 s.
    """

    answer: float = 2.0
    absence: float = 600.0
    agent_absence: float = 10.0
    restart_absence: float = 40.0


Purpose = Literal["end", "write"]
"""What a timer does: end a claim, or write the agent's edits to its file."""


class DisconnectTimers:
    """The timers of claims; a resource: ``aclose`` it."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._sleep = sleep
        self._timers: dict[tuple[str, str, Purpose], asyncio.Task[None]] = {}

    def start(
        self,
        claim: NotebookClaim,
        seconds: float,
        callback: Callable[[], None],
        purpose: Purpose = "end",
    ) -> None:
        """Call ``callback`` after ``seconds``; replaces an earlier timer of the same purpose."""
        key = (claim.path, claim.client, purpose)

        async def wait() -> None:
            await self._sleep(seconds)
            self._timers.pop(key, None)
            callback()

        self._stop(key)
        self._timers[key] = asyncio.create_task(wait())

    def stop(self, claim: NotebookClaim) -> None:
        """Stop the claim's timers."""
        self._stop((claim.path, claim.client, "end"))
        self._stop((claim.path, claim.client, "write"))

    def _stop(self, key: tuple[str, str, Purpose]) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    async def aclose(self) -> None:
        """Stop all timers."""
        timers = list(self._timers.values())
        self._timers.clear()
        for timer in timers:
            timer.cancel()
        await asyncio.gather(*timers, return_exceptions=True)
