"""The channels to a kernel, local or remote; used by ``notebook.kernels.connection``.

Local kernels use ZeroMQ (``ZmqChannels``); the server layer adds those behind a gateway. Messages
arrive as frames, so that messages for other clients are never decoded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, cast

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.session import Session
from jupyter_core.utils import ensure_async

log = logging.getLogger(__name__)

Channel = Literal["iopub", "shell", "stdin", "control"]
Frames = list[bytes]
"""Frames of one message: signature, header, parent header, metadata, content; buffers are dropped.
"""
HEADER, PARENT_HEADER, CONTENT = 1, 2, 4
"""Positions in ``Frames``."""
FRAMES = 5
LARGE = 1_000_000
"""Larger frames, in bytes, stay in ZeroMQ's memory: they may not be needed."""
Receive = Callable[[Frames], None]
Message = dict[str, Any]
TURN_SECONDS = 0.002
"""Seconds for which received messages are read before other tasks run."""
STDIN_SECONDS = 5.0
"""Seconds a kernel may take to open its stdin channel, once it answers on others."""
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, AssertionError)
"""Raised by jupyter_client and nbclient for messages that do not follow the protocol."""


class KernelChannels(Protocol):
    """A connection to one generation of a kernel."""

    @property
    def session(self) -> Session:
        """Makes and reads messages."""
        ...

    @property
    def ended(self) -> bool:
        """Whether the kernel was restarted since, or the connection is closed."""
        ...

    def open(self, receivers: Mapping[Channel, Receive]) -> None:
        """Start listening; the receivers must not block."""
        ...

    def send(self, message: Message, channel: Channel) -> None:
        """Send a message; a message that cannot be sent is lost."""
        ...

    async def opened(self) -> None:
        """Return once the kernel's questions for input arrive too; it answers already."""
        ...

    async def is_alive(self) -> bool:
        """Return whether the kernel's process lives."""
        ...

    async def close(self) -> None:
        """Stop listening; the kernel continues."""
        ...


class ZmqChannels:
    """The ``KernelChannels`` of a kernel whose sockets can be reached."""

    def __init__(self, manager: Any, client: AsyncKernelClient) -> None:
        self._manager = manager
        self._client = client
        self._generation = generation_of(manager)
        self._readers: list[asyncio.Task[None]] = []

    @property
    def session(self) -> Session:
        """See ``KernelChannels.session``."""
        return self._client.session

    @property
    def ended(self) -> bool:
        """See ``KernelChannels.ended``."""
        restarted = generation_of(self._manager) is not self._generation
        return restarted or any(task.done() for task in self._readers)

    def open(self, receivers: Mapping[Channel, Receive]) -> None:
        """See ``KernelChannels.open``."""
        self._open_stdin()
        self._client.start_channels(hb=False)
        self._client.allow_stdin = False
        for channel, receive in receivers.items():
            socket = getattr(self._client, f"{channel}_channel").socket
            self._readers.append(asyncio.create_task(self._keep_reading(socket, receive)))

    def send(self, message: Message, channel: Channel) -> None:
        """See ``KernelChannels.send``.

        Does not use ``channel.send``: it bypasses the socket's asyncio wrapper, and may swallow the
        wake-up of the task that waits for the next message.
        """
        target = getattr(self._client, f"{channel}_channel")
        target.socket.send_multipart(self.session.serialize(message))

    async def opened(self) -> None:
        """See ``KernelChannels.opened``."""
        socket: Any = self._client.stdin_channel.socket
        if not await socket.poll(STDIN_SECONDS * 1000, zmq.POLLOUT):
            log.warning("The kernel does not open its stdin channel: code that asks may hang")

    async def is_alive(self) -> bool:
        """See ``KernelChannels.is_alive``."""
        return bool(await ensure_async(self._manager.is_alive()))

    async def close(self) -> None:
        """See ``KernelChannels.close``."""
        for task in self._readers:
            task.cancel()
        for outcome in await asyncio.gather(*self._readers, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("Reading from the kernel failed", exc_info=outcome)
        self._client.stop_channels()

    def _open_stdin(self) -> None:
        """Connect so that the socket is writable only when the kernel knows it (ZMQ_IMMEDIATE).

        A starting kernel may answer on one channel while another waits for its next attempt to
        connect; the kernel drops a question to an unknown client.
        """
        context = self._client.context
        self._client.context = zmq.asyncio.Context(context)  # the same, with its own defaults
        self._client.context.setsockopt(zmq.IMMEDIATE, 1)
        self._client.stdin_channel.start()
        self._client.context = context

    async def _keep_reading(self, socket: Any, receive: Receive) -> None:
        session = self.session
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            received = await socket.recv_multipart(copy=False)
            try:
                _, parts = session.feed_identities(received, copy=False)
                receive([_bytes(frame) for frame in parts[:FRAMES]])
            except UNREADABLE:
                log.exception("A message of a kernel was unreadable")
            # A completed future does not yield: a flood would block the event loop.
            if loop.time() - began > TURN_SECONDS:
                await asyncio.sleep(0)
                began = loop.time()


def _bytes(frame: Any) -> bytes:
    """Return a frame's bytes; a large one as a view that reads like bytes."""
    return frame.bytes if len(frame) < LARGE else cast("bytes", frame.buffer)


def generation_of(manager: Any) -> object:
    """Return an object that changes with each start of a manager's kernel."""
    # The manager makes a new ``ready`` future for each start of the process.
    return getattr(manager, "ready", None)
