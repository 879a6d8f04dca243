"""Calls through our MCP server beside the SDK's own server and a raw kernel.

A client of the official SDK calls over HTTP, with the handshake protocol. The floor of
``read_notebook`` is the SDK's server in a process of its own, whose tool returns the same text. The
floor of ``run_cell`` of ``pass`` is jupyter_client alone, on a kernel of its own. Ours is the whole
way: the call is judged, logged and run in a turn of the client's conversation.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from tests.bench.figures import Figure, Goal, timed
from tests.bench.notebook_files import PASS, SIZES, private_home, write_notebook
from tests.bench.timing import Sample, Stopwatch, interleaved
from tests.support.lab_server import Lab, free_port

ROUNDS = 40
PAUSE_SECONDS = 0.02
BARE_SERVER = """
import sys
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

text = open(sys.argv[2]).read()

async def list_tools(context, params):
    return ListToolsResult(tools=[Tool(name="read_notebook", input_schema={"type": "object"})])

async def call_tool(context, params):
    return CallToolResult(content=[TextContent(text=text)])

app = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool).streamable_http_app()
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""


def measure() -> list[Figure]:
    """Measure reading at all sizes, and running."""
    with private_home():
        return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with AsyncExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        lab = _started_lab(root)
        stack.callback(lab.stop)
        url, token = f"http://127.0.0.1:{lab.port}/shoulders/mcp", lab.token
        reader = await stack.enter_async_context(connected(url, token))
        figures = [await _reading(reader, root, cells) for cells in SIZES]
        # Of its own: what another notebook says would make the run ask.
        runner = await stack.enter_async_context(connected(url, token))
        return [*figures, await _running(runner, root)]


def _started_lab(root: Path) -> Lab:
    workspace = root / "root"
    (workspace / ".shoulders").mkdir(parents=True)
    for cells in SIZES:
        write_notebook(workspace, cells)
    rule = {"action": "allow", "tool": "run_cell", "match": {"path": _name(SIZES[0])}}
    (workspace / ".shoulders" / "tools.json").write_text(
        json.dumps({"version": 1, "rules": [rule]})
    )
    lab = Lab(workspace, root / "state")
    lab.start()
    return lab


async def _reading(ours: Client, root: Path, cells: int) -> Figure:
    arguments = {"path": _name(cells)}
    answer = await called(ours, "read_notebook", arguments)
    text = root / "answer.txt"
    text.write_text("\n".join(p.text for p in answer.content if isinstance(p, TextContent)))
    async with bare_server(text) as bare:
        taken = await interleaved(
            ROUNDS,
            {
                "ours": lambda: _timed(ours, "read_notebook", arguments),
                "bare": lambda: _timed(bare, "read_notebook", arguments),
            },
            warm=3,
        )
    goal = Goal("added", 5) if cells == SIZES[0] else None
    return timed(f"read_notebook, {cells} cells", taken["ours"], taken["bare"], goal)


async def _running(ours: Client, root: Path) -> Figure:
    arguments = {"path": _name(SIZES[0]), "cell_id": PASS}
    kernels = LocalKernels(root)
    raw: Any = (await kernels.start("raw.ipynb", "python3")).client()
    raw.start_channels(hb=False)
    try:
        await raw.wait_for_ready()
        taken = await interleaved(
            ROUNDS,
            {"ours": lambda: _timed(ours, "run_cell", arguments), "raw": lambda: _raw(raw)},
            warm=3,
        )
    finally:
        raw.stop_channels()
        await kernels.aclose()
    return timed("run_cell of `pass`, 10 cells", taken["ours"], taken["raw"], Goal("times", 2))


async def called(client: Client, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    """Call a tool, which must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result


async def _timed(client: Client, tool: str, arguments: dict[str, Any]) -> Sample:
    await asyncio.sleep(PAUSE_SECONDS)
    watch = Stopwatch()
    await called(client, tool, arguments)
    return watch.sample()


async def _raw(client: Any) -> Sample:
    await asyncio.sleep(PAUSE_SECONDS)
    watch = Stopwatch()
    message_id = client.execute("pass")
    while (await client.get_shell_msg())["parent_header"].get("msg_id") != message_id:
        pass
    while True:
        message = await client.get_iopub_msg()
        ours = message["parent_header"].get("msg_id") == message_id
        if ours and message["content"].get("execution_state") == "idle":
            return watch.sample()


@asynccontextmanager
async def connected(url: str, token: str = "") -> AsyncGenerator[Client]:
    """Connect a client of the SDK with the handshake protocol."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode="legacy") as client,
    ):
        yield client


@asynccontextmanager
async def bare_server(text: Path) -> AsyncGenerator[Client]:
    """Start the SDK's server, whose tool returns the content of a file."""
    port = free_port()
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BARE_SERVER, str(port), str(text)
    )
    try:
        await _listening(port)
        async with connected(f"http://127.0.0.1:{port}/mcp") as client:
            yield client
    finally:
        program.kill()
        await program.wait()


async def _listening(port: int) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


def _name(cells: int) -> str:
    return f"cells-{cells}.ipynb"
