"""``agent-database``: switched on by the person, tables, pages, exports."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.server.client import Api
from tests.server.handlers.sessions.test_undo_api import turn, undo
from tests.simulator import Simulator, ToolUse

NAME = 'it\'s/a \u202e"table"'


@pytest.fixture
def filled(state_dir: Path) -> Path:
    """A database with a table of a difficult name."""
    state_dir.mkdir(mode=0o700, exist_ok=True)
    path = state_dir / "agent.db"
    with closing(sqlite3.connect(path)) as connection:
        quoted = '"' + NAME.replace('"', '""') + '"'
        connection.execute(f"CREATE TABLE {quoted} (a INTEGER, b)")
        connection.executemany(
            f"INSERT INTO {quoted} VALUES (?, ?)", [(3, "=1+1"), (1, None), (2, b"\0")]
        )
        connection.commit()
    return path


def write_settings(state_dir: Path, settings: object) -> None:
    """Write the settings of a folder, as a clone would bring them."""
    state_dir.mkdir(mode=0o700, exist_ok=True)
    (state_dir / "settings.json").write_text(json.dumps(settings))


async def switch(api: Api, enabled: bool | None) -> int:
    return (await api.put("settings", {"agent_database": {"enabled": enabled}})).status


async def test_it_is_off_until_the_person_switches_it_on(api: Api, filled: Path) -> None:
    off = (await api.get("agent-database")).body
    assert (off["enabled"], off["tables"], off["path"]) == (False, [], None)
    refused = await api.get(f"agent-database/tables/{quote(NAME, safe='')}")
    assert (refused.status, refused.code) == (422, "disabled")
    tools = {tool["name"]: tool for tool in (await api.get("tools")).body["tools"]}
    assert tools["db_execute"]["off_because"] == "settings"

    assert await switch(api, True) == 200
    on = (await api.get("agent-database")).body
    assert [table["name"] for table in on["tables"]] == [NAME]
    assert on["path"] == str(filled)
    tools = {tool["name"]: tool for tool in (await api.get("tools")).body["tools"]}
    assert tools["db_execute"]["enabled"]


async def test_a_folders_file_cannot_switch_it_on_but_off(api: Api, state_dir: Path) -> None:
    settings = {"version": 1, "agent_database": {"enabled": True, "limit_mb": 500}}
    write_settings(state_dir, settings)
    found = (await api.get("agent-database")).body
    assert (found["enabled"], found["limit"]) == (False, 100_000_000)


async def test_rows_are_paged_and_sorted(api: Api, filled: Path) -> None:
    await switch(api, True)
    path = f"agent-database/tables/{quote(NAME, safe='')}"
    found = await api.download(f"{path}?order=a&descending=true&limit=2&offset=1")
    page = found.json()
    assert page["rows"] == [[2, {"bytes": 1, "base64": "AA=="}], [1, None]]
    assert (page["total"], page["offset"]) == (3, 1)
    assert (await api.download(f"{path}?order=nowhere")).status_code == 400
    assert (await api.get("agent-database/tables/none")).status == 400


async def test_a_table_is_exported_as_csv_and_parquet(api: Api, filled: Path) -> None:
    await switch(api, True)
    path = f"agent-database/tables/{quote(NAME, safe='')}/export"
    exported = await api.download(f"{path}?format=csv")
    assert exported.content == b"a,b\r\n3,=1+1\r\n1,\r\n2,00\r\n"
    assert exported.headers["Content-Disposition"].startswith("attachment;")
    assert exported.headers["X-Content-Type-Options"] == "nosniff"
    parquet = await api.download(f"{path}?format=parquet")
    pq: Any = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(BytesIO(parquet.content))
    assert table.to_pydict() == {"a": [3, 1, 2], "b": ["=1+1", None, "00"]}
    assert list((filled.parent / "agent-exports").iterdir()) == []


async def test_undo_of_a_turn_and_a_restore_treat_it_like_other_changes(
    api: Api, upstream: Simulator
) -> None:
    await switch(api, True)
    create: Any = {"sql": "CREATE TABLE runs (loss); INSERT INTO runs VALUES (0.5)"}
    change: Any = {"sql": "UPDATE runs SET loss = ?", "params": [0.25]}
    await turn(api, upstream, ToolUse(name="db_execute", arguments=create))
    session_id, turn_id = await turn(
        api,
        upstream,
        ToolUse(name="db_execute", arguments=change),
        ToolUse(name="db_query", arguments={"sql": "SELECT loss FROM runs"}),
    )
    assert await loss(api) == [[0.25]]
    history = (await api.request("GET", "operations", params={"path": ".shoulders/agent.db"})).body[
        "operations"
    ]
    assert [(row["kind"], row["can_undo"]) for row in history] == [("database", True)] * 2

    undone = await undo(api, session_id, turn_id)

    assert await loss(api) == [[0.5]]
    back = {"seq": undone["seq"], "what": ["notebook", "files"]}
    assert (await api.post(f"sessions/{session_id}/restore", back)).status == 202
    assert await loss(api) == [[0.25]]


async def loss(api: Api) -> list[list[float]]:
    return (await api.get("agent-database/tables/runs")).body["rows"]
