"""Messages to and from an MCP server on standard input and output.

The SDK's own transport starts processes itself; this one runs over ``guard.process``. Loads the
SDK. Used by ``mcp_client.connection``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.streams.memory
import mcp_types
from mcp.shared.message import SessionMessage

from jupyter_ai_shoulders.guard.process.stdio_process import StdioProcess

Streams = tuple[
    anyio.streams.memory.MemoryObjectReceiveStream[SessionMessage | Exception],
    anyio.streams.memory.MemoryObjectSendStream[SessionMessage],
]
_Received = anyio.streams.memory.MemoryObjectSendStream[SessionMessage | Exception]
_Sent = anyio.streams.memory.MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def process_transport(
    process: StdioProcess, on_other_line: Callable[[str], None], on_end: Callable[[str], None]
) -> AsyncGenerator[Streams]:
    """Yield the streams of a running program, which the caller closes.

    ``on_other_line`` gets lines that are no messages. ``on_end`` is called with the reason when the
    program ends or sends too long a message.
    """
    received, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, sent = anyio.create_memory_object_stream[SessionMessage](0)
    async with received, read, write, sent, anyio.create_task_group() as tasks:
        tasks.start_soon(_receive, process, received, on_other_line, on_end)
        tasks.start_soon(_send, process, sent)
        try:
            yield read, write
        finally:
            tasks.cancel_scope.cancel()


async def _receive(
    process: StdioProcess,
    received: _Received,
    on_other_line: Callable[[str], None],
    on_end: Callable[[str], None],
) -> None:
    reason = "It closed its output."
    try:
        while line := await process.stdout.readline():
            try:
                message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                if line.strip():
                    on_other_line(line[:2000].decode("utf-8", "replace").rstrip())
                continue
            await received.send(SessionMessage(message))
    except ValueError:  # ``readline`` at its limit
        reason = "It sent a message that is too long."
    except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass
    on_end(reason)
    await received.aclose()


async def _send(process: StdioProcess, sent: _Sent) -> None:
    try:
        async for item in sent:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode() + b"\n")
            await process.stdin.drain()
    except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        return
