"""``parse_only``: calls wait for results the user supplies; ``disabled``: they fail at once."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.engine.ports import ResolvedModel
from jupyter_ai_shoulders.testing.scripted_provider import Call, ScriptEntry, turn
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.tools.truncation import LINE_LIMIT
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import SupplyResult
from jupyter_ai_shoulders.wire.ids import CallId, ModelId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.sessions import Toolset
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    FakeModels,
    make_engine,
    make_session,
    restart_engine,
)
from tests.engine.fake_tools import FakeTool, ToolProbe
from tests.engine.loop.test_turns import check

LOOK = Call("look", {"path": "a"}, "c1")
RUN = Call("run_it", {"path": "b"}, "c2")
SUMMARY = "Cell 4 imports numpy before its first use, and the whole notebook runs again."


def parsing(*script: ScriptEntry) -> EngineHarness:
    return make_engine(*script, given=make_session(tools="parse_only"), loop=[Todo()])


async def supply(w: EngineHarness, call_id: str, content: str = "42", *, ok: bool = True) -> None:
    await w.engine.responses.supply_result(
        SESSION, CallId(call_id), SupplyResult(content=content, ok=ok)
    )
    await w.settle()


async def test_calls_wait_for_results_in_any_order_and_run_nothing():
    w = parsing(turn(LOOK, RUN), "It is 42.")
    await w.say()
    assert w.session.status == "waiting"
    assert not w.of(ev.ToolStart)
    await supply(w, "c2", "Failed.", ok=False)
    assert w.session.status == "waiting"
    await supply(w, "c1")
    assert w.results() == [("c2", "error"), ("c1", "ok")]
    assert w.exits() == ["final_response"]
    assert w.probe.started == []
    check(w)


async def test_second_result_and_unknown_calls_are_refused():
    w = parsing(turn(LOOK, RUN), "It is 42.")
    await w.say()
    await supply(w, "c1")
    with pytest.raises(Conflict) as caught:
        await supply(w, "c1")
    assert caught.value.info.code == "already_answered"
    with pytest.raises(NotFound):
        await supply(w, "c9")


async def test_results_are_supplied_after_a_restart():
    w = parsing(turn(LOOK, RUN))
    await w.say()
    await supply(w, "c1")
    after = await restart_engine(w, None, "It is 42.")
    assert after.session.status == "interrupted"
    await supply(after, "c2")
    assert after.results() == [("c1", "ok"), ("c2", "ok")]
    assert after.exits() == ["final_response"]
    check(after)


async def test_keys_are_taken_out_of_a_long_result_after_a_restart(
    monkeypatch: pytest.MonkeyPatch,
):
    key = "opensesameopensesame1"
    plain = FakeModels.resolve

    def resolve(models: FakeModels, model_id: ModelId | None) -> ResolvedModel:
        return replace(plain(models, model_id), redactor=lambda: Redactor([key]))

    monkeypatch.setattr(FakeModels, "resolve", resolve)
    w = parsing(turn(LOOK))
    await w.say()
    after = await restart_engine(w, None, "End.")
    await supply(after, "c1", f"{key}\n" * (LINE_LIMIT + 1))
    (result,) = after.of(ev.ToolResult)
    assert result.handle is not None
    assert key not in after.store.blobs.get(result.handle).decode()
    assert key not in str(result.content)


async def test_waiting_for_results_can_be_cancelled_and_steered():
    w = parsing(turn(LOOK), "End.")
    await w.say()
    await w.send("Also this")
    assert w.of(ev.MessageAdd)[-1].queued
    await w.engine.cancel(SESSION)
    assert w.results() == [("c1", "cancelled")]
    assert w.exits() == ["cancelled"]


async def test_loop_tools_and_wrong_calls_do_not_wait():
    todo = Call("todo", {"markdown": "- [ ] a"}, "c1")
    w = parsing(turn(todo, Call("look", {}, "c2"), Call("nothing", {}, "c3")), "End.")
    await w.say()
    assert w.results() == [("c1", "ok"), ("c2", "error"), ("c3", "error")]
    assert len(w.of(ev.TodoUpdate)) == 1


async def test_end_of_a_batch_waits_for_the_results_before_it():
    end = Call("complete", {"summary": SUMMARY}, "c9")
    w = parsing(turn(LOOK, end, RUN))
    await w.say()
    assert w.results() == []
    await supply(w, "c1")
    assert w.results() == [("c1", "ok"), ("c9", "ok"), ("c2", "skipped")]
    assert w.exits() == ["ended_by_tool"]


async def test_long_result_is_digested_and_kept_whole():
    w = parsing(turn(LOOK), "Long.")
    await w.say()
    text = "line\n" * (LINE_LIMIT + 50)
    await supply(w, "c1", text)
    (result,) = w.of(ev.ToolResult)
    assert result.handle is not None
    assert w.store.blobs.get(result.handle).decode() == text
    (shown,) = result.content
    assert isinstance(shown, TextPart)
    assert "51 lines left out" in shown.text


async def test_results_are_not_taken_where_tools_run_here():
    w = make_engine(turn(RUN), "End.")
    await w.say()
    with pytest.raises(Conflict):
        await supply(w, "c2")


async def test_disabled_tools_fail_at_once_and_the_model_goes_on():
    w = make_engine(turn(LOOK), "Without tools, then.", given=make_session(tools="disabled"))
    await w.say()
    assert w.results() == [("c1", "error")]
    assert w.of(ev.ToolResult)[0].result.error is not None
    assert w.provider.requests[0].tools == ()
    assert w.exits() == ["final_response"]


class Narrow(FakeTool):
    """A tool that not every conversation has."""

    name: ClassVar[str] = "narrow"
    risk: ClassVar[ev.Risk] = "read"
    toolsets: ClassVar[frozenset[Toolset]] = frozenset({"full"})


@pytest.mark.parametrize(("toolset", "status"), [("full", "ok"), ("notebook", "error")])
async def test_tool_outside_the_toolset_is_unknown(toolset: str, status: str):
    narrow = Call("narrow", {"path": "a"}, "c1")
    w = make_engine(
        turn(narrow), "End.", given=make_session(toolset=toolset), loop=[Narrow(ToolProbe())]
    )
    await w.say()
    (result,) = w.of(ev.ToolResult)
    assert result.status == status
    if result.result.error is not None:
        assert result.result.error.code == "unknown_tool"
        assert "narrow" not in (result.result.error.hint or "")
