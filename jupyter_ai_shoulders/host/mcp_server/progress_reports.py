"""Reports what a waiting call of a client does, so that the client does not give it up.

Used by ``host.mcp_server.protocol``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, Protocol, TypeVar

HEARTBEAT_SECONDS = 5.0
"""A waiting client gets a report at least this often."""
SPACING_SECONDS = 0.5
"""Reports come at most this often, however much is printed."""
MAX_LINE = 300
WORKING = "working"

ResultT = TypeVar("ResultT")


class SendProgress(Protocol):
    """Sends a report, if the client asked for them."""

    def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Send how far it is; ``progress`` only ever grows."""
        ...


class ClientDisconnected(Exception):
    """Nobody waits for the answer any more."""


class ProgressReports:
    """The reports of one call."""

    def __init__(self, send: SendProgress) -> None:
        self._send = send
        self._said = WORKING
        self._news = asyncio.Event()
        self._count = 0

    def report(self, text: str) -> None:
        """Take a state or a piece of output; the last line of it is reported."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            self._said = lines[-1][:MAX_LINE]
            self._news.set()

    async def follow(
        self, call: Coroutine[Any, Any, ResultT], disconnected: asyncio.Event
    ) -> ResultT:
        """Return the call's result; report until then.

        Cancelling this cancels the call, and so does ``disconnected``: ``ClientDisconnected``.
        """
        task = asyncio.create_task(call)
        gone = asyncio.create_task(disconnected.wait())
        reporting = asyncio.create_task(self._report())
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientDisconnected
            return task.result()
        finally:
            for running in (task, gone, reporting):
                running.cancel()

    async def _report(self) -> None:
        await asyncio.sleep(SPACING_SECONDS)  # most calls end sooner
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            self._count += 1
            await self._send(self._count, message=self._said)
            await asyncio.sleep(SPACING_SECONDS)
