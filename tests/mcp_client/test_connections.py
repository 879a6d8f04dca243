"""Connections to real programs: every stage bounded, ended with their pool, restarted on use."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import mcp_types
import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.mcp_client.connection_events import ConnectionLimits
from jupyter_ai_shoulders.mcp_client.pool import ConfiguredServer
from jupyter_ai_shoulders.mcp_client.ports import ServerConnection
from jupyter_ai_shoulders.mcp_client.server_entries import checked_entry
from tests.mcp_client.probes import Heard, Requests, pool_of, raw_entry, sdk_entry


def shown(result: mcp_types.CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, mcp_types.TextContent))


async def until(met: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not met():  # noqa: ASYNC110 another process decides
            await asyncio.sleep(0.01)


async def failure(connection: ServerConnection, tool: str, limit: float = 30.0) -> ShouldersError:
    with pytest.raises(ShouldersError) as raised:
        await connection.call_tool(tool, {}, timeout_s=limit)
    return raised.value


async def test_a_server_starts_on_first_use_and_gets_listed_variables_only(tmp_path: Path) -> None:
    entry = raw_entry(env={"OWN": "value"})
    async with pool_of(entry, folder=tmp_path) as pool:
        assert [state.status for state in pool.states()] == ["stopped"]
        connection = await pool.connection("raw")
        assert [state.status for state in pool.states()] == ["running"]
        assert (connection.info.instructions, connection.info.has_prompts) == ("Be careful.", False)
        assert "echo" in {tool.name for tool in await connection.list_tools()}
        assert await connection.list_prompts() == ()
        assert json.loads(shown(await connection.call_tool("echo", {"a": 1}))) == {"a": 1}
        names = shown(await connection.call_tool("environment", {})).split()
        assert "OWN" in names
        assert "SECRET_TOKEN" not in names
        assert shown(await connection.call_tool("folder", {})) == str(tmp_path)
        await until(lambda: pool.log_lines("raw") == ("raw server",))


async def test_a_time_limit_and_a_cancelled_caller_reach_the_server(tmp_path: Path) -> None:
    async with pool_of(raw_entry(), folder=tmp_path) as pool:
        connection = await pool.connection("raw")
        assert (await failure(connection, "wait", 0.1)).info.code == "timeout"
        first = json.loads(shown(await connection.call_tool("cancelled", {})))
        call = asyncio.create_task(connection.call_tool("wait", {}))
        await connection.call_tool("echo", {})
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        second = json.loads(shown(await connection.call_tool("cancelled", {})))
        assert second > first > 0


async def test_no_time_passes_while_the_user_is_asked(tmp_path: Path) -> None:
    class Slow(Requests):
        async def elicit(
            self, server: str, params: mcp_types.ElicitRequestParams
        ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
            await asyncio.sleep(0.5)
            return await super().elicit(server, params)

    answer = mcp_types.ElicitResult(action="accept", content={"name": "Ada"})
    requests = Slow(answer)
    async with pool_of(raw_entry(), folder=tmp_path, requests=requests) as pool:
        connection = await pool.connection("raw")
        said = shown(await connection.call_tool("ask", {}, timeout_s=0.4))
        assert json.loads(said) == {"action": "accept", "content": {"name": "Ada"}}
        assert requests.asked == ["raw: Name?"]


@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "not allowed"])
async def test_a_server_of_the_older_protocol_asks_a_model_only_if_it_may(
    allowed: bool, tmp_path: Path
) -> None:
    answer = mcp_types.CreateMessageResult(
        role="assistant", content=mcp_types.TextContent(text="Hi"), model="m"
    )
    requests = Requests(sample=answer if allowed else None)
    async with pool_of(raw_entry(), folder=tmp_path, requests=requests) as pool:
        connection = await pool.connection("raw")
        got = json.loads(shown(await connection.call_tool("sample", {})))
        assert got.get("content") == ({"type": "text", "text": "Hi"} if allowed else None)
        assert len(requests.asked) == int(allowed)


async def test_a_crash_is_reported_and_the_next_use_starts_it_again(tmp_path: Path) -> None:
    async with pool_of(raw_entry(), folder=tmp_path) as pool:
        connection = await pool.connection("raw")
        assert "crash" in str(await failure(connection, "crash"))
        await until(lambda: pool.states()[0].status == "failed")
        assert pool.log_lines("raw")[-2:] == ("about to end", "It closed its output.")
        again = await pool.connection("raw")
        assert shown(await again.call_tool("echo", {})) == "{}"
        await failure(again, "crash")
        await until(lambda: pool.states()[0].status == "waiting")
        with pytest.raises(ShouldersError, match="can be started again in"):
            await pool.connection("raw")
        await pool.stop("raw")
        assert await pool.connection("raw")


@pytest.mark.parametrize(
    ("behaviour", "limits", "said"),
    [
        ("silent", ConnectionLimits(start_s=0.5, close_s=1), "did not finish its start within"),
        ("dies", ConnectionLimits(), "ended while it started. raw server"),
    ],
    ids=["silent", "dies"],
)
async def test_a_server_that_does_not_start(
    behaviour: str, limits: ConnectionLimits, said: str, tmp_path: Path
) -> None:
    async with pool_of(raw_entry(behaviour), folder=tmp_path, limits=limits) as pool:
        with pytest.raises(ShouldersError, match=said):
            await pool.connection("raw")
        assert pool.states()[0].status == "waiting"
        assert said in (pool.states()[0].error or "")


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [("stuck", "did not finish the list"), ("huge", "list of its tools")],
    ids=["stuck", "huge"],
)
async def test_a_list_that_cannot_be_read(behaviour: str, said: str, tmp_path: Path) -> None:
    limits = ConnectionLimits(list_s=1.0 if behaviour == "stuck" else 20.0)
    async with pool_of(raw_entry(behaviour), folder=tmp_path, limits=limits) as pool:
        connection = await pool.connection("raw")
        with pytest.raises(ShouldersError, match=said):
            await connection.list_tools()


async def test_endless_pages_and_other_lines_are_bounded(tmp_path: Path) -> None:
    entries = (raw_entry("endless", name="endless"), raw_entry("noisy", name="noisy"))
    async with pool_of(*entries, folder=tmp_path, limits=ConnectionLimits(pages=3)) as pool:
        endless = await pool.connection("endless")
        assert [tool.name for tool in await endless.list_tools()] == ["tool0", "tool1", "tool2"]
        noisy = await pool.connection("noisy")
        assert shown(await noisy.call_tool("echo", {})) == "{}"
        assert pool.log_lines("noisy")[-1] == "this is no message"


async def test_many_changes_are_announced_once(tmp_path: Path) -> None:
    async with pool_of(raw_entry(), folder=tmp_path) as pool:
        connection = await pool.connection("raw")
        heard = Heard()
        pool.add_listener(heard)
        await connection.call_tool("change", {})
        await until(lambda: bool(heard.changes))
        await connection.call_tool("echo", {})
        assert heard.changes == ["tools of raw"]
        assert pool.log_lines("raw")[-1] == "info: changed"


async def test_an_idle_server_a_changed_one_and_a_deaf_one_are_ended(tmp_path: Path) -> None:
    limits = ConnectionLimits(close_s=0.5)
    async with pool_of(
        raw_entry(), raw_entry("deaf", name="deaf"), folder=tmp_path, limits=limits, idle_s=0.2
    ) as pool:
        await pool.connection("raw")
        await until(lambda: pool.states()[1].status == "stopped")
        old = await pool.connection("raw")
        pool.update([ConfiguredServer(raw_entry(env={"NEW": "1"}))])
        await until(lambda: pool.running("raw") is not old)
        await failure(old, "echo")
        new = await pool.connection("raw")
        assert "NEW" in shown(await new.call_tool("environment", {}))
        with pytest.raises(ShouldersError, match="no MCP server"):
            await pool.connection("deaf")


async def test_a_missing_program_and_a_blocked_server_say_so(tmp_path: Path) -> None:
    missing = checked_entry("missing", {"command": "no-such-program-here"}, "user")
    async with pool_of(missing, folder=tmp_path) as pool:
        with pytest.raises(ShouldersError, match="no-such-program-here was not found"):
            await pool.connection("missing")


async def test_a_server_of_the_sdk_with_progress_and_resources(tmp_path: Path) -> None:
    async with pool_of(sdk_entry(), folder=tmp_path) as pool:
        connection = await pool.connection("probe")
        seen: list[tuple[float, float | None, str | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total, message))

        await connection.call_tool("count", {"steps": 2}, progress=note)
        assert seen == [(1, 2, "step 1"), (2, 2, "step 2")]
        assert (await connection.call_tool("fail", {})).is_error
        added = await connection.call_tool("add", {"a": 1, "b": 2})
        assert added.structured_content == {"result": 3}
        file = tmp_path / "cancelled"
        assert (await failure_of_hang(connection, file)).info.code == "timeout"
        await until(file.exists)
        assert [str(one.uri) for one in await connection.list_resources()] == ["note://one"]
        assert len(await connection.list_resource_templates()) == 1
        read = await connection.read_resource("note://one")
        assert isinstance(read.contents[0], mcp_types.TextResourceContents)
        assert [prompt.name for prompt in await connection.list_prompts()] == ["greet"]
        prompt = await connection.get_prompt("greet", {"name": "Ada"})
        assert isinstance(prompt.messages[0].content, mcp_types.TextContent)


async def failure_of_hang(connection: ServerConnection, file: Path) -> ShouldersError:
    with pytest.raises(ShouldersError) as raised:
        await connection.call_tool("hang", {"file": os.fspath(file)}, timeout_s=0.5)
    return raised.value
