"""The turns of a client's conversation, with a fake engine."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.core.clock import RandomIds
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.host.mcp_server import conversation as module
from jupyter_ai_shoulders.host.mcp_server.clients import UNNAMED, shown_name
from jupyter_ai_shoulders.host.mcp_server.conversation import (
    CallOutcome,
    ClientConversation,
    ConversationPorts,
)
from jupyter_ai_shoulders.host.state.event_bus import EventBus
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Event, ToolResult, TurnEnd, TurnStart
from jupyter_ai_shoulders.wire.ids import CallId, ModelId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope

SESSION = SessionId("s1")


class FakeEngine:
    """Opens turns, or fails to."""

    def __init__(self, bus: EventBus) -> None:
        self.bus = bus
        self.problems: list[Exception] = []
        self.turns = 0
        self.cancelled = 0

    async def send(self, session_id: SessionId, command: SendMessage) -> None:
        await asyncio.sleep(0)
        if self.problems:
            raise self.problems.pop()
        self.turns += 1
        self.publish(
            TurnStart(
                session_id=session_id,
                turn_id=TurnId(f"t{self.turns}"),
                message_id=command.id,
                model=ModelId("client:Robot"),
                provider=ProviderId("mcp"),
                mode="ask",
                step_limit=1,
            )
        )

    async def cancel(self, session_id: SessionId) -> None:
        del session_id
        self.cancelled += 1

    def is_running(self, session_id: SessionId) -> bool:
        del session_id
        return self.turns > 0

    def publish(self, event: Event) -> None:
        self.bus.publish(LoggedEvent(event, ""))

    def answer(self, call_id: CallId) -> None:
        envelope = ToolEnvelope(ok=True, kind="text", data=None)
        self.publish(
            ToolResult(
                session_id=SESSION,
                call_id=call_id,
                tool="read_notebook",
                status="ok",
                result=envelope,
                content=(TextPart(text="Done."),),
                duration_ms=1,
            )
        )

    def end(self, **fields: Any) -> None:
        self.publish(TurnEnd(session_id=SESSION, exit="final_response", **fields))


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(EventBus())


@pytest.fixture
def robot(engine: FakeEngine) -> ClientConversation:
    ids = RandomIds()
    ports = ConversationPorts(cast("Engine", engine), engine.bus, BackgroundTasks(ids), ids)
    return ClientConversation(SESSION, "Robot", ports)


def called(robot: ClientConversation) -> asyncio.Task[CallOutcome]:
    return asyncio.create_task(robot.call("read_notebook", {}, lambda _: None))


async def taken(robot: ClientConversation) -> list[CallId]:
    return [call.call_id for call in await robot.take() or ()]


async def test_calls_of_one_turn_are_taken_together_and_answered(
    robot: ClientConversation, engine: FakeEngine
) -> None:
    calls = [called(robot), called(robot)]
    await asyncio.sleep(0)
    for call_id in await taken(robot):
        engine.answer(call_id)

    assert [(await call).status for call in calls] == ["ok", "ok"]
    assert engine.turns == 1


async def test_an_idle_turn_ends_and_the_next_call_opens_another(
    robot: ClientConversation, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.01)
    first = called(robot)
    engine.answer((await taken(robot))[0])
    await first

    assert await robot.take() is None
    late = called(robot)  # while the turn is ending
    await asyncio.sleep(0)
    engine.end()
    engine.answer((await taken(robot))[0])

    assert (await late).status == "ok"
    assert engine.turns == 2


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (StateUnavailable("The disk is full."), "The disk is full."),
        (RuntimeError("bug"), "failed unexpectedly"),
    ],
    ids=["expected", "bug"],
)
async def test_a_turn_that_cannot_open_fails_the_calls_and_the_next_one_works(
    robot: ClientConversation, engine: FakeEngine, problem: Exception, said: str
) -> None:
    engine.problems.append(problem)
    failed = await called(robot)
    again = called(robot)
    engine.answer((await taken(robot))[0])

    assert failed.envelope.error is not None
    assert said in failed.envelope.error.message
    assert (await again).status == "ok"


async def test_the_error_of_a_turn_fails_the_calls_that_waited(
    robot: ClientConversation, engine: FakeEngine
) -> None:
    waiting = called(robot)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    engine.end(error=ErrorInfo(code="internal", message="Broken."))

    outcome = await waiting
    assert outcome.envelope.error is not None
    assert outcome.envelope.error.message == "Broken."


async def test_a_call_cancelled_before_it_is_taken_is_never_made(
    robot: ClientConversation, engine: FakeEngine
) -> None:
    call, other = called(robot), called(robot)
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    (left,) = await taken(robot)
    engine.answer(left)

    assert (await other).status == "ok"
    assert engine.cancelled == 0


async def test_a_call_cancelled_while_it_runs_stops_the_turn(
    robot: ClientConversation, engine: FakeEngine
) -> None:
    call = called(robot)
    await asyncio.sleep(0)
    await taken(robot)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await asyncio.sleep(0)

    assert engine.cancelled == 1


async def test_too_many_waiting_calls_are_refused(
    robot: ClientConversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    waiting = called(robot)
    await asyncio.sleep(0)
    refused = await called(robot)
    robot.close()

    assert refused.envelope.error is not None
    assert refused.envelope.error.code == "rate_limited"
    assert (await waiting).envelope.error == module.LOST


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Claude Code", "Claude Code"),
        ("  a\n\tb\u202e ", "a b"),
        ("x" * 100, "x" * 60),
        ("\x00\u200b", UNNAMED),
    ],
    ids=["plain", "control characters", "long", "nothing left"],
)
def test_names_of_clients_are_one_short_line(given: str, shown: str) -> None:
    assert shown_name(given) == shown
