"""Finds the Jupyter server and its token: from arguments, the environment or the server's own
files.

A server writes ``jpserver-<pid>.json`` into Jupyter's runtime directory; ours also sets its address
in the kernels it starts (``server.kernels.environment``). Called by ``client``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jupyter_core.paths import jupyter_runtime_dir

from jupyter_ai_shoulders.client.errors import ServerNotFound
from jupyter_ai_shoulders.client.sdk_clients import PROXY_PATH, PROXY_SECRET, PROXY_URL

URL = "SHOULDERS_URL"
"""The server's address, with its base URL; set by the server in its kernels."""
TOKEN = "SHOULDERS_TOKEN"  # noqa: S105 the name of a variable
_HUB_PREFIX = "JUPYTERHUB_SERVICE_PREFIX"
_HUB_TOKEN = "JUPYTERHUB_API_TOKEN"  # noqa: S105 the name of a variable
_HUB_URL = "JUPYTERHUB_PUBLIC_URL"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_HOW = f"Give Client(url=…, token=…), or set {URL} and {TOKEN}."


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server's own information file."""

    url: str
    token: str = field(repr=False)
    root: Path
    pid: int
    socket: str
    """Path of the Unix socket it listens on; else empty."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """How to reach a server."""

    url: str
    """Ends with a slash."""
    token: str | None = field(repr=False)
    socket: str = ""


def find_server(
    url: str | None = None,
    token: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    servers: Sequence[RunningServer] | None = None,
) -> ServerAddress:
    """Return the address of the server.

    In order: the arguments; the environment; the server that started this process; the only one
    that serves the current folder; the only running one. Raises ``ServerNotFound``.
    """
    running = running_servers() if servers is None else servers
    given = url or environ.get(URL)
    if given:
        given = given.rstrip("/") + "/"
        known = next((one for one in running if one.url == given), None)
        return ServerAddress(
            given, token or _token(environ, given, known), known.socket if known else ""
        )
    chosen = _choose(running)
    return ServerAddress(chosen.url, token or _token(environ, chosen.url, chosen), chosen.socket)


def running_servers() -> list[RunningServer]:
    """Return this user's servers on this machine whose process exists."""
    try:
        files = sorted(Path(jupyter_runtime_dir()).glob("jpserver-*.json"))
    except OSError:
        return []
    read = (_read(file) for file in files)
    return [server for server in read if server is not None and _is_alive(server.pid)]


def _choose(running: Sequence[RunningServer]) -> RunningServer:
    if not running:
        raise ServerNotFound(
            f"No Jupyter server of yours is running on this machine. Start one, or: {_HOW}"
        )
    here = Path.cwd().resolve()
    for chosen in (
        [one for one in running if one.pid == os.getppid()],
        [one for one in running if here.is_relative_to(one.root)],
        running,
    ):
        if len(chosen) == 1:
            return chosen[0]
    names = ", ".join(f"{one.url} ({one.root})" for one in running)
    raise ServerNotFound(f"Several Jupyter servers are running: {names}. {_HOW}")


def _token(environ: Mapping[str, str], url: str, known: RunningServer | None) -> str | None:
    """Return the token for a server: a hub's token only for a server of that hub.

    The last choice is the kernel's secret, for the server that issued it.
    """
    if environ.get(TOKEN):
        return environ[TOKEN]
    if known is not None and known.token:
        return known.token
    if _is_of_hub(environ, url):
        return environ.get(_HUB_TOKEN)
    return environ.get(PROXY_SECRET) if _is_our_server(environ, url) else None


def _is_our_server(environ: Mapping[str, str], url: str) -> bool:
    """Return whether an address belongs to the server that started this kernel.

    That server sets the proxy's address with the secret; the user may have set ``URL`` to another
    one.
    """
    return environ.get(PROXY_URL, "").rstrip("/") == f"{url}{PROXY_PATH}"


def _is_of_hub(environ: Mapping[str, str], url: str) -> bool:
    """Return whether an address is this user's server: local, or named by the hub's variables."""
    prefix = environ.get(_HUB_PREFIX)
    if not prefix or not url.endswith(prefix):
        return False
    told = [environ.get(name, "").rstrip("/") for name in (URL, _HUB_URL)]
    return url.rstrip("/") in told or urlsplit(url).hostname in LOOPBACK


def _read(file: Path) -> RunningServer | None:
    try:
        said: Any = json.loads(file.read_text(encoding="utf-8"))
        socket = str(said.get("sock") or "")
        base = str(said["base_url"])
        return RunningServer(
            url=f"http://localhost{base}" if socket else _loopback(said),
            token=str(said.get("token") or ""),
            root=Path(said["root_dir"]).resolve(),
            pid=int(said["pid"]),
            socket=socket,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # being written, or another program's


def _loopback(said: Mapping[str, Any]) -> str:
    """Return the server's address, with loopback for one that listens on all interfaces."""
    if said.get("hostname") in {"0.0.0.0", "::", "*", ""}:  # noqa: S104 compared, not bound
        scheme = "https" if said.get("secure") else "http"
        return f"{scheme}://127.0.0.1:{said['port']}{said['base_url']}"
    return str(said["url"])


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # os.kill would end the process there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's process
    return True
