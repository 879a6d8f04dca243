"""Batches: parallel where that makes no difference, else in turn, with results in model order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_ai_shoulders.engine.calls.batch_order import dependencies_of, duplicate_calls
from jupyter_ai_shoulders.engine.loop.state import AllowCall, CallState, RejectCall
from jupyter_ai_shoulders.testing.scripted_provider import Call as Made
from jupyter_ai_shoulders.testing.scripted_provider import turn
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.ids import CallId
from tests.engine.engine_harness import make_engine, make_session
from tests.engine.fake_tools import Edit, PathArguments, ToolProbe
from tests.engine.loop.test_turns import check


def call(text: str) -> CallState:
    """Return a call from ``risk tool path``; the path ``-`` stands for none, ``!`` in front for
    denied.
    """
    risk, tool, path, *new_path = text.split()
    risks: dict[str, Risk] = {"r": "read", "w": "write", "x": "execute"}
    denied = RejectCall("denied", ErrorInfo(code="denied", message="No."))
    return CallState(
        call_id=CallId(text),
        tool=tool,
        arguments={} if path == "-" else {"path": path.removeprefix("!"), **_moving(new_path)},
        invalid=None,
        risk=risks[risk],
        title=text,
        verdict=denied if path.startswith("!") else AllowCall(),
    )


def _moving(new_path: list[str]) -> JsonObject:
    return {"new_path": new_path[0]} if new_path else {}


ORDERS: dict[str, tuple[list[str], list[list[int]]]] = {
    "reads go together": (["r a x", "r b x", "r c y"], [[], [], []]),
    "a write waits for reads of its document": (["r a x", "w b x", "r c y"], [[], [0], []]),
    "a read waits for the write before it": (["w a x", "r b x", "r c y"], [[], [0], []]),
    "documents are independent": (["w a x", "w a y", "x b y"], [[], [], [1]]),
    "no path conflicts with all changes": (["w a x", "r b -", "w c y"], [[], [0], [1]]),
    "a denied call holds up nobody": (["w a !x", "w b x"], [[], []]),
    "complete makes it serial": (["r a x", "r complete -", "r c y"], [[], [0], [0, 1]]),
    "other spellings of a path": (["w a ./x", "w b x"], [[], [0]]),
    "a move has both names for itself": (["w a x y", "w b y", "w c z"], [[], [0], []]),
    "a folder holds what is in it": (["w a x y", "w b x/f", "r c ."], [[], [0], [0, 1]]),
}


@pytest.mark.parametrize(("calls", "expected"), ORDERS.values(), ids=ORDERS.keys())
def test_calls_wait_for_what_they_depend_on(calls: list[str], expected: list[list[int]]):
    assert dependencies_of([call(text) for text in calls]) == expected


def test_equal_reads_are_twins_unless_something_changed_between():
    calls = ["r a x", "r a x", "r a y", "w b x", "r a x", "r a y"]
    assert duplicate_calls([call(text) for text in calls]) == [None, 0, None, None, None, 2]


async def test_reads_of_a_batch_run_at_the_same_time_and_results_keep_the_order():
    w = make_engine(
        turn(Made("look", {"path": "a"}, "c1"), Made("look", {"path": "b"}, "c2")), "End."
    )
    first = w.probe.hold("look:a")
    second = w.probe.hold("look:b")
    await w.send()
    await asyncio.gather(first.wait(), second.wait())
    w.probe.gates["look:b"].set()
    for _ in range(10):
        await asyncio.sleep(0)
    assert w.results() == []
    w.probe.gates["look:a"].set()
    await w.settle()
    assert w.results() == [("c1", "ok"), ("c2", "ok")]
    check(w)


async def test_changes_of_one_document_run_one_after_the_other():
    w = make_engine(
        turn(
            Made("edit", {"path": "a", "word": "1"}),
            Made("edit", {"path": "a", "word": "2"}),
            Made("edit", {"path": "b", "word": "3"}),
        ),
        "End.",
        given=make_session(mode="auto_edit"),
    )
    reached = w.probe.hold("edit:a1")
    await w.send()
    await reached.wait()
    for _ in range(10):
        await asyncio.sleep(0)
    assert "edit:b3" in w.probe.started
    assert "edit:a2" not in w.probe.started
    w.probe.gates["edit:a1"].set()
    await w.settle()
    assert w.probe.contents == {"a": "2", "b": "3"}
    check(w)


async def test_duplicate_read_replays_the_result_of_its_sibling():
    w = make_engine(
        turn(Made("look", {"path": "a"}, "c1"), Made("look", {"path": "a"}, "c2")), "End."
    )
    await w.say()
    assert w.results() == [("c1", "ok"), ("c2", "ok")]
    assert w.probe.started == ["look:a"]
    assert [start.call_id for start in w.of(ev.ToolStart)] == ["c1"]
    first, second = w.of(ev.ToolResult)
    assert first.content == second.content


async def test_failed_read_is_tried_again_by_its_duplicate():
    w = make_engine(
        turn(Made("failing", {"path": "a"}, "c1"), Made("failing", {"path": "a"}, "c2")), "End."
    )
    await w.say()
    assert w.results() == [("c1", "error"), ("c2", "error")]
    assert len(w.of(ev.ToolStart)) == 2


async def test_long_output_is_cut_for_the_model_and_kept_whole():
    w = make_engine(turn(Made("look", {"path": "x" * 100_000}, "c1")), "End.")
    await w.say()
    (result,) = w.of(ev.ToolResult)
    text = result.content[0].model_dump()["text"]
    assert len(text) < 60_000
    assert "left out" in text
    assert result.handle is not None
    assert w.store.blobs.get(result.handle).decode() == "look of " + "x" * 100_000


class LooksWrong(Edit):
    """Its ``subject`` has a bug that appears once another call changed the target."""

    name = "looks_wrong"

    async def subject(self, args: PathArguments, context: CallContext) -> CallSubject:
        if args.path in self.probe.contents:
            self.probe.gates["look:b"].set()
            raise ZeroDivisionError
        return await super().subject(args, context)


async def test_a_bug_in_the_look_at_a_target_skips_what_has_not_started_and_keeps_the_rest():
    probe = ToolProbe()
    tool: Any = LooksWrong(probe)
    w = make_engine(
        turn(
            Made("edit", {"path": "a", "word": "1"}, "c1"),
            Made("looks_wrong", {"path": "a"}, "c2"),
            Made("edit", {"path": "a", "word": "2"}, "c3"),
            Made("look", {"path": "b"}, "c4"),
        ),
        "Never.",
        given=make_session(mode="auto_edit"),
        loop=[tool],
    )
    probe.contents, probe.gates = w.probe.contents, w.probe.gates
    w.probe.hold("look:b")  # runs until the other call has met the bug
    await w.say()
    expected = [("c1", "ok"), ("c2", "error"), ("c3", "skipped"), ("c4", "ok")]
    assert w.results() == expected
    assert [start.call_id for start in w.of(ev.ToolStart)] == ["c1", "c4"]
    assert w.probe.contents == {"a": "1"}
    (end,) = w.of(ev.TurnEnd)
    assert (end.exit, end.error and end.error.code) == ("error", "internal")
    check(w)


async def test_a_call_does_not_run_when_the_rules_cannot_be_read_any_more():
    w = make_engine(
        turn(
            Made("edit", {"path": "a", "word": "1"}, "c1"),
            Made("edit", {"path": "a", "word": "2"}, "c2"),
        ),
        "End.",
        given=make_session(mode="auto_edit"),
    )

    async def lose(_label: str) -> None:
        w.file.lost = True

    w.probe.on_start = lose
    await w.say()
    assert w.results() == [("c1", "ok"), ("c2", "error")]
    error = w.of(ev.ToolResult)[1].result.error
    assert error is not None
    assert error.message == "tools.json cannot be read."
    assert w.probe.contents == {"a": "1"}
    check(w)
