"""HTTP/1.1 over asyncio streams, small enough to break on purpose.

A web framework would hide where the bytes of a reply are cut, when the socket is reset, and whether
the client has disconnected. Used by ``server``.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

HEAD_LIMIT = 1 << 16
BODY_LIMIT = 40 << 20


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; header names are lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


class BadHttp(Exception):
    """What came is not a request this server understands."""


class HttpConnection:
    """One accepted socket. ``gone`` is set as soon as the client has closed its side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.gone = asyncio.Event()
        self._reader = reader
        self._writer = writer
        raw: socket.socket = writer.get_extra_info("socket")
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def read_request(self) -> HttpRequest | None:
        """Return the next request, or None when the client closes instead. Raises ``BadHttp``."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
            method, target, headers = parse_head(head)
            body = await self._reader.readexactly(body_length(headers))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except asyncio.LimitOverrunError as error:
            raise BadHttp("The header block is too long.") from error
        parts = urlsplit(target)
        return HttpRequest(method, unquote(parts.path), parts.query, headers, body)

    async def send(self, data: bytes) -> None:
        """Write one piece and wait until the socket takes it."""
        self._writer.write(data)
        await self._writer.drain()

    def reset(self) -> None:
        """Drop the connection so that the client sees a reset, not an end."""
        raw: socket.socket = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def close(self) -> None:
        """Close the socket in order."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


class ConnectionProtocol(asyncio.StreamReaderProtocol):
    """Hands each new connection to a function, and tells it when the client leaves."""

    def __init__(self, accept: Callable[[HttpConnection], None]) -> None:
        super().__init__(asyncio.StreamReader(limit=HEAD_LIMIT), self._connected)
        self._accept = accept
        self._connection: HttpConnection | None = None

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connection = HttpConnection(reader, writer)
        self._accept(self._connection)

    def eof_received(self) -> bool | None:
        """Note that the client closed its side."""
        self._note_gone()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the socket is closed."""
        self._note_gone()
        super().connection_lost(exc)

    def _note_gone(self) -> None:
        if self._connection is not None:
            self._connection.gone.set()


def parse_head(head: bytes) -> tuple[str, str, dict[str, str]]:
    """Return method, target and headers. Raises ``BadHttp``."""
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3:
        raise BadHttp(f"Not a request line: {lines[0]!r}")
    pairs = (line.partition(":") for line in lines[1:] if line)
    return words[0], words[1], {name.strip().lower(): value.strip() for name, _, value in pairs}


def body_length(headers: Mapping[str, str]) -> int:
    """Return how many bytes follow. Raises ``BadHttp``."""
    if "transfer-encoding" in headers:
        raise BadHttp("Send a Content-Length; chunked requests are not understood here.")
    length = int(headers.get("content-length", "0"))
    if length > BODY_LIMIT:
        raise BadHttp(f"A body of {length} bytes is too long.")
    return length


def head_bytes(status: int, headers: Mapping[str, str]) -> bytes:
    """Return status line and headers as sent."""
    lines = [f"HTTP/1.1 {status} {reason(status)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def reason(status: int) -> str:
    """Return the reason phrase; 529 is a vendor's own."""
    return "Overloaded" if status == 529 else HTTPStatus(status).phrase


def http_chunk(data: bytes) -> bytes:
    """Return one piece of a body in chunked transfer coding."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


LAST_CHUNK = b"0\r\n\r\n"
