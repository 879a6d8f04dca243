"""Calls that outlast their step: looked at by their handle, told of at their end, cancelled."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.redaction import Redactor
from jupyter_ai_shoulders.engine.call_run import CallRun, Recording
from jupyter_ai_shoulders.engine.long_calls import LongCalls
from jupyter_ai_shoulders.engine.results import CANCELLED
from jupyter_ai_shoulders.engine.spill import Spill
from jupyter_ai_shoulders.engine.state import Call
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    Ongoing,
    Progress,
    Result,
    ToolOutput,
    text_content,
)
from jupyter_ai_shoulders.wire.events import Event, RunEnd
from jupyter_ai_shoulders.wire.ids import CallId, LongRunId, SessionId, TurnId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope

SESSION, CALL, RUN = SessionId("s"), CallId("c"), LongRunId("run_1")
CONTEXT = CallContext(SESSION, TurnId("t"), CALL, {}, None)


def result(text: str) -> Result:
    return Result(ToolEnvelope(ok=True, kind="outputs", data={"said": text}), text_content(text))


class Slow:
    """A tool that goes on until it is let go."""

    name = "slow"

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def run(self, args: Any, context: CallContext) -> AsyncIterator[ToolOutput]:
        yield Ongoing(lambda: result("so far"))
        await self.go.wait()
        yield Progress("stdout", "more")
        yield result("all")


class World:
    """One long call that was handed over."""

    def __init__(self) -> None:
        self.said: list[Event] = []
        self.calls = LongCalls(CountingIds())
        self.calls.tell(lambda session_id, event: self.said.append(event))
        self.tool: Any = Slow()

    async def adopt(self) -> Result:
        recording = Recording(self.said.append, SystemClock(), 0.0, Redactor())
        run = CallRun(self.tool, None, CONTEXT, recording)
        assert not await run.wait(0.01)
        spill = Spill(MemoryStore().blobs, Redactor(), paged=True)
        call = Call(CALL, "slow", {}, None, "execute", "Be slow")
        outcome = self.calls.adopt(SESSION, call, run, spill)
        assert (outcome.status, outcome.run) == ("ok", RUN)
        assert outcome.result is not None
        return outcome.result

    def ends(self) -> list[RunEnd]:
        return [event for event in self.said if isinstance(event, RunEnd)]


def text(shown: Result | None) -> str:
    assert shown is not None
    return "".join(part.text for part in shown.content if isinstance(part, TextPart))


async def test_result_for_now_says_how_far_it_is_and_what_to_do():
    world = World()
    now = await world.adopt()
    assert text(now).startswith("so far[Still running")
    assert RUN in text(now)
    assert now.envelope.data == {"said": "so far", "run": RUN, "status": "running"}
    assert world.calls.knows(SESSION, RUN)
    assert not world.calls.knows(SessionId("another"), RUN)
    world.tool.go.set()
    await world.calls.ended(SESSION)


async def test_end_is_told_once_after_what_was_said_and_can_be_read():
    world = World()
    await world.adopt()
    assert text(await world.calls.look(SESSION, RUN, 0.01)).startswith("so far")
    world.tool.go.set()
    assert text(await world.calls.look(SESSION, RUN, 20)) == "all"
    assert [event.type for event in world.said] == ["tool-progress", "run-end"]
    assert world.ends()[0].status == "ok"
    assert not world.calls.knows(SESSION, RUN)
    assert await world.calls.look(SessionId("another"), RUN, 0) is None
    assert await world.calls.look(SESSION, "run_9", 0) is None


async def test_cancel_and_the_end_of_the_server_stop_it_and_say_why():
    world = World()
    await world.adopt()
    world.calls.cancel(SessionId("another"), CANCELLED)
    assert world.calls.knows(SESSION, RUN)
    world.calls.cancel(SESSION, CANCELLED)
    await world.calls.ended(SESSION)
    (end,) = world.ends()
    assert (end.status, end.result.error) == ("cancelled", CANCELLED)
    await world.calls.stop(CANCELLED)
