"""``sessions/{id}/events``: the log after a cursor, as a page of JSON or as a live SSE stream."""

from __future__ import annotations

import asyncio
import contextlib
import re
from asyncio import Future
from typing import TYPE_CHECKING, Any, cast

from jupyter_server.auth.decorator import authorized
from pydantic import Field
from tornado import web
from tornado.iostream import StreamClosedError

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.server.handlers.base import HostSource, ShouldersHandler
from jupyter_ai_shoulders.server.handlers.stream_writer import EVENT_STREAM, STREAM_HEADERS
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.errors import cursor_beyond_log
from jupyter_ai_shoulders.storage.schema.event_rows import EventText
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.ids import SessionId

if TYPE_CHECKING:
    from tornado.http1connection import HTTP1Connection

HEARTBEAT_SECONDS = 15.0
"""Less than the 60 s after which hub proxies cut a silent connection."""
STALLED_SECONDS = 60.0
"""A client that does not read its stream for this long is disconnected."""
FAREWELL_SECONDS = 5.0
"""How long the client then has to read the reason."""
_STALLED = ": closed, because this client does not read; reconnect with Last-Event-ID\n\n"
_AT_ONCE = 500
_CHARACTERS_AT_ONCE = 1 << 18
"""Maximum characters of events written at once, if there are several; a slow client costs as much
memory.
"""
_PAGE_CHARACTERS = 2 << 20
"""Maximum characters of the events in one page."""
_MAX_CHARACTERS = 1 << 20
"""Maximum characters of events queued for a slow client; beyond it they are read from the log."""
_EVENT_ID = re.compile("[0-9]{1,18}")


class EventQuery(CommandModel):
    """Query arguments of ``GET sessions/{id}/events``."""

    after: int = Field(default=0, ge=0)
    limit: int = Field(default=500, ge=1, le=5000)


class _StalledReader(Exception):
    """The client has not read for too long."""


class EventsHandler(ShouldersHandler):
    """``sessions/{id}/events``."""

    stalled_seconds = STALLED_SECONDS

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado with the arguments of the route."""
        super().initialize(host_source, **route)
        self._buffer: EventStreamBuffer | None = None

    @web.authenticated
    @authorized
    async def get(self, session_id: str) -> None:
        """Answer with a page, or follow the log if the client accepts an event stream."""
        session = self.session(session_id)
        query = self.query(EventQuery)
        if "text/event-stream" in self.request.headers.get("Accept", ""):
            after = self._last_event_id() or query.after
            if after > session.last_seq:
                raise cursor_beyond_log(session.id, session.last_seq, after)
            await self._stream(session.id, after)
        else:
            self._page(session.id, query)

    def _page(self, session_id: SessionId, query: EventQuery) -> None:
        log = self.host.log
        events = log.texts(session_id, query.after, query.limit, _PAGE_CHARACTERS)
        last_seq = log.last_seq(session_id)
        has_more = bool(events) and events[-1].seq < last_seq
        texts = ",".join(event.text for event in events)
        self.answer_text(
            f'{{"events":[{texts}],"last_seq":{last_seq},"has_more":{str(has_more).lower()}}}'
        )

    def _last_event_id(self) -> int | None:
        """Return the cursor of a client that reconnects."""
        given = self.request.headers.get("Last-Event-ID")
        if not given:
            return None
        if not _EVENT_ID.fullmatch(given):
            raise InvalidRequest(f"Last-Event-ID: {given[:40]!r} is not the id of an event.")
        return int(given)

    async def _stream(self, session_id: SessionId, after: int) -> None:
        """Write events until the client disconnects."""
        self.set_header("Content-Type", EVENT_STREAM)
        for name, value in STREAM_HEADERS.items():
            self.set_header(name, value)
        stream = cast("HTTP1Connection", self.request.connection).stream
        if stream is not None:
            stream.set_nodelay(True)  # else a small event waits 40 ms for the one before
        news = self._buffer = EventStreamBuffer()
        self.host.hub.follow(session_id, news, news.end)
        try:
            with contextlib.suppress(StreamClosedError):
                await self._follow(session_id, after, news)
        except _StalledReader:
            self.log.info("A client of %s does not read its events", session_id)
            await self._disconnect()
        finally:
            self.host.hub.unfollow(session_id, news)
            news.close()

    async def _follow(self, session_id: SessionId, after: int, buffer: EventStreamBuffer) -> None:
        """Write directly to the connection: ``RequestHandler.flush`` costs as much as the rest."""
        connection = cast("HTTP1Connection", self.request.connection)
        await self._sent(self.flush())
        while not buffer.is_over:
            if not self.is_still_authorized:
                return
            events = self._missed(session_id, after, buffer) if buffer.is_behind else buffer.take()
            if events:
                after = events[-1].seq
                text = "".join(map(_sse, events))
                del events  # frees them while the client reads
            elif not await buffer.wait(HEARTBEAT_SECONDS):
                text = ": heartbeat\n\n"
            else:
                continue
            await self._sent(connection.write(text.encode()))
        if rest := buffer.remaining(after):  # the server stops: how the turn ended
            await self._sent(connection.write("".join(map(_sse, rest)).encode()))

    async def _sent(self, written: Future[None]) -> None:
        """Wait until the client has read most of what was written. Raises ``_StalledReader``."""
        if written.done():
            await written
            return
        done, _ = await asyncio.wait([written], timeout=self.stalled_seconds)
        if not done:
            raise _StalledReader
        await written

    async def _disconnect(self) -> None:
        """Disconnect a client that does not read; send the reason in case it reads again."""
        finished = self.finish(_STALLED)
        await asyncio.wait([finished], timeout=FAREWELL_SECONDS)
        stream = cast("HTTP1Connection", self.request.connection).stream
        if stream is not None and not finished.done():
            stream.close()

    def _missed(
        self, session_id: SessionId, after: int, buffer: EventStreamBuffer
    ) -> list[EventText]:
        """Return events of the log; once at its end, published events follow without a gap."""
        events = self.host.log.texts(session_id, after, _AT_ONCE, _CHARACTERS_AT_ONCE)
        if not events or events[-1].seq == self.host.log.last_seq(session_id):
            buffer.catch_up()
        return events

    def on_connection_close(self) -> None:
        """Stop following: the client disconnected."""
        if self._buffer is not None:
            self._buffer.end()


class EventStreamBuffer:
    """Published events of one session, queued for one client.

    A client that is too slow falls behind and reads from the log, so the queue is bounded.
    """

    def __init__(self) -> None:
        self.is_over = False
        self.is_behind = True
        self._events: list[EventText] = []
        self._characters = 0
        self._changed = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._beat_at = 0.0

    def on_event(self, logged: LoggedEvent) -> None:
        """Queue a committed event."""
        if not self.is_behind:
            self._events.append(EventText(logged.event.seq, logged.text))
            self._characters += len(logged.text)
            if len(self._events) > _AT_ONCE or self._characters > _MAX_CHARACTERS:
                self.take()
                self.is_behind = True
        self._changed.set()

    def catch_up(self) -> None:
        """Queue published events from now on: the log was read to its end."""
        self.is_behind = False

    def take(self) -> list[EventText]:
        """Return the events published since the last call."""
        events, self._events = self._events, []
        self._characters = 0
        self._changed.clear()
        return events

    def remaining(self, after: int) -> list[EventText]:
        """Return the events after ``after`` at the end; none if the client is behind."""
        events = self.take()
        return events if events and events[0].seq == after + 1 else []

    def end(self) -> None:
        """Wake the stream for the last time."""
        self.is_over = True
        self._changed.set()

    def close(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()

    async def wait(self, seconds: float) -> bool:
        """Return True when an event came, False after a timeout of ``seconds``."""
        loop = asyncio.get_running_loop()
        beat_at = self._beat_at = loop.time() + seconds
        if self._timer is None:
            self._timer = loop.call_at(beat_at, self._beat)
        await self._changed.wait()
        self._changed.clear()
        return self.is_over or loop.time() < beat_at

    def _beat(self) -> None:
        """Wake the stream on a timeout; one timer serves many waits, most of them short."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._beat_at:
            self._timer = loop.call_at(self._beat_at, self._beat)
        else:
            self._timer = None
            self._changed.set()


def _sse(event: EventText) -> str:
    """Return the event in SSE format; JSON text has no line breaks."""
    return f"id: {event.seq}\ndata: {event.text}\n\n"
