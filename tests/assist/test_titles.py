"""Titles of conversations: made after the first turn, in silence, and never over the user's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from jupyter_ai_shoulders.assist.one_shot import OneShotCalls
from jupyter_ai_shoulders.assist.titles import Titler, is_automatic, shorten_title
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Fail,
    Gate,
    ScriptedProvider,
    ScriptedTurn,
    turn,
)
from jupyter_ai_shoulders.wire.events import (
    Event,
    MessageAdd,
    TextDelta,
    TurnEnd,
    TurnStart,
)
from jupyter_ai_shoulders.wire.ids import MessageId, ModelId, PartId, ProviderId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session, SessionKind
from tests.providers.adapter_fixtures import chat_model

SES = SessionId("ses_1")
ASKED = "Why does it rain so much in Bergen?\nI wonder."
FIRST_LINE = "Why does it rain so much in Bergen?"


class Store(MemoryStore):
    """Lists whose events somebody hears of."""

    def __init__(self, heard: Callable[[LoggedEvent], None]) -> None:
        super().__init__()
        self._heard = heard

    def append(self, session_id: SessionId, event: Event) -> LoggedEvent:
        logged = super().append(session_id, event)
        self._heard(logged)
        return logged


class Room:
    """A store whose events a titler hears, and the models it may ask."""

    def __init__(self, *script: ScriptedTurn, kind: SessionKind = "chat", title: str = "") -> None:
        self.provider = ScriptedProvider(*script)
        self.namer: ModelId | None = ModelId("m")
        self.refusal: Exception | None = None
        self.turn_models: list[ModelId] = []
        self.store = Store(self.hear)
        self.titler = Titler(OneShotCalls(self, ModelPreferences), self, self.store)
        self.store.add(new_session(kind, title))

    def hear(self, logged: LoggedEvent) -> None:
        self.titler.on_event(logged)

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        assert model_id == self.namer
        return ResolvedModel(chat_model(), self.provider)

    def for_title(self, turn_model: ModelId) -> ModelId | None:
        self.turn_models.append(turn_model)
        if self.refusal is not None:
            raise self.refusal
        return self.namer

    def say(self, *events: Event) -> None:
        for event in events:
            self.store.append(SES, event)

    def retitle(self, title: str) -> None:
        session = self.store.get(SES)
        self.store.update(session.model_copy(update={"title": title}))

    @property
    def title(self) -> str:
        return self.store.get(SES).title


def new_session(kind: SessionKind = "chat", title: str = "") -> Session:
    return Session(
        id=SES,
        kind=kind,
        source="chat",
        title=title,
        model=None,
        mode="ask",
        tools="enabled",
        toolset="full",
        interactive=True,
        status="idle",
        anchor=None,
        owner=None,
        message_count=0,
        last_seq=0,
        tokens_used=0,
        window=None,
        cost_micro_usd=None,
        created_at="",
        updated_at="",
    )


MESSAGE = MessageAdd(message_id=MessageId("m1"), text=ASKED)
START = TurnStart(
    message_id=MessageId("m1"),
    model=ModelId("claude"),
    provider=ProviderId("anthropic"),
    mode="ask",
    step_limit=9,
)
SPOKEN = TextDelta(part_id=PartId("p"), text="It faces the sea.")
END = TurnEnd(exit="final_response")
TURN = (MESSAGE, START, SPOKEN, END)
NAMED = turn(Call("answer", {"title": " “Rain in Bergen.” "}))


async def ended(room: Room) -> None:
    """Wait for whatever was begun."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    named = [task for task in others if task.get_name() == "shoulders-title"]
    await asyncio.gather(*named)


async def test_title_is_made_after_the_first_turn_only() -> None:
    room = Room(NAMED)
    room.retitle(FIRST_LINE)  # as the engine does when the turn begins
    room.say(*TURN)
    assert room.title == FIRST_LINE
    await ended(room)
    assert room.title == "Rain in Bergen"
    room.say(*TURN)
    await ended(room)
    (request,) = room.provider.requests
    assert request.account is not None
    assert (request.account.purpose, request.account.session_id) == ("title", SES)
    assert request.max_output == 200
    sent = str(request.messages)
    assert FIRST_LINE in sent
    assert "It faces the sea." in sent
    assert room.turn_models == ["claude"]


@pytest.mark.parametrize("when", ["before", "meanwhile"])
async def test_title_of_the_user_stays(when: str) -> None:
    gate = Gate()
    room = Room(turn(gate, Call("answer", {"title": "Rain in Bergen"})))
    if when == "before":
        room.retitle("Mine")
    room.say(*TURN)
    await gate.reached.wait()
    if when == "meanwhile":
        room.retitle("Mine")
    gate.open.set()
    await ended(room)
    assert room.title == "Mine"


async def test_session_made_with_a_title_is_not_named() -> None:
    room = Room(title="Mine")
    room.say(*TURN)
    await ended(room)
    assert room.provider.requests == []


@pytest.mark.parametrize("kind", ["run", "scheduled", "kernel"])
async def test_sessions_nobody_reads_are_not_named(kind: SessionKind) -> None:
    room = Room(kind=kind)
    room.say(*TURN)
    await ended(room)
    assert room.provider.requests == []


async def test_conversation_of_the_demo_is_not_named() -> None:
    room = Room()
    room.namer = None
    room.say(*TURN)
    await ended(room)
    assert (room.provider.requests, room.title) == ([], "")


async def test_failed_turn_is_not_named() -> None:
    room = Room()
    failed = TurnEnd(exit="error", error=InvalidRequest("No.").info)
    room.say(MESSAGE, START, failed)
    await ended(room)
    assert room.provider.requests == []


@pytest.mark.parametrize(
    "refusal",
    [
        InvalidRequest("Nobody can.", code="no_key"),
        PolicyRefusal("The month's budget is spent.", code="budget_exhausted"),
    ],
)
async def test_without_model_or_budget_the_first_line_stays(refusal: Exception) -> None:
    room = Room()
    room.refusal = refusal
    room.retitle(FIRST_LINE)
    room.say(*TURN)
    await ended(room)
    assert room.title == FIRST_LINE


@pytest.mark.parametrize(
    "answer",
    [
        turn(Fail(ProviderError("Down.", code="overloaded"))),
        turn(Fail(PolicyRefusal("Spent.", code="budget_exhausted"))),
        turn(Call("answer", {"title": ' "." '})),
    ],
)
async def test_failed_call_is_silent(answer: ScriptedTurn) -> None:
    room = Room(answer)
    room.say(*TURN)
    await ended(room)
    assert room.title == ""


async def test_closing_gives_up_what_is_being_asked() -> None:
    gate = Gate()
    room = Room(turn(gate))
    room.say(*TURN)
    await gate.reached.wait()
    await room.titler.aclose()
    assert room.provider.closed_early == 1


@pytest.mark.parametrize(
    ("title", "automatic"),
    [
        ("", True),
        (FIRST_LINE, True),
        ("Why does it rain so m…", True),
        ("Rain", False),
        ("I wonder.", False),
    ],
)
def test_automatic_title_is_the_beginning_of_the_message(title: str, automatic: bool) -> None:
    assert is_automatic(title, f"\n  {ASKED}") == automatic


def test_long_title_is_cut_between_words() -> None:
    assert shorten_title("rain " * 20) == "rain " * 10 + "rain…"
    assert shorten_title('"Rain\nin Bergen."') == "Rain in Bergen"
