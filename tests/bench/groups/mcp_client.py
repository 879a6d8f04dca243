"""Calls of MCP servers' tools beside the SDK's own client.

A server of the SDK adds two numbers, over its standard input and output. Ours is the whole tool:
arguments checked, limits and progress watched, the result bounded. The floor is the SDK's client
with its own transport, at another process of the same server.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from jupyter_ai_shoulders.mcp_client.ports import ServerConnection
from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.tools.mcp.offers import offer_of
from jupyter_ai_shoulders.tools.mcp.running_calls import CallLimits, RunningCall, RunningCalls
from jupyter_ai_shoulders.tools.mcp.server_tool import CallPorts, ServerTool, make_server_tool
from tests.bench.figures import Figure, Goal, timed
from tests.bench.timing import Sample, Stopwatch, interleaved
from tests.mcp_client.probes import SDK_SERVER, pool_of, sdk_entry
from tests.tools.direct_calls import context

ROUNDS = 200
NUMBERS = {"a": 2, "b": 40}


def measure() -> list[Figure]:
    """Measure one call."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    server = StdioServerParameters(command=sys.executable, args=[str(SDK_SERVER), "stdio"])
    with tempfile.TemporaryDirectory() as folder:
        async with (
            pool_of(sdk_entry(), folder=Path(folder)) as pool,
            Client(stdio_client(server)) as client,
        ):
            connection = await pool.connection("probe")
            offer = offer_of("probe", await connection.list_tools())
            [offered] = [each for each in offer.tools if each.tool == "add"]
            known = {offered.name: offered.definition}

            async def connect(call: RunningCall) -> ServerConnection:
                return await pool.connection(call.server)

            tool = make_server_tool(
                offered, CallPorts(connect, RunningCalls(), known, CallLimits())
            )
            taken = await interleaved(
                ROUNDS, {"ours": lambda: _ours(tool), "sdk": lambda: _sdk(client)}, warm=5
            )
    return [timed("a call over stdio", taken["ours"], taken["sdk"], Goal("added", 3))]


async def _ours(tool: ServerTool) -> Sample:
    watch = Stopwatch()
    arguments = tool.arguments.model_validate(NUMBERS)
    outputs = [output async for output in tool.run(arguments, context())]
    sample = watch.sample()
    assert isinstance(outputs[-1], Result)
    assert outputs[-1].envelope.ok
    return sample


async def _sdk(client: Client) -> Sample:
    watch = Stopwatch()
    result = await client.call_tool("add", NUMBERS)
    sample = watch.sample()
    assert not result.is_error
    return sample
