"""The target outside a sandbox in tests: a process of the same user, with memory and sockets.

Standard library only, because it runs in ``tests.guard.sandbox.escape_runner``.
"""

from __future__ import annotations

import ctypes
import os
import socket
from dataclasses import dataclass
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
_CREATE = 0o1600
"""IPC_CREAT, for the owner."""
Argument = int | bytes | ctypes.Array[ctypes.c_char] | None


@dataclass(frozen=True, slots=True)
class Places:
    """Folders of a test."""

    outside: str
    home: str
    programs: str
    """Readable but not writable."""
    workspace: str


@dataclass(frozen=True, slots=True)
class Calls:
    """System calls by name."""

    numbers: dict[str, int]

    def __call__(self, name: str, *arguments: Argument) -> int:
        """Make one. Raises ``OSError``."""
        if name not in self.numbers:
            raise OSError(0, f"{name} is not on this processor")
        words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
        result = int(LIBC.syscall(ctypes.c_long(self.numbers[name]), *words))
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result


@dataclass(frozen=True, slots=True)
class Target:
    """Resources that must stay out of reach."""

    places: Places
    call: Calls
    server: int
    """Process id."""
    key: int
    """Key of its shared memory, semaphores and messages."""
    memory: int
    """Id of its shared memory."""
    port: int
    """Out of reach even with the network."""
    open_port: int
    terminal: str
    name: str
    """Name of a message queue, and of a UNIX socket without a file."""

    @property
    def old(self) -> str:
        """A file that is out of reach."""
        return f"{self.places.outside}/old"

    @property
    def tool(self) -> str:
        """A file that may be read."""
        return f"{self.places.programs}/tool"


@dataclass(slots=True)
class Server:
    """Creates a target in this process; close it after use."""

    target: Target
    sockets: list[socket.socket]

    @classmethod
    def start(cls, places: Places, call: Calls) -> Server:
        """Make shared memory, queues, sockets and a terminal. Raises ``OSError``."""
        name, key = f"shoulders{os.getpid()}", 0x5AFE0000 | os.getpid() & 0xFFFF
        memory = call("shmget", key, 4096, _CREATE)
        call("semget", key, 1, _CREATE)
        call("msgget", key, _CREATE)
        call("mq_open", name.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
        Path(f"/dev/shm/{name}").touch()
        internet = [_listening_anywhere() for _ in range(2)]
        files = [_listening(f"{places.outside}/stream"), _listening(f"\0{name}")]
        datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        datagrams.bind(f"{places.outside}/datagram")
        port, open_port = (one.getsockname()[1] for one in internet)
        terminal = os.ttyname(os.openpty()[1])
        target = Target(places, call, os.getpid(), key, memory, port, open_port, terminal, name)
        return cls(target, [*internet, *files, datagrams])

    def close(self) -> None:
        """Remove what would outlive the process."""
        call, key = self.target.call, self.target.key
        call("shmctl", self.target.memory, 0, None)
        call("semctl", call("semget", key, 1, 0), 0, 0)
        call("msgctl", call("msgget", key, 0), 0, None)
        Path(f"/dev/shm/{self.target.name}").unlink()
        call("mq_unlink", self.target.name.encode())


def _listening_anywhere() -> socket.socket:
    """Return a server at every address of the machine."""
    if not Path("/proc/net/if_inet6").exists():
        return socket.create_server(("", 0))
    return socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)


def _listening(name: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.bind(name)
    made.listen()
    return made
