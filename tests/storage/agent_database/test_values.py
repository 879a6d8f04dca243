"""Values keep what they are on the way into the database and back."""

from __future__ import annotations

import base64
import json
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.storage.agent_database.changing import split_statements
from jupyter_ai_shoulders.storage.agent_database.failures import RequestFailed
from jupyter_ai_shoulders.storage.agent_database.reading import query
from jupyter_ai_shoulders.storage.agent_database.values import decode_value, encode_cell

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.binary().map(lambda content: {"base64": base64.b64encode(content).decode()}),
    st.integers(-(2**63), 2**63 - 1).map(lambda number: {"integer": str(number)}),
)


def plain(value: Any) -> Any:
    """Return a parameter or cell as Python has it."""
    match value:
        case {"base64": str(encoded)}:
            return base64.b64decode(encoded)
        case {"integer": digits}:
            return int(digits)
        case bool():
            return int(value)
        case _:
            return value


@given(st.lists(VALUES, min_size=1, max_size=8))
def test_parameters_come_back_as_they_were(params: list[Any]) -> None:
    sql = "SELECT " + ", ".join("?" * len(params))
    sent = json.loads(json.dumps(params))
    answer = query(Path("/nowhere/agent.db"), sql, sent, 10, 5.0)
    (row,) = json.loads(json.dumps(answer["rows"]))
    assert [plain(cell) for cell in row] == [plain(value) for value in params]
    assert [type(plain(cell)) for cell in row] == [type(plain(value)) for value in params]
    # what is read can be passed on as a parameter
    assert [decode_value(cell) for cell in row] == [plain(value) for value in params]


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), VALUES, min_size=1))
def test_named_parameters_come_back_as_they_were(params: dict[str, Any]) -> None:
    sql = "SELECT " + ", ".join(f":{name}" for name in params)
    answer = query(Path("/nowhere/agent.db"), sql, params, 10, 5.0)
    assert [plain(cell) for cell in answer["rows"][0]] == [plain(v) for v in params.values()]


@pytest.mark.parametrize(
    "value",
    [
        2**63,
        -(2**63) - 1,
        math.nan,
        math.inf,
        "\ud800",
        [1],
        {"a": 1},
        {"base64": "*"},
        {"integer": "x"},
    ],
    ids=str,
)
def test_values_that_cannot_be_stored_are_refused(value: Any) -> None:
    with pytest.raises(RequestFailed):
        decode_value(value)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (2**53, {"integer": "9007199254740992"}),
        (2**53 - 1, 2**53 - 1),
        (math.inf, {"real": "inf"}),
        ("abcdef", {"text": "abcd", "characters": 6}),
        (b"ab", {"bytes": 2, "base64": "YWI="}),
        (b"abcdef", {"bytes": 6}),
        (None, None),
        ("", ""),
    ],
    ids=str,
)
def test_cells_that_json_cannot_hold_are_marked(value: Any, cell: Any) -> None:
    assert encode_cell(value, 4) == cell


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT 1", 1),
        ("SELECT ';'; SELECT 2;", 2),
        ("-- a;b\nSELECT 1; /* ; */", 1),
        ("CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; SELECT 3", 2),
        (" ; ;", 0),
    ],
)
def test_statements_are_separated_as_sqlite_does(sql: str, count: int) -> None:
    statements = list(split_statements(sql))
    assert len(statements) == count
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (a)")
        for statement in statements:
            connection.execute(statement)
