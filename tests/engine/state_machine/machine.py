"""A state machine drives the engine: sends, steering, edited messages, answers, supplied results,
limits, cancels, compactions, external edits, crashes, full disks, and a page that reconnects.

After every step the log keeps its invariants and gives a valid history, and the page has seen only
logged events. At the end the session accepts a message and the page has all of it. Run briefly by
``test_machine``, for tens of thousands of steps by ``python -m tests.engine.state_machine.sweep``.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    StateUnavailable,
)
from jupyter_ai_shoulders.core.summaries import CompactionMode
from jupyter_ai_shoulders.engine.request.context import build_request_content
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import (
    Fail,
    ScriptedProvider,
    ScriptedTurn,
    turn,
)
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerQuestion,
    EditMessage,
    ResumeTurn,
    SupplyResult,
)
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.ids import CallId, MessageId
from jupyter_ai_shoulders.wire.sessions import Mode, ToolsMode
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine,
    make_engine_around,
    make_session,
)
from tests.engine.engine_harness import make_settings as limits
from tests.engine.fake_page import FakePage
from tests.engine.fake_tools import ToolProbe
from tests.engine.log_invariants import check_history, check_log, check_requests
from tests.engine.state_machine.fakes import (
    AFTERWARDS,
    LIMIT,
    LOOP,
    MODES,
    OTHER_PAGE_ACTIONS,
    REPLIES,
    SLOW,
    SPENT,
    TOO_LONG,
    Limits,
    Writer,
    filling_disk,
    full_disk,
)

T = TypeVar("T")


@dataclass
class Tally:
    """Counts of all machines of a run."""

    steps: int = 0
    machines: int = 0
    events: Counter[str] = field(default_factory=Counter[str])
    """How often each type of event was logged."""


class EngineMachine(RuleBasedStateMachine):
    """One session and everything that can happen to it."""

    def __init__(self, tally: Tally | None = None) -> None:
        super().__init__()
        self.tally = tally or Tally()
        self.tally.machines += 1
        self.loop = asyncio.Runner()
        self.numbers = itertools.count(1)
        self.replies = REPLIES
        self.asked = 0
        self.compaction: CompactionMode = "auto"
        self.writer = Writer()
        w = make_engine(given=make_session(mode="auto_edit"))
        self.log = [logged.text for logged in w.store.read(SESSION)]
        self.page = FakePage(SESSION)
        self.world: EngineHarness = self.around(w.store, w.probe, w.ids)

    def around(self, store: MemoryStore, probe: ToolProbe, ids: CountingIds) -> EngineHarness:
        provider = ScriptedProvider(*[self.reply] * 10_000)
        store.after_append = self.heard
        return make_engine_around(
            store,
            probe,
            provider,
            limits=limits(step_limit=4, compaction=self.compaction),
            ids=ids,
            loop=LOOP,
            budgets=Limits(),
            summarizer=self.writer,
        )

    def heard(self, logged: LoggedEvent) -> None:
        """Act as the hub: send logged events to the page."""
        self.tally.events[logged.event.type] += 1
        self.log.append(logged.text)
        self.page.heard(logged)

    def reply(self, request: ModelRequest) -> ScriptedTurn:
        self.asked += 1
        return self.replies[self.asked % len(self.replies)]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(work)

    def settle(self) -> None:
        """Release blocked calls and wait until nothing runs."""
        self.let_go()
        self.run(self.world.settle())

    def let_go(self) -> None:
        """Release blocked calls."""
        for gate in self.world.probe.gates.values():
            gate.set()
        self.world.probe.gates.clear()

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
    def busy(self) -> bool:
        return self.world.session.status not in {"idle", "error"}

    @property
    def unsettled(self) -> list[CallId]:
        done = {event.call_id for event in self.world.of(ev.ToolResult)}
        return [e.call_id for e in self.world.of(ev.ToolCall) if e.call_id not in done]

    # actions

    @rule(replies=st.lists(st.sampled_from(REPLIES), min_size=1, max_size=4))
    def model_will_say(self, replies: list[ScriptedTurn]) -> None:
        self.replies = replies

    @rule(settle=st.booleans(), mode=st.sampled_from(MODES))
    def send(self, settle: bool, mode: Mode | None) -> None:
        self.send_twice(mode)
        if settle:
            self.settle()

    @rule()
    def steer(self) -> None:
        # No precondition: a turn's progress may differ between two runs of one program.
        if self.world.engine.is_running(SESSION):
            self.send_twice(None)

    def send_twice(self, mode: Mode | None) -> None:
        """Send a message twice at once and once more: it is accepted once."""
        message = f"m{next(self.numbers)}"

        async def send() -> list[MessageAccepted]:
            again = (self.world.send("Do it", message=message, mode=mode) for _ in range(2))
            return await asyncio.gather(*again)

        first, second = self.run(send())
        assert first == second == self.run(self.world.send("Do it", message=message, mode=mode))

    @precondition(lambda self: not self.world.probe.gates)
    @rule(call=st.sampled_from(SLOW))
    def tool_becomes_slow(self, call: str) -> None:
        self.world.probe.hold(call)

    @precondition(lambda self: self.world.probe.gates)
    @rule()
    def slow_tools_end(self) -> None:
        self.settle()

    @rule(path=st.sampled_from("abc"), text=st.text(max_size=3), opened=st.booleans())
    def file_changes_outside(self, path: str, text: str, opened: bool) -> None:
        probe = self.world.probe
        probe.contents[path] = text
        (probe.open_in_page.add if opened else probe.open_in_page.discard)(path)

    @precondition(lambda self: self.page.is_here)
    @rule()
    def page_leaves(self) -> None:
        self.page.leave()

    @precondition(lambda self: not self.page.is_here)
    @rule(back=st.integers(0, 30))
    def page_comes_back(self, back: int) -> None:
        self.run(self.page.come(self.world.store, back))

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
        self.let_go()
        self.run(self.world.answer(decision, scope, call_id=call_id))
        with pytest.raises(Conflict):
            self.run(self.world.answer(decision, scope, call_id=call_id))

    @precondition(lambda self: self.question is not None)
    @rule(answer=st.sampled_from(["Blue", ("Blue", "Red")]))
    def answer_question(self, answer: str | tuple[str, ...]) -> None:
        call_id = CallId(self.question or "")
        command = AnswerQuestion(answer=answer)
        with contextlib.suppress(Conflict):  # a cancel may be on its way
            self.run(self.world.engine.responses.answer_question(SESSION, call_id, command))
            with pytest.raises(Conflict):
                self.run(self.world.engine.responses.answer_question(SESSION, call_id, command))
            self.settle()

    @rule(tools=st.sampled_from(["enabled", "enabled", "enabled", "parse_only", "disabled"]))
    def tools_mode_changes(self, tools: ToolsMode) -> None:
        changed = self.world.session.model_copy(update={"tools": tools})
        self.world.store.update(changed)

    @precondition(lambda self: self.unsettled)
    @rule(which=st.integers(0, 3), ok=st.booleans())
    def supply(self, which: int, ok: bool) -> None:
        call_id = self.unsettled[which % len(self.unsettled)]
        command = SupplyResult(content="Supplied.", ok=ok)
        with contextlib.suppress(Conflict):
            self.run(self.world.engine.responses.supply_result(SESSION, call_id, command))
            with pytest.raises(Conflict):
                self.run(self.world.engine.responses.supply_result(SESSION, call_id, command))
            self.settle()

    @rule()
    def cancel(self) -> None:
        if not self.busy:
            return
        self.run(self.world.engine.cancel(SESSION))

    @rule(decision=st.sampled_from(["resume", "resume", "discard"]))
    def resume(self, decision: Any) -> None:
        with contextlib.suppress(Conflict):
            self.run(self.world.engine.resume(SESSION, ResumeTurn(decision=decision)))

    @rule(limit=st.sampled_from([LIMIT // 2, LIMIT, LIMIT + 1]))
    def raise_the_limit(self, limit: int) -> None:
        before = len(self.log)
        command = ResumeTurn(decision="resume", limit_micro_usd=limit)
        try:
            self.run(self.world.engine.resume(SESSION, command))
        except Conflict:
            return  # nothing waits at a limit
        except PolicyRefusal:
            assert limit > LIMIT
            assert not any('"turn-resume"' in text for text in self.log[before:])

    @rule(
        other_page=st.sampled_from(OTHER_PAGE_ACTIONS),
        turns=st.integers(0, 6),
        room=st.sampled_from([None, None, 0, 1, 2, 3]),
        pauses=st.booleans(),
    )
    def limit_is_raised_while(
        self, other_page: str, turns: int, room: int | None, pauses: bool
    ) -> None:
        """Another page acts while a higher limit is stored, or the disk fills up."""
        if pauses and not self.busy:
            usual, self.replies = self.replies, [turn(Fail(SPENT))]
            self.run(self.world.send("Spend", message=f"m{next(self.numbers)}"))
            self.settle()
            self.replies = usual
        if room is not None:
            self.world.store.before_append = filling_disk(room)
        self.run(self.raised_while(other_page, turns))
        if room is not None:
            self.settle()
            self.world.store.before_append = None

    async def raised_while(self, other_page: str, turns: int) -> None:
        engine, resume = self.world.engine, ResumeTurn(decision="resume", limit_micro_usd=LIMIT)
        work = asyncio.create_task(engine.resume(SESSION, resume))
        for _ in range(turns):
            await asyncio.sleep(0)
        with contextlib.suppress(Conflict, NotFound, InvalidRequest, StateUnavailable):
            match other_page:
                case "send":
                    await self.world.send("Else", message=f"m{next(self.numbers)}")
                case "replace":
                    await self.replace_message(0)
                case "cancel":
                    await engine.cancel(SESSION)
                case "discard":
                    await engine.resume(SESSION, ResumeTurn(decision="discard"))
                case _:
                    await engine.resume(SESSION, resume)
        with contextlib.suppress(Conflict, StateUnavailable):
            await work

    async def replace_message(self, back: int) -> None:
        ids = [event.message_id for event in self.world.of(ev.MessageAdd)]
        if len(ids) > back:
            replaces = MessageId(ids[-1 - back])
            await self.world.send("Rather", message=f"m{next(self.numbers)}", replaces=replaces)

    @rule(back=st.integers(0, 3))
    def message_is_sent_in_place_of_another(self, back: int) -> None:
        with contextlib.suppress(Conflict, NotFound):  # running, an answer, or already hidden
            self.run(self.replace_message(back))

    @rule(remove=st.booleans(), back=st.integers(0, 2))
    def change_a_message(self, remove: bool, back: int) -> None:
        ids = [event.message_id for event in self.world.of(ev.MessageAdd)]
        if len(ids) <= back:
            return
        message_id = MessageId(ids[-1 - back])
        engine = self.world.engine
        with contextlib.suppress(Conflict):
            if remove:
                self.run(engine.messages.remove_queued(SESSION, message_id))
            else:
                self.run(
                    engine.messages.edit_queued(SESSION, message_id, EditMessage(text="Other"))
                )

    @rule(then=st.sampled_from(AFTERWARDS))
    def server_stops_and_starts(self, then: Any) -> None:
        self.run(self.world.engine.stop())
        self.restart(len(self.world.events), then)

    @rule(mode=st.sampled_from(["auto", "auto", "ask", "off"]))
    def setting_of_compaction_changes(self, mode: CompactionMode) -> None:
        """Change a setting that applies from the next server start."""
        self.compaction = mode

    @rule(turns=st.integers(1, 5), goes_on=st.booleans())
    def conversation_outgrows_the_model(self, turns: int, goes_on: bool) -> None:
        """Send several turns; the provider finds the next one too long."""
        if self.busy:
            return
        self.replies = [REPLIES[0]]
        for _ in range(turns):
            self.run(self.world.send("And more", message=f"m{next(self.numbers)}"))
            self.settle()
        self.asked, self.replies = -1, [turn(Fail(TOO_LONG)), REPLIES[0]]
        self.run(self.world.send("Too much", message=f"m{next(self.numbers)}"))
        if goes_on:
            self.settle()

    @rule(lost=st.integers(0, 12), then=st.sampled_from(AFTERWARDS))
    def server_is_killed(self, lost: int, then: Any) -> None:
        self.restart(max(1, len(self.world.events) - lost), then)

    def restart(self, kept: int, then: Any) -> None:
        self.run(self.kill())
        store = self.world.store.cut(SESSION, kept)
        del self.log[kept:]
        self.page.power_lost(kept)
        self.world = self.around(store, self.world.probe, self.world.ids)
        self.run(self.world.engine.start())
        if then is not None and self.busy:
            self.resume(then)

    async def kill(self) -> None:
        self.page.leave()
        self.world.store.before_append = full_disk  # events of the dead server are not seen
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    @rule(appends=st.integers(0, 6), turns=st.integers(0, 30))
    def disk_is_full_for_a_while(self, appends: int, turns: int) -> None:
        self.world.store.before_append = filling_disk(appends)
        with contextlib.suppress(StateUnavailable):
            self.run(self.world.send("On a full disk", message=f"m{next(self.numbers)}"))
        self.time_passes(turns)
        self.settle()
        self.world.store.before_append = None

    # invariants

    @invariant()
    def page_sees_the_log(self) -> None:
        self.tally.steps += 1
        self.page.check(self.log)

    @invariant()
    def log_is_whole_and_history_valid(self) -> None:
        check_log(self.world.events)
        check_requests(self.world.provider.requests)
        check_history(build_request_content(self.world.events, self.world.store.blobs).messages)

    def teardown(self) -> None:
        self.let_go()
        self.run(self.goes_on())
        self.run(self.page.sees_all(self.world.store, self.log))
        self.run(self.kill())
        self.loop.close()

    async def goes_on(self) -> None:
        """Check that the session accepts a message and its turn ends."""
        w = self.world
        self.replies = [REPLIES[0]]
        await w.engine.cancel(SESSION)
        await w.settle()
        await w.say("At last", message="last")
        while (pending := self.pending) is not None:
            with contextlib.suppress(Conflict, InvalidRequest):
                command = AnswerApproval(decision="allow")
                await w.engine.responses.answer_approval(SESSION, CallId(pending), command)
            await w.settle()
        assert w.exits()[-1] == "final_response"
        assert w.session.status == "idle"
        check_log(w.events)
        check_requests(w.provider.requests)
