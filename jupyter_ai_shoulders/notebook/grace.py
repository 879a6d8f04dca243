"""How long things may take, and the times of grace of absent pages; used by ``notebook.live``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from jupyter_ai_shoulders.notebook.claims import Claim

Sleep = Callable[[float], Awaitable[object]]
"""Returns after a number of seconds."""


@dataclass(frozen=True, slots=True)
class LiveTimes:
    """How long things may take, in seconds.

    ``grace`` is the time a page with unsaved text of the user may be away: until then nothing is
    written below it. Where all that is unsaved is the agent's ``agents_grace`` is enough, if it is
    shorter. ``restart_grace`` is the least after a start of the server: pages try to reconnect at
    least every 30 s.
    """

    answer: float = 2.0
    grace: float = 600.0
    agents_grace: float = 10.0
    restart_grace: float = 40.0


class GraceTimers:
    """One timer per claim; a resource: ``aclose`` it."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._sleep = sleep
        self._timers: dict[tuple[str, str], asyncio.Task[None]] = {}

    def start(self, claim: Claim, seconds: float, then: Callable[[], None]) -> None:
        """Call ``then`` when the time is over; a timer of the same claim starts anew."""

        async def wait() -> None:
            await self._sleep(seconds)
            self._timers.pop(_key(claim), None)
            then()

        self.stop(claim)
        self._timers[_key(claim)] = asyncio.create_task(wait())

    def stop(self, claim: Claim) -> None:
        """Forget the claim's timer, if it has one."""
        timer = self._timers.pop(_key(claim), None)
        if timer is not None:
            timer.cancel()

    async def aclose(self) -> None:
        """Stop all timers."""
        timers = list(self._timers.values())
        self._timers.clear()
        for timer in timers:
            timer.cancel()
        await asyncio.gather(*timers, return_exceptions=True)


def _key(claim: Claim) -> tuple[str, str]:
    return claim.path, claim.client
