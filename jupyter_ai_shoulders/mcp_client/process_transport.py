"""Messages to and from an MCP server on standard input and output.

The SDK's own transport starts processes itself; this one runs over ``guard.process``. Loads the
SDK. Used by ``mcp_client.connection``.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.streams.memory
import mcp_types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from jupyter_ai_shoulders.guard.process.stdio_process import StdioProcess
from jupyter_ai_shoulders.mcp_client.connection_events import MAX_PARTS

Streams = tuple[
    anyio.streams.memory.MemoryObjectReceiveStream[SessionMessage | Exception],
    anyio.streams.memory.MemoryObjectSendStream[SessionMessage],
]
_Received = anyio.streams.memory.MemoryObjectSendStream[SessionMessage | Exception]
_Sent = anyio.streams.memory.MemoryObjectReceiveStream[SessionMessage]
CLOSED = "It closed its output."
TOO_MANY_PARTS = f"it has more than {MAX_PARTS:,} lists and objects"
_EDGE = 300
"""Bytes at both ends of an unreadable line in which its id is searched."""
_ID = re.compile(r'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,100})")')


class UnreadableLine(Exception):
    """A line of the program that is no message."""

    def __init__(self, line: bytes, error: ValueError) -> None:
        edges = (line[:_EDGE] + line[-_EDGE:]).decode("utf-8", "replace")
        is_message = '"jsonrpc"' in edges
        self.text = line[:2000].decode("utf-8", "replace").strip()
        self.reason = _reason(error)
        self.is_answer = is_message and '"method"' not in edges
        self.ids: tuple[int | str, ...] = ()
        """What may be the id of the request that it answers."""
        if self.is_answer:
            self.ids = tuple(int(n) if n else text for n, text in _ID.findall(edges))
        super().__init__(self.reason)


@asynccontextmanager
async def process_transport(
    process: StdioProcess, on_end: Callable[[str], None]
) -> AsyncGenerator[Streams]:
    """Yield the streams of a running program, which the caller closes.

    A line that is no message is received as ``UnreadableLine``. ``on_end`` is called with the
    reason when the program ends or sends too long a message.
    """
    received, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, sent = anyio.create_memory_object_stream[SessionMessage](0)
    async with received, read, write, sent, anyio.create_task_group() as tasks:
        tasks.start_soon(_receive, process, received, on_end)
        tasks.start_soon(_send, process, sent)
        try:
            yield read, write
        finally:
            tasks.cancel_scope.cancel()


async def _receive(
    process: StdioProcess, received: _Received, on_end: Callable[[str], None]
) -> None:
    reason = CLOSED
    try:
        while line := await process.stdout.readline():
            try:
                message = _message(line)
            except ValueError as error:
                await received.send(UnreadableLine(line, error))
                continue
            await received.send(SessionMessage(message))
    except ValueError:  # ``readline`` at its limit
        reason = "It sent a message that is too long."
    except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass
    on_end(reason)
    await received.aclose()


def _message(line: bytes) -> mcp_types.JSONRPCMessage:
    """Return the message of a line. Raises ``ValueError``."""
    if line.count(b"[") + line.count(b"{") > MAX_PARTS:
        raise ValueError(TOO_MANY_PARTS)
    return mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)


async def _send(process: StdioProcess, sent: _Sent) -> None:
    try:
        async for item in sent:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode() + b"\n")
            await process.stdin.drain()
    except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        return


def _reason(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        return error.errors(include_url=False, include_context=False, include_input=False)[0]["msg"]
    return str(error)[:_EDGE]
