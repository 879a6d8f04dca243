"""Reference servers of the protocol from npm, installed into a folder of the test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import mcp_types
import pytest

from jupyter_ai_shoulders.mcp_client.server_entries import checked_entry
from jupyter_ai_shoulders.wire.base import Json
from tests.mcp_client.probes import Requests, pool_of

PACKAGES = ("@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")

pytestmark = pytest.mark.full


def text_of(result: mcp_types.CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, mcp_types.TextContent))


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The folder of the installed programs."""
    folder = tmp_path / "npm"
    options = ("--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder))
    subprocess.run(["npm", "install", *options, *PACKAGES], check=True, timeout=100)
    return folder / "node_modules" / ".bin"


async def test_the_reference_servers_work(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    everything: Json = {"command": str(programs / "mcp-server-everything"), "args": ["stdio"]}
    files: Json = {"command": str(programs / "mcp-server-filesystem"), "args": [str(tmp_path)]}
    entries = (checked_entry("all", everything, "user"), checked_entry("files", files, "user"))
    async with pool_of(*entries, folder=tmp_path, requests=Requests(root=tmp_path)) as pool:
        connection = await pool.connection("all")
        assert "echo" in {tool.name for tool in await connection.list_tools()}
        assert text_of(await connection.call_tool("echo", {"message": "hi"})) == "Echo: hi"
        assert await connection.list_resources()
        assert await connection.list_resource_templates()
        assert await connection.list_prompts()
        steps: list[float] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            del total, message
            steps.append(progress)

        slow = {"duration": 1, "steps": 3}
        await connection.call_tool("trigger-long-running-operation", slow, progress=note)
        assert steps == [1, 2, 3]
        other = await pool.connection("files")
        read = await other.call_tool("read_text_file", {"path": str(tmp_path / "a.txt")})
        assert text_of(read) == "hello"
