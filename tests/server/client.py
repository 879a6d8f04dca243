"""A client of the HTTP API and of the page socket, over pytest-jupyter's fetchers."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
from tornado.httpclient import HTTPResponse
from tornado.websocket import WebSocketClientConnection

from jupyter_ai_shoulders.wire.base import WIRE_VERSION

API = ("shoulders", "api", "v1")
Fetch = Callable[..., Any]
ENDED = "turn-end"
NO_RULES: dict[str, Any] = {"disabled": [], "rules": [], "disable_external": False}
"""An empty list of permissions for ``PUT tools/permissions``."""


@dataclass(frozen=True)
class Answer:
    """An answer of the server."""

    status: int
    body: Any
    headers: dict[str, str]

    @property
    def error(self) -> dict[str, Any]:
        """The error object."""
        assert set(self.body) == {"error"}, self.body
        return self.body["error"]

    @property
    def code(self) -> str:
        """The error's code."""
        return self.error["code"]


class Api:
    """The HTTP API for a script with a token."""

    def __init__(self, fetch: Fetch, url: str, headers: dict[str, str]) -> None:
        """``url`` and ``headers`` are for streams, which the fetcher cannot leave early."""
        self._fetch = fetch
        self._url = url
        self._headers = headers

    @property
    def token(self) -> str:
        """Value of the header ``Authorization``."""
        return self._headers["Authorization"]

    async def get(self, path: str, **params: object) -> Answer:
        return await self.request("GET", path, params=params)

    async def post(self, path: str, body: object = None) -> Answer:
        return await self.request("POST", path, body)

    async def patch(self, path: str, body: object) -> Answer:
        return await self.request("PATCH", path, body)

    async def put(self, path: str, body: object) -> Answer:
        return await self.request("PUT", path, body)

    async def delete(self, path: str) -> Answer:
        return await self.request("DELETE", path)

    async def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        **kwargs: Any,
    ) -> Answer:
        """Send a request; error answers are returned."""
        content = raw if raw is not None else json.dumps(body).encode() if body is not None else b""
        if method in {"POST", "PUT", "PATCH"}:
            kwargs["body"] = content
        response: HTTPResponse = await self._fetch(
            *API, *path.split("/"), method=method, raise_error=False, **kwargs
        )
        text = response.body.decode()
        headers = dict(response.headers.get_all())
        is_page = headers.get("Content-Type", "").startswith("text/html")  # of a sign-in
        body = text if is_page else json.loads(text) if text else None
        return Answer(response.code, body, headers)

    async def download(self, path: str) -> httpx.Response:
        """Get a file; the path is not quoted."""
        async with httpx.AsyncClient() as client:
            base = httpx.URL(f"{self._url}{'/'.join(API)}/")
            target = base.copy_with(raw_path=base.raw_path + path.encode())
            return await client.get(target, headers=self._headers)

    async def trust_folder(self) -> None:
        """Accept all settings that came with the folder."""
        found = (await self.get("trust")).body["items"]
        answers = {"trust": [item["id"] for item in found]}
        assert (await self.put("trust", answers)).status == 200

    async def new_session(self, **fields: object) -> str:
        """Make a session; return its id."""
        answer = await self.post("sessions", fields)
        assert answer.status == 201, answer
        return answer.body["id"]

    async def send(self, session_id: str, text: str, message_id: str = "m1") -> Answer:
        """Send a message."""
        return await self.post(f"sessions/{session_id}/messages", {"id": message_id, "text": text})

    async def events(self, session_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Read the whole log."""
        answer = await self.get(f"sessions/{session_id}/events", after=after, limit=5000)
        assert answer.status == 200, answer
        return answer.body["events"]

    @asynccontextmanager
    async def stream(
        self, session_id: str, after: int = 0, **headers: str
    ) -> AsyncGenerator["EventStream"]:
        """Follow the log as an event stream."""
        target = f"{self._url}{'/'.join(API)}/sessions/{session_id}/events?after={after}"
        given = {**self._headers, "Accept": "text/event-stream", **headers}
        async with (
            httpx.AsyncClient(timeout=None) as client,
            client.stream("GET", target, headers=given) as response,
        ):
            stream = EventStream(response)
            task = stream.reading = asyncio.create_task(stream.read())
            try:
                yield stream
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def run(self, session_id: str, text: str, message_id: str = "m1") -> list[dict[str, Any]]:
        """Send a message and return the log once its turn is over."""
        async with self.stream(session_id) as stream:
            assert (await self.send(session_id, text, message_id)).status == 202
            await stream.until(ENDED)
        return await self.events(session_id)


@dataclass
class EventStream:
    """The events received over SSE so far."""

    response: httpx.Response
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    ids: list[int] = field(default_factory=list[int])
    comments: list[str] = field(default_factory=list[str])
    reading: asyncio.Task[None] | None = None
    """Done when the server has ended the stream."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self) -> None:
        """Read until the server ends the stream."""
        rest = ""
        async for text in self.response.aiter_text():
            *blocks, rest = (rest + text).split("\n\n")
            for block in blocks:
                self._read(block)
            self._news.set()

    def _read(self, block: str) -> None:
        if block.startswith(":"):
            self.comments.append(block)
            return
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        self.ids.append(int(fields["id"]))
        self.events.append(json.loads(fields["data"]))

    async def until(self, *types: str, count: int = 1, seconds: float = 60) -> dict[str, Any]:
        """Wait for the ``count``-th event of these types and return it."""
        async with asyncio.timeout(seconds):
            while True:
                found = [event for event in self.events if event["type"] in types]
                if len(found) >= count:
                    return found[count - 1]
                await self.news()

    async def news(self) -> None:
        """Wait for more bytes."""
        self._news.clear()
        await self._news.wait()


class PageClient:
    """A page on the socket."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.socket = socket
        self.frames: list[dict[str, Any]] = []
        self.sent: list[Awaitable[None]] = []

    def say(self, frame_type: str, **fields: object) -> None:
        """Send a frame."""
        self.say_text(json.dumps({"type": frame_type, **fields}))

    def say_text(self, text: str) -> None:
        """Send any text."""
        self.sent.append(self.socket.write_message(text))

    def hello(
        self,
        cursors: dict[str, int] | None = None,
        client_id: str = "page",
        version: int = WIRE_VERSION,
    ) -> None:
        """Say hello."""
        self.say("hello", client_id=client_id, wire_version=version, cursors=cursors or {})

    async def next(self, seconds: float = 60) -> dict[str, Any] | None:
        """Return the next frame, None when the server closed the socket."""
        async with asyncio.timeout(seconds):
            message = await self.socket.read_message()
        if message is None:
            return None
        self.frames.append(json.loads(message))
        return self.frames[-1]

    async def until(self, frame_type: str) -> dict[str, Any]:
        """Return the next frame of this type."""
        while True:
            frame = await self.next()
            assert frame is not None, f"The socket closed before {frame_type}: {self.frames}"
            if frame["type"] == frame_type:
                return frame

    async def until_event(self, event_type: str) -> dict[str, Any]:
        """Return the next event of this type."""
        while True:
            frame = await self.until("events")
            for event in frame["events"]:
                if event["type"] == event_type:
                    return event

    @property
    def events(self) -> list[dict[str, Any]]:
        """All events so far."""
        batches = [frame["events"] for frame in self.frames if frame["type"] == "events"]
        return [event for batch in batches for event in batch]

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()

    def break_off(self) -> None:
        """Break the connection without a close frame."""
        cast("Any", self.socket.protocol).stream.close()
