"""What a connection needs of its owner, and its limits; loads no SDK.

Made by ``mcp_client.pool``, used by ``mcp_client.connection``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from jupyter_ai_shoulders.guard.process.stdio_process import StdioProcessStarter
from jupyter_ai_shoulders.mcp_client.ports import ServerConnection, ServerRequests
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry

MAX_PARTS = 300_000
"""Lists and objects of a message: each takes 250 bytes where the message has three."""

ListKind = Literal["tools", "resources", "prompts"]

PASSED_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR"),
    *("SYSTEMROOT", "USERPROFILE", "APPDATA", "TEMP", "PATHEXT", "COMSPEC"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
"""Variables that every server on standard input and output gets, beside those of its entry."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Seconds and counts that a server cannot exceed."""

    start_s: float = 60.0
    """``npx`` and ``uvx`` may fetch a package first."""
    list_s: float = 30.0
    """One whole list, with all its pages."""
    call_s: float = 600.0
    """A call whose caller names no limit."""
    close_s: float = 5.0
    ping_s: float = 5.0
    """A check, or the opening of the stream of changes."""
    ping_after_s: float = 60.0
    """Idle time after which a server is asked whether it still answers, before it is used."""
    listen_pause_s: float = 1.0
    """Before the stream of changes is opened again; doubles."""
    listen_attempts: int = 8
    """Failures in a row after which it stays closed, about three minutes."""
    pages: int = 50
    items: int = 5_000
    list_bytes: int = 16 * 2**20
    """Of one list, with all its pages."""
    open_requests: int = 100
    """Of the server to us, until it has read their answers."""
    messages_per_s: int = 1_000
    """Of the server, other than answers; further ones wait."""
    flood_s: float = 10.0
    """How long it may send more than that."""


@dataclass(frozen=True, slots=True)
class ConnectionEnvironment:
    """What all servers of a workspace share."""

    starter: StdioProcessStarter
    environ: Mapping[str, str]
    workspace: Path
    home: Path
    requests: ServerRequests
    limits: ConnectionLimits = ConnectionLimits()


@dataclass(frozen=True, slots=True)
class ConnectionEvents:
    """Callbacks of one connection; they return quickly."""

    changed: Callable[[ListKind], None]
    log: Callable[[str], None]
    ending: Callable[[str], None]
    """Called once with the reason when it begins to end by itself, or over a limit."""
    ended: Callable[[], None]
    """Called once after that, when it is closed."""


class OpenConnection(ServerConnection, Protocol):
    """A connection with what only its owner uses."""

    @property
    def busy(self) -> bool:
        """Whether a request is running."""
        ...

    @property
    def process_lines(self) -> tuple[str, ...]:
        """The last lines of standard error."""
        ...

    async def check(self) -> None:
        """Ask it whether it answers. Raises ``ShouldersError``."""
        ...

    async def aclose(self) -> None:
        """End it, in bounded time."""
        ...


class OpenServer(Protocol):
    """Starts a server; the port that ``mcp_client.connection.open_server`` implements."""

    async def __call__(
        self, entry: ServerEntry, environment: ConnectionEnvironment, events: ConnectionEvents
    ) -> OpenConnection:
        """Return the connection of an entry whose values are filled in.

        Raises ``ShouldersError``.
        """
        ...
