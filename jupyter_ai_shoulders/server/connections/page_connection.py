"""One browser page: the sessions it follows, and its outgoing frames.

Made by ``server.connections.page_socket`` for each connection. Events are sent in batches, one
frame for all sessions about every 10 ms; after a pause some frames are sent at once, so that a
turn's first words do not wait. A page that is too slow must fetch the events it missed, so
memory is bounded.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from dataclasses import dataclass, field
from sys import getsizeof
from typing import Protocol

from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.json_encoding import encode_model
from jupyter_ai_shoulders.storage.schema.event_rows import EventText
from jupyter_ai_shoulders.wire.events import SessionCreate, SessionUpdate
from jupyter_ai_shoulders.wire.frames import Resync, ServerFrame
from jupyter_ai_shoulders.wire.ids import ClientId, SessionId

BATCH_SECONDS = 0.010
"""Between two frames, once this many have been sent at once:"""
BURST_FRAMES = 8
MAX_EVENT_BYTES = 2 << 20
"""Maximum bytes of queued events; beyond it they are dropped and the page re-syncs."""
BATCH_BYTES = 1 << 19
"""Maximum bytes of the events in one frame, if there are several."""
MAX_FRAME_BYTES = 5 << 20
"""Maximum bytes of other queued frames, which cannot be dropped; beyond it the page is
disconnected. It reconnects and continues from its cursor.
"""
TRY_AGAIN = 1013
"""The close code for such a page (RFC 6455's registry: try again later)."""


class PageSocket(Protocol):
    """The socket of a page."""

    def send(self, text: str) -> Awaitable[None]:
        """Send a frame; done when the page has taken it."""
        ...

    def close(self, code: int, reason: str) -> None:
        """Disconnect the page."""
        ...


@dataclass(slots=True)
class _Batch:
    """Events of one frame; ``size`` is their memory in bytes."""

    size: int = 0
    texts: list[str] = field(default_factory=list[str])
    first: dict[SessionId, int] = field(default_factory=dict[SessionId, int])
    """The first ``seq`` of each followed session, the cursor for a re-sync."""
    newest: dict[SessionId, str] = field(default_factory=dict[SessionId, str])
    """The last update of each session that is not followed, which nobody would fetch."""


class PageConnection:
    """The server's state of one connected page."""

    def __init__(self, connection: PageSocket, client_id: ClientId, user: str | None) -> None:
        """``user`` is the user whose sessions the page may see, None for all."""
        self.client_id = client_id
        self.user = user
        self._connection = connection
        self._cursors: dict[SessionId, int] = {}
        self._waiting: deque[_Batch | str] = deque()
        self._event_bytes = 0
        self._frame_bytes = 0
        self._is_closed = False
        self._wake = asyncio.Event()
        self._pump = asyncio.create_task(self._run(), name=f"shoulders-page-{client_id}")

    def follow(self, session_id: SessionId, seq: int, missed: list[EventText]) -> None:
        """Send the events ``missed`` and all later ones; ``seq`` is the last one logged."""
        self._cursors[session_id] = seq
        for text in missed:
            if session_id not in self._cursors:
                return  # too much: the page was told to fetch it
            self._add_event(session_id, text.seq, text.text)

    def unfollow(self, session_id: SessionId) -> None:
        """Send no more events of this session."""
        self._cursors.pop(session_id, None)

    def follows(self, session_id: SessionId) -> bool:
        """Return whether the page gets all events of this session."""
        return session_id in self._cursors

    def offer(self, logged: LoggedEvent) -> None:
        """Send the event if it concerns the page."""
        event = logged.event
        if self._is_closed:
            return
        if event.session_id in self._cursors:
            if event.seq > self._cursors[event.session_id]:
                self._cursors[event.session_id] = event.seq
                self._add_event(event.session_id, event.seq, logged.text)
        elif isinstance(event, SessionCreate | SessionUpdate) and self.may_see(event.session.owner):
            self._add_update(event.session_id, logged.text)

    def send(self, frame: ServerFrame) -> None:
        """Send a frame without events, after those already queued."""
        if self._is_closed:
            return
        text = encode_model(frame)[1]
        is_first = not self._frame_bytes  # one frame always fits, however large
        self._waiting.append(text)
        self._frame_bytes += getsizeof(text)
        if self._frame_bytes > MAX_FRAME_BYTES and not is_first:
            self.close(TRY_AGAIN, "the page does not read what it is sent: connect again")
            return
        self._wake.set()

    @property
    def waiting_bytes(self) -> int:
        """Memory of the queued frames, in bytes."""
        return self._event_bytes + self._frame_bytes

    def close(self, code: int, reason: str) -> None:
        """Disconnect the page."""
        self._connection.close(code, reason)
        self.disconnected()

    def disconnected(self) -> None:
        """Send nothing more, and drop queued frames."""
        self._is_closed = True
        self._pump.cancel()
        self._waiting.clear()
        self._event_bytes = self._frame_bytes = 0

    def may_see(self, owner: str | None) -> bool:
        """Return whether the page's user may see sessions of this owner."""
        return self.user is None or owner is None or owner == self.user

    def _add_event(self, session_id: SessionId, seq: int, text: str) -> None:
        batch = self._batch()
        batch.first.setdefault(session_id, seq)
        self._add_text(batch, text)

    def _add_update(self, session_id: SessionId, text: str) -> None:
        batch = self._batch()
        batch.newest[session_id] = text
        self._add_text(batch, text)

    def _batch(self) -> _Batch:
        """Return the last queued batch."""
        last = self._waiting[-1] if self._waiting else None
        if not isinstance(last, _Batch) or last.size >= BATCH_BYTES:
            last = _Batch()
            self._waiting.append(last)
        return last

    def _add_text(self, batch: _Batch, text: str) -> None:
        size = getsizeof(text)
        batch.texts.append(text)
        batch.size += size
        is_first = not self._event_bytes  # one event always fits, however large
        self._event_bytes += size
        if self._event_bytes > MAX_EVENT_BYTES and not is_first:
            self._drop_events()
        self._wake.set()

    def _drop_events(self) -> None:
        """Drop the queued events; the page fetches them and then follows again.

        For sessions it does not follow the newest state is kept.
        """
        lost: dict[SessionId, int] = {}
        newest: dict[SessionId, str] = {}
        for item in self._waiting:
            if isinstance(item, _Batch):
                newest.update(item.newest)
                for session_id, seq in item.first.items():
                    lost.setdefault(session_id, seq)
        self._waiting = deque(item for item in self._waiting if isinstance(item, str))
        for session_id, seq in lost.items():
            self.unfollow(session_id)
            self.send(Resync(session_id=session_id, after=seq - 1))
        self._event_bytes = sum(map(getsizeof, newest.values()))
        if newest:
            texts = list(newest.values())
            self._waiting.append(_Batch(self._event_bytes, texts, newest=newest))

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        paid = clock()
        while True:
            await self._wake.wait()
            self._wake.clear()
            paid = max(paid, clock()) + BATCH_SECONDS
            while self._waiting:
                await self._connection.send(self._next_text())
            await asyncio.sleep(max(0.0, paid - (BURST_FRAMES - 1) * BATCH_SECONDS - clock()))

    def _next_text(self) -> str:
        item = self._waiting.popleft()
        if isinstance(item, str):
            self._frame_bytes -= getsizeof(item)
            return item
        self._event_bytes -= item.size
        return f'{{"type":"events","events":[{",".join(item.texts)}]}}'
