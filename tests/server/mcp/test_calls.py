"""Calls of clients: questions, progress, pictures, errors, cancellation, several at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ImageContent

from jupyter_ai_shoulders.host.mcp_server import progress_reports
from tests.server.client import Api
from tests.server.mcp.conftest import Connect, Progress, text_of


@pytest.fixture(autouse=True)
def frequent_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_reports, "SPACING_SECONDS", 0.01)


async def sessions(api: Api) -> list[dict[str, Any]]:
    return (await api.get("sessions")).body["sessions"]


async def asked(api: Api) -> tuple[str, dict[str, Any]]:
    """Return the session and the question that waits in it."""
    async with asyncio.timeout(20):
        while True:
            for session in await sessions(api):
                if session["status"] == "waiting":
                    events = await api.events(session["id"])
                    requests = [e for e in events if e["type"] == "approval-request"]
                    if requests:
                        return session["id"], requests[-1]
            await asyncio.sleep(0.01)


async def answer(api: Api, decision: str = "allow") -> str:
    """Answer the question that waits; return its session."""
    session_id, request = await asked(api)
    body = {"decision": decision, "scope": "once"}
    path = f"sessions/{session_id}/approvals/{request['call_id']}"
    assert (await api.post(path, body)).status in {200, 202}
    return session_id


async def ended_turn(api: Api, session_id: str) -> dict[str, Any]:
    async with api.stream(session_id) as stream:
        return await stream.until("turn-end")


async def test_an_edit_waits_for_the_answer_and_is_undone_with_its_turn(
    connect: Connect, notebook: str, api: Api, jp_root_dir: Path
) -> None:
    heard = Progress()
    arguments = {"path": notebook, "cell_id": "sum", "source": "total = 5"}
    async with connect(mode="legacy") as client:
        await client.call_tool("read_notebook", {"path": notebook})
        edit = asyncio.create_task(
            client.call_tool("edit_cell", arguments, progress_callback=heard.listen)
        )
        await asked(api)
        await heard.until("waiting for approval in JupyterLab")
        assert not edit.done()
        session_id = await answer(api)
        result = await edit
    await ended_turn(api, session_id)

    assert not result.is_error, text_of(result)
    assert "total = 5" in (jp_root_dir / notebook).read_text()
    (pending,) = (await api.get("edits")).body["edits"]
    assert pending["document"] == notebook
    turns = [e["turn_id"] for e in await api.events(session_id) if e["type"] == "turn-start"]
    undone = await api.post(f"sessions/{session_id}/undo", {"turn_id": turns[-1]})
    assert undone.status == 202, undone
    assert "total = 1 + 1" in (jp_root_dir / notebook).read_text()
    (entry,) = (await api.get("audit")).body["entries"]
    assert (entry["program"], entry["tool"]) == ("Robot", "edit_cell")


async def test_a_denied_call_is_an_error_and_the_turn_continues(
    connect: Connect, notebook: str, api: Api
) -> None:
    async with connect() as client:
        run = asyncio.create_task(
            client.call_tool("run_cell", {"path": notebook, "cell_id": "sum"})
        )
        await answer(api, "deny")
        denied = await run
        read = await client.call_tool("read_notebook", {"path": notebook})

    assert denied.is_error
    assert not read.is_error
    (session,) = await sessions(api)
    assert session["status"] == "running"


async def test_a_run_returns_output_and_pictures(connect: Connect, notebook: str, api: Api) -> None:
    async with connect() as client:
        run = asyncio.create_task(
            client.call_tool("run_cell", {"path": notebook, "cell_id": "plot"})
        )
        await answer(api)
        result = await run

    assert not result.is_error, text_of(result)
    (picture,) = [part for part in result.content if isinstance(part, ImageContent)]
    assert picture.mime_type == "image/png"


async def test_a_long_run_lets_other_calls_pass_and_returns_its_real_end(
    connect: Connect, notebook: str, api: Api
) -> None:
    code = "import time\nfor n in range(15):\n    print('line', n, flush=True); time.sleep(0.1)"
    heard = Progress()
    async with connect() as client:
        run = asyncio.create_task(
            client.call_tool(
                "run_code", {"path": notebook, "code": code}, progress_callback=heard.listen
            )
        )
        await answer(api)
        await heard.until("line")
        read = await client.call_tool("read_notebook", {"path": notebook})
        assert not run.done()
        result = await run

    assert not read.is_error
    assert not result.is_error
    assert "line 14" in text_of(result)


async def test_parallel_calls_all_get_their_results(connect: Connect, notebook: str) -> None:
    async with connect() as client:
        results = await asyncio.gather(
            *(client.call_tool("read_notebook", {"path": notebook}) for _ in range(5)),
            client.call_tool("list_files", {}),
            client.call_tool("read_notebook", {"path": "missing.ipynb"}),
        )

    assert [result.is_error for result in results] == [False] * 6 + [True]
    assert "missing.ipynb" in text_of(results[-1])


async def test_two_clients_are_two_conversations(connect: Connect, notebook: str, api: Api) -> None:
    async with connect("Robot") as one, connect("Android") as other:
        await asyncio.gather(
            one.call_tool("read_notebook", {"path": notebook}),
            other.call_tool("read_notebook", {"path": notebook}),
        )

    assert sorted(session["model"] for session in await sessions(api)) == [
        "client:Android",
        "client:Robot",
    ]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_cancelled_call_stops_and_the_next_one_works(
    connect: Connect, notebook: str, api: Api, mode: str
) -> None:
    async with connect(mode=mode) as client:
        run = asyncio.create_task(
            client.call_tool("run_code", {"path": notebook, "code": "while True: pass"})
        )
        session_id = await answer(api)
        async with api.stream(session_id) as stream:
            await stream.until("tool-start")
            run.cancel()
            ended = await stream.until("tool-result", "run-end")
            if ended["type"] == "tool-result" and ended["run"]:
                ended = await stream.until("run-end")
        read = await client.call_tool("read_notebook", {"path": notebook})

    assert ended["status"] == "cancelled"
    assert not read.is_error


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("todo", {}, "no tool named 'todo'"),
        ("read_notebook", {"notebook": "x"}, "arguments of 'read_notebook' are wrong"),
        ("read_notebook", {"path": "../outside.ipynb"}, "outside"),
    ],
    ids=["not offered", "wrong arguments", "outside the workspace"],
)
async def test_a_call_that_cannot_be_made_is_an_error_with_advice(
    connect: Connect, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with connect() as client:
        result = await client.call_tool(tool, arguments)

    assert result.is_error
    assert said in text_of(result)


async def test_the_user_can_stop_what_a_client_does(
    connect: Connect, notebook: str, api: Api
) -> None:
    async with connect() as client:
        run = asyncio.create_task(
            client.call_tool("run_cell", {"path": notebook, "cell_id": "sum"})
        )
        session_id, _ = await asked(api)
        await api.post(f"sessions/{session_id}/cancel")
        result = await run

    assert result.is_error
    assert "Cancelled by the user" in text_of(result)


async def test_what_the_user_writes_comes_with_the_next_result(
    connect: Connect, notebook: str, api: Api
) -> None:
    async with connect() as client:
        await client.call_tool("read_notebook", {"path": notebook})
        (session,) = await sessions(api)
        await api.send(session["id"], "Use pandas, please.")
        result = await client.call_tool("read_notebook", {"path": notebook})

    assert "Use pandas, please." in text_of(result)


async def test_tools_have_schemas_and_hints(connect: Connect) -> None:
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert all(tool.input_schema["type"] == "object" for tool in tools.values())
    hints = {name: tool.annotations for name, tool in tools.items()}
    read, run = hints["read_notebook"], hints["run_cell"]
    assert read is not None
    assert run is not None
    assert (read.read_only_hint, read.idempotent_hint, read.open_world_hint) == (True, True, False)
    assert (run.read_only_hint, run.destructive_hint) == (False, True)
    assert json.dumps(tools["edit_cell"].input_schema)
