"""Kernels that run behind a gateway, over its websocket.

Used by ``server.kernels.kernel_directory``. jupyter_server's own client of gateway kernels
busy-waits for each message, and ends after a minute without one. This one waits, pings, and
reconnects when the socket is cut.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakKeyDictionary

from jupyter_client.session import Session
from jupyter_core.utils import ensure_async
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.services.kernels.connection import base
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.web import HTTPError
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from jupyter_ai_shoulders.notebook.base import KernelHandle
from jupyter_ai_shoulders.notebook.kernel_channels import (
    CONTENT,
    FRAMES,
    HEADER,
    PARENT_HEADER,
    UNREADABLE,
    Channel,
    Frames,
    Message,
    Receive,
)

log = logging.getLogger(__name__)

MESSAGE_LIMIT = 1 << 30
"""Maximum bytes of one message; tornado's default of 10 MB would end the socket at a large figure.
"""
OUTBOX_LIMIT = 1_000


V1 = "v1.kernel.websocket.jupyter.org"
_base: Any = base  # untyped
_PARTS = ("header", "parent_header", "metadata", "content")


@dataclass(frozen=True, slots=True)
class GatewayTimeouts:
    """Timeouts and intervals, in seconds."""

    ping: float = 20.0
    """Between two pings, so that a cut connection is detected and a quiet one is not taken for one.
    """
    poll: float = 5.0
    """Between two checks that the kernel exists: each is a request to the gateway."""
    retry: float = 0.25
    """Before the first attempt to reconnect; doubled each time up to ``longest_retry``."""
    longest_retry: float = 5.0
    give_up: float = 120.0
    """How long a gateway may be unreachable before its kernel counts as lost."""


class GatewayKernel:
    """The part of a kernel manager that is needed, for a kernel on another machine."""

    def __init__(self, manager: Any, poll_seconds: float) -> None:
        self.ready = object()
        """Replaced in each life of the kernel, as in jupyter_client's managers."""
        self._manager = manager
        self._poll_seconds = poll_seconds
        self._polled = float("-inf")
        self._alive = True

    @property
    def socket_url(self) -> str:
        """Return the address of the kernel's channels."""
        return f"{_websocket_url(self._manager.kernel_url)}/channels"

    def renew(self) -> None:
        """Record that this life of the kernel is over."""
        self.ready = object()
        self._polled = float("-inf")

    @property
    def execution_state(self) -> str | None:
        """Return the state that the gateway last reported."""
        return self._manager.execution_state

    async def is_alive(self) -> bool:
        """Return whether the gateway has the kernel; True while the gateway is unreachable."""
        if time.monotonic() - self._polled >= self._poll_seconds:
            self._polled = time.monotonic()
            try:
                self._alive = await self._manager.refresh_model() is not None
            except (HTTPError, OSError, HTTPClientError):
                log.warning("The gateway does not tell whether a kernel is there", exc_info=True)
        return self._alive


class GatewayChannels:
    """The ``KernelChannels`` over one websocket, which reconnects when it is cut.

    The gateway buffers the kernel's messages in between, unless another page listens to the kernel;
    a request whose reply was lost is ended with an idle status and a line that says so.
    """

    def __init__(self, kernel: GatewayKernel, times: GatewayTimeouts) -> None:
        self._kernel = kernel
        self._ready = kernel.ready
        self._times = times
        self._session = Session(key=b"")
        self._receivers: Mapping[Channel, Receive] = {}
        self._task: asyncio.Task[None] | None = None
        self._socket: WebSocketClientConnection | None = None
        self._outbox: list[tuple[Message, Channel]] = []
        self._unanswered: dict[str, Message] = {}
        self._probe: tuple[str, tuple[str, ...]] | None = None
        self._life: str | None = None

    @property
    def session(self) -> Session:
        """See ``KernelChannels.session``."""
        return self._session

    @property
    def ended(self) -> bool:
        """See ``KernelChannels.ended``."""
        return self._kernel.ready is not self._ready

    def open(self, receivers: Mapping[Channel, Receive]) -> None:
        """See ``KernelChannels.open``."""
        self._receivers = receivers
        self._task = asyncio.create_task(self._keep())

    def send(self, message: Message, channel: Channel) -> None:
        """See ``KernelChannels.send``; while the socket is cut, requests wait."""
        kind = message["header"]["msg_type"]
        if kind == "execute_request":
            self._unanswered[message["header"]["msg_id"]] = message
        if self._socket is not None:
            self._write(self._socket, message, channel)
        elif kind != "kernel_info_request" and len(self._outbox) < OUTBOX_LIMIT:
            self._outbox.append((message, channel))

    async def opened(self) -> None:
        """See ``KernelChannels.opened``: all channels are one websocket."""

    async def is_alive(self) -> bool:
        """See ``KernelChannels.is_alive``."""
        return await self._kernel.is_alive()

    async def close(self) -> None:
        """See ``KernelChannels.close``."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            if not self._task.cancelled() and (error := self._task.exception()):
                log.error("Reading from the gateway failed", exc_info=error)

    async def _keep(self) -> None:
        """Keep a socket open until the kernel's life is over."""
        is_first = True
        while (socket := await self._connect()) is not None:
            try:
                self._begin(socket, is_first)
                await self._read(socket)
            finally:
                self._socket = None
                socket.close()
            is_first = False
            log.info("The socket of a gateway kernel was cut; opening another")
        self._end()

    async def _connect(self) -> WebSocketClientConnection | None:
        """Return a new socket; None when the kernel is gone, or the gateway for too long."""
        began, pause = time.monotonic(), self._times.retry
        while not self.ended and time.monotonic() - began < self._times.give_up:
            try:
                return await websocket_connect(
                    self._request(),
                    ping_interval=self._times.ping,
                    max_message_size=MESSAGE_LIMIT,
                    subprotocols=[V1],
                )
            except HTTPClientError as error:
                if error.code == 404:
                    return None
                log.warning("The gateway refused a kernel's socket: %s", error)
            except OSError as error:
                log.warning("The gateway cannot be reached: %s", error)
            await asyncio.sleep(pause)
            pause = min(2 * pause, self._times.longest_retry)
        return None

    def _request(self) -> HTTPRequest:
        # Only this singleton of jupyter_server has the gateway's address and credentials.
        gateway: Any = GatewayClient.instance()
        arguments: dict[str, Any] = gateway.load_connection_args()
        # With the same session id on each socket the gateway buffers messages for the next one.
        return HTTPRequest(
            f"{self._kernel.socket_url}?session_id={self._session.session}", **arguments
        )

    def _begin(self, socket: WebSocketClientConnection, is_first: bool) -> None:
        self._socket = socket
        waiting, self._outbox = self._outbox, []
        if not is_first:
            # Answered after all earlier requests of the kernel: those without a reply have lost it.
            probe = self._session.msg("kernel_info_request")
            unsent = {message["header"]["msg_id"] for message, _ in waiting}
            asked = tuple(request for request in self._unanswered if request not in unsent)
            self._probe = (probe["header"]["msg_id"], asked)
            self._write(socket, probe, "shell")
        for message, channel in waiting:
            self._write(socket, message, channel)

    def _write(self, socket: WebSocketClientConnection, message: Message, channel: Channel) -> None:
        protocol = socket.selected_subprotocol
        data = encode(message, channel, self._session, protocol)
        try:
            written = socket.write_message(data, binary=protocol == V1)
        except WebSocketClosedError:
            self._outbox.append((message, channel))
            return
        asyncio.ensure_future(written).add_done_callback(_observe_write)

    async def _read(self, socket: WebSocketClientConnection) -> None:
        while not self.ended and (received := await socket.read_message()) is not None:
            try:
                channel, frames = decode(received, self._session, socket.selected_subprotocol)
                self._receive(cast("Channel", channel), frames[:FRAMES])
            except UNREADABLE:
                log.exception("A message of a gateway kernel was unreadable")
            # Receiving a buffered message does not yield: a flood would block the event loop.
            await asyncio.sleep(0)

    def _receive(self, channel: Channel, frames: Frames) -> None:
        if channel == "iopub":
            if b'"status"' in frames[HEADER]:
                self._watch_life(frames)
        elif channel in {"shell", "control"}:
            self._note_life(str(json.loads(frames[HEADER]).get("session")))
        receive = self._receivers.get(channel)
        if receive is not None:
            receive(frames)
        if channel == "shell":
            self._note_reply(str(json.loads(frames[PARENT_HEADER]).get("msg_id")))

    def _watch_life(self, frames: Frames) -> None:
        state = json.loads(frames[CONTENT]).get("execution_state")
        if state in {"restarting", "autorestarting", "dead"}:
            self._end()
        elif state == "starting" and self._life is not None:
            self._note_life(str(json.loads(frames[HEADER]).get("session")))

    def _note_life(self, session: str) -> None:
        """Detect a restart: kernels name their process in each message."""
        if self._life is None:
            self._life = session
        elif self._life != session:
            self._end()

    def _end(self) -> None:
        if not self.ended:
            self._kernel.renew()

    def _note_reply(self, request: str) -> None:
        self._unanswered.pop(request, None)
        if self._probe is not None and self._probe[0] == request:
            asked, self._probe = self._probe[1], None
            for message in [self._unanswered.pop(lost, None) for lost in asked]:
                if message is not None:
                    self._reconstruct_reply(message)

    def _reconstruct_reply(self, request: Message) -> None:
        """End a request whose reply was lost with the socket."""
        said = "The connection to the kernel was cut while this ran; output may be missing.\n"
        for kind, content in (
            ("stream", {"name": "stderr", "text": said}),
            ("status", {"execution_state": "idle"}),
        ):
            message = self._session.msg(kind, content, parent=request)
            self._receivers["iopub"](self._session.serialize(message)[1:])


def is_gateway_manager(manager: Any) -> bool:
    """Return whether a kernel manager represents a kernel behind a gateway."""
    return hasattr(manager, "refresh_model") and hasattr(manager, "kernel_url")


class GatewayKernels:
    """Describes the kernels behind a gateway; ``specs`` is the server's kernelspec manager."""

    def __init__(self, specs: Any, times: GatewayTimeouts | None = None) -> None:
        self._specs = specs
        self._times = times or GatewayTimeouts()
        self._kernels: WeakKeyDictionary[Any, GatewayKernel] = WeakKeyDictionary()

    async def handle(self, kernel_id: str, manager: Any) -> KernelHandle:
        """Describe a running kernel."""
        kernel = self._kernels.setdefault(manager, GatewayKernel(manager, self._times.poll))
        model: dict[str, Any] = manager.kernel or {}
        name: str = model.get("name") or manager.kernel_name
        return KernelHandle(
            kernel_id=kernel_id,
            kernel_name=name,
            language=await _language(self._specs, name),
            manager=kernel,
            client=manager.client,
            channels=lambda: GatewayChannels(kernel, self._times),
        )

    def restarted(self, manager: Any) -> None:
        """End the present life of a kernel that was restarted by this server."""
        if manager in self._kernels:
            self._kernels[manager].renew()


async def _language(specs: Any, name: str) -> str:
    try:
        spec = await ensure_async(specs.get_kernel_spec(name))
    except (KeyError, HTTPError):
        log.warning("The gateway does not tell the language of its kernel %s", name)
        return ""
    return spec["spec"].get("language", "")


def _websocket_url(url: str) -> str:
    configured: str | None = GatewayClient.instance().ws_url
    base = str(GatewayClient.instance().url)
    return url.replace(base, configured, 1) if configured else url.replace("http", "ws", 1)


def _observe_write(written: asyncio.Future[None]) -> None:
    """Consume the result of a write: the reader notices a cut socket."""
    if not written.cancelled():
        written.exception()


def encode(message: Message, channel: Channel, session: Session, protocol: str | None) -> bytes:
    """Return the message for the socket; text for the JSON format, as bytes."""
    if protocol == V1:
        return _base.serialize_msg_to_ws_v1(message, channel, pack=session.pack)
    parts = {name: message[name] for name in _PARTS}
    return cast("bytes", session.pack({**parts, "channel": channel, "buffers": []}))


def decode(received: str | bytes, session: Session, protocol: str | None) -> tuple[str, Frames]:
    """Return the channel and the frames, with an empty signature. Raises ``ValueError``."""
    if protocol == V1 and isinstance(received, bytes):
        channel, frames = _base.deserialize_msg_from_ws_v1(received)
        return channel, [b"", *frames]
    message: Message
    if isinstance(received, bytes):
        message = _base.deserialize_binary_message(received)
    else:
        message = json.loads(received)
    frames = [cast("bytes", session.pack(message[name])) for name in _PARTS]
    return message["channel"], [b"", *frames, *message.get("buffers", ())]
