"""Relays requests of the panel's page to the server, and the answers back. Made by ``widget``.

Nothing blocks the thread of an arriving message, which also runs cells. The token stays in the
client's connection.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import assert_never
from urllib.parse import unquote

from jupyter_ai_shoulders.client.client import Client
from jupyter_ai_shoulders.client.errors import ClientError, Refused
from jupyter_ai_shoulders.client.lazy_imports import httpx, wire
from jupyter_ai_shoulders.client.page_socket import open_socket
from jupyter_ai_shoulders.kernel.panel import bundle
from jupyter_ai_shoulders.kernel.panel.lazy_protocol import protocol
from jupyter_ai_shoulders.kernel.panel.websocket_relay import RelayedSocket
from jupyter_ai_shoulders.kernel.panel.worker_threads import WorkerThreads

Post = Callable[["protocol.KernelMessage", Sequence[bytes]], None]
"""Sends a message and its buffers to the page; may be called in any thread."""

REQUESTS_AT_A_TIME = 6
"""As many as a browser allows."""
SILENCE_SECONDS = 3600.0
"""A view without messages for this long may be gone, for instance because its page was killed."""
_TEXTS = ("text/", "application/json", "application/x-ndjson", "application/x-ipynb+json")


_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\#]")
_MAX_DECODINGS = 4
"""How often a path is decoded to find dots; only an attacker encodes even twice."""
_KERNELS_ONLY = "/proxy-secret"
"""The route that issues kernels' secrets; pages do not use it."""


class ServerRelay:
    """Relays messages between one panel's views and the server."""

    def __init__(
        self, client: Client, post: Post, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Nothing is sent yet."""
        self._client = client
        self._post = post
        self._workers = WorkerThreads(REQUESTS_AT_A_TIME)
        self._sockets: dict[tuple[str, str], RelayedSocket] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._clock = clock
        self._last_message_at: dict[str, float] = {}
        """Time of the last message of each view that has sockets."""

    def take(self, message: protocol.PageMessage, *, waits: bool) -> None:
        """Handle a message in another thread; ``waits``: it had to wait for running cells."""
        if isinstance(message, protocol.Open) or message.view in self._last_message_at:
            self._last_message_at[message.view] = self._clock()
        match message:
            case protocol.Load():
                self._workers.submit(partial(self._load, message))
            case protocol.ViewHello():
                self._workers.submit(partial(self._greet, message, waits))
            case protocol.Http():
                self._workers.submit(partial(self._request, message))
            case protocol.Open():
                self._open(message)
            case protocol.Send():
                if socket := self._sockets.get((message.view, message.id)):
                    socket.send(message.text)
            case protocol.Close():
                self._close(message)
            case _:
                assert_never(message)

    def close(self) -> None:
        """Close every socket and end the threads."""
        with self._lock:
            self._closed = True
            sockets = list(self._sockets.values())
        for socket in sockets:
            socket.close()
        self._workers.close()

    def _load(self, message: protocol.Load) -> None:
        try:
            code = bundle.read_bundle()
        except bundle.BundleNotBuilt as error:
            self._post(protocol.Code(view=message.view, missing=str(error)), ())
        else:
            self._post(protocol.Code(view=message.view), code)

    def _greet(self, message: protocol.ViewHello, waits: bool) -> None:
        notebook, server = None, True
        try:
            self._client.status()
            notebook = self._client.notebook()
        except ClientError as error:
            server = False
            self._gone(message.view, error)
        self._post(
            protocol.Ready(
                view=message.view,
                server=server,
                notebook=notebook,
                version=version("jupyter-ai-shoulders"),
                waits=waits,
            ),
            (),
        )

    def _request(self, message: protocol.Http) -> None:
        try:
            path = below_api(message.path)
            response = self._client.connection.forward(message.method, path, _text(message.body))
        except ValueError as error:  # also a path that httpx refuses
            self._refuse(message, 400, _info("invalid_request", str(error)))
        except Refused as error:
            self._gone(message.view, error)
            self._refuse(message, error.status, error.info)
        except ClientError as error:
            self._gone(message.view, error)
            self._refuse(message, 503, _info("internal", str(error), retryable=True))
        else:
            self._answer(message, response)

    def _answer(self, message: protocol.Http, response: httpx.Response) -> None:
        content_type = response.headers.get("Content-Type", "")
        text = content_type.startswith(_TEXTS) or not response.content
        self._post(
            protocol.HttpAnswer(
                view=message.view,
                id=message.id,
                status=response.status_code,
                content_type=content_type,
                body=response.text if text else None,
            ),
            () if text else (response.content,),
        )

    def _refuse(self, message: protocol.Http, status: int, info: wire.ErrorInfo) -> None:
        self._post(
            protocol.HttpAnswer(
                view=message.view,
                id=message.id,
                status=status,
                content_type="application/json",
                body=wire.ErrorBody(error=info).model_dump_json(),
            ),
            (),
        )

    def _open(self, message: protocol.Open) -> None:
        key = (message.view, message.id)
        with self._lock:
            if self._closed or key in self._sockets:
                return
            self._sockets[key] = RelayedSocket(
                message, lambda: open_socket(self._client.connection), self._send
            )

    def _close(self, message: protocol.Close) -> None:
        with self._lock:
            named = [
                socket
                for (view, name), socket in self._sockets.items()
                if view == message.view and message.id in {None, name}
            ]
        for socket in named:
            socket.close()

    def _send(self, message: protocol.KernelMessage) -> None:
        """Pass on a socket's message."""
        if isinstance(message, protocol.Closed):
            with self._lock:
                self._sockets.pop((message.view, message.id), None)
                if not any(view == message.view for view, _ in self._sockets):
                    self._last_message_at.pop(message.view, None)
        self._post(message, ())
        if isinstance(message, protocol.Frame):
            self._forget_if_silent(message.view)

    def _forget_if_silent(self, view: str) -> None:
        """Close the sockets of a silent view; a view that still exists opens them again."""
        if self._clock() - self._last_message_at.get(view, self._clock()) > SILENCE_SECONDS:
            self._close(protocol.Close(view=view))

    def _gone(self, view: str, error: ClientError) -> None:
        self._post(protocol.Gone(view=view, reason=str(error)), ())


def _text(body: object) -> str | None:
    return body if body is None or isinstance(body, str) else json.dumps(body)


def _info(code: wire.ErrorCode, message: str, *, retryable: bool = False) -> wire.ErrorInfo:
    return wire.ErrorInfo(code=code, message=message, retryable=retryable)


class OutsideApi(ValueError):
    """The path leads out of the API."""


def below_api(path: str) -> str:
    """Return a path relative to the API's root unchanged. Raises ``OutsideApi``."""
    where = path.partition("?")[0]
    if not where or where.startswith("/") or ":" in where.split("/")[0] or _FORBIDDEN.search(path):
        raise OutsideApi(f"{path!r} is no path below the API of the AI colleague.")
    for _ in range(_MAX_DECODINGS):
        if "\\" in where or any(part in {".", ".."} for part in where.split("/")):
            raise OutsideApi(f"{path!r} leads out of the API of the AI colleague.")
        where = unquote(where)
    if where.rstrip("/").endswith(_KERNELS_ONLY):
        raise OutsideApi(f"{path!r} is for the kernels of the AI colleague, not for pages.")
    return path
