"""Approvals: which calls ask, what an answer does, and how long it lasts."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.testing.scripted_provider import Call, ScriptedProvider, turn
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import RuleBody, SendMessage
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import ApprovalScope
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, SessionId
from jupyter_ai_shoulders.wire.sessions import SessionKind
from tests.engine.engine_harness import (
    CONTEXT,
    SESSION,
    make_engine,
    make_engine_around,
    make_session,
    make_settings,
    types,
)
from tests.engine.loop.test_turns import check

RUN = Call("run_it", {"path": "a.ipynb"}, "c1")


async def test_execution_asks_with_exact_arguments_and_waits():
    w = make_engine(turn(RUN), "Ran.")
    w.probe.contents["a.ipynb"] = "1 + 1"
    await w.say()
    (request,) = w.of(ev.ApprovalRequest)
    canonical = json.dumps(request.arguments, sort_keys=True, separators=(",", ":")).encode()
    assert request.arguments == {"path": "a.ipynb"}
    assert request.arguments_hash == hashlib.sha256(canonical).hexdigest()
    assert (request.preview, request.language) == ("1 + 1", "python")
    assert request.scopes == ("once", "document", "session", "always")
    assert (w.session.status, w.probe.started) == ("waiting", [])
    assert w.engine.is_running(SESSION)
    await w.answer()
    assert w.results() == [("c1", "ok")]
    assert w.session.status == "idle"
    check(w)


async def test_start_of_an_execution_is_synced_before_its_effect():
    w = make_engine(turn(RUN), "Ran.")

    async def effect(label: str) -> None:
        started = w.of(ev.ToolStart)[-1].seq
        assert w.store.synced[SESSION] >= started

    w.probe.on_start = effect
    await w.say()
    await w.answer()
    assert w.results() == [("c1", "ok")]


@pytest.mark.parametrize("feedback", [None, "", "  "])
async def test_denial_without_a_reason_ends_a_chat_turn(feedback: str | None):
    w = make_engine(turn(RUN, Call("look", {"path": "b"}, "c2")), "Another way.")
    await w.say()
    await w.answer("deny", feedback=feedback)
    assert w.exits() == ["tool_rejected"]
    assert w.results() == [("c1", "denied"), ("c2", "skipped")]
    assert w.probe.started == []
    assert w.session.status == "idle"
    check(w)


async def test_denial_with_a_reason_goes_to_the_model_and_the_turn_goes_on():
    w = make_engine(turn(RUN, Call("look", {"path": "b"}, "c2")), "Another way.")
    await w.say()
    await w.answer("deny", feedback="Use the other file.")
    assert w.exits() == ["final_response"]
    assert w.results() == [("c1", "denied"), ("c2", "skipped")]
    assert w.probe.started == []
    assert "Use the other file." in str(w.provider.requests[1].messages)
    check(w)


async def test_denial_in_a_run_that_can_ask_is_seen_by_the_model_which_goes_on():
    w = make_engine(turn(RUN), "Without it.", given=make_session("run", interactive=True))
    await w.say()
    await w.answer("deny")
    assert w.exits() == ["final_response"]
    assert w.results() == [("c1", "denied")]
    check(w)


@pytest.mark.parametrize("kind", ["run", "scheduled"])
async def test_session_where_nobody_answers_denies_what_would_ask(kind: SessionKind):
    w = make_engine(
        turn(RUN, Call("look", {"path": "b"}, "c2")), "Could not.", given=make_session(kind)
    )
    await w.say()
    assert not w.of(ev.ApprovalRequest)
    (first, _) = w.of(ev.ToolResult)
    assert first.status == "denied"
    assert first.result.error is not None
    assert first.result.error.code == "approval_required"
    assert w.exits() == ["final_response"]
    check(w)


async def test_earlier_calls_of_a_batch_run_although_a_later_one_is_denied():
    w = make_engine(
        turn(
            Call("look", {"path": "a"}, "c1"),
            Call("run_it", {"path": "b"}, "c2"),
            Call("look", {"path": "c"}, "c3"),
        )
    )
    await w.say()
    await w.answer("deny")
    assert w.results() == [("c1", "ok"), ("c2", "denied"), ("c3", "skipped")]
    check(w)


async def test_approvals_of_a_batch_come_one_at_a_time_before_anything_runs():
    w = make_engine(
        turn(
            Call("run_it", {"path": "a"}, "c1"),
            Call("look", {"path": "b"}, "c2"),
            Call("run_it", {"path": "a", "word": "2"}, "c3"),
        ),
        "End.",
    )
    await w.say()
    assert w.pending() == "c1"
    assert len(w.of(ev.ApprovalRequest)) == 1
    await w.answer()
    assert w.pending() == "c3"
    assert w.probe.started == []
    await w.answer()
    assert w.results() == [("c1", "ok"), ("c2", "ok"), ("c3", "ok")]
    check(w)


async def test_call_is_asked_about_after_an_edit_of_the_same_document_ran():
    """The card shows the code that will run, not the text before the edit."""
    w = make_engine(
        turn(
            Call("edit", {"path": "a.ipynb", "word": "new code"}, "c1"),
            Call("run_it", {"path": "a.ipynb"}, "c2"),
        ),
        "End.",
    )
    w.probe.open_in_page.add("a.ipynb")
    w.probe.contents["a.ipynb"] = "old code"
    await w.say()
    assert w.of(ev.ApprovalRequest)[0].preview == "new code"
    assert w.results() == [("c1", "ok")]
    await w.answer()
    assert w.results() == [("c1", "ok"), ("c2", "ok")]
    check(w)


HOLDS: dict[str, tuple[ApprovalScope, list[str]]] = {
    "once": ("once", ["a.ipynb", "a.ipynb", "b.ipynb"]),
    "document": ("document", ["a.ipynb", "b.ipynb"]),
    "session": ("session", ["a.ipynb", "b.ipynb"]),  # b: the output of a was read in between
    "always": ("always", ["a.ipynb", "b.ipynb"]),
}


@pytest.mark.parametrize(("scope", "asked"), HOLDS.values(), ids=HOLDS.keys())
async def test_answer_holds_as_far_as_its_scope(scope: ApprovalScope, asked: list[str]):
    runs = [turn(Call("run_it", {"path": path})) for path in ("a.ipynb", "a.ipynb", "b.ipynb")]
    w = make_engine(*runs, "End.")
    w.probe.open_in_page.update({"a.ipynb", "b.ipynb"})
    await w.say()
    for _ in asked:
        offered = w.of(ev.ApprovalRequest)[-1].scopes
        await w.answer(scope=scope if scope in offered else "once")
    assert [request.arguments["path"] for request in w.of(ev.ApprovalRequest)] == asked
    assert w.exits() == ["final_response"]
    check(w)


async def test_always_stores_the_narrowest_rule_and_later_calls_name_it():
    w = make_engine(turn(RUN), turn(Call("run_it", {"path": "a.ipynb"}, "c2")), "End.")
    await w.say()
    await w.answer(scope="always")
    assert json.loads(w.file.text or "") == {
        "version": 1,
        "disabled": [],
        "rules": [{"action": "allow", "tool": "run_it", "match": {"notebook": "a.ipynb"}}],
    }
    by_policy = w.of(ev.ApprovalAnswer)[1]
    assert (by_policy.by, by_policy.call_id) == ("policy", "c2")
    assert by_policy.feedback is not None
    assert "tools.json" in by_policy.feedback


async def test_second_answer_is_refused_and_changes_nothing():
    w = make_engine(turn(RUN), "Ran.")
    await w.say()
    await w.answer()
    before = list(w.events)
    with pytest.raises(Conflict) as raised:
        await w.answer("deny", call_id="c1")
    assert raised.value.info.code == "already_answered"
    assert w.events == before


class SlowRules:
    """Blocks while storing a rule until released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.go = asyncio.Event(), threading.Event()
        loop, add = asyncio.get_running_loop(), PermissionStore.add

        def slowly(book: PermissionStore, rule: RuleBody) -> None:
            loop.call_soon_threadsafe(self.asked.set)
            assert self.go.wait(60)
            add(book, rule)

        monkeypatch.setattr(PermissionStore, "add", slowly)


async def test_two_answers_at_once_the_first_wins(monkeypatch: pytest.MonkeyPatch):
    w = make_engine(turn(RUN), "Ran.")
    await w.say()
    rules = SlowRules(monkeypatch)
    first = asyncio.create_task(w.answer(scope="always"))
    await rules.asked.wait()
    second = asyncio.create_task(w.answer("deny", call_id="c1"))
    await asyncio.sleep(0)
    rules.go.set()
    await first
    with pytest.raises(Conflict) as raised:
        await second
    assert raised.value.info.code == "already_answered"
    assert [answer.decision for answer in w.of(ev.ApprovalAnswer)] == ["allow"]
    check(w)


async def test_turn_ended_elsewhere_while_a_rule_is_stored_is_not_taken_up_again(
    monkeypatch: pytest.MonkeyPatch,
):
    before = make_engine(turn(RUN))
    await before.say()
    store, other = before.store.cut(SESSION, len(before.events)), SessionId("s2")
    store.add(make_session(id=other))
    model = ScriptedProvider("Other.", "Never.")
    w = make_engine_around(
        store, before.probe, model, ids=before.ids, limits=make_settings(cached_sessions=1)
    )
    await w.engine.start()
    rules = SlowRules(monkeypatch)
    answering = asyncio.create_task(w.answer(scope="always"))
    await rules.asked.wait()
    # Evicts the first session.
    await w.engine.send(other, SendMessage(id=MessageId("m2"), text="Hi"))
    await w.engine.settled(other)
    await w.engine.cancel(SESSION)
    rules.go.set()
    with pytest.raises(Conflict):
        await answering
    await w.settle()
    assert w.exits() == ["interrupted"]
    assert w.of(ev.ApprovalAnswer) == []
    check(w)


async def test_answer_to_an_unknown_call_or_with_an_unoffered_scope_is_refused():
    rules = '{"version": 1, "rules": [{"action": "ask", "tool": "run_it"}]}'
    w = make_engine(turn(RUN), "Ran.", rules=rules)
    await w.say()
    with pytest.raises(NotFound):
        await w.answer(call_id="c9")
    with pytest.raises(InvalidRequest):
        await w.answer(scope="always")
    assert w.of(ev.ApprovalRequest)[0].reason.kind == "rule"
    await w.answer()
    assert w.results() == [("c1", "ok")]


async def test_rule_that_denies_is_told_to_the_model_and_the_turn_goes_on():
    rules = '{"version": 1, "rules": [{"action": "deny", "tool": "run_*"}]}'
    w = make_engine(turn(RUN), "I see.", rules=rules)
    await w.say()
    (result,) = w.of(ev.ToolResult)
    assert result.status == "denied"
    assert "tools.json" in str(result.content)
    assert w.exits() == ["final_response"]


async def test_disabled_tool_is_neither_offered_nor_executed():
    w = make_engine(
        turn(Call("look", {"path": "a"})), "I see.", rules='{"version": 1, "disabled": ["look"]}'
    )
    await w.say()
    assert "look" not in [tool.name for tool in w.provider.requests[0].tools]
    assert [status for _, status in w.results()] == ["error"]


async def test_edit_runs_in_an_open_page_and_asks_elsewhere_in_mode_ask():
    w = make_engine(turn(Call("edit", {"path": "a"}), Call("edit", {"path": "b"}, "c2")), "End.")
    w.probe.open_in_page.add("a")
    await w.say(context=CONTEXT)
    assert w.pending() == "c2"


async def test_auto_edit_runs_edits_and_asks_for_execution():
    w = make_engine(
        turn(Call("edit", {"path": "b"}), RUN), "End.", given=make_session(mode="auto_edit")
    )
    await w.say()
    assert [request.tool for request in w.of(ev.ApprovalRequest)] == ["run_it"]


async def test_plan_mode_offers_reading_only_and_bypass_asks_nothing():
    w = make_engine(turn(RUN), "I see.", turn(Call("run_it", {"path": "a"}, "c2")), "Ran.")
    await w.say(mode="plan")
    assert [tool.name for tool in w.provider.requests[0].tools] == [
        "buggy",
        "complete",
        "failing",
        "look",
    ]
    assert w.results() == [("c1", "denied")]
    await w.say(mode="bypass")
    assert w.results() == [("c1", "denied"), ("c2", "ok")]
    assert [rebase.reason for rebase in w.of(ev.ContextRebase)] == ["tools"]
    check(w)


async def test_message_while_an_approval_waits_is_queued():
    w = make_engine(turn(RUN), "End.")
    await w.say()
    await w.send("Also this")
    assert w.of(ev.MessageAdd)[1].queued
    await w.answer()
    assert "Also this" in str(w.provider.requests[1].messages[-1])
    check(w)


async def test_events_of_an_approved_call_come_in_order():
    w = make_engine(turn(RUN), "End.")
    await w.say()
    await w.answer()
    first = w.of(ev.ToolCall)[0].seq
    names = types(event for event in w.events[first - 1 :] if event.type != "session-update")
    assert names[:7] == [
        "tool-call",
        "usage-update",
        "approval-request",
        "approval-answer",
        "tool-start",
        "tool-progress",
        "tool-result",
    ]
    assert "".join(event.text for event in w.of(ev.ToolProgress)) == "one two three"
    assert w.of(ev.ToolStart)[0].call_id == CallId("c1")


async def test_call_allowed_once_does_not_run_with_other_code_than_the_card_showed():
    w = make_engine(
        turn(Call("run_it", {"path": "a.ipynb"}, "c1")),
        turn(Call("run_it", {"path": "a.ipynb"}, "c2")),
        "End.",
    )
    w.probe.contents["a.ipynb"] = "shown"
    await w.say()
    w.probe.contents["a.ipynb"] = "changed while waiting"
    await w.answer()
    assert w.probe.started == []
    (refused,) = w.of(ev.ToolResult)
    assert refused.result.error is not None
    assert (refused.status, refused.result.error.code) == ("error", "stale")
    assert w.of(ev.ApprovalRequest)[-1].preview == "changed while waiting"
    await w.answer()
    assert w.results() == [("c1", "error"), ("c2", "ok")]
    check(w)


async def test_call_allowed_for_the_document_runs_with_what_stands_there():
    w = make_engine(turn(Call("run_it", {"path": "a.ipynb"}, "c1")), "End.")
    w.probe.contents["a.ipynb"] = "shown"
    await w.say()
    w.probe.contents["a.ipynb"] = "changed while waiting"
    await w.answer(scope="document")
    assert w.results() == [("c1", "ok")]
    check(w)


@pytest.mark.parametrize(
    "rules",
    [
        {"version": 1, "disabled": ["run_it"], "rules": []},
        {"version": 1, "disabled": [], "rules": [{"action": "deny", "tool": "run_it"}]},
    ],
)
async def test_rules_that_changed_while_an_approval_waited_hold(rules: JsonObject):
    w = make_engine(turn(RUN), "Without it.", given=make_session("run", interactive=True))
    await w.say()
    w.file.write(json.dumps(rules))
    await w.answer()
    assert w.probe.started == []
    (result,) = w.of(ev.ToolResult)
    assert result.status == "denied"
    assert w.exits() == ["final_response"]
    check(w)
