"""Connections of a page that a test cuts, holds or lets die silently."""

from __future__ import annotations

import re
import select
import socket
import threading
from contextlib import suppress

from playwright.sync_api import Page, Route, WebSocketRoute

SOCKET = re.compile(r".*/shoulders/api/v1/socket(\?.*)?$")
EVENTS = re.compile(r".*/shoulders/api/v1/sessions/[^/]+/events(\?.*)?$")


class Hold:
    """Passes the page's frames on, but none of the server's once it has begun."""

    def __init__(self, page: Page) -> None:
        self._is_held = False
        page.route_web_socket(SOCKET, self._route_socket)
        # A page that catches up over HTTP would get the events that way.
        page.route(EVENTS, self._route_events)

    def begin(self) -> None:
        """Start to hold."""
        self._is_held = True

    def _route_socket(self, page: WebSocketRoute) -> None:
        server = page.connect_to_server()
        page.on_message(server.send)
        server.on_message(lambda text: None if self._is_held else page.send(text))

    def _route_events(self, route: Route) -> None:
        if not self._is_held:
            route.continue_()


class Sockets:
    """The page's sockets of this extension, which a test can cut; JupyterLab's stay connected."""

    def __init__(self, page: Page) -> None:
        self._open: list[tuple[WebSocketRoute, WebSocketRoute]] = []
        self._is_cut = False
        page.route_web_socket(SOCKET, self._route)

    def cut(self) -> None:
        """Close the open sockets and refuse new ones."""
        self._is_cut = True
        for page, server in self._open:
            page.close()
            server.close()
        self._open.clear()

    def mend(self) -> None:
        """Let the page connect again."""
        self._is_cut = False

    def _route(self, page: WebSocketRoute) -> None:
        if self._is_cut:
            page.close()
        else:
            self._open.append((page, page.connect_to_server()))


class Wire:
    """A proxy that can go silent, as the network does while a laptop sleeps."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._dead = threading.Event()
        self._asleep = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def die(self) -> None:
        """Stop forwarding on all open connections without closing them."""
        self._dead.set()
        self._dead = threading.Event()

    def sleep(self) -> None:
        """Close every connection and refuse new ones: the network is gone."""
        self._asleep.set()
        for each in self._open[1:]:
            _close(each)
        del self._open[1:]

    def wake(self) -> None:
        """Accept connections again."""
        self._asleep.clear()

    def close(self) -> None:
        """Stop the proxy."""
        for each in self._open:
            _close(each)

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                page, _ = self._listener.accept()
                if self._asleep.is_set():
                    _close(page)
                    continue
                server = socket.create_connection(("127.0.0.1", self._port))
                self._open += [page, server]
                for source, target in ((page, server), (server, page)):
                    arguments = (source, target, self._dead)
                    threading.Thread(target=_carry, args=arguments, daemon=True).start()


def _close(each: socket.socket) -> None:
    with suppress(OSError):  # it was already disconnected
        each.shutdown(socket.SHUT_RDWR)
    each.close()


def _carry(source: socket.socket, target: socket.socket, dead: threading.Event) -> None:
    with suppress(OSError):  # the other side closed it
        while data := source.recv(1 << 16):
            if dead.is_set():
                return
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


class Idle:
    """A proxy that cuts connections idle for a while, as most do.

    It leaves requests alone that are slow to answer, but not web sockets.
    """

    def __init__(self, port: int, limit_seconds: float) -> None:
        self._server = port
        self._limit = limit_seconds
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._cut: list[str] = []
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cuts(self, path: str) -> int:
        """Number of cut web sockets to this path."""
        return sum(path in each for each in self._cut)

    def close(self) -> None:
        """Stop the proxy."""
        _close(self._listener)

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                page, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                threading.Thread(target=self._carry, args=(page, server), daemon=True).start()

    def _carry(self, page: socket.socket, server: socket.socket) -> None:
        head, asked = b"", False
        with suppress(OSError):  # one of the sides closed it
            while True:
                ready, _, _ = select.select([page, server], [], [], self._limit)
                web_socket = b"upgrade: websocket" in head.lower()
                if not ready and (web_socket or not asked):
                    self._cut += [head.split(b"\r\n")[0].decode()] * web_socket
                    break
                for each in ready:
                    data = each.recv(1 << 16)
                    if not data:
                        raise ConnectionResetError
                    asked = each is page
                    head = data if asked and not web_socket else head
                    (server if asked else page).sendall(data)
        _close(page)
        _close(server)
