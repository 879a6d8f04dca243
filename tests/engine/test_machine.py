"""A state machine drives the engine: sends, steers, answers, supplied results, limits, cancels,
crashes, full disks.

After every step the log keeps its invariants and gives a valid history; at the end the session
accepts a message. A longer run: ``SHOULDERS_SWEEP=2000 pytest tests/engine/test_machine.py``.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    PolicyRefusal,
    ProviderError,
    StateUnavailable,
)
from jupyter_ai_shoulders.engine.context import build
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.testing.scripted import (
    Call,
    Fail,
    Say,
    ScriptedProvider,
    Think,
    Turn,
    turn,
)
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.clarify import Clarify
from jupyter_ai_shoulders.tools.todo import Todo
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.commands import (
    AnswerApproval,
    AnswerQuestion,
    EditMessage,
    ResumeTurn,
    SupplyResult,
)
from jupyter_ai_shoulders.wire.ids import CallId, MessageId
from jupyter_ai_shoulders.wire.sessions import ToolsMode
from tests.engine.tools import Desk
from tests.engine.validity import check_history, check_log, check_requests
from tests.engine.world import SESSION, World, around, session, world
from tests.engine.world import settings as limits

T = TypeVar("T")

BUSY = ProviderError("Busy.", code="overloaded", retryable=True, retry_after_ms=0)
SUMMARY = "Cell 4 imports numpy before its first use, and the whole notebook runs again."
ASK: JsonObject = {"question": "Which?", "options": ["Blue", "Red"]}
SPENT = PolicyRefusal("Spent.", code="budget_exhausted", scope="turn")
LOOP: list[Tool[Any]] = [Clarify(), Todo()]
REPLIES: list[Turn] = [
    turn(Say("An answer.")),
    turn(Think("Hm."), Say("Look."), Call("look", {"path": "a"}), Call("look", {"path": "b"})),
    turn(Call("edit", {"path": "a"}), Call("run_it", {"path": "a"}), Call("look", {"path": "a"})),
    turn(Call("run_it", {"path": "a"}), Call("run_it", {"path": "b"})),
    turn(Call("nothing", {}), Call("look", '{"pa'), Call("failing", {"path": "a"})),
    turn(Call("look", {"path": "a"}), Call("complete", {"summary": SUMMARY})),
    turn(Fail(BUSY)),
    turn(Say("Half a "), Call("edit", {"path": "c"}), Fail(BUSY)),
    turn(),
    turn(Call("look", {"path": "a"}), Call("clarify", ASK), Call("run_it", {"path": "a"})),
    turn(Call("run_it", {"path": "b"}), Call("clarify", ASK), Call("clarify", ASK)),
    turn(Call("todo", {"markdown": "- [ ] a"}), Call("clarify", {"question": " "})),
    turn(Fail(SPENT)),
]


class EngineMachine(RuleBasedStateMachine):
    """One session under everything that can happen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.numbers = itertools.count(1)
        self.replies: list[Turn] = [REPLIES[0]]
        self.asked = 0
        w = world(given=session(mode="auto_edit"))
        self.world: World = self.around(w.store, w.desk, w.ids)
        self.starts: set[str] = set()

    def around(self, store: Any, desk: Desk, ids: CountingIds) -> World:
        provider = ScriptedProvider(*[self.reply] * 10_000)
        return around(store, desk, provider, limits=limits(step_limit=4), ids=ids, loop=LOOP)

    def reply(self, request: ModelRequest) -> Turn:
        self.asked += 1
        return self.replies[self.asked % len(self.replies)]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(work)

    @property
    def pending(self) -> str | None:
        waits = [event.call_id for event in self.world.of(ev.ApprovalRequest)]
        done = {event.call_id for event in self.world.of(ev.ApprovalAnswer)}
        done |= {event.call_id for event in self.world.of(ev.ToolResult)}
        return next((call_id for call_id in reversed(waits) if call_id not in done), None)

    @property
    def question(self) -> str | None:
        asked = [event.call_id for event in self.world.of(ev.ClarifyRequest)]
        done = {event.call_id for event in self.world.of(ev.ToolResult)}
        done |= {event.call_id for event in self.world.of(ev.ClarifyAnswer)}
        done |= {event.answers for event in self.world.of(ev.MessageAdd)}
        return next((call_id for call_id in asked if call_id not in done), None)

    @property
    def unsettled(self) -> list[CallId]:
        done = {event.call_id for event in self.world.of(ev.ToolResult)}
        return [e.call_id for e in self.world.of(ev.ToolCall) if e.call_id not in done]

    # what can happen

    @rule(replies=st.lists(st.sampled_from(REPLIES), min_size=1, max_size=4))
    def model_will_say(self, replies: list[Turn]) -> None:
        self.replies = replies

    @rule(settle=st.booleans())
    def send(self, settle: bool) -> None:
        message = f"m{next(self.numbers)}"
        accepted = self.run(self.world.send("Do it", message=message))
        assert self.run(self.world.send("Do it", message=message)) == accepted
        if settle:
            self.run(self.world.settle())

    @rule(turns=st.integers(1, 40))
    def time_passes(self, turns: int) -> None:
        async def wait() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)

        self.run(wait())

    @precondition(lambda self: self.pending is not None)
    @rule(
        decision=st.sampled_from(["allow", "allow", "deny"]),
        scope=st.sampled_from(["once", "document", "session"]),
    )
    def answer(self, decision: Any, scope: Any) -> None:
        call_id = self.pending
        assert call_id is not None
        self.run(self.world.answer(decision, scope, call_id=call_id))
        with pytest.raises(Conflict):
            self.run(self.world.answer(decision, scope, call_id=call_id))

    @precondition(lambda self: self.question is not None)
    @rule(answer=st.sampled_from(["Blue", ("Blue", "Red")]))
    def answer_question(self, answer: str | tuple[str, ...]) -> None:
        call_id = CallId(self.question or "")
        command = AnswerQuestion(answer=answer)
        with contextlib.suppress(Conflict):  # a cancel may be on its way
            self.run(self.world.engine.answer_question(SESSION, call_id, command))
            with pytest.raises(Conflict):
                self.run(self.world.engine.answer_question(SESSION, call_id, command))
            self.run(self.world.settle())

    @rule(tools=st.sampled_from(["enabled", "enabled", "parse_only", "disabled"]))
    def tools_mode_changes(self, tools: ToolsMode) -> None:
        changed = self.world.session.model_copy(update={"tools": tools})
        self.world.store.update(changed)

    @precondition(lambda self: self.unsettled)
    @rule(which=st.integers(0, 3), ok=st.booleans())
    def supply(self, which: int, ok: bool) -> None:
        call_id = self.unsettled[which % len(self.unsettled)]
        command = SupplyResult(content="Supplied.", ok=ok)
        with contextlib.suppress(Conflict):
            self.run(self.world.engine.supply_result(SESSION, call_id, command))
            with pytest.raises(Conflict):
                self.run(self.world.engine.supply_result(SESSION, call_id, command))
            self.run(self.world.settle())

    @rule()
    def cancel(self) -> None:
        self.run(self.world.engine.cancel(SESSION))

    @rule(decision=st.sampled_from(["resume", "discard"]))
    def resume(self, decision: Any) -> None:
        with contextlib.suppress(Conflict):
            self.run(self.world.engine.resume(SESSION, ResumeTurn(decision=decision)))

    @rule(remove=st.booleans(), back=st.integers(0, 2))
    def change_a_message(self, remove: bool, back: int) -> None:
        ids = [event.message_id for event in self.world.of(ev.MessageAdd)]
        if len(ids) <= back:
            return
        message_id = MessageId(ids[-1 - back])
        engine = self.world.engine
        with contextlib.suppress(Conflict):
            if remove:
                self.run(engine.remove_message(SESSION, message_id))
            else:
                self.run(engine.edit_message(SESSION, message_id, EditMessage(text="Other")))

    @rule()
    def server_stops_and_starts(self) -> None:
        self.run(self.world.engine.stop())
        self.restart(len(self.world.events))

    @rule(lost=st.integers(0, 12))
    def server_is_killed(self, lost: int) -> None:
        self.restart(max(1, len(self.world.events) - lost))

    def restart(self, kept: int) -> None:
        self.run(self.kill())
        store = self.world.store.cut(SESSION, kept)
        self.world = self.around(store, self.world.desk, self.world.ids)
        self.run(self.world.engine.start())

    async def kill(self) -> None:
        self.world.store.before_append = full_disk  # nothing the dead server does is seen
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    @rule(appends=st.integers(0, 6), turns=st.integers(0, 30))
    def disk_is_full_for_a_while(self, appends: int, turns: int) -> None:
        left = itertools.count(appends, -1)

        def full(event: ev.Event) -> None:
            if next(left) <= 0:
                full_disk(event)

        self.world.store.before_append = full
        with contextlib.suppress(StateUnavailable):
            self.run(self.world.send("On a full disk", message=f"m{next(self.numbers)}"))
        self.time_passes(turns)
        self.run(self.world.settle())
        self.world.store.before_append = None

    # what must hold

    @invariant()
    def log_is_whole_and_history_valid(self) -> None:
        check_log(self.world.events)
        check_requests(self.world.provider.requests)
        check_history(build(self.world.events, self.world.store.blobs).messages)

    def teardown(self) -> None:
        self.run(self.goes_on())
        self.run(self.kill())
        self.loop.close()

    async def goes_on(self) -> None:
        """Whatever happened, the session accepts a message and its turn ends."""
        w = self.world
        self.replies = [REPLIES[0]]
        await w.engine.cancel(SESSION)
        await w.settle()
        await w.say("At last", message="last")
        while (pending := self.pending) is not None:
            with contextlib.suppress(Conflict, InvalidRequest):
                command = AnswerApproval(decision="allow")
                await w.engine.answer_approval(SESSION, CallId(pending), command)
            await w.settle()
        assert w.exits()[-1] == "final_response"
        assert w.session.status == "idle"
        check_log(w.events)
        check_requests(w.provider.requests)


def full_disk(event: ev.Event) -> None:
    raise StateUnavailable("The disk is full.", code="disk_full")


SWEEP = int(os.environ.get("SHOULDERS_SWEEP", "0"))
EngineMachine.TestCase.settings = settings(
    max_examples=SWEEP or 30,
    stateful_step_count=50 if SWEEP else 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestEngineMachine = EngineMachine.TestCase
