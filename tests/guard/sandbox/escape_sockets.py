"""Ways to servers and daemons of the machine; see ``tests.guard.sandbox.escape_attempts``."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping

from tests.guard.sandbox.escape_attempts import Attempt
from tests.guard.sandbox.escape_target import Target

_MPTCP, _SMC, _SMC_6, _UDP_LITE, _SCTP = 262, 256, 257, 136, 132
_FAST_OPEN = 0x20000000
_TCP_ULP = 31
_V4, _V6 = socket.AF_INET, socket.AF_INET6


def daemons(target: Target) -> Mapping[str, Attempt]:
    """Return ways to reach daemons, which must fail for every command."""
    outside = target.places.outside
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    return {
        "unix": lambda _: _connect(socket.AF_UNIX, f"{outside}/stream"),
        "abstract": lambda t: _connect(socket.AF_UNIX, f"\0{t.name}"),
        "pair": lambda _: _pair_to(f"{outside}/datagram"),
        "pair, connected": lambda _: _pair_connected(f"{outside}/datagram"),
        "packet": lambda _: socket.socket(17, socket.SOCK_RAW),
        "vsock": lambda _: socket.socket(40, stream),
        "kernel crypto": lambda _: socket.socket(38, socket.SOCK_SEQPACKET),
        "bluetooth": lambda _: socket.socket(31, socket.SOCK_RAW),
        "transparent IPC": lambda _: socket.socket(30, datagram),
        "express path": lambda _: socket.socket(44, socket.SOCK_RAW),
        "shared memory": lambda _: socket.socket(43, stream),
        "raw": lambda _: socket.socket(_V4, socket.SOCK_RAW, 1),
        "audit": lambda _: socket.socket(16, socket.SOCK_RAW, 9),
        "events": lambda _: socket.socket(16, socket.SOCK_RAW, 15),
        "other protocol": lambda _: socket.socket(_V4, stream, _SCTP),
        "datagrams by another": lambda _: socket.socket(_V4, datagram, _UDP_LITE),
    }


def closed_port(target: Target) -> Mapping[str, Attempt]:
    """Return ways to reach a server's port, closed with and without the network."""
    port = target.port
    found: dict[str, Attempt] = {
        "loopback": lambda _: _connect(_V4, ("127.0.0.1", port)),
        "other loopback": lambda _: _connect(_V4, ("127.1.2.3", port)),
        "any": lambda _: _connect(_V4, ("0.0.0.0", port)),
        "name": lambda _: socket.create_connection(("localhost", port)),
        "loopback 6": lambda _: _connect(_V6, ("::1", port)),
        "any 6": lambda _: _connect(_V6, ("::", port)),
        "mapped": lambda _: _connect(_V6, ("::ffff:127.0.0.1", port)),
        "own address": lambda _: _connect(_V4, (_own_address(), port)),
        "bound": lambda _: _bound(port),
        "not waiting": lambda _: _not_waiting(port),
        "fast open": lambda _: _fast(port),
        "fast open message": lambda _: _fast_message(port),
        "fast open messages": _fast_messages,
        "fast open later": lambda _: _fast_later(port),
        "other layer": lambda _: socket.socket(_V4).setsockopt(6, _TCP_ULP, b"smc"),
    }
    for name, protocol in {"multipath": _MPTCP, "smc": _SMC, "smc 6": _SMC_6}.items():
        found[name] = lambda _, protocol=protocol: _connect(_V4, ("127.0.0.1", port), protocol)
    return found


def internet(target: Target) -> Mapping[str, Attempt]:
    """Return ways that work with the network only."""
    return {
        "open port": lambda t: _connect(_V4, ("127.0.0.1", t.open_port)),
        "datagram": lambda t: socket.socket(_V4, socket.SOCK_DGRAM).sendto(
            b"x", ("127.0.0.1", t.open_port)
        ),
        "listen": lambda _: socket.create_server(("127.0.0.1", 0)),
        "routes": lambda _: socket.socket(16, socket.SOCK_RAW, 0),
    }


def _connect(family: int, address: tuple[str, int] | str, protocol: int = 0) -> None:
    with socket.socket(family, socket.SOCK_STREAM, protocol) as made:
        made.connect(address)


def _own_address() -> str:
    with socket.socket(_V4, socket.SOCK_DGRAM) as made:
        made.connect(("192.0.2.1", 9))  # a documentation address; nothing is sent
        return str(made.getsockname()[0])


def _bound(port: int) -> None:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        made.connect(("127.0.0.1", port))


def _not_waiting(port: int) -> None:
    with socket.socket() as made:
        made.setblocking(False)
        try:
            made.connect(("127.0.0.1", port))
        except BlockingIOError:
            return


def _fast(port: int) -> int:
    with socket.socket() as made:
        return made.sendto(b"x", _FAST_OPEN, ("127.0.0.1", port))


def _fast_message(port: int) -> int:
    with socket.socket() as made:
        return made.sendmsg([b"x"], [], _FAST_OPEN, ("127.0.0.1", port))


def _fast_messages(target: Target) -> int:
    """The layout is that of struct mmsghdr, without an address."""
    with socket.socket() as made:
        return target.call("sendmmsg", made.fileno(), bytes(64), 1, _FAST_OPEN)


def _fast_later(port: int) -> None:
    """The connection is checked although it is made with the first data."""
    with socket.socket() as made:
        made.setsockopt(6, 30, struct.pack("i", 1))  # TCP_FASTOPEN_CONNECT
        made.connect(("127.0.0.1", port))
        made.send(b"x")


def _pair_to(path: str) -> int:
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return one.sendto(b"x", path)


def _pair_connected(path: str) -> int:
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.connect(path)
    return one.send(b"x")
