"""Summaries of conversations: by a cheap model, in parts it can take, tried twice at most."""

from __future__ import annotations

from typing import cast

import pytest

from jupyter_ai_shoulders.assist.one_shot import OneShotCalls
from jupyter_ai_shoulders.assist.summaries import ConversationSummarizer, Notes, split_by_tokens
from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.core.summaries import Summary, SummaryRequest
from jupyter_ai_shoulders.core.token_estimates import estimate_text
from jupyter_ai_shoulders.providers.base import ModelRequest, ResolvedModel
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Fail,
    ScriptedProvider,
    ScriptedTurn,
    turn,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId, TurnId
from tests.providers.adapter_fixtures import chat_model

CHEAP = ModelId("cheap")
BUSY = ProviderError("Busy.", code="overloaded", retryable=True)
ACCOUNT = UsageAccount("summary", SessionId("s1"), TurnId("t1"))


def notes(**said: list[str]) -> ScriptedTurn:
    empty: dict[str, list[str]] = {name: [] for name in Notes.model_fields}
    answer = cast("JsonObject", {**empty, **said})
    return turn(Call("answer", answer))


class SummarySetup:
    """One cheap model, and who may read."""

    def __init__(self, *script: ScriptedTurn, window: int = 32_000) -> None:
        self.provider = ScriptedProvider(*script)
        self.reader: ModelId | None = CHEAP
        self.asked_for: list[ModelId] = []
        self.model = chat_model(context_window=window)
        self.summaries = ConversationSummarizer(OneShotCalls(self, ModelPreferences), self)

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        return ResolvedModel(self.model, self.provider)

    def for_summary(self, turn_model: ModelId) -> ModelId | None:
        self.asked_for.append(turn_model)
        return self.reader

    async def summarise(self, *pieces: str, previous: str | None = None) -> Summary | None:
        order = SummaryRequest(pieces, previous, ModelId("strong"), ACCOUNT, 2_000)
        return await self.summaries.summarise(order)


def prompt(request: ModelRequest) -> str:
    (part,) = request.messages[0].parts
    assert part.type == "text"
    return part.text


async def test_summary_has_the_notes_under_headings_and_is_booked_as_one():
    said = notes(goals=["Clean data.csv"], user_said=[" Keep the\nfirst row "], open=["Plot it"])
    setup = SummarySetup(said)
    summary = await setup.summarise("User: hello", "Colleague: hi")
    assert summary == Summary(
        "Goals:\n- Clean data.csv\n\nWhat the user said and wants:\n- Keep the first row\n\n"
        "Still to do:\n- Plot it",
        CHEAP,
    )
    assert setup.asked_for == ["strong"]
    (request,) = setup.provider.requests
    assert request.account == ACCOUNT
    assert prompt(request) == "<conversation>\nUser: hello\nColleague: hi\n</conversation>"


async def test_earlier_summary_is_taken_up():
    setup = SummarySetup(notes(goals=["Both"]))
    await setup.summarise("User: more", previous="Goals:\n- The first")
    assert prompt(setup.provider.requests[0]).startswith("<notes>\nGoals:\n- The first\n</notes>")


async def test_long_conversation_is_read_in_parts_that_fit_the_model():
    setup = SummarySetup(
        notes(goals=["One"]), notes(goals=["Two"]), notes(goals=["Three"]), window=2_000
    )
    summary = await setup.summarise(*["word " * 250] * 5)
    assert summary == Summary("Goals:\n- Three", CHEAP)
    assert len(setup.provider.requests) == 3
    assert "Goals:\n- Two" in prompt(setup.provider.requests[2])


def test_parts_hold_all_pieces_in_order_and_no_more_than_fits():
    pieces = [f"{number} " + "x" * 300 for number in range(20)]
    read = list(split_by_tokens([*pieces, "y" * 9_000], 300, "other"))
    assert "\n".join(read).startswith("\n".join(pieces))
    assert all(estimate_text(part, "other") <= 330 for part in read)
    assert read[-1].startswith("yyy")


async def test_nobody_reads_what_nobody_may_read():
    setup = SummarySetup()
    setup.reader = None
    assert await setup.summarise("User: hello") is None
    assert setup.provider.requests == []


async def test_call_is_tried_twice():
    setup = SummarySetup(turn(Fail(BUSY)), notes(goals=["There"]))
    summary = await setup.summarise("User: hello")
    assert summary == Summary("Goals:\n- There", CHEAP)
    setup = SummarySetup(turn(Fail(BUSY)), turn(Fail(BUSY)), notes(goals=["Never"]))
    with pytest.raises(ProviderError):
        await setup.summarise("User: hello")
    assert len(setup.provider.requests) == 2


async def test_refused_by_the_budget_is_not_tried_again():
    setup = SummarySetup(turn(Fail(PolicyRefusal("Spent.", code="budget_exhausted"))))
    with pytest.raises(PolicyRefusal):
        await setup.summarise("User: hello")
    assert len(setup.provider.requests) == 1


async def test_notes_that_say_nothing_are_no_answer():
    setup = SummarySetup(notes(), notes(goals=[" "]), notes(goals=["Now"]))
    summary = await setup.summarise("User: hello")
    assert summary == Summary("Goals:\n- Now", CHEAP)
