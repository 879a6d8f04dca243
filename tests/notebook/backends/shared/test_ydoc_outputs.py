"""Outputs written into shared cells, as the pages show them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import outputs_of, set_outputs
from tests.notebook.backends.shared.fake_room import OutputArea, code, document_of, stream, ycell

TEXT = st.text("ab\né😀", max_size=12)
SAME = st.sampled_from(["a", "ab", "b"])
STREAM = st.builds(stream, SAME | TEXT, st.sampled_from(["stdout", "stderr"]))


def display(data: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}}


DISPLAY = SAME.map(lambda text: display({"text/plain": text}))


def joined(outputs: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Join adjacent streams, as kernels' outputs are stored."""
    kept: list[dict[str, Any]] = []
    for output in outputs:
        if kept and "name" in output and kept[-1].get("name") == output["name"]:
            kept[-1] = {**kept[-1], "text": kept[-1]["text"] + output["text"]}
        else:
            kept.append(output)
    return tuple(kept)


@given(st.lists(st.lists(DISPLAY | STREAM, max_size=4).map(joined), min_size=1, max_size=5))
def test_pages_show_what_was_written_last(states: list[tuple[dict[str, Any], ...]]):
    document = document_of(code("a"))
    cell = ycell(document, "a")
    area = OutputArea(cell)
    for outputs in states:
        with document.ydoc.transaction():
            set_outputs(cell, outputs)
        assert outputs_of(cell) == outputs
        assert tuple(area.shown) == outputs


@pytest.mark.parametrize(
    "states",
    [
        [("d", "s"), ("d",), ("d", "s")],
        [("d", "d", "s"), ("d", "s")],
        [("e", "s"), ("e",), ("e", "s", "d", "s")],
        [("d", "s"), ("d", "e"), ("d", "s")],
    ],
)
def test_a_stream_that_was_taken_away_does_not_draw_the_next_one_to_what_is_left(
    states: list[tuple[str, ...]],
):
    parts = {"d": display({"text/plain": "d"}), "s": stream("s"), "e": stream("e", "stderr")}
    document = document_of(code("a"))
    cell = ycell(document, "a")
    area = OutputArea(cell)
    for state in states:
        outputs = tuple(parts[part] for part in state)
        with document.ydoc.transaction():
            set_outputs(cell, outputs)
        assert tuple(area.shown) == outputs


def test_a_stream_that_grows_is_appended_to():
    document = document_of(code("a", "", stream("one\n")))
    cell = ycell(document, "a")
    events: list[Any] = []
    cell.observe_deep(events.extend)
    with document.ydoc.transaction():
        set_outputs(cell, (stream("one\ntwo\n"),))
    assert [event.delta for event in events] == snapshot([[{"retain": 4}, {"insert": "two\n"}]])


def test_outputs_known_to_be_the_same_are_not_compared():
    document = document_of(code("a", "", stream("one")))
    cell = ycell(document, "a")
    set_outputs(cell, (stream("other"), stream("new", "stderr")), 1)
    assert outputs_of(cell) == (stream("one"), stream("new", "stderr"))


def test_more_known_outputs_than_there_are_is_no_error():
    document = document_of(code("a", "", stream("one")))
    cell = ycell(document, "a")
    set_outputs(cell, (stream("one"), stream("new", "stderr")), 5)
    assert outputs_of(cell) == (stream("one"), stream("new", "stderr"))


def test_numbers_reach_pages_as_numbers_and_strange_ones_do_not_break_them():
    document = document_of(code("a"))
    cell = ycell(document, "a")
    table = {"n": 3, "big": 2**60, "huge": 10**400, "yes": True, "part": 0.5, "list": [1]}
    set_outputs(cell, (display({"application/json": table}),))
    values: dict[str, Any] = cell["outputs"].to_py()[0]["data"]["application/json"]
    assert {key: type(value) for key, value in values.items()} == {
        "n": float,
        "big": float,
        "huge": str,
        "yes": bool,
        "part": float,
        "list": list,
    }
    data: Any = outputs_of(cell)[0]["data"]
    assert data["application/json"]["n"] == 3
    assert isinstance(data["application/json"]["n"], int)
