"""A browser page that follows one session: its events and their order.

Used by ``tests.engine.state_machine.machine``. In the server, ``PageConnection`` batches and sends;
a page that reconnects names its cursor, and gets what it missed and all later events.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from jupyter_ai_shoulders.server.connections.page_connection import PageConnection
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.sessions.event_log import EventText
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.wire.ids import ClientId, SessionId

LIMIT_SECONDS = 10.0


class FakePage:
    """A page and the events it has seen; also the page's connection."""

    def __init__(self, session_id: SessionId) -> None:
        self.seen: list[str] = []
        """The event with ``seq`` n is at n - 1, as JSON text with its original key order."""
        self._session_id = session_id
        self._page: PageConnection | None = None
        self._came = asyncio.Event()

    @property
    def is_here(self) -> bool:
        """Whether it is connected."""
        return self._page is not None

    async def come(self, store: MemoryStore, back: int) -> None:
        """Connect ``back`` events before the last one seen; do nothing if connected."""
        if self._page is not None:
            return
        del self.seen[max(0, len(self.seen) - back) :]
        missed = store.read(self._session_id, len(self.seen))
        texts = [EventText(logged.event.seq, logged.text) for logged in missed]
        self._page = PageConnection(self, ClientId("page"), None)
        self._page.follow(self._session_id, store.last_seq(self._session_id), texts)

    def leave(self) -> None:
        """Disconnect; events on their way are lost."""
        if self._page is not None:
            self._page.disconnected()
            self._page = None

    def power_lost(self, kept: int) -> None:
        """Forget the events after the moment of the server's simulated death."""
        assert self._page is None
        del self.seen[kept:]

    def heard(self, logged: LoggedEvent) -> None:
        """Receive an event as it is logged."""
        if self._page is not None:
            self._page.offer(logged)

    async def send(self, text: str) -> None:
        """Receive a frame."""
        frame = json.loads(text)
        self.seen.extend(map(_text, frame.get("events", (frame,))))
        self._came.set()

    def close(self, code: int, reason: str) -> None:
        """Fail: this page accepts everything."""
        raise AssertionError(f"disconnected: {code} {reason}")

    def check(self, log: Sequence[str]) -> None:
        """Check that the events seen equal the log, without gaps or duplicates (I1)."""
        assert len(self.seen) <= len(log), "the page has seen what is not in the log"
        # Only the newest are compared; older ones do not change.
        for number in range(max(0, len(self.seen) - 200), len(self.seen)):
            assert self.seen[number] == log[number]

    async def sees_all(self, store: MemoryStore, log: Sequence[str]) -> None:
        """Reconnect and check that it sees the whole log."""
        await self.come(store, 5)
        async with asyncio.timeout(LIMIT_SECONDS):
            while len(self.seen) < len(log):
                self._came.clear()
                await self._came.wait()
        assert self.seen == list(log)


def _text(event: object) -> str:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))
