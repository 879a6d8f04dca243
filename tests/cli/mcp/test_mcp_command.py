"""``jupyter shoulders mcp`` as a client starts it, on a running server and without one."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client as McpClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation, TextContent

from jupyter_ai_shoulders.cli.mcp.client_entries import CLIENTS, client_entry
from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval
from tests.cli.conftest import Terminal
from tests.simulator_process import notebook, texts

SERVER = {"name": "robot", "version": "1"}


@asynccontextmanager
async def started(*arguments: str, mode: str = "auto") -> AsyncGenerator[McpClient]:
    """Connect the SDK's client to the command, which runs with this process's environment."""
    import os

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "jupyter_ai_shoulders.cli", "mcp", *arguments],
        env=dict(os.environ),
    )
    info = Implementation(name="robot", version="1")
    async with McpClient(stdio_client(server), client_info=info, mode=mode) as client:
        yield client


def said(result: Any) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


@pytest.fixture(params=["alone", "attached"])
def terminal(request: pytest.FixtureRequest) -> Terminal:
    """Both kinds of engine."""
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_reads_a_notebook(terminal: Terminal, mode: str) -> None:
    path = terminal.root / f"read-{mode}.ipynb"
    path.write_text(notebook(("a", "print(6 * 7)")))
    async with started(mode=mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        read = await client.call_tool("read_notebook", {"path": path.name})
    assert {"read_notebook", "edit_cell", "run_cell", "read_file"} <= names
    assert "print(6 * 7)" in said(read)


async def test_what_asks_is_refused_without_a_server_unless_the_mode_allows_it(
    alone: Terminal,
) -> None:
    path = alone.root / "run.ipynb"
    path.write_text(notebook(("a", "print(6 * 7)")))
    async with started() as client:
        refused = await client.call_tool("run_cell", {"path": path.name, "cell_id": "a"})
    async with started("--mode", "bypass") as client:
        ran = await client.call_tool("run_cell", {"path": path.name, "cell_id": "a"})
    assert refused.is_error
    assert "nobody can give it" in said(refused)
    assert "42" in said(ran)


async def test_an_approval_in_jupyterlab_lets_the_call_go_on(
    attached: Terminal, client: Client
) -> None:
    path = attached.root / "asked.ipynb"
    path.write_text(notebook(("a", "print(6 * 7)")))

    def allow() -> None:
        session = next(one for one in client.list(kind="agent") if one.title == "robot")
        for event in client.connection.events(session.id, 0):
            if event.type == "approval-request":
                answer = AnswerApproval(decision="allow")
                path = f"sessions/{session.id}/approvals/{event.call_id}"
                client.connection.send("POST", path, answer)
                return

    async with started() as robot:
        await robot.call_tool("list_kernels", {})  # makes the conversation
        answered = asyncio.create_task(asyncio.to_thread(allow))
        ran = await robot.call_tool("run_cell", {"path": path.name, "cell_id": "a"})
        await answered
    assert "42" in said(ran)
    assert texts(json.loads(path.read_text())["cells"], "a") == "42\n"


async def test_scopes_narrow_what_a_client_may_do(terminal: Terminal) -> None:
    async with started("--scope", "read") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        refused = await client.call_tool("delete_file", {"path": "x"})
    assert "read_notebook" in names
    assert not names & {"edit_cell", "run_cell", "read_file"}
    assert refused.is_error


def test_a_wrong_token_says_what_the_server_answers(attached: Terminal, client: Client) -> None:
    url = client.connection.address.url
    result = attached.says("mcp", "--url", url, "--token", "wrong")
    assert result.code == 1
    assert "401" in result.err
    assert "access token" in result.err


def test_an_unreachable_server_is_named(alone: Terminal) -> None:
    result = alone.says("mcp", "--url", "http://127.0.0.1:9/", "--token", "x")
    assert result.code == 1
    assert "http://127.0.0.1:9/shoulders/mcp cannot be reached" in result.err


async def test_the_command_ends_with_its_client_though_the_server_hangs(alone: Terminal) -> None:
    taken: list[bytes] = []
    answers: set[asyncio.Task[Any] | None] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the probe and the handshake, and hang at everything else."""
        answers.add(asyncio.current_task())
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (
                int(line[15:])
                for line in head.split(b"\r\n")
                if line[:15].lower() == b"content-length:"
            ),
            0,
        )
        body = await reader.readexactly(length)
        taken.append(body)
        if b'"initialize"' in body:
            result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": SERVER}
            text = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: s\r\n"
                b"content-length: %d\r\n\r\n%b" % (len(text), text)
            )
        elif len(taken) == 1:
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            await reader.read()  # ends with the command
        with suppress(ConnectionError):
            await writer.drain()
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    bridge = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "jupyter_ai_shoulders.cli", "mcp"),
        *("--url", f"http://127.0.0.1:{port}/", "--token", "x"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert bridge.stdin is not None
    assert bridge.stdout is not None
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": SERVER}
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    ):
        bridge.stdin.write(json.dumps(message).encode() + b"\n")
        if "id" in message:
            await bridge.stdout.readline()
    bridge.stdin.close()
    async with asyncio.timeout(15):
        assert await bridge.wait() == 0
        await asyncio.wait({task for task in answers if task is not None})
    server.close()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("url", [None, "http://127.0.0.1:8888/"], ids=["command", "address"])
def test_entries_name_the_command_or_the_address(client: str, url: str | None) -> None:
    entry = client_entry(client, "/opt/env/bin/jupyter-shoulders", url)
    assert ("/opt/env/bin/jupyter-shoulders" in entry.text) == (url is None)
    assert ("http://127.0.0.1:8888/shoulders/mcp" in entry.text) == (url is not None)
    assert ("Bearer TOKEN" in entry.text) == (url is not None)
    assert entry.where.endswith(":")


@pytest.mark.parametrize("client", CLIENTS)
def test_entries_of_commands_have_the_variables_that_find_servers(client: str) -> None:
    environ = {"JUPYTER_RUNTIME_DIR": "/run/my jupyter", "SECRET": "no"}
    entry = client_entry(client, "jupyter", None, environ)
    assert "JUPYTER_RUNTIME_DIR" in entry.text
    assert "/run/my jupyter" in entry.text
    assert "SECRET" not in entry.text
    assert "JUPYTER" not in client_entry(client, "jupyter", "http://127.0.0.1:1/", environ).text


def test_config_prints_the_entry_alone_on_standard_output(
    attached: Terminal, client: Client, tmp_path: Path
) -> None:
    result = attached.says("mcp", "config", "cursor")
    assert json.loads(result.out)["mcpServers"]["jupyter"]["args"] == ["shoulders", "mcp"]
    by_address = attached.says("mcp", "config", "cursor", "--http")
    entry = by_address.json["mcpServers"]["jupyter"]
    assert entry["url"] == f"{client.connection.address.url}shoulders/mcp"
    assert attached.says("mcp", "config").code == 2
    elsewhere = attached.says("mcp", "config", "cursor", "--http", "--workspace", str(tmp_path))
    assert elsewhere.code == 2
    assert "Start JupyterLab" in elsewhere.err
