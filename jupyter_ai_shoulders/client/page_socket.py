"""Opens a page socket for a program that relays it. Called by ``kernel.panel``.

The token is sent in a header of the handshake; users of the socket do not see it.
"""

from __future__ import annotations

import socket as sockets
from typing import Any
from urllib.parse import urlsplit

from jupyter_ai_shoulders.client.connection import API, CONNECT_SECONDS, Connection
from jupyter_ai_shoulders.client.errors import Unreachable
from jupyter_ai_shoulders.client.lazy_imports import websocket
from jupyter_ai_shoulders.client.server_discovery import LOOPBACK, ServerAddress

HANDSHAKE_SECONDS = 20.0
"""For the first page the server prepares its engine, which takes seconds on a slow disk."""


def open_socket(connection: Connection) -> websocket.WebSocket:
    """Return an open page socket without a read timeout.

    Raises ``NotAllowed``, ``Unreachable``.
    """
    address = connection.address
    made = websocket.WebSocket(enable_multithread=True)
    try:
        made.connect(_url(address), timeout=HANDSHAKE_SECONDS, **_options(connection))
    except websocket.WebSocketBadStatusException as error:
        made.shutdown()
        raise connection.handshake_error(int(error.status_code)) from error
    except (websocket.WebSocketException, OSError, ValueError) as error:
        made.shutdown()
        raise Unreachable(
            f"{address.url} does not open a socket ({type(error).__name__}: {error}). "
            "Is the Jupyter server running there?"
        ) from error
    made.settimeout(None)
    return made


def _options(connection: Connection) -> dict[str, Any]:
    address = connection.address
    options: dict[str, Any] = {"redirect_limit": 0}
    if address.token:
        options["header"] = {"Authorization": f"token {address.token}"}
    elif cookies := connection.cookies:
        options["cookie"] = cookies
    host = urlsplit(address.url).hostname
    if host in LOOPBACK:  # a proxy of the environment must not see local traffic
        options["http_no_proxy"] = [host]
    if address.socket:
        options["socket"] = _unix(address)
    return options


def _unix(address: ServerAddress) -> sockets.socket:
    made = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    made.settimeout(CONNECT_SECONDS)
    made.connect(address.socket)
    return made


def _url(address: ServerAddress) -> str:
    """Return the socket's URL: ``http`` becomes ``ws``, ``https`` ``wss``."""
    return f"ws{address.url.removeprefix('http')}{API}socket"
