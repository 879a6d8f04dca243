"""The official SDK's client calls our tools over HTTP."""

from __future__ import annotations

import pytest

from tests.server.client import Api
from tests.server.mcp.conftest import Connect, text_of


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_reads_a_notebook_and_its_call_is_in_a_conversation(
    connect: Connect, notebook: str, api: Api, mode: str
) -> None:
    async with connect("Robot", mode=mode) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("read_notebook", {"path": notebook})

    assert {"read_notebook", "edit_cell", "run_cell", "read_file"} <= tools
    assert {"todo", "clarify", "complete", "load_tools", "call_tool"}.isdisjoint(tools)
    assert not result.is_error
    assert "total = 1 + 1" in text_of(result)
    (session,) = (await api.get("sessions")).body["sessions"]
    assert {key: session[key] for key in ("kind", "source", "model", "title", "mode")} == {
        "kind": "agent",
        "source": "mcp",
        "model": "client:Robot",
        "title": "Robot",
        "mode": "ask",
    }
    events = (await api.get(f"sessions/{session['id']}/events")).body["events"]
    assert [event["tool"] for event in events if event["type"] == "tool-result"] == [
        "read_notebook"
    ]


async def test_a_client_that_leaves_with_its_result_is_no_error(
    connect: Connect, notebook: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with connect(mode="legacy") as client:
        for _ in range(3):  # the SDK's client closes each connection once it has the result
            await client.call_tool("read_notebook", {"path": notebook})
    assert not [each for each in caplog.records if each.name.startswith("mcp.")]
