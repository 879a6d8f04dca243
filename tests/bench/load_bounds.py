"""How long one body holds the event loop of a real server, and what a reader that stalls costs.

``python -m tests.bench.load_bounds`` measures everything; ``bodies``, ``files`` and ``readers``
choose a part, ``--only`` the rows whose name has a text. The bounds: the loop is never held for
more than 100 ms (``tests.support.event_loop_probe``), and a reader takes at most 8 MB.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import struct
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psutil

from jupyter_ai_shoulders.wire.base import WIRE_VERSION
from tests.bench.load_cases import BODIES, FILES, FRAMES, PROXIED, ROUTES, SPECIAL, encoded
from tests.bench.server_and_provider import Server, client
from tests.simulator_process import SimulatorProcess, says
from tests.support import event_loop_probe
from tests.support.lab_server import Lab

READERS = 100
LONGEST_MS = 100.0
ANSWER_SECONDS = 20.0
LARGEST_MB = 8.0
READER_KINDS = ("event stream", "page of events", "export", "proxy stream", "page socket")
SETTLE_SECONDS = 4.0
"""Until the server has sent each reader what it will take."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was sent, and what it cost."""

    name: str
    answer: str
    figure: float
    unit: str
    limit: float

    def __str__(self) -> str:
        """The row of the table."""
        mark = "" if self.figure <= self.limit else f"  ABOVE {self.limit:.0f} {self.unit}"
        return f"{self.figure:8.1f} {self.unit}  {self.name}: {self.answer}{mark}"


class Bench:
    """One server, asked by one client."""

    shows_stacks = False

    def __init__(self, server: Server, session: str) -> None:
        self.server = server
        self.lab = server.lab
        self.session = session

    async def held(self, name: str, answer: str) -> Row:
        """Return the row for what was sent since the probe was asked before."""
        await asyncio.sleep(0.1)
        seen = await asyncio.to_thread(event_loop_probe.read_probe, self.lab)
        if seen.stalls and self.shows_stacks:
            print(max(seen.stalls, key=lambda stall: stall["ms"])["doing"])
        return Row(name, answer, seen.worst, "ms", LONGEST_MS)

    async def send(self, method: str, route: str, what: str, body: bytes) -> Row:
        """Send a body to a route."""
        path = route.format(session=self.session)
        root = self.server.url
        if path.startswith("proxy:"):
            root, path = root.replace("api/v1", "proxy"), path.removeprefix("proxy:")
        headers = {"Content-Type": "application/json"}
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        try:
            async with self.server.http.request(
                method, f"{root}/{path}", data=body, headers=headers, timeout=timeout
            ) as answer:
                text = await answer.text()
                shown = str(answer.status) + (f" {text[:90]!r}" if answer.status >= 300 else "")
        except TimeoutError:
            shown = f"no answer in {ANSWER_SECONDS:.0f} s"
        return await self.held(f"{method} {route}, {what}", shown)

    async def frame(self, what: str, body: bytes) -> Row:
        """Send a frame over a page's socket."""
        async with self.server.page() as page:
            await page.send_str(body.decode())
            answer = await page.receive()
        return await self.held(f"socket, {what}", str(answer.data)[:120])


async def _bodies(bench: Bench, only: str) -> AsyncGenerator[Row]:
    proxied = [("POST", f"proxy:{path}") for path in PROXIED]
    table = [
        (method, route, what, make)
        for method, route in (*ROUTES, *proxied)
        for what, make in BODIES.items()
    ]
    for method, route, what, make in (*table, *SPECIAL):
        if only in f"{method} {route}, {what}":
            yield await bench.send(method, route, what, make())
    for what, make in FRAMES.items():
        if only in f"socket, {what}":
            yield await bench.frame(what, make())


async def _files(bench: Bench, only: str) -> AsyncGenerator[Row]:
    for what, (name, make) in FILES.items():
        if only not in what:
            continue
        folder = bench.lab.root / ".shoulders" / ("skills" if name == "skills" else "")
        folder.mkdir(exist_ok=True)
        file = folder / f"{name}.json"
        before = file.read_bytes() if file.exists() else None
        file.write_bytes(make())
        async with bench.server.http.get(f"{bench.server.url}/{name}") as answer:
            size = len(await answer.read())
        yield await bench.held(what, f"{answer.status}, {size} bytes")
        await bench.server.session()
        yield await bench.held(f"{what}, a new conversation", "201")
        if before is None:
            file.unlink()
        else:
            file.write_bytes(before)


class Stalled:
    """A client that sends its request and never reads."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, path: str, *headers: str, body: bytes = b"") -> None:
        """Send a request; what comes back stays in the connection."""
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
        plain.connect(("127.0.0.1", self._lab.port))
        _, writer = await asyncio.open_connection(sock=plain)
        writer.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]: of a socket
        method = "POST" if body else "GET"
        lines = (
            f"{method} /shoulders/{path} HTTP/1.1",
            f"Host: 127.0.0.1:{self._lab.port}",
            f"Authorization: token {self._lab.token}",
            f"Content-Length: {len(body)}",
            *headers,
        )
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        self._writer = writer

    def say(self, text: bytes) -> None:
        """Send a frame over what became a WebSocket, masked with zeros."""
        assert self._writer is not None
        self._writer.write(b"\x81\xfe" + struct.pack("!HI", len(text), 0) + text)

    def close(self) -> None:
        """Leave."""
        if self._writer is not None:
            self._writer.transport.abort()


@contextmanager
def _stalled(lab: Lab) -> Generator[Stalled]:
    reader = Stalled(lab)
    try:
        yield reader
    finally:
        reader.close()


async def _readers(bench: Bench, only: str) -> AsyncGenerator[Row]:
    if only != "page socket":
        await _fill(bench)
    stream = "Accept: text/event-stream"
    events = f"api/v1/sessions/{bench.session}/events"
    question = {"role": "user", "content": "hi"}
    asked = {"model": "simulated", "max_tokens": 1000, "stream": True, "messages": [question]}
    kinds: Mapping[str, tuple[str, tuple[str, ...], bytes]] = {
        "event stream": (f"{events}?after=0", (stream,), b""),
        "page of events": (f"{events}?after=0&limit=5000", (), b""),
        "export": (f"api/v1/sessions/{bench.session}/export?format=jsonl", (), b""),
        "proxy stream": ("proxy/v1/messages", ("anthropic-version: 2023-06-01",), encoded(asked)),
    }
    for what, (path, headers, body) in kinds.items():
        if only == what:
            yield await _cost(bench, what, path, headers, body)
    if only == "page socket":
        yield await _socket_cost(bench)


async def _fill(bench: Bench) -> None:
    """Log 36 MB, or send them to the pages that are connected."""
    for number in range(40):
        title = f"{number} " + "long " * 180_000
        path = f"sessions/{bench.session}"
        await bench.send("PATCH", path, "a title", encoded({"title": title}))


async def _cost(bench: Bench, what: str, path: str, headers: tuple[str, ...], body: bytes) -> Row:
    before = _memory(bench.lab)
    async with AsyncExitStack() as stack:
        for _ in range(READERS):
            reader = stack.enter_context(_stalled(bench.lab))
            await reader.ask(path, *headers, body=body)
        highest = await _highest(bench.lab)
    return _per_reader(what, before, highest)


async def _socket_cost(bench: Bench) -> Row:
    async with bench.server.http.get(f"{bench.server.url}/sessions/{bench.session}") as answer:
        last_seq = (await answer.json())["last_seq"]
    before = _memory(bench.lab)
    hello = encoded(
        {
            "type": "hello",
            "client_id": "stalled-%d",
            "wire_version": WIRE_VERSION,
            "cursors": {bench.session: last_seq},
        }
    )
    upgrade = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    )
    async with AsyncExitStack() as stack:
        for number in range(READERS):
            reader = stack.enter_context(_stalled(bench.lab))
            await reader.ask("api/v1/socket", *upgrade)
            reader.say(hello.replace(b"%d", b"%d" % number))
        await _fill(bench)
        highest = await _highest(bench.lab)
    return _per_reader("page socket", before, highest)


def _per_reader(what: str, before: int, highest: int) -> Row:
    cost = (highest - before) / READERS / 2**20
    return Row(what, f"{READERS} readers, {(highest - before) >> 20} MB", cost, "MB", LARGEST_MB)


async def _highest(lab: Lab) -> int:
    """Return the most memory the server takes until it has sent what it will."""
    highest = 0
    loop = asyncio.get_running_loop()
    end = loop.time() + SETTLE_SECONDS
    while loop.time() < end:
        now = _memory(lab)
        if now > highest + (1 << 20):
            highest, end = now, loop.time() + SETTLE_SECONDS
        await asyncio.sleep(0.05)
    return highest


def _memory(lab: Lab) -> int:
    return psutil.Process(lab.pid).memory_info().rss


@asynccontextmanager
async def _bench() -> AsyncGenerator[Bench]:
    """Start a lab with the probe and a model that answers at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "root"
        root.mkdir()
        script = {"default": says(("w" * 4_000 + " ") * 500)}
        upstream = SimulatorProcess(script, folder).start()
        env = {**upstream.configure(root), **event_loop_probe.environment()}
        lab = Lab(root, folder / "state", args=event_loop_probe.ARGUMENTS, env=env)
        try:
            lab.start()
            async with client(lab) as http:
                server = Server(lab, http)
                session, _ = await server.session()
                await asyncio.sleep(2)  # it recovers and imports
                await asyncio.to_thread(event_loop_probe.read_probe, lab)
                yield Bench(server, session)
        finally:
            lab.stop()
            upstream.stop()


async def main(parts: list[str], only: str) -> None:
    """Measure and print."""
    runs = [("bodies", only), ("files", only)]
    runs += [("readers", kind) for kind in READER_KINDS if only in kind]  # each on a fresh server
    groups = {"bodies": _bodies, "files": _files, "readers": _readers}
    for part, chosen in runs:
        if part in (parts or groups):
            async with _bench() as bench:
                async for row in groups[part](bench, chosen):
                    print(row, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.load_bounds", description=__doc__)
    parser.add_argument("parts", nargs="*", help="bodies, files, readers")
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--stacks", action="store_true", help="where the loop was held")
    given = parser.parse_args()
    Bench.shows_stacks = given.stacks
    asyncio.run(main(given.parts, given.only))
