"""The tools of the agent's database, on a real one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.tools.agent.database import (
    DatabaseExecute,
    DatabaseQuery,
    DatabaseSchema,
)
from jupyter_ai_shoulders.tools.permissions.rules import PermissionRequest, Rules, decide
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource, taint_source
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.storage.agent_database.conftest import Place, opened
from tests.tools.direct_calls import call, context, subject_of


@pytest.fixture
def place(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Generator[Place]:
    found = opened(tmp_path)
    yield jp_asyncio_loop.run_until_complete(found.__aenter__())
    jp_asyncio_loop.run_until_complete(found.__aexit__(None, None, None))


async def text_of(tool: Any, **arguments: object) -> str:
    result = await call(tool, **arguments)
    (part,) = result.content
    assert isinstance(part, TextPart)
    return part.text


async def test_records_are_kept_listed_and_read(place: Place) -> None:
    schema, query = DatabaseSchema(place.service), DatabaseQuery(place.service)
    execute = DatabaseExecute(place.service)
    assert await text_of(schema) == "The database has no tables yet."
    create = "CREATE TABLE runs (id INTEGER PRIMARY KEY, loss REAL, note TEXT)"
    assert await text_of(execute, sql=create) == "Done: 0 rows changed."
    done = await text_of(
        execute,
        sql="INSERT INTO runs (loss, note) VALUES (?, ?)",
        params=[[0.5, "first; DROP TABLE runs"], [0.25, None]],
    )
    assert done == "Done: 2 rows changed. Last row id: 2."
    assert await text_of(schema) == (f"-- table runs: id INTEGER, loss REAL, note TEXT\n{create}")
    shown = await call(query, sql="SELECT loss, note FROM runs WHERE loss > :l", params={"l": 0.1})
    assert shown.envelope.kind == "table"
    assert shown.envelope.data == {
        "columns": ["loss", "note"],
        "rows": [[0.5, "first; DROP TABLE runs"], [0.25, None]],
        "total": 2,
        "cut": None,
    }
    assert await text_of(execute, sql="DELETE FROM runs WHERE id > 9") == "Done; nothing changed."


async def test_rows_beyond_the_limit_are_counted(place: Place) -> None:
    await place.execute("CREATE TABLE t (a)")
    await place.execute("INSERT INTO t VALUES (?)", [[n] for n in range(250)])
    query = DatabaseQuery(place.service)
    shown = await call(query, sql="SELECT a FROM t", limit=2)
    assert (shown.envelope.meta.total, shown.envelope.meta.truncated) == (250, True)
    (part,) = shown.content
    assert isinstance(part, TextPart)
    assert part.text == '2 of 250 rows; columns ["a"]\n[0]\n[1]'
    assert (await text_of(query, sql="SELECT a FROM t")).count("\n") == 200


async def test_long_rows_are_cut_at_the_bytes_of_an_answer(place: Place) -> None:
    await place.execute("CREATE TABLE t (a)")
    await place.execute("INSERT INTO t VALUES (?)", [["x" * 15_000]] * 100)
    shown = await call(DatabaseQuery(place.service), sql="SELECT a FROM t", limit=100)
    data: Any = shown.envelope.data
    assert (data["cut"], data["total"]) == ("bytes", 100)
    assert len(json.dumps(data)) < 1_100_000


@pytest.mark.parametrize(
    ("sql", "error", "words"),
    [
        ("SELEC 1", InvalidRequest, "syntax error"),
        ("SELECT * FROM nowhere", InvalidRequest, "no such table: nowhere"),
        ("DELETE FROM t", PolicyRefusal, "db_query only reads. Use db_execute"),
        ("SELECT load_extension('x')", PolicyRefusal, "load_extension is not allowed"),
    ],
)
async def test_a_refused_statement_says_why(
    place: Place, sql: str, error: type[Exception], words: str
) -> None:
    await place.execute("CREATE TABLE t (a)")
    with pytest.raises(error, match=words):
        await call(DatabaseQuery(place.service), sql=sql)


async def test_rows_returned_by_a_change_are_refused(place: Place) -> None:
    await place.execute("CREATE TABLE t (a)")
    with pytest.raises(PolicyRefusal, match="read them with db_query"):
        await call(DatabaseExecute(place.service), sql="INSERT INTO t VALUES (1) RETURNING a")
    assert await place.rows() == []


@pytest.mark.parametrize(
    ("mode", "taint", "outcome"),
    [
        ("ask", (), "Ask"),
        ("auto_edit", (), "Allow"),
        ("auto_edit", (TaintSource("a page"),), "Allow"),
        ("bypass", (), "Allow"),
        ("bypass", (TaintSource("a page"),), "Ask"),
        ("plan", (), "Deny"),
    ],
)
async def test_a_change_asks_as_an_edit_that_can_be_undone(
    place: Place, mode: Mode, taint: tuple[TaintSource, ...], outcome: str
) -> None:
    tool = DatabaseExecute(place.service)
    subject = await subject_of(tool, sql="DROP TABLE t", params=[1])
    assert subject.preview == "DROP TABLE t\n-- params: [1]"
    request = PermissionRequest(tool.name, tool.risk, tool.external, subject, taint)
    decision = decide(request, Rules(), (), mode=mode, interactive=True)
    assert type(decision).__name__ == outcome
    if outcome == "Ask" and not taint:
        assert "This changes the agent's database." in str(decision)


async def test_what_is_read_counts_as_text_of_others(place: Place) -> None:
    for tool in (DatabaseSchema(place.service), DatabaseQuery(place.service)):
        arguments = {} if tool.name == "db_schema" else {"sql": "SELECT 1"}
        subject = await subject_of(tool, context(), **arguments)
        assert taint_source(tool.name, subject.target) == TaintSource("the agent's database")
    assert taint_source("db_execute", subject.target) is None
    failed = taint_source("db_execute", subject.target, failed=True)
    assert failed == TaintSource("the agent's database")
