"""Turns driven over plain HTTP, without any browser: the same engine, notebooks on disk."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.integration.client import of_type
from tests.integration.conftest import StartServer
from tests.simulator_process import StartSimulator, calls, in_order, notebook, says, texts

HEAD = (
    '{"nbformat_minor":5,"nbformat":4,\r\n\t"metadata":{"kernelspec":{"name":"python3",'
    '"display_name":"Python 3","language":"python"},"custom":  [1,   2.50, "\\u00fc"]},\r\n'
)
FIRST = (
    '\t"cells":[ {"id":"one","cell_type":"markdown","metadata":{},"source":["# T\\u00eftle"]},\r\n'
)
TOUCHED = (
    '{"id":"two","cell_type":"code","metadata":{"tags":["x"]},"execution_count":null,'
    '"outputs":[],"source":"print(answer)"}'
)
LAST = (
    ',\r\n  {"source":"1+1","outputs":[],"execution_count":7,"metadata":{ },"cell_type":"code",'
    '"id":"three"}]   }'
)


def test_a_turn_over_http_edits_and_runs_a_notebook_on_disk(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    path = workspace / "odd.ipynb"
    before, after = HEAD + FIRST, LAST
    path.write_bytes((before + TOUCHED + after).encode())
    script = in_order(
        calls("read_notebook", {"path": "odd.ipynb"}),
        calls(
            "edit_cell",
            {
                "path": "odd.ipynb",
                "cell_id": "two",
                "old_string": "answer",
                "new_string": "'forty', 'two'",
            },
        ),
        calls("run_cell", {"path": "odd.ipynb", "cell_id": "two"}),
        says("It prints forty two."),
    )
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session()
    api.send(session, "Fix the second cell and run it.")
    events = api.turn(session)

    assert of_type(events, "turn-end")[0]["exit"] == "final_response"
    assert [event["tool"] for event in of_type(events, "approval-request")] == [
        "edit_cell",
        "run_cell",
    ]
    assert {event["status"] for event in of_type(events, "tool-result")} == {"ok"}
    written = path.read_bytes().decode()
    assert written.startswith(before)
    assert written.endswith(after)
    cells = json.loads(written)["cells"]
    assert cells[1]["source"] == "print('forty', 'two')"
    assert texts(cells, "two") == "forty two\n"
    assert cells[1]["metadata"] == {"tags": ["x"]}


@pytest.mark.parametrize("seed", range(3))
def test_the_demo_fixes_a_notebook_it_has_never_seen(
    serve: StartServer, workspace: Path, seed: int
) -> None:
    chance = random.Random(seed)
    frame, column, result = ("".join(chance.choices("abcdefghkmnpqrstuvwz", k=7)) for _ in range(3))
    missing = f"{frame}_totals = np.array([1, 2, 3])\nprint({frame}_totals.sum() + 35)"
    path = workspace / f"{result}.ipynb"
    path.write_text(
        notebook(
            ("data", f"{frame} = {{'{column}': [1, 2, 3]}}"),
            ("broken", missing),
            ("after", f"{result} = 1"),
        )
    )
    api = serve(workspace)
    session = api.session()
    context = {"active_document": path.name, "active_cell_id": "broken"}
    api.send(session, "This cell fails. Please fix it and run it.", context=context)
    events = api.turn(session)

    assert of_type(events, "turn-end")[0]["exit"] in {"final_response", "ended_by_tool"}
    cells = json.loads(path.read_text())["cells"]
    broken = next(cell for cell in cells if cell["id"] == "broken")
    assert "import numpy as np" in "".join("".join(cell["source"]) for cell in cells)
    assert texts(cells, "broken") == "41\n", broken
    untouched = next(cell for cell in cells if cell["id"] == "after")
    assert "".join(untouched["source"]) == f"{result} = 1"


def test_a_notebook_that_is_not_json_is_reported_and_left_alone(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    path = workspace / "broken.ipynb"
    content = b'{"cells": [\n  {"id": "one", oops'
    path.write_bytes(content)
    script = in_order(
        calls("edit_cell", {"path": "broken.ipynb", "cell_id": "one", "source": "x"}),
        says("The file is not valid JSON."),
    )
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session(mode="auto_edit")
    api.send(session, "Change it.")
    (result,) = of_type(api.turn(session), "tool-result")

    assert result["status"] == "error"
    assert result["result"]["error"]["code"] == "invalid_notebook"
    assert "line 2" in result["result"]["error"]["message"]
    assert path.read_bytes() == content


def test_a_wrong_key_ends_the_turn_with_what_to_do(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    env = upstream(in_order(says("never sent"))).configure(workspace)
    api = serve(workspace, dict.fromkeys(env, "sk-wrong-and-secret"))
    session = api.session()
    api.send(session, "Hello?")
    events = api.turn(session)

    (end,) = of_type(events, "turn-end")
    assert end["exit"] == "error"
    assert end["error"]["code"] == "authentication"
    assert end["error"]["provider"] == "simulator"
    assert end["error"]["details"] == {"status": 401}
    assert "SIMULATOR_KEY" in end["error"]["hint"]
    assert "sk-wrong-and-secret" not in json.dumps(events)


def test_bad_requests_are_named_and_change_nothing(serve: StartServer, workspace: Path) -> None:
    api = serve(workspace)
    session = api.session()
    before = api.get(f"sessions/{session}/events")["last_seq"]
    message = {"id": "m", "text": "hi"}
    for method, route, body, status, code in [
        (
            "POST",
            f"sessions/{session}/messages",
            {**message, "model": "nope"},
            400,
            "unknown_model",
        ),
        ("POST", "sessions", {"model": "nope"}, 400, "unknown_model"),
        ("POST", f"sessions/{session}/messages", b'{"id": ', 400, "invalid_request"),
        ("POST", f"sessions/{session}/messages", {"id": "m"}, 400, "invalid_request"),
        ("POST", f"sessions/{session}/messages", {**message, "tex": 1}, 400, "invalid_request"),
        ("POST", f"sessions/{session}/messages", {"id": "m", "text": "  "}, 400, "invalid_request"),
        ("POST", "sessions/unknown/messages", message, 404, "not_found"),
        ("GET", "sessions/unknown/events", None, 404, "not_found"),
        ("GET", "no/such/route", None, 404, "unknown_route"),
    ]:
        answer = api.call(method, route, body)
        assert (answer.status, answer.body["error"]["code"]) == (status, code), (route, answer)
        assert answer.body["error"]["message"]
    assert api.get(f"sessions/{session}/events")["last_seq"] == before
