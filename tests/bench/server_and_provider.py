"""A real server and a simulated provider, each in its process, and a client cheap enough to time.

Used by the groups that measure through the server.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from jupyter_ai_shoulders.wire.base import WIRE_VERSION
from tests.simulator_process import KEY, MODEL, SimulatorProcess
from tests.support.lab_server import Lab

API = "shoulders/api/v1"


@dataclass
class Provider:
    """A model service at an address: the simulator, a relay in front of it, or our proxy."""

    url: str
    http: aiohttp.ClientSession
    key: str = KEY
    model: str = MODEL
    path: str = "/v1/messages"
    frame: Mapping[str, Any] = field(default_factory=lambda: {"max_tokens": 4096, "stream": True})
    """The request without model and messages."""

    async def stream(self, text: str) -> AsyncIterator[bytes]:
        """Ask for a streamed answer and yield its bytes as they come."""
        messages = [{"role": "user", "content": text}]
        body = {**self.frame, "model": self.model, "messages": messages}
        headers = {"x-api-key": self.key, "anthropic-version": "2023-06-01"}
        url = f"{self.url}{self.path}"
        async with self.http.post(url, json=body, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            async for piece in answer.content.iter_any():
                yield piece


async def asked_as_in_a_turn(server: Server, upstream: SimulatorProcess) -> Mapping[str, Any]:
    """Return the ``frame`` of a turn's request, with system prompt and tools.

    The provider takes longer to read it than a short one, so that a floor must send it, too.
    """
    session, seq = await server.session()
    async with server.page({session: seq}) as socket:
        await server.say(socket, session, "Hello")
        while '"type":"turn-end"' not in await socket.receive_str():
            pass
    body = upstream.requests()[-1]["body"]
    return {name: value for name, value in body.items() if name not in {"model", "messages"}}


@dataclass
class Server:
    """Our routes on a running lab."""

    lab: Lab
    http: aiohttp.ClientSession
    numbers: count[int] = field(default_factory=count)

    @property
    def url(self) -> str:
        """The root of our routes."""
        return f"http://127.0.0.1:{self.lab.port}/{API}"

    async def session(self, **fields: str) -> tuple[str, int]:
        """Make a conversation; return its id and its last ``seq``."""
        async with self.http.post(f"{self.url}/sessions", json=fields) as answer:
            assert answer.status == 201, await answer.text()
            session = await answer.json()
            return session["id"], session["last_seq"]

    async def send(self, session: str, text: str, shown: Sequence[str] = ()) -> None:
        """Send a user message, with these documents open."""
        context = {"open_documents": list(shown)}
        body = {"id": f"m{next(self.numbers)}", "text": text, "context": context}
        async with self.http.post(f"{self.url}/sessions/{session}/messages", json=body) as answer:
            assert answer.status == 202, await answer.text()

    async def say(self, socket: aiohttp.ClientWebSocketResponse, session: str, text: str) -> None:
        """Send a user message as a page does."""
        context: dict[str, list[str]] = {"open_documents": []}
        message = {"id": f"m{next(self.numbers)}", "text": text, "context": context}
        frame = {"type": "message-send", "session_id": session, "message": message}
        await socket.send_str(json.dumps(frame))

    @asynccontextmanager
    async def page(
        self, cursors: Mapping[str, int] | None = None
    ) -> AsyncGenerator[aiohttp.ClientWebSocketResponse]:
        """Connect as a page does, following these conversations."""
        hello = {
            "type": "hello",
            "client_id": f"bench-{next(self.numbers)}",
            "wire_version": WIRE_VERSION,
            "cursors": dict(cursors or {}),
        }
        async with self.http.ws_connect(f"{self.url}/socket", max_msg_size=0) as socket:
            await socket.send_str(json.dumps(hello))
            welcome = await socket.receive_json()
            assert welcome["type"] == "welcome", welcome
            yield socket

    @asynccontextmanager
    async def events(self, session: str, after: int) -> AsyncGenerator[aiohttp.StreamReader]:
        """Follow a conversation as an event stream."""
        headers = {"Accept": "text/event-stream"}
        url = f"{self.url}/sessions/{session}/events?after={after}"
        async with self.http.get(url, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            yield answer.content


@asynccontextmanager
async def client(lab: Lab | None = None) -> AsyncGenerator[aiohttp.ClientSession]:
    """A pool of connections without a limit, with the lab's token if there is a lab."""
    headers = {"Authorization": f"token {lab.token}"} if lab else {}
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(
        connector=connector, headers=headers, timeout=timeout
    ) as session:
        yield session


@asynccontextmanager
async def serving(
    script: Mapping[str, Any], *, as_in_a_turn: bool = False, args: Sequence[str] = ()
) -> AsyncGenerator[tuple[Server, Provider]]:
    """Start a simulator with a script and a lab whose only model is there.

    The provider is asked directly with a short request, or with all that a turn sends.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "root"
        root.mkdir()
        upstream = SimulatorProcess(script, folder).start()
        lab = Lab(root, folder / "state", args, env=upstream.configure(root))
        try:
            lab.start()
            async with client(lab) as ours, client() as direct:
                server, provider = Server(lab, ours), Provider(upstream.url, direct)
                if as_in_a_turn:
                    provider.frame = await asked_as_in_a_turn(server, upstream)
                yield server, provider
        finally:
            lab.stop()
            upstream.stop()
