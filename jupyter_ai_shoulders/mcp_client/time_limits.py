"""Time limits that stop while a server waits for the user. Used by ``mcp_client.connection``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager


class PausableLimits:
    """The time limits of the running requests of one server."""

    def __init__(self) -> None:
        self._left: dict[asyncio.Timeout, float] = {}
        self._pauses = 0

    @asynccontextmanager
    async def limit(self, seconds: float) -> AsyncGenerator[None]:
        """Cancel the block after some seconds. Raises ``TimeoutError``."""
        now = asyncio.get_running_loop().time()
        async with asyncio.timeout(None) as timeout:
            self._left[timeout] = seconds
            if not self._pauses:
                timeout.reschedule(now + seconds)
            try:
                yield
            finally:
                del self._left[timeout]

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let no time pass for the requests."""
        loop = asyncio.get_running_loop()
        if not self._pauses:
            for timeout in self._left:
                self._left[timeout] = max(0.0, (timeout.when() or loop.time()) - loop.time())
                timeout.reschedule(None)
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                for timeout, left in self._left.items():
                    if not timeout.expired():
                        timeout.reschedule(loop.time() + left)
