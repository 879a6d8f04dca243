"""One browser page: the sessions it follows and the frames on their way to it.

Made by ``server.socket`` for each connection. Events go out in batches, one frame for all sessions
about every 10 ms; after a pause some frames go out at once, so that a turn's first words do not
wait. A page too slow for them is told to fetch what it missed: the memory spent on it is bounded.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol

from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.encode import encode
from jupyter_ai_shoulders.storage.log import EventText
from jupyter_ai_shoulders.wire.events import SessionCreate, SessionUpdate
from jupyter_ai_shoulders.wire.frames import Resync, ServerFrame
from jupyter_ai_shoulders.wire.ids import ClientId, SessionId

BATCH_SECONDS = 0.010
"""Between two frames, once so many have gone out at once:"""
BURST_FRAMES = 8
MAX_EVENT_CHARACTERS = 8 << 20
"""Of events that wait for a slow page; beyond it they are dropped and the page re-syncs."""
MAX_FRAME_CHARACTERS = 128 << 20
"""Of other frames that wait, which cannot be dropped; beyond it the page is disconnected."""


class PageConnection(Protocol):
    """The socket of a page."""

    def send(self, text: str) -> Awaitable[None]:
        """Send a frame; done when the page has taken it from us."""
        ...

    def close(self, code: int, reason: str) -> None:
        """Disconnect the page."""
        ...


@dataclass(slots=True)
class _Batch:
    """Events that go into one frame."""

    texts: list[str] = field(default_factory=list[str])
    first: dict[SessionId, int] = field(default_factory=dict[SessionId, int])
    """The first ``seq`` of each session followed, for the cursor to re-sync from."""
    newest: dict[SessionId, str] = field(default_factory=dict[SessionId, str])
    """The last update of each session not followed, which nobody would fetch."""


class Page:
    """What the server knows of one connected page."""

    def __init__(self, connection: PageConnection, client_id: ClientId, user: str | None) -> None:
        """``user`` is whose sessions the page may see, None for all."""
        self.client_id = client_id
        self.user = user
        self._connection = connection
        self._cursors: dict[SessionId, int] = {}
        self._waiting: deque[_Batch | str] = deque()
        self._event_characters = 0
        self._frame_characters = 0
        self._wake = asyncio.Event()
        self._pump = asyncio.create_task(self._run(), name=f"shoulders-page-{client_id}")

    def follow(self, session_id: SessionId, seq: int, missed: list[EventText]) -> None:
        """Send the events ``missed`` and all later ones; ``seq`` is the last one logged."""
        self._cursors[session_id] = seq
        for text in missed:
            if session_id not in self._cursors:
                return  # it was too much: the page was told to fetch it
            self._add_event(session_id, text.seq, text.text)

    def unfollow(self, session_id: SessionId) -> None:
        """Send no more events of this session."""
        self._cursors.pop(session_id, None)

    def follows(self, session_id: SessionId) -> bool:
        """Return whether the page gets all events of this session."""
        return session_id in self._cursors

    def offer(self, logged: LoggedEvent) -> None:
        """Send the event if the page is to have it."""
        event = logged.event
        if event.session_id in self._cursors:
            if event.seq > self._cursors[event.session_id]:
                self._cursors[event.session_id] = event.seq
                self._add_event(event.session_id, event.seq, logged.text)
        elif isinstance(event, SessionCreate | SessionUpdate) and self.may_see(event.session.owner):
            self._add_update(event.session_id, logged.text)

    def send(self, frame: ServerFrame) -> None:
        """Send a frame that is not events, behind what already waits."""
        text = encode(frame)[1]
        self._waiting.append(text)
        self._frame_characters += len(text)
        if self._frame_characters > MAX_FRAME_CHARACTERS:
            self._connection.close(1013, "the page does not read what it is sent")
        self._wake.set()

    def close(self, code: int, reason: str) -> None:
        """Disconnect the page."""
        self._connection.close(code, reason)
        self.disconnected()

    def disconnected(self) -> None:
        """Send nothing more."""
        self._pump.cancel()

    def may_see(self, owner: str | None) -> bool:
        """Return whether sessions of this owner are shown to the page's user."""
        return self.user is None or owner is None or owner == self.user

    def _add_event(self, session_id: SessionId, seq: int, text: str) -> None:
        self._batch().first.setdefault(session_id, seq)
        self._add_text(text)

    def _add_update(self, session_id: SessionId, text: str) -> None:
        self._batch().newest[session_id] = text
        self._add_text(text)

    def _batch(self) -> _Batch:
        """Return the batch that goes out last."""
        last = self._waiting[-1] if self._waiting else None
        if not isinstance(last, _Batch):
            last = _Batch()
            self._waiting.append(last)
        return last

    def _add_text(self, text: str) -> None:
        self._batch().texts.append(text)
        self._event_characters += len(text)
        if self._event_characters > MAX_EVENT_CHARACTERS:
            self._drop_events()
        self._wake.set()

    def _drop_events(self) -> None:
        """Leave out the events that wait; the page fetches them and then follows again.

        Of sessions it does not follow the newest state is kept.
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
        if newest:
            self._waiting.append(_Batch(texts=list(newest.values()), newest=newest))
        self._event_characters = sum(map(len, newest.values()))

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
            self._frame_characters -= len(item)
            return item
        self._event_characters -= sum(map(len, item.texts))
        return f'{{"type":"events","events":[{",".join(item.texts)}]}}'
