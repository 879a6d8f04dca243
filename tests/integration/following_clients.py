"""Clients that follow a conversation, disconnect and reconnect, and reduce its events: pages and
streams.

Used by ``test_reconnecting_clients`` against a real server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import aiohttp

from jupyter_ai_shoulders.wire.conversation.reducer import EMPTY, reduce_event
from jupyter_ai_shoulders.wire.conversation.views import Conversation
from jupyter_ai_shoulders.wire.events import parse_event
from tests.bench.server_and_provider import API, Server

ENDED = "turn-end"


@dataclass
class FollowingClient:
    """The state of one page: its events, each once and in order, reduced to a conversation."""

    server: Server
    session: str
    rng: Random
    view: Conversation = EMPTY
    seen: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    kept: list[Conversation] = field(default_factory=list[Conversation])
    """The conversation at each disconnect."""
    comings: int = 0

    @property
    def ended(self) -> bool:
        """Whether it saw the end of the turn."""
        return any(event["type"] == ENDED for event in self.seen[-3:])

    def take(self, event: dict[str, Any]) -> None:
        """Reduce an event; known ones are skipped, as in the page."""
        if event["session_id"] != self.session or event["seq"] <= len(self.seen):
            return
        assert event["seq"] == len(self.seen) + 1, "an event is missing"
        self.seen.append(event)
        self.view = reduce_event(self.view, parse_event(json.dumps(event)))

    def forget(self) -> None:
        """Reload: drop all state."""
        self.seen, self.view = [], EMPTY

    async def come_and_go(self, times: int) -> None:
        """Follow for a random time, disconnect, reconnect; the last time stay to the end."""
        ways = (self.as_page, self.as_stream, self.as_new_page)
        while self.comings < times or not self.ended:
            self.comings += 1
            stays = self.comings >= times
            patience = 60.0 if stays else self.rng.uniform(0, 0.06)
            try:
                async with asyncio.timeout(patience):
                    await self.rng.choice(ways)()
            except TimeoutError:
                assert not stays, "the end does not come"
            self.kept.append(self.view)

    async def as_page(self) -> None:
        """Connect with the cursor, as a page whose socket was cut."""
        async with self.server.page({self.session: len(self.seen)}) as socket:
            await self._follow(socket)

    async def as_new_page(self) -> None:
        """Read the log from its start, then follow, as a reloaded page."""
        self.forget()
        url = f"{self.server.url}/sessions/{self.session}/events?after=0&limit=5000"
        async with self.server.page() as socket:
            async with self.server.http.get(url) as answer:
                for event in (await answer.json())["events"]:
                    self.take(event)
            frame = {"type": "subscribe", "session_id": self.session, "after": len(self.seen)}
            await socket.send_str(json.dumps(frame))
            await self._follow(socket)

    async def as_stream(self) -> None:
        """Follow over SSE; the connection is reset at the end, not closed."""
        lab = self.server.lab
        reader, writer = await asyncio.open_connection("127.0.0.1", lab.port, limit=1 << 24)
        lines = [
            f"GET {lab.base_url}{API}/sessions/{self.session}/events?after=0 HTTP/1.0",
            f"Host: 127.0.0.1:{lab.port}",
            f"Authorization: token {lab.token}",
            "Accept: text/event-stream",
            f"Last-Event-ID: {len(self.seen)}",
        ]
        try:
            writer.write("\r\n".join((*lines, "", "")).encode())
            while not self.ended and (line := await reader.readline()):
                if line.startswith(b"data: "):
                    self.take(json.loads(line.removeprefix(b"data: ")))
        finally:
            writer.transport.abort()

    async def _follow(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        while not self.ended:
            frame = await socket.receive_json()
            assert frame["type"] in {"events", "settings-update"}, frame
            for event in frame.get("events", ()):
                self.take(event)


def shown(view: Conversation) -> str:
    """All text of the agent that a reader sees."""
    parts = (part for message in view.messages for part in getattr(message, "parts", ()))
    return "".join(part.text for part in parts if part.type == "text")


def said(log: Sequence[dict[str, Any]]) -> str:
    """All text of the agent in the log."""
    return "".join(event["text"] for event in log if event["type"] == "text-delta")
