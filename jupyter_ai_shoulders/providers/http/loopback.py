"""Loopback addresses: what counts as this machine, and sockets that reach nothing else.

``is_loopback`` classifies an address before a call; ``loopback_socket`` checks the resolved
address when ``http_client`` connects, because a name may resolve to another machine.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import Any
from urllib.parse import urlsplit

from jupyter_ai_shoulders.core.catalogue.trust_items import is_local_host

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]
"""One result of ``socket.getaddrinfo``."""


class NotLoopbackError(OSError):
    """An address that was expected on this machine resolves to another one."""


def is_loopback(url: str) -> bool:
    """Return whether a URL names this machine: ``localhost`` or a loopback IP address.

    Other names are not looked up: they may resolve to another machine at the next call.
    """
    try:
        return is_local_host(urlsplit(url).hostname or "")
    except ValueError:
        return False


def loopback_socket(address: AddressInfo) -> socket.socket:
    """Return a socket for a resolved address. Raises ``NotLoopbackError`` for another machine."""
    family, kind, protocol, _, place = address
    host = str(place[0]).partition("%")[0]
    if not ipaddress.ip_address(host).is_loopback:
        raise NotLoopbackError(f"{host} is not an address of this machine")
    return socket.socket(family, kind, protocol)
