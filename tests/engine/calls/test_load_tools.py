"""Tool categories loaded on demand, and calls through ``call_tool``."""

from __future__ import annotations

import json

import pytest

from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.tools.registry import LOADERS
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.parts import ToolResultPart
from tests.engine.engine_harness import make_engine, make_session, model_spec, restart_engine
from tests.engine.loop.test_turns import check
from tests.engine.plan_tools import calls_said, inner, make_plan_scenario, offered, plan, said, step

LOAD = Call("load_tools", {"category": "git"}, "l1")


def only(events: list[ev.ToolCall]) -> ev.ToolCall:
    (event,) = events
    return event


async def test_category_is_named_in_the_prompt_and_not_in_the_block():
    s = make_plan_scenario("Hello.")
    await s.w.say()
    (request,) = s.w.provider.requests
    told = "Tools that can be loaded when needed: git (status, differences, commits)."
    assert told in request.system
    assert set(offered(request)) >= LOADERS
    assert not {"git_look", "git_edit"} & set(offered(request))


async def test_loaded_tools_are_described_and_called_at_once_in_the_same_block():
    s = make_plan_scenario(turn(LOAD), turn(inner("git_look", {"path": "a"})), "It is clean.")
    await s.w.say()
    loaded, looked = s.w.of(ev.ToolResult)
    assert '"path"' in said(loaded)
    assert "git_edit: Test tool git_edit." in said(loaded)
    assert (loaded.result.data, loaded.result.meta.total) == (
        {"category": "git", "tools": ["git_edit", "git_look"]},
        2,
    )
    assert (looked.tool, looked.status, said(looked)) == ("git_look", "ok", "git_look of a")
    first, *others = [request.tools for request in s.w.provider.requests]
    assert others == [first, first]
    assert s.w.of(ev.ContextRebase) == []
    check(s.w)


async def test_loaded_tools_are_in_the_block_from_the_next_message_on():
    s = make_plan_scenario(turn(LOAD), "Loaded.", "Next.", "After.")
    await s.w.say()
    await s.w.say()
    await s.w.say()
    blocks = [offered(request) for request in s.w.provider.requests]
    assert ["git_look" in block for block in blocks] == [False, False, True, True]
    assert [event.reason for event in s.w.of(ev.ContextRebase)] == ["tools"]
    rebase = s.w.events.index(s.w.of(ev.ContextRebase)[0])
    assert rebase > s.w.events.index(s.w.of(ev.TurnStart)[1])
    assert "loaded when needed: git" in s.w.provider.requests[3].system


async def test_loaded_categories_survive_a_restart():
    s = make_plan_scenario(turn(LOAD), "Loaded.")
    await s.w.say()
    after = await restart_engine(s.w, None, "Next.")
    await after.say(message="again")
    assert "git_look" in offered(after.provider.requests[0])


async def test_loading_is_not_in_the_block_of_a_turn_resumed_after_a_restart():
    s = make_plan_scenario(turn(LOAD), turn(inner("git_edit", {"path": "a"})))
    await s.w.say()
    assert s.w.session.status == "waiting"
    after = await restart_engine(s.w, None, "Done.", "Next.")
    await after.answer()
    assert after.results() == [("l1", "ok"), ("c1", "ok")]
    await after.say(message="again")
    assert ["git_look" in offered(request) for request in after.provider.requests] == [False, True]
    check(after)


async def test_after_a_crash_at_any_event_what_was_loaded_is_what_the_log_says():
    s = make_plan_scenario(
        turn(LOAD),
        turn(inner("git_look", {"path": "a"}), inner("git_lok", {"path": "a"}, "c2")),
        turn(plan(step("look", "a", save_as="params.x"), step("failing", "b"))),
        "Done.",
    )
    await s.w.say()
    assert s.w.exits() == ["final_response"]
    events = list(s.w.events)
    started = next(n for n, event in enumerate(events) if isinstance(event, ev.TurnStart))
    for count in range(started + 1, len(events) + 1):
        after = await restart_engine(s.w, count, "Next.")
        await after.say(message="again")
        loaded = any(
            isinstance(event, ev.ToolResult) and event.tool == "load_tools"
            for event in events[:count]
        )
        assert ("git_look" in offered(after.provider.requests[0])) == loaded
        assert after.exits()[-1] == "final_response"
        check(after)


async def test_log_and_approval_see_the_inner_call_and_the_model_its_own():
    s = make_plan_scenario(turn(inner("git_edit", {"word": "x", "path": "a"})), "Done.")
    await s.w.say()
    call = only(s.w.of(ev.ToolCall))
    assert (call.tool, call.via, call.risk, call.title) == (
        "git_edit",
        "call_tool",
        "write",
        "git_edit a",
    )
    assert call.arguments == {"path": "a", "word": "x"}
    (request,) = s.w.of(ev.ApprovalRequest)
    assert (request.tool, request.arguments) == ("git_edit", {"path": "a", "word": "x"})
    await s.w.answer(scope="session")
    (said_call,) = calls_said(s.w.provider.requests[1])
    assert said_call.tool == "call_tool"
    assert json.dumps(said_call.arguments) == (
        '{"name": "git_edit", "arguments": {"word": "x", "path": "a"}}'
    )
    result = s.w.provider.requests[1].messages[-1].parts[0]
    assert isinstance(result, ToolResultPart)
    assert (result.tool, result.is_error) == ("call_tool", False)
    check(s.w)


async def test_grant_for_the_inner_tool_counts_for_calls_by_either_way():
    s = make_plan_scenario(
        turn(inner("git_edit", {"path": "a"})),
        turn(inner("git_edit", {"path": "a", "word": "b"}, "c2")),
        turn(Call("git_edit", {"path": "a", "word": "c"}, "c3")),
        "Done.",
    )
    await s.w.say()
    await s.w.answer(scope="document")
    assert s.w.results() == [("c1", "ok"), ("c2", "ok"), ("c3", "ok")]
    assert len(s.w.of(ev.ApprovalRequest)) == 1


async def test_rule_on_the_inner_tool_denies_the_call():
    rules = json.dumps({"version": 1, "rules": [{"action": "deny", "tool": "git_*"}]})
    s = make_plan_scenario(turn(inner("git_look", {"path": "a"})), "No.", rules=rules)
    await s.w.say()
    assert s.w.results() == [("c1", "denied")]
    assert s.probe.started == []


REFUSED = {
    "unknown tool": (
        inner("git_lok", {"path": "a"}),
        "unknown_tool",
        "There is no tool named 'git_lok'. Did you mean 'git_look'?",
    ),
    "wrong arguments": (inner("git_look", {"paht": "a"}), "invalid_arguments", '"required"'),
    "no arguments": (Call("call_tool", {"name": "git_look"}, "c1"), "invalid_arguments", "schema"),
    "no JSON": (Call("call_tool", "{", "c1"), "invalid_arguments", "not a JSON object"),
    "itself": (inner("call_tool", {}), "invalid_arguments", "does not call call_tool"),
    "a plan": (inner("run_plan", {"steps": []}), "invalid_arguments", "Call it by its own name"),
    "loading": (inner("load_tools", {"category": "git"}), "invalid_arguments", "by its own name"),
}


@pytest.mark.parametrize(("call", "code", "text"), REFUSED.values(), ids=REFUSED)
async def test_wrong_call_is_refused_with_what_helps(call: Call, code: str, text: str):
    s = make_plan_scenario(turn(call), "I see.")
    await s.w.say()
    (result,) = s.w.of(ev.ToolResult)
    assert result.result.error is not None
    assert (result.status, result.result.error.code) == ("error", code)
    assert text in said(result)
    assert s.probe.started == []
    given = call.arguments if isinstance(call.arguments, dict) else {}
    (said_call,) = calls_said(s.w.provider.requests[1])
    assert (said_call.tool, said_call.arguments) == ("call_tool", given)
    check(s.w)


async def test_switched_off_tool_is_neither_listed_nor_called():
    rules = json.dumps({"version": 1, "disabled": ["git_edit"]})
    script = [turn(LOAD), turn(inner("git_edit", {"path": "a"})), turn(inner("nothing", {}, "c2"))]
    s = make_plan_scenario(*script, "No.", rules=rules)
    await s.w.say()
    loaded, refused, unknown = s.w.of(ev.ToolResult)
    assert loaded.result.data == {"category": "git", "tools": ["git_look"]}
    assert refused.result.error is not None
    assert refused.result.error.code == "disabled"
    assert "git_look" in said(unknown)
    assert "git_edit" not in said(unknown)


async def test_rules_changed_in_a_turn_act_on_calls_and_not_on_the_block():
    s = make_plan_scenario(turn(LOAD), turn(inner("git_look", {"path": "a"})), "No.", "Next.")

    def switch_off(event: ev.Event) -> None:
        if isinstance(event, ev.ToolResult):
            s.w.file.text = json.dumps({"version": 1, "disabled": ["git_look", "look"]})

    s.w.store.before_append = switch_off
    await s.w.say()
    s.w.store.before_append = None
    await s.w.say()
    assert s.w.results() == [("l1", "ok"), ("c1", "error")]
    assert ["look" in offered(r) for r in s.w.provider.requests] == [True, True, True, False]


@pytest.mark.parametrize(
    ("category", "text"),
    [("gti", "There are: git."), ("notebook", "are in your list"), ("loop", "are in your list")],
)
async def test_category_that_is_not_to_load_is_refused(category: str, text: str):
    s = make_plan_scenario(turn(Call("load_tools", {"category": category}, "l1")), "I see.")
    await s.w.say()
    (result,) = s.w.of(ev.ToolResult)
    assert result.status == "error"
    assert text in said(result)


async def test_plan_mode_loads_only_what_reads():
    s = make_plan_scenario(turn(LOAD), "Next.", given=make_session(mode="plan"))
    await s.w.say()
    (loaded,) = s.w.of(ev.ToolResult)
    assert loaded.result.data == {"category": "git", "tools": ["git_look"]}


async def test_nothing_is_to_load_where_every_category_is_offered():
    w = make_engine("Hello.", planning=True)
    await w.say()
    (request,) = w.provider.requests
    assert not LOADERS & set(offered(request))
    assert "loaded when needed" not in request.system


async def test_category_whose_tools_are_all_switched_off_is_not_to_load():
    rules = json.dumps({"version": 1, "disabled": ["git_look", "git_edit"]})
    s = make_plan_scenario("Hello.", rules=rules)
    await s.w.say()
    (request,) = s.w.provider.requests
    assert not LOADERS & set(offered(request))
    assert "loaded when needed" not in request.system


async def test_all_tools_are_offered_where_loading_is_switched_off():
    rules = json.dumps({"version": 1, "disabled": ["call_tool"]})
    s = make_plan_scenario(turn(inner("git_look", {"path": "a"})), "No.", rules=rules)
    await s.w.say()
    assert {"git_look", "git_edit"} <= set(offered(s.w.provider.requests[0]))
    assert s.w.results() == [("c1", "error")]
    assert s.probe.started == []


async def test_small_toolset_has_no_planning_and_knows_no_other_tools():
    s = make_plan_scenario(
        turn(inner("git_look", {"path": "a"})), "No.", given=make_session(toolset="document")
    )
    await s.w.say()
    block = set(offered(s.w.provider.requests[0]))
    assert not block & {"run_plan", "read_output", *LOADERS}
    (result,) = s.w.of(ev.ToolResult)
    assert result.result.error is not None
    assert result.result.error.code == "unknown_tool"


async def test_model_without_tools_gets_plain_chat():
    s = make_plan_scenario("Hello.", model=model_spec(tools=False))
    await s.w.say()
    (request,) = s.w.provider.requests
    assert request.tools == ()
    assert "loaded when needed" not in request.system
    assert s.w.exits() == ["final_response"]


async def test_loading_runs_here_where_the_user_supplies_results():
    s = make_plan_scenario(
        turn(LOAD, inner("git_look", {"path": "a"})), given=make_session(tools="parse_only")
    )
    await s.w.say()
    assert s.w.results() == [("l1", "ok")]
    assert s.w.session.status == "waiting"


async def test_what_inner_calls_read_is_marked_as_data_and_descriptions_are_not():
    s = make_plan_scenario(turn(LOAD), turn(inner("git_look", {"path": "a"})), "End.")
    await s.w.say()
    described, read = (request.messages[-1].parts[0] for request in s.w.provider.requests[1:])
    assert isinstance(described, ToolResultPart)
    assert isinstance(read, ToolResultPart)
    texts = ["".join(str(part) for part in one.content) for one in (described, read)]
    assert ["git_look of a" in text for text in texts] == [False, True]
    assert ["<data id=" in text for text in texts] == [False, True]
    assert 'source="git_look · a"' in texts[1]
