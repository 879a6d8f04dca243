"""A small internet for tests: a name server, web servers, and a record of connections."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import ipaddress
import socket
import ssl
import struct
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

_spies: list[list[tuple[str, int]]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    """Record connections of sockets: an audit hook sees all of them."""
    if event == "socket.connect" and _spies:
        address = arguments[1]
        if isinstance(address, tuple):
            host, port, *_ = cast("tuple[str, int]", address)
            for spy in _spies:
                spy.append((host, port))


sys.addaudithook(_hear)


@contextlib.contextmanager
def connections() -> Generator[list[tuple[str, int]]]:
    """Yield a list of the connections this process makes, by address and port."""
    seen: list[tuple[str, int]] = []
    _spies.append(seen)
    try:
        yield seen
    finally:
        _spies.remove(seen)


class NameServer(asyncio.DatagramProtocol):
    """Answers questions for A records over UDP (RFC 1035); each name has a list of answers.

    Each question for a name gets the next answer; the last one repeats. An attacker's name server
    does this for DNS rebinding.
    """

    def __init__(self, answers: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self._answers = {name: [list(answer) for answer in all_] for name, all_ in answers.items()}
        self.asked: list[str] = []
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        name, end = _read_name(data, 12)
        self.asked.append(name)
        answers = self._answers.get(name, [[]])
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        head = data[:2] + struct.pack(">HHHHH", 0x8180, 1, len(addresses), 0, 0)
        records = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + ipaddress.IPv4Address(each).packed
            for each in addresses
        )
        assert self._transport is not None
        self._transport.sendto(head + data[12 : end + 4] + records, addr)

    @property
    def address(self) -> tuple[str, int]:
        assert self._transport is not None
        return self._transport.get_extra_info("sockname")

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Query this server as a stub resolver does."""
        del port
        loop = asyncio.get_running_loop()
        question = b"".join(bytes([len(label)]) + label.encode() for label in host.split("."))
        query = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + question + b"\0\0\1\0\1"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.setblocking(False)
            await loop.sock_sendto(client, query, self.address)
            data = await loop.sock_recv(client, 4_096)
        count = struct.unpack(">H", data[6:8])[0]
        _, end = _read_name(data, 12)
        records = (data[end + 4 + 16 * number :][:16] for number in range(count))
        return [str(ipaddress.IPv4Address(record[12:])) for record in records]


def _read_name(data: bytes, at: int) -> tuple[str, int]:
    labels: list[str] = []
    while size := data[at]:
        labels.append(data[at + 1 : at + 1 + size].decode())
        at += 1 + size
    return ".".join(labels), at + 1


@contextlib.asynccontextmanager
async def name_server(
    answers: Mapping[str, Sequence[Sequence[str]]],
) -> AsyncGenerator[NameServer]:
    """Run a name server."""
    transport, server = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: NameServer(answers), local_addr=("127.0.0.1", 0)
    )
    try:
        yield server
    finally:
        transport.close()


Respond = Callable[[bytes], bytes]
"""Return the raw answer to a raw request."""


@dataclass(slots=True)
class WebServer:
    """A web server that answers each connection once; ``requests`` are those received."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list[bytes])


@contextlib.asynccontextmanager
async def web_server(
    respond: Respond, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[WebServer]:
    """Run a web server on an address of this machine."""
    seen = WebServer()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            seen.requests.append(request)
            writer.write(respond(request))
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    async with stream_server(serve, host, port, tls) as seen.port:
        yield seen


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def stream_server(
    serve: Serve, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[int]:
    """Run a server; yield its port, and close all its connections."""
    tasks: set[asyncio.Task[None]] = set()

    async def kept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        tasks.add(task)
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await serve(reader, writer)
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(kept, host, port, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """Return a whole response; ``_`` in header names stands for a dash."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if not any(line.lower().startswith("content-length") for line in lines):
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join([f"HTTP/1.1 {status}", *lines, "Connection: close", "", ""])
    return head.encode() + body


def certificates(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return a server context with a certificate of this name, and a client context for it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    shown, secret = folder / "certificate.pem", folder / "key.pem"
    shown.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(shown, secret)
    return server, ssl.create_default_context(cafile=str(shown))
