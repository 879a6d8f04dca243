"""The least a server in between can do: pass the bytes of a streamed answer on, unread.

A separate process for ``first_token`` and ``streams``: tornado, as in Jupyter's server, with
aiohttp towards the provider. ``python -m tests.bench.baseline_relay URL`` prints its own address.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import aiohttp
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler


@dataclass(frozen=True, slots=True)
class Relay:
    """A running relay."""

    url: str
    pid: int


@contextmanager
def relay_to(upstream: str) -> Generator[Relay]:
    """Start a relay to a server; end it afterwards."""
    command = [sys.executable, "-m", "tests.bench.baseline_relay", upstream]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Relay(process.stdout.readline().strip(), process.pid)
        finally:
            process.terminate()


class _Pass(RequestHandler):
    def initialize(self, upstream: str, client: aiohttp.ClientSession) -> None:
        self._upstream = upstream
        self._client = client

    async def post(self) -> None:
        """Send the request on and its answer back."""
        names = ("content-type", "x-api-key", "anthropic-version")
        headers = {name: self.request.headers[name] for name in names}
        url = f"{self._upstream}{self.request.path}"
        async with self._client.post(url, data=self.request.body, headers=headers) as answer:
            self.set_header("Content-Type", answer.headers["content-type"])
            async for piece in answer.content.iter_any():
                self.write(piece)
                await self.flush()


async def _serve(upstream: str) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as client:
        routes = [(".*", _Pass, {"upstream": upstream, "client": client})]
        server = HTTPServer(Application(routes))
        sockets = bind_sockets(0, "127.0.0.1")
        server.add_sockets(sockets)
        print(f"http://127.0.0.1:{sockets[0].getsockname()[1]}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1]))
