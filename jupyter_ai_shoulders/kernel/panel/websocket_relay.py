"""A page socket of the server, relayed to one view of the panel. Made by ``server_relay``.

Two threads: one reads from the server, one writes, so that neither blocks the other.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from socket import SHUT_RDWR
from typing import Any

from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.client.lazy_imports import websocket
from jupyter_ai_shoulders.kernel.panel.lazy_protocol import protocol

_log = logging.getLogger(__name__)

NORMAL = 1000
LOST = 1006
"""WebSocket code of a connection that was lost."""


CLOSE_SECONDS = 5.0
"""How long the server may take to close."""


class RelayedSocket:
    """One socket; opened at once, in its own thread."""

    def __init__(
        self,
        request: protocol.Open,
        open_socket: Callable[[], websocket.WebSocket],
        notify: Callable[[protocol.KernelMessage], None],
    ) -> None:
        """``open_socket`` may block and raise ``ClientError``; ``notify`` is called in our threads.

        The last notification is ``protocol.Closed``.
        """
        self._request = request
        self._open_socket = open_socket
        self._notify = notify
        self._outgoing: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._ended = threading.Event()
        threading.Thread(target=self._run, name="ai-panel-socket", daemon=True).start()

    def send(self, text: str) -> None:
        """Send a frame, once the socket is open; returns at once."""
        self._outgoing.put(text)

    def close(self) -> None:
        """Close the socket in the background."""
        self._stopped.set()
        self._outgoing.put(None)

    def _run(self) -> None:
        view, name = self._request.view, self._request.id
        try:
            code, reason = self._relay(view, name)
        except ClientError as error:
            self._notify(protocol.Gone(view=view, reason=str(error)))
            code, reason = LOST, str(error)
        except Exception:  # noqa: BLE001 - the handler of a message: the page hears of it
            _log.exception("A socket of the AI panel failed")
            code, reason = LOST, "The kernel could not relay the socket; see its log."
        self._outgoing.put(None)  # for the writer
        self._notify(protocol.Closed(view=view, id=name, code=code, reason=reason))

    def _relay(self, view: str, name: str) -> tuple[int, str]:
        sock = self._open_socket()
        try:
            self._notify(protocol.Opened(view=view, id=name))
            threading.Thread(
                target=self._write, args=(sock,), name="ai-panel-writer", daemon=True
            ).start()
            return self._read(sock, view, name)
        except (websocket.WebSocketException, OSError) as error:
            if self._stopped.is_set():
                return NORMAL, "closed by the page"
            return LOST, f"The connection to the server was lost ({error})."
        finally:
            self._ended.set()
            sock.shutdown()

    def _read(self, sock: websocket.WebSocket, view: str, name: str) -> tuple[int, str]:
        while True:
            kind, data = _frame_of(sock)
            if kind == websocket.ABNF.OPCODE_CLOSE and self._stopped.is_set():
                return NORMAL, "closed by the page"
            if kind == websocket.ABNF.OPCODE_CLOSE:
                code = int.from_bytes(data[:2], "big") if len(data) >= 2 else LOST
                return code, data[2:].decode(errors="replace")
            if kind == websocket.ABNF.OPCODE_TEXT:
                self._notify(protocol.Frame(view=view, id=name, text=data.decode()))

    def _write(self, sock: websocket.WebSocket) -> None:
        try:
            while (text := self._outgoing.get()) is not None:
                sock.send(text)
            sock.send_close()
        except (websocket.WebSocketException, OSError) as error:
            _log.debug("A socket of the AI panel ends: %s", error)
        if not self._ended.wait(CLOSE_SECONDS):
            _wake(sock)


def _frame_of(sock: Any) -> tuple[int, bytes]:
    """Return the next frame; the library has no types."""
    kind, data = sock.recv_data()
    return kind, data


def _wake(sock: Any) -> None:
    """Wake the thread that waits for a frame; closing the socket alone would leave it waiting."""
    with suppress(OSError, AttributeError):  # it has already ended
        sock.sock.shutdown(SHUT_RDWR)
