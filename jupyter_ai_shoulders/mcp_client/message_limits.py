"""Bounds what a server sends: requests, messages a second, and answers that nothing asked for.

Between a transport and the SDK, which starts a task for each message and keeps it until its answer
is written. Over a limit the connection ends with a reason. Loads the SDK. Used by
``mcp_client.connection``.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import mcp_types
from mcp.client import Transport
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params
from mcp.shared.message import SessionMessage

from jupyter_ai_shoulders.mcp_client.connection_events import ConnectionLimits
from jupyter_ai_shoulders.mcp_client.process_transport import UnreadableLine

Received = SessionMessage | Exception
_Key = tuple[type, int | str]
BURST_SECONDS = 1.0
"""Messages of this time may come at once."""
REST_SECONDS = 0.01
LATE_ANSWERS = 1_000
"""Cancelled requests that are remembered, because their answers may still come."""
MAX_LINE = 500
_STREAM_ENDED = "SSE stream "
"""Begins the errors that the SDK's HTTP transport makes itself."""


class LimitExceeded(Exception):
    """The server sent too much; the text says what, as a sentence."""


@dataclass(frozen=True, slots=True)
class MessageReports:
    """Callbacks that return quickly."""

    log: Callable[[str], None]
    """Gets a line about what the server sent."""
    ended: Callable[[str], None]
    """Gets the reason when the connection must end."""


@asynccontextmanager
async def limited(
    transport: Transport, limits: ConnectionLimits, reports: MessageReports
) -> AsyncGenerator[Any]:
    """Yield the streams of a transport, within the limits."""
    async with transport as (read, write):
        messages = _Messages(limits, reports.log)
        yield _LimitedRead(read, messages, reports.ended), _LimitedWrite(write, messages)


class _Messages:
    """Counts the messages of one connection."""

    def __init__(self, limits: ConnectionLimits, log: Callable[[str], None]) -> None:
        self._limits = limits
        self._log = log
        self._asked: set[_Key] = set()
        """Our requests without an answer."""
        self._late: deque[_Key] = deque(maxlen=LATE_ANSWERS)
        self._open: Counter[_Key] = Counter()
        """The server's requests whose answers are not yet made."""
        self._writing = 0
        """Answers that wait until the server reads."""
        self._seen: Counter[str] = Counter()
        self._due = 0.0
        self._flood_since: float | None = None

    def asked(self, message: mcp_types.JSONRPCMessage) -> None:
        """Note a message to the server before it is written."""
        if isinstance(message, mcp_types.JSONRPCRequest):
            self._asked.add(_key(message.id))
        elif isinstance(message, mcp_types.JSONRPCNotification):
            number = _cancelled(message)
            if number is not None and number in self._asked:
                self._asked.discard(number)
                self._late.append(number)
        elif message.id is not None:
            self._done(_key(message.id))
            self._writing += 1

    def written(self, message: mcp_types.JSONRPCMessage) -> None:
        """Note that a message was written, or never will be."""
        if isinstance(message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError):
            self._writing -= message.id is not None

    async def received(self, item: Received) -> SessionMessage | None:
        """Return what the SDK gets of an item. Raises ``LimitExceeded``."""
        if isinstance(item, Exception):
            passed = self._unreadable(item)
        elif isinstance(item.message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError):
            passed = item if self._is_answer(item.message.id) else None
            if passed is not None:
                _own_code(passed)
                return passed
        else:
            self._note(item.message)
            passed = item
        await self._slow_down()
        return passed

    def _note(self, message: mcp_types.JSONRPCRequest | mcp_types.JSONRPCNotification) -> None:
        if isinstance(message, mcp_types.JSONRPCNotification):
            number = _cancelled(message)
            if number is not None:
                self._done(number)
            return
        self._open[_key(message.id)] += 1
        if self._open.total() + self._writing > self._limits.open_requests:
            raise LimitExceeded(
                f"It sent more than {self._limits.open_requests:,} requests "
                "without waiting for their answers."
            )

    def _done(self, number: _Key) -> None:
        self._open[number] -= 1
        if self._open[number] <= 0:
            del self._open[number]

    def _is_answer(self, number: int | str | None) -> bool:
        if number is not None and _key(number) in self._asked:
            self._asked.discard(_key(number))
            return True
        if number is None or _key(number) not in self._late:
            shown = repr(number)[:40]
            self._report("answers", f"An answer to no open request, with the id {shown}")
        return False

    def _unreadable(self, error: Exception) -> SessionMessage | None:
        if not isinstance(error, UnreadableLine):
            self._report("unreadable", f"A message could not be read: {error}")
            return None
        for number in error.ids:
            if _key(number) in self._asked:
                self._asked.discard(_key(number))
                data = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message=error.reason)
                return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=number, error=data))
        if error.is_answer and not any(_key(number) in self._late for number in error.ids):
            raise LimitExceeded(f"It sent an answer that cannot be read: {error.reason}")
        if error.text:
            self._log(error.text[:MAX_LINE])
        return None

    def _report(self, kind: str, text: str) -> None:
        """Log the first of its kind, then the count at powers of ten."""
        self._seen[kind] += 1
        count = self._seen[kind]
        if str(count).strip("0") == "1":
            self._log(f"{text[:MAX_LINE]}{f' ({count:,} so far)' if count > 1 else ''}")

    async def _slow_down(self) -> None:
        """Let time pass when messages come too fast. Raises ``LimitExceeded``."""
        rate, longest = self._limits.messages_per_s, self._limits.flood_s
        now = asyncio.get_running_loop().time()
        if self._due <= now:
            self._due, self._flood_since = now, None
        self._due += 1 / rate
        early = self._due - now - BURST_SECONDS
        if early <= 0:
            return
        if self._flood_since is None:
            self._flood_since = now
            self._report("floods", f"It sends more than {rate:,} messages a second, read slowly")
        if now - self._flood_since >= longest:
            raise LimitExceeded(f"It sent more than {rate:,} messages a second for {longest:g} s.")
        await asyncio.sleep(max(early, REST_SECONDS))


class _Limited:
    """A stream of the SDK, with the messages of its connection."""

    def __init__(self, inner: Any, messages: _Messages) -> None:
        self._inner = inner
        self._messages = messages

    async def aclose(self) -> None:
        """Close it."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class _LimitedRead(_Limited):
    """The SDK's ``ReadStream``, which only iterates; it ends at a limit."""

    def __init__(self, inner: Any, messages: _Messages, on_end: Callable[[str], None]) -> None:
        super().__init__(inner, messages)
        self._on_end = on_end

    @property
    def last_context(self) -> object:
        """The context of the last message's sender, as the SDK asks for it."""
        return getattr(self._inner, "last_context", None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Received:
        try:
            async for item in self._inner:
                passed = await self._messages.received(item)
                if passed is not None:
                    return passed
        except LimitExceeded as error:
            self._on_end(str(error))
        raise StopAsyncIteration


class _LimitedWrite(_Limited):
    """The SDK's ``WriteStream``; it notes what is written."""

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message."""
        self._messages.asked(item.message)
        try:
            await self._inner.send(item)
        finally:
            self._messages.written(item.message)


def _key(number: int | str) -> _Key:
    """Return an id that tells 3 from "3"."""
    return type(number), number


def _own_code(answer: SessionMessage) -> None:
    """Give a server's error of -32000 another code: the SDK has it for a connection that ended."""
    message = answer.message
    if isinstance(message, mcp_types.JSONRPCError) and (
        message.error.code == mcp_types.CONNECTION_CLOSED
        and not message.error.message.startswith(_STREAM_ENDED)
    ):
        message.error.code = mcp_types.INTERNAL_ERROR


def _cancelled(message: mcp_types.JSONRPCNotification) -> _Key | None:
    if message.method != "notifications/cancelled":
        return None
    number = cancelled_request_id_from_params(message.params)
    return None if number is None else _key(number)
