"""An editor as a page of a running server: relays frames over a page socket.

Made by ``remote_chat``. The socket is opened again when it breaks, until it is closed here.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from typing import Any, cast

from pydantic import TypeAdapter

from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.client.lazy_imports import websocket
from jupyter_ai_shoulders.client.page_socket import open_socket
from jupyter_ai_shoulders.wire.base import WIRE_VERSION, WireModel
from jupyter_ai_shoulders.wire.frames import Hello, PageFrame, ServerFrame, TextEditor
from jupyter_ai_shoulders.wire.ids import ClientId

RETRY_SECONDS = 1.0
READY_SECONDS = 10.0
_READY = b"ready"

_log = logging.getLogger(__name__)


class EditorSocket:
    """See ``PageLink``."""

    def __init__(
        self,
        connection: Connection,
        client_id: ClientId,
        editor: TextEditor,
        receive: Callable[[ServerFrame], None],
    ) -> None:
        """Connect. Raises ``NotAllowed``, ``Unreachable``."""
        self._connection = connection
        self._hello = Hello(client_id=client_id, wire_version=WIRE_VERSION, cursors={})
        self._editor = editor
        self._receive = receive
        self._frames: TypeAdapter[ServerFrame] = TypeAdapter(ServerFrame)
        self._closed = threading.Event()
        self._ready = threading.Event()
        self._socket = open_socket(connection)
        threading.Thread(target=self._run, name="editor-socket", daemon=True).start()
        self.wait()

    def wait(self) -> bool:
        """See ``PageLink.wait``."""
        return self._ready.wait(READY_SECONDS)

    def send(self, frame: PageFrame) -> None:
        """See ``PageLink.send``."""
        if isinstance(frame, TextEditor):
            self._editor = frame
        try:
            self._socket.send(_text(frame))
        except (websocket.WebSocketException, OSError) as error:
            _log.info("An answer of the editor was not sent: %s", error)

    def close(self) -> None:
        """See ``PageLink.close``."""
        self._closed.set()
        self._socket.shutdown()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._talk()
            except (websocket.WebSocketException, OSError) as error:
                if not self._closed.is_set():
                    _log.info("The connection for the editor's files broke: %s", error)
            self._ready.clear()
            self._closed.wait(RETRY_SECONDS)
            if not self._closed.is_set():
                self._reopen()

    def _reopen(self) -> None:
        try:
            self._socket = open_socket(self._connection)
        except ClientError as error:
            _log.info("The editor's files cannot be offered to the server: %s", error)

    def _talk(self) -> None:
        """Greet, then pass requests on until the socket breaks.

        The ping comes after the greeting, so its answer says that the server has handled it.
        """
        for frame in (self._hello, self._editor):
            self._socket.send(_text(frame))
        self._socket.ping(_READY)
        while True:
            opcode, data = cast("tuple[int, bytes]", self._socket.recv_data(control_frame=True))
            if opcode == websocket.ABNF.OPCODE_PONG and data == _READY:
                self._ready.set()
            elif opcode == websocket.ABNF.OPCODE_CLOSE:
                return
            elif opcode == websocket.ABNF.OPCODE_TEXT:
                self._take(json.loads(data))

    def _take(self, frame: dict[str, Any]) -> None:
        match frame.get("type"):
            case "text-read" | "text-apply":
                self._receive(self._frames.validate_python(frame))
            case "frame-error":
                _log.warning("The server refused a frame: %.300s", frame)
            case _:
                pass  # events and settings are for pages


def _text(frame: WireModel) -> str:
    return frame.model_dump_json()
