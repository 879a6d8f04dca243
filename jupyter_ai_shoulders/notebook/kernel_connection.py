"""A client of our own on a kernel the user works with; held by ``notebook.kernels`` per kernel.

It reads its channels all the time (a reader that pauses for seconds loses messages) and hands each
request its own messages. It never starts, restarts or shuts the kernel down.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, cast

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.session import Session
from jupyter_core.utils import ensure_async

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.notebook.base import KernelHandle
from jupyter_ai_shoulders.wire.ids import CellId

log = logging.getLogger(__name__)

Message = dict[str, Any]
NUDGE_SECONDS = 0.1
"""Between two questions to a kernel whose output channel is not connected yet."""
SHELL_NUDGES = 10
"""One nudge in so many also asks on the shell channel, where a busy kernel queues it."""
PATIENCE_SECONDS = 120.0
"""How long a living kernel may leave the nudges unanswered."""
HEADER, PARENT_HEADER, CONTENT = 1, 2, 4
"""Positions in a message's frames: signature, header, parent header, metadata, content, …"""
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, AssertionError)
"""What jupyter_client and nbclient raise for messages that do not follow the protocol."""


class Request(Protocol):
    """Whoever sent a request; called from the reading task, must not block or raise."""

    def on_output(self, message: Message) -> None:
        """Take a message of the output channel."""
        ...

    def on_reply(self, message: Message) -> None:
        """Take the reply."""
        ...


def own_client(manager: Any) -> AsyncKernelClient:
    """Return a client with its own identity, channels not started.

    ``manager.client()`` alone gives every client the manager's session id, hence one ZMQ identity
    for all: the kernel then answers the newest of them only.
    """
    session = manager.session
    return manager.client(
        session=Session(key=session.key, signature_scheme=session.signature_scheme)
    )


class KernelConnection:
    """Sends requests to one life of a kernel: a restart or its death makes it ``stale``."""

    def __init__(self, handle: KernelHandle) -> None:
        self.handle = handle
        self.is_busy_elsewhere = False
        """Whether the kernel was last seen to run somebody else's cell."""
        self._life = _life(handle)
        self._client = handle.client()
        self._requests: dict[bytes, Request] = {}
        self._heard = asyncio.Event()
        self._readers: list[asyncio.Task[None]] = []

    @property
    def session(self) -> Session:
        """Makes and signs messages."""
        return self._client.session

    async def open(
        self, on_silence: Callable[[], None], patience: float = PATIENCE_SECONDS
    ) -> None:
        """Return once outputs reach us. Raises ``Conflict`` when the kernel dies or is silent.

        ``on_silence`` is called once when it takes longer than a second.

        A kernel that is busy with a cell answers on the control channel, one that cannot do so
        when it is idle again.
        """
        if getattr(self._client.shell_channel, "socket", None) is None:
            raise Conflict(
                "This kernel runs behind a gateway, where the agent cannot run cells yet.",
                code="no_kernel",
                hint="Run the cell yourself, or use a kernel of this Jupyter server.",
            )
        self._client.start_channels(stdin=False, hb=False)
        self._client.allow_stdin = False
        self._read(self._client.iopub_channel, self._on_output)
        self._read(self._client.shell_channel, self._on_reply)
        self._read(self._client.control_channel, lambda _parts: None)
        try:
            async with asyncio.timeout(patience):
                await self._nudge_until_heard(on_silence)
        except TimeoutError as error:
            raise Conflict(
                f"The kernel {self.handle.kernel_name} did not answer for {patience:.0f} s.",
                code="kernel_busy",
                hint="Interrupt or restart the kernel, then try again.",
                retryable=True,
            ) from error

    @property
    def is_stale(self) -> bool:
        """Whether the kernel was restarted since, or is not listened to any more."""
        return _life(self.handle) is not self._life or any(task.done() for task in self._readers)

    async def is_current(self) -> bool:
        """Return whether the kernel process this was opened on still lives and is listened to."""
        return not self.is_stale and bool(await ensure_async(self.handle.manager.is_alive()))

    def execute(self, code: str, cell_id: CellId, request: Request) -> str:
        """Ask the kernel to run ``code`` as the user's own cell would; return the message id.

        A failure does not abort what the user has queued; ``input()`` is refused.
        """
        content: Message = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        return self._request(content, {"cellId": cell_id}, request)

    def ask(
        self, code: str, request: Request, *, silent: bool, expressions: Mapping[str, str]
    ) -> str:
        """Ask the kernel to run code that is no cell's; return the message id.

        It gets no number and enters no history; ``silent`` code shows no results either.
        ``expressions`` are evaluated after it, and are in the reply.
        """
        content: Message = {
            "code": code,
            "silent": silent,
            "store_history": False,
            "user_expressions": dict(expressions),
            "allow_stdin": False,
            "stop_on_error": False,
        }
        return self._request(content, {}, request)

    def _request(self, content: Message, metadata: Message, request: Request) -> str:
        message = self._client.session.msg("execute_request", content, metadata=metadata)
        message_id = str(message["header"]["msg_id"])
        self._requests[message_id.encode()] = request
        self.send(message)
        return message_id

    def send(self, message: Message, channel: Literal["shell", "control"] = "shell") -> None:
        """Send a message.

        Not through ``channel.send``: that uses the socket behind its asyncio wrapper's back, and
        may swallow the wake-up of the task that waits for the next message.
        """
        target = self._client.shell_channel if channel == "shell" else self._client.control_channel
        target.socket.send_multipart(self.session.serialize(message))

    def forget(self, message_id: str) -> None:
        """Drop whatever still comes for this request."""
        self._requests.pop(message_id.encode(), None)

    async def close(self) -> None:
        """Stop reading and close the channels; the kernel runs on."""
        for task in self._readers:
            task.cancel()
        for outcome in await asyncio.gather(*self._readers, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("Reading from the kernel failed", exc_info=outcome)
        self._client.stop_channels()

    async def _nudge_until_heard(self, on_silence: Callable[[], None]) -> None:
        nudges = 0
        while not self._heard.is_set():
            if nudges == SHELL_NUDGES:
                on_silence()
            if not await self.is_current():
                raise Conflict(
                    f"The kernel {self.handle.kernel_name} died before it could be used.",
                    code="kernel_died",
                    hint="Try again: a new kernel is started. The Jupyter server's log says why.",
                    retryable=True,
                )
            self.send(self.session.msg("kernel_info_request"), "control")
            if nudges % SHELL_NUDGES == 0:
                self.send(self.session.msg("kernel_info_request"))
            nudges += 1
            await _wait(self._heard, NUDGE_SECONDS)

    def _read(self, channel: Any, receive: Callable[[list[bytes]], None]) -> None:
        self._readers.append(asyncio.create_task(self._keep_reading(channel.socket, receive)))

    async def _keep_reading(self, socket: Any, receive: Callable[[list[bytes]], None]) -> None:
        session = self.session
        while True:
            frames = await socket.recv_multipart()
            try:
                _, parts = session.feed_identities(frames)
                receive(cast("list[bytes]", parts))
            except _UNREADABLE:
                log.exception("A message of the kernel %s was unreadable", self.handle.kernel_id)
            # A future that is done already does not yield: a flood would hold the event loop.
            await asyncio.sleep(0)

    def _on_output(self, parts: list[bytes]) -> None:
        self._heard.set()
        request = self._request_of(parts)
        if request is not None:
            request.on_output(self.session.deserialize(parts))
        elif b'"status"' in parts[HEADER] and b'"execute_request"' in parts[PARENT_HEADER]:
            self.is_busy_elsewhere = b'"busy"' in parts[CONTENT]

    def _on_reply(self, parts: list[bytes]) -> None:
        request = self._request_of(parts)
        if request is not None:
            request.on_reply(self.session.deserialize(parts))

    def _request_of(self, parts: list[bytes]) -> Request | None:
        """Find whose message this is, before the cost of decoding: most are the user's own."""
        parent = parts[PARENT_HEADER]
        return next((r for token, r in self._requests.items() if token in parent), None)


def message_status(message: Mapping[str, Any]) -> str | None:
    """Return the execution state a message announces, None for other messages."""
    if message["msg_type"] != "status":
        return None
    return message["content"]["execution_state"]


def _life(handle: KernelHandle) -> object:
    # The manager makes a new ``ready`` future for each start of the process.
    return getattr(handle.manager, "ready", None)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
