"""Calls in the background: read by handle, reported at their end, cancelled."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.engine.calls import background_tasks
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.calls.execution import CallRecording, ToolCallExecution
from jupyter_ai_shoulders.engine.calls.output_truncation import OutputTruncator
from jupyter_ai_shoulders.engine.loop.state import CallState
from jupyter_ai_shoulders.engine.loop.synthetic_results import CANCELLED
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import Call as Made
from jupyter_ai_shoulders.testing.scripted_provider import turn
from jupyter_ai_shoulders.tools.base import (
    BackgroundCall,
    CallContext,
    Progress,
    Result,
    ToolOutput,
    text_content,
)
from jupyter_ai_shoulders.wire.events import Event, RunEnd, TextEnd
from jupyter_ai_shoulders.wire.ids import CallId, LongRunId, SessionId, TurnId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from tests.engine.engine_harness import make_engine, make_settings
from tests.engine.fake_tools import Look, PathArguments, ToolProbe
from tests.engine.loop.test_turns import check

SESSION, CALL, RUN = SessionId("s"), CallId("c"), LongRunId("run_1")
CONTEXT = CallContext(SESSION, TurnId("t"), CALL, {}, None)


def result(text: str) -> Result:
    return Result(ToolEnvelope(ok=True, kind="outputs", data={"said": text}), text_content(text))


class Slow:
    """A tool that runs until it is released."""

    name = "slow"

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def run(self, args: Any, context: CallContext) -> AsyncIterator[ToolOutput]:
        yield BackgroundCall(lambda: result("so far"))
        await self.go.wait()
        yield Progress("stdout", "more")
        yield result("all")


class World:
    """One call in the background."""

    def __init__(self) -> None:
        self.said: list[Event] = []
        self.calls = BackgroundTasks(CountingIds())
        self.calls.subscribe(lambda session_id, event: self.said.append(event))
        self.tool: Any = Slow()

    async def adopt(self) -> Result:
        recording = CallRecording(self.said.append, SystemClock(), 0.0, Redactor)
        run = ToolCallExecution(self.tool, None, CONTEXT, recording)
        assert not await run.wait(0.01)
        truncator = OutputTruncator(MemoryStore().blobs, Redactor(), paged=True)
        call = CallState(CALL, "slow", {}, None, "execute", "Be slow")
        outcome = self.calls.adopt(SESSION, call, run, truncator)
        assert (outcome.status, outcome.run) == ("ok", RUN)
        assert outcome.result is not None
        assert outcome.recorded is not None
        outcome.recorded()
        return outcome.result

    def ends(self) -> list[RunEnd]:
        return [event for event in self.said if isinstance(event, RunEnd)]


def text(shown: Result | None) -> str:
    assert shown is not None
    return "".join(part.text for part in shown.content if isinstance(part, TextPart))


async def test_result_for_now_says_how_far_it_is_and_what_to_do():
    own = World()
    now = await own.adopt()
    assert text(now).startswith("so far[Still running")
    assert RUN in text(now)
    assert now.envelope.data == {"said": "so far", "run": RUN, "status": "running"}
    assert own.calls.is_running(SESSION, RUN)
    assert not own.calls.is_running(SessionId("another"), RUN)
    own.tool.go.set()
    await own.calls.ended(SESSION)


async def test_end_is_told_once_after_what_was_said_and_can_be_read():
    own = World()
    await own.adopt()
    assert text(await own.calls.poll(SESSION, RUN, 0.01)).startswith("so far")
    own.tool.go.set()
    assert text(await own.calls.poll(SESSION, RUN, 20)) == "all"
    assert [event.type for event in own.said] == ["tool-progress", "run-end"]
    assert own.ends()[0].status == "ok"
    assert not own.calls.is_running(SESSION, RUN)
    assert await own.calls.poll(SessionId("another"), RUN, 0) is None
    assert await own.calls.poll(SESSION, "run_9", 0) is None


async def test_cancel_and_the_end_of_the_server_stop_it_and_say_why():
    own = World()
    await own.adopt()
    own.calls.cancel(SessionId("another"), CANCELLED)
    assert own.calls.is_running(SESSION, RUN)
    own.calls.cancel(SESSION, CANCELLED)
    await own.calls.ended(SESSION)
    (end,) = own.ends()
    assert (end.status, end.result.error) == ("cancelled", CANCELLED)
    await own.calls.stop(CANCELLED)


class Outlasting(Look):
    """Moves to the background when its step does not wait for it."""

    name = "outlast"

    def __init__(self) -> None:
        super().__init__(ToolProbe())
        self.handed_over = asyncio.Event()
        self.says = "all"

    async def run(self, args: PathArguments, context: CallContext) -> AsyncIterator[Any]:
        yield BackgroundCall(self._look)
        await self.probe.work("outlast")
        yield result(self.says)

    def _look(self) -> Result:
        self.handed_over.set()
        return result("so far")


async def test_end_before_the_results_of_its_step_are_logged_is_told_after_them():
    tool: Any = Outlasting()
    step = turn(Made("look", {"path": "a"}, "c1"), Made("outlast", {"path": "b"}, "c2"))
    limits = make_settings(run_wait_s=0.01)
    w = make_engine(step, "Both were done.", limits=limits, loop=[tool])
    tool.probe.hold("outlast")
    looking = w.probe.hold("look:a")
    await w.send()
    async with asyncio.timeout(20):
        await asyncio.gather(looking.wait(), tool.handed_over.wait())
        tool.probe.gates["outlast"].set()
        for _ in range(20):
            await asyncio.sleep(0)
        assert (tool.probe.finished, w.results()) == (["outlast"], [])
        w.probe.gates["look:a"].set()
        await w.settle()
    assert w.results() == [("c1", "ok"), ("c2", "ok")]
    assert [end.status for end in w.of(RunEnd)] == ["ok"]
    assert w.exits() == ["final_response"]
    check(w)


@pytest.mark.parametrize("where", ["log", "blobs"])
async def test_end_that_a_full_disk_refuses_is_told_when_there_is_space(
    where: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(background_tasks, "RETRY_SECONDS", 0.01)
    tool: Any = Outlasting()
    tool.says = "all " * 50_000 if where == "blobs" else "all"
    step = turn(Made("outlast", {"path": "b"}, "c1"))
    w = make_engine(
        step, "I wait.", "It was done.", limits=make_settings(run_wait_s=0.01), loop=[tool]
    )
    tool.probe.hold("outlast")
    spoken, again = asyncio.Event(), asyncio.Event()
    refused: list[object] = []

    def spoke(event: Event) -> None:
        if isinstance(event, TextEnd):
            spoken.set()

    def full(kept: object) -> Any:
        if where == "blobs" or isinstance(kept, RunEnd):
            refused.append(kept)
            if len(refused) > 2:
                again.set()
            raise StateUnavailable("The disk is full.", code="disk_full")

    w.store.before_append = spoke
    await w.send()
    async with asyncio.timeout(60):
        await tool.handed_over.wait()
        await spoken.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        with monkeypatch.context() as disk:
            if where == "log":
                disk.setattr(w.store, "before_append", full)
            else:
                disk.setattr(w.store.blobs, "put", full)
            tool.probe.gates["outlast"].set()
            await again.wait()
            assert w.of(RunEnd) == []
        await w.settle()
    assert [end.status for end in w.of(RunEnd)] == ["ok"]
    assert w.exits() == ["final_response"]
    check(w)
