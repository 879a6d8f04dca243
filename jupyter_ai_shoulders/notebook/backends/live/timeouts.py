"""How long things may take, and the times of grace of absent pages.

Used by ``notebook.backends.live.open_notebooks``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.notebook.backends.live.open_documents import PageDocument

Sleep = Callable[[float], Awaitable[object]]
"""Returns after a number of seconds."""


@dataclass(frozen=True, slots=True)
class LiveTimeouts:
    """How long things may take, in seconds.

    ``grace`` is the time a page with unsaved text of the user may be away before its notebook is
    the file's again. After ``agents_grace``, if it is shorter, the agent's work on cells without
    such text is in the file; where all that is unsaved is the agent's, it ends the wait.
    ``restart_grace`` is the least after a start of the server: pages try to reconnect at least
    every 30 s.
    """

    answer: float = 2.0
    grace: float = 600.0
    agents_grace: float = 10.0
    restart_grace: float = 40.0


Purpose = Literal["end", "write"]
"""What a timer is for: to end a claim, or to write the agent's work below it."""


class DisconnectTimers:
    """The timers of claims; a resource: ``aclose`` it."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._sleep = sleep
        self._timers: dict[tuple[str, str, Purpose], asyncio.Task[None]] = {}

    def start(
        self,
        claim: PageDocument,
        seconds: float,
        then: Callable[[], None],
        purpose: Purpose = "end",
    ) -> None:
        """Call ``then`` when the time is over, instead of an earlier timer of the same purpose."""
        key = (claim.path, claim.client, purpose)

        async def wait() -> None:
            await self._sleep(seconds)
            self._timers.pop(key, None)
            then()

        self._stop(key)
        self._timers[key] = asyncio.create_task(wait())

    def stop(self, claim: PageDocument) -> None:
        """Forget the claim's timers."""
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
