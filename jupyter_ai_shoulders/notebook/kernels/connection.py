"""A separate client for a kernel that the user works with.

Held by ``notebook.execution.cell_runner`` per kernel. It reads its channels all the time (a reader
that pauses for seconds loses messages) and gives each request its own messages. It never starts,
restarts or shuts the kernel down.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.session import Session

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.notebook.base import KernelHandle
from jupyter_ai_shoulders.notebook.kernel_channels import (
    CONTENT,
    HEADER,
    PARENT_HEADER,
    Channel,
    KernelChannels,
    Message,
    ZmqChannels,
)
from jupyter_ai_shoulders.notebook.kernels.display_throttle import DisplayThrottle
from jupyter_ai_shoulders.notebook.kernels.message_decoding import (
    KernelSession,
    is_oversized,
    replacement_message,
)
from jupyter_ai_shoulders.wire.ids import CellId

NUDGE_SECONDS = 0.1
"""Seconds between two requests to a kernel whose output channel is not connected yet."""
SHELL_NUDGES = 10
"""Every so many nudges one also uses the shell channel, where a busy kernel queues it."""
OPEN_TIMEOUT_SECONDS = 120.0
"""Seconds a living kernel may leave the nudges unanswered."""
CODE_LIMIT = 4_000
"""Characters kept of others' code."""


class Request(Protocol):
    """Receives the messages of a request; called from the reading task, must not block or raise."""

    def on_output(self, message: Message) -> None:
        """Handle a message of the output channel."""
        ...

    def on_reply(self, message: Message) -> None:
        """Handle the reply."""
        ...


def own_client(manager: Any) -> AsyncKernelClient:
    """Return a client with its own identity, channels not started.

    ``manager.client()`` alone gives every client the manager's session id, hence one ZMQ identity
    for all: the kernel then answers the newest of them only.
    """
    session = manager.session
    return manager.client(
        session=KernelSession(key=session.key, signature_scheme=session.signature_scheme)
    )


class KernelConnection:
    """Sends requests to one generation of a kernel: a restart or its death makes it ``stale``."""

    def __init__(self, handle: KernelHandle) -> None:
        self.handle = handle
        self.is_busy_elsewhere = False
        """Whether the kernel was last seen running others' code."""
        self.busy_since: datetime | None = None
        """When that code started."""
        self.code_elsewhere: str | None = None
        """That code, when its start was observed."""
        self._channels = _channels(handle)
        self._requests: dict[bytes, Request] = {}
        self._askers: dict[bytes, Callable[[Message], None]] = {}
        self._throttle = DisplayThrottle[Request](self._deliver)
        self._has_output = asyncio.Event()

    @property
    def session(self) -> Session:
        """Makes and signs messages."""
        return self._channels.session

    async def open(
        self, on_silence: Callable[[], None], seconds: float = OPEN_TIMEOUT_SECONDS
    ) -> None:
        """Return once outputs arrive. Raises ``Conflict`` when the kernel dies or is silent.

        ``on_silence`` is called once when it takes longer than a second.

        A kernel that is busy with a cell answers on the control channel; one that cannot answers
        when it is idle again.
        """
        self._channels.open(
            {
                "iopub": self._on_output,
                "shell": self._on_reply,
                "stdin": self._on_input,
                "control": lambda _parts: None,
            }
        )
        try:
            async with asyncio.timeout(seconds):
                await self._nudge_until_output(on_silence)
                await self._channels.opened()
        except TimeoutError as error:
            raise Conflict(
                f"The kernel {self.handle.kernel_name} did not answer for {seconds:.0f} s.",
                code="kernel_busy",
                hint="Interrupt or restart the kernel, then try again.",
                retryable=True,
            ) from error

    @property
    def is_stale(self) -> bool:
        """Whether the kernel was restarted since, or the connection is closed."""
        return self._channels.ended

    async def is_current(self) -> bool:
        """Return whether the kernel process of this connection still lives and is observed."""
        return not self.is_stale and await self._channels.is_alive()

    def execute(
        self,
        code: str,
        cell_id: CellId,
        request: Request,
        on_input: Callable[[Message], None] | None = None,
    ) -> str:
        """Ask the kernel to run ``code`` as the user's own cell would; return the message id.

        A failure does not abort the user's queued code. ``on_input`` receives the code's questions
        for input (the kernel blocks until ``reply_input``); without it the kernel refuses them.
        """
        content: Message = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": on_input is not None,
            "stop_on_error": False,
        }
        message_id = self._request(content, {"cellId": cell_id}, request)
        if on_input is not None:
            self._askers[message_id.encode()] = on_input
        return message_id

    def ask(
        self, code: str, request: Request, *, silent: bool, expressions: Mapping[str, str]
    ) -> str:
        """Ask the kernel to run code outside cells; return the message id.

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
        message = self.session.msg("execute_request", content, metadata=metadata)
        message_id = str(message["header"]["msg_id"])
        self._requests[message_id.encode()] = request
        self.send(message)
        return message_id

    def reply_input(self, question: Message, text: str) -> None:
        """Answer an ``input_request`` of the kernel."""
        reply = self.session.msg("input_reply", {"status": "ok", "value": text}, parent=question)
        self.send(reply, "stdin")

    def send(self, message: Message, channel: Channel = "shell") -> None:
        """Send a message."""
        self._channels.send(message, channel)

    def forget(self, message_id: str) -> None:
        """Ignore further messages of this request."""
        request = self._requests.pop(message_id.encode(), None)
        if request is not None:
            self._throttle.forget(request)
        self._askers.pop(message_id.encode(), None)

    async def close(self) -> None:
        """Stop reading and close the channels; the kernel continues."""
        self._throttle.forget(None)
        await self._channels.close()

    async def _nudge_until_output(self, on_silence: Callable[[], None]) -> None:
        nudges = 0
        while not self._has_output.is_set():
            if nudges == SHELL_NUDGES:
                on_silence()
            if not await self.is_current():
                raise Conflict(
                    f"The kernel {self.handle.kernel_name} died before it could be used.",
                    code="kernel_died",
                    hint="Try again to start a new kernel. The Jupyter server's log says why.",
                    retryable=True,
                )
            self.send(self.session.msg("kernel_info_request"), "control")
            if nudges % SHELL_NUDGES == 0:
                self.send(self.session.msg("kernel_info_request"))
            nudges += 1
            await wait_for_event(self._has_output, NUDGE_SECONDS)

    def _on_output(self, parts: list[bytes]) -> None:
        self._has_output.set()
        request = self._request_of(parts)
        if request is not None:
            if not self._throttle.hold(request, parts):
                self._deliver(request, parts)
        elif b'"status"' in parts[HEADER] and b'"execute_request"' in parts[PARENT_HEADER]:
            self._note_elsewhere(b'"busy"' in parts[CONTENT], parts)
        elif self.is_busy_elsewhere and b'"execute_input"' in parts[HEADER]:
            code = str(json.loads(parts[CONTENT]).get("code", ""))
            self.code_elsewhere = code[:CODE_LIMIT]

    def _deliver(self, request: Request, parts: list[bytes]) -> None:
        request.on_output(self._message(parts))

    def _note_elsewhere(self, is_busy: bool, parts: list[bytes]) -> None:
        self.is_busy_elsewhere = is_busy
        self.code_elsewhere = None
        self.busy_since = _date(json.loads(parts[HEADER])) if is_busy else None

    def _on_reply(self, parts: list[bytes]) -> None:
        request = self._request_of(parts)
        if request is not None:
            request.on_reply(self._message(parts))

    def _on_input(self, parts: list[bytes]) -> None:
        parent = parts[PARENT_HEADER]
        ask = next((ask for token, ask in self._askers.items() if token in parent), None)
        if ask is not None:
            ask(self.session.deserialize(parts))

    def _message(self, parts: list[bytes]) -> Message:
        if is_oversized(parts):
            return replacement_message(parts)
        # A large frame is still in ZeroMQ's memory.
        return self.session.deserialize([bytes(part) for part in parts])

    def _request_of(self, parts: list[bytes]) -> Request | None:
        """Find the request before decoding: most messages belong to the user's requests."""
        parent = parts[PARENT_HEADER]
        return next((r for token, r in self._requests.items() if token in parent), None)


def message_status(message: Mapping[str, Any]) -> str | None:
    """Return the execution state a message announces, None for other messages."""
    if message["msg_type"] != "status":
        return None
    return message["content"]["execution_state"]


def _channels(handle: KernelHandle) -> KernelChannels:
    return handle.channels() if handle.channels else ZmqChannels(handle.manager, handle.client())


def _date(header: Message) -> datetime | None:
    try:
        return datetime.fromisoformat(str(header.get("date")))
    except ValueError:  # not all kernels follow the protocol
        return None


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set, or for ``seconds``."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
