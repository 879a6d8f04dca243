"""The meter in front of a provider: reservations, bookings and usage reports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.budget.limits import CallSettlement, PlannedCall
from jupyter_ai_shoulders.core.catalogue.prices import PriceTable
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ProviderError
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    ProviderEvent,
    ResolvedModel,
    Stop,
    UsageReport,
)
from jupyter_ai_shoulders.providers.metering import Admission, Metering
from jupyter_ai_shoulders.testing.scripted_provider import (
    Fail,
    Gate,
    Say,
    ScriptedProvider,
    ScriptEntry,
    turn,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.providers.adapter_fixtures import (
    Kind,
    answering,
    ask,
    chat_model,
    make_endpoint,
    provider_of,
)

PRICES = PriceTable(input=1_000_000, output=10_000_000)
ACCOUNT = UsageAccount("turn", SessionId("s1"), TurnId("t1"))
USAGE = TokenUsage(input_tokens=100, output_tokens=20)


@dataclass
class RecordingMeter:
    """A meter that records its calls."""

    refusal: PolicyRefusal | None = None
    planned: list[PlannedCall] = field(default_factory=list[PlannedCall])
    outcomes: list[CallSettlement] = field(default_factory=list[CallSettlement])
    announced: list[int | None] = field(default_factory=list["int | None"])

    async def admit(self, planned: PlannedCall) -> Admission:
        self.planned.append(planned)
        if self.refusal is not None:
            raise self.refusal
        return Entered(self)


@dataclass
class Entered:
    book: RecordingMeter

    def settle(self, outcome: CallSettlement) -> None:
        self.book.outcomes.append(outcome)

    def remarks(self, cost_micro_usd: int | None) -> bool:
        return cost_micro_usd is None

    async def announce(self, cost_micro_usd: int | None) -> None:
        self.book.announced.append(cost_micro_usd)


class Ticks:
    """A clock that advances a second per reading."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 1.0
        return self.seconds


def metered(
    *script: ScriptEntry, book: RecordingMeter | None = None, model: ModelSpec | None = None
) -> tuple[ResolvedModel, ScriptedProvider, RecordingMeter]:
    provider, book = ScriptedProvider(*script), book or RecordingMeter()
    spec = model or chat_model(prices=PRICES)
    return Metering(book, Ticks())(ResolvedModel(spec, provider)), provider, book


def request(**more: Any) -> ModelRequest:
    return replace(ask("Hello there"), max_output=1_000, account=ACCOUNT, **more)


async def events_of(resolved: ResolvedModel, asked: ModelRequest) -> list[ProviderEvent]:
    return [event async for event in resolved.provider.stream(asked)]


async def test_what_the_provider_reports_is_booked_to_the_micro_dollar() -> None:
    resolved, _, book = metered(turn(Say("Yes."), usage=USAGE))

    events = await events_of(resolved, request())

    assert book.outcomes == [CallSettlement(USAGE, 300, ok=True, duration_ms=1000)]
    assert [event for event in events if isinstance(event, UsageReport)] == [UsageReport(USAGE)]
    assert isinstance(events[-1], Stop)


async def test_the_events_are_those_of_the_provider() -> None:
    script = turn(Say("One two three."), usage=USAGE)
    resolved, _, _ = metered(script)

    assert await events_of(resolved, request()) == [
        event async for event in ScriptedProvider(script).stream(request())
    ]


async def test_the_reservation_covers_the_prompt_and_the_longest_answer() -> None:
    resolved, _, book = metered("Yes.", model=chat_model(prices=PRICES, max_output=500))

    await events_of(resolved, request(system="You help."))

    (planned,) = book.planned
    assert planned.account == ACCOUNT
    assert planned.max_output == 500
    assert planned.micro_usd == planned.prompt_tokens + 500 * 10
    assert 3 <= planned.prompt_tokens <= 30


async def test_a_call_without_an_account_is_booked_all_the_same() -> None:
    resolved, _, book = metered("Yes.")

    await events_of(resolved, ask("Hello"))

    assert book.planned[0].account == UsageAccount("other")


async def test_a_stream_without_a_report_gets_an_estimate_before_its_stop() -> None:
    resolved, _, book = metered(turn(Say("A few words of an answer."), usage=None))

    events = await events_of(resolved, request())

    report, stop = events[-2:]
    assert isinstance(stop, Stop)
    assert isinstance(report, UsageReport)
    assert report.usage.estimated
    assert 5 <= report.usage.output_tokens <= 15
    assert report.usage.input_tokens == book.planned[0].prompt_tokens
    (outcome,) = book.outcomes
    assert (outcome.usage, outcome.ok) == (report.usage, True)


async def test_an_unknown_price_holds_nothing_and_costs_null_never_zero() -> None:
    resolved, _, book = metered(turn(Say("Yes."), usage=USAGE), model=chat_model(prices=None))

    await events_of(resolved, request())

    assert book.planned[0].micro_usd is None
    assert book.outcomes[0].cost_micro_usd is None
    assert book.announced == [None]


async def test_a_refusal_of_the_budget_sends_nothing() -> None:
    refusal = PolicyRefusal("Enough.", code="budget_exhausted")
    resolved, provider, book = metered("Never.", book=RecordingMeter(refusal))

    with pytest.raises(PolicyRefusal, match="Enough"):
        await events_of(resolved, request())

    assert provider.requests == []
    assert book.outcomes == []


UNREACHABLE = ProviderError("No.", code="provider_unreachable")
REFUSED = ProviderError("No.", code="rate_limited", status=429)
TIMED_OUT = ProviderError("No.", code="provider_timeout")
CUT = ProviderError("No.", code="stream_truncated")


@pytest.mark.parametrize("error", [UNREACHABLE, REFUSED], ids=["unreachable", "refused"])
async def test_a_call_that_was_not_read_costs_nothing(error: ProviderError) -> None:
    resolved, _, book = metered(turn(Fail(error)))

    with pytest.raises(ProviderError):
        await events_of(resolved, request())

    assert book.outcomes == [CallSettlement(TokenUsage(), 0, ok=False, duration_ms=1000)]


async def test_a_refused_call_costs_nothing_whatever_its_price_may_be() -> None:
    resolved, _, book = metered(turn(Fail(REFUSED)), model=chat_model(prices=None))

    with pytest.raises(ProviderError):
        await events_of(resolved, request())

    assert book.outcomes == [CallSettlement(TokenUsage(), 0, ok=False, duration_ms=1000)]


async def test_a_call_that_timed_out_may_have_been_billed_for_its_prompt() -> None:
    resolved, _, book = metered(turn(Fail(TIMED_OUT)))

    with pytest.raises(ProviderError):
        await events_of(resolved, request())

    (outcome,) = book.outcomes
    prompt = book.planned[0].prompt_tokens
    assert outcome.usage == TokenUsage(input_tokens=prompt, estimated=True)
    assert (outcome.cost_micro_usd, outcome.ok) == (prompt, False)


@pytest.mark.parametrize("error", [CUT, REFUSED], ids=["cut", "error event"])
async def test_a_stream_that_breaks_off_is_booked_with_what_came(error: ProviderError) -> None:
    resolved, _, book = metered(turn(Say("Some words came."), Fail(error)))

    with pytest.raises(ProviderError):
        await events_of(resolved, request())

    (outcome,) = book.outcomes
    assert outcome.usage.estimated
    assert outcome.usage.output_tokens > 0
    assert not outcome.ok


async def test_a_stream_that_is_closed_is_booked_with_what_came() -> None:
    resolved, provider, book = metered(turn(Say("Some words came."), usage=USAGE))

    stream = cast("Any", resolved.provider.stream(request()))
    async with aclosing(stream) as events:
        async for _ in events:
            break

    assert provider.closed_early == 1
    (outcome,) = book.outcomes
    assert outcome.usage.estimated
    assert not outcome.ok


async def test_a_cancelled_call_is_booked_once() -> None:
    gate = Gate()
    resolved, _, book = metered(turn(Say("Some words came."), gate, Say("Never.")))
    task = asyncio.create_task(events_of(resolved, request()))
    await gate.reached.wait()

    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    (outcome,) = book.outcomes
    assert outcome.usage.output_tokens > 0
    assert outcome.usage.estimated


class Reporting(ScriptedProvider):
    """Reports usage early, as Anthropic does, and then breaks off."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ProviderEvent]:
        yield UsageReport(TokenUsage(input_tokens=77, output_tokens=1))
        async for event in super().stream(request):
            yield event


async def test_what_came_after_an_early_report_counts_when_the_stream_breaks_off() -> None:
    provider, book = Reporting(turn(Say("word " * 50), Fail(CUT))), RecordingMeter()
    spec = chat_model(prices=PRICES)
    resolved = Metering(book)(ResolvedModel(spec, provider))

    with pytest.raises(ProviderError):
        await events_of(resolved, request())

    (outcome,) = book.outcomes
    assert outcome.usage.input_tokens == 77
    assert outcome.usage.output_tokens > 40
    assert outcome.usage.estimated


async def test_a_bug_in_an_adapter_still_settles_the_call() -> None:
    resolved, _, book = metered(turn(Say("Some."), Fail(RuntimeError("bug"))))

    with pytest.raises(RuntimeError):
        await events_of(resolved, request())

    assert [outcome.ok for outcome in book.outcomes] == [False]


async def test_a_long_history_is_measured_once() -> None:
    resolved, _, book = metered("One.", "Two.")
    asked = request()

    await events_of(resolved, asked)
    await events_of(resolved, asked)

    first, second = (planned.prompt_tokens for planned in book.planned)
    assert first == second


async def test_what_is_not_a_call_passes_by_the_meter() -> None:
    resolved, provider, book = metered()

    assert [model.name for model in await resolved.provider.list_models()] == ["scripted"]
    assert await resolved.provider.count_tokens(request()) is None
    await resolved.provider.aclose()

    assert provider.closed
    assert book.planned == []


WHOLE: dict[Kind, JsonObject] = {
    "anthropic": {"type": "message", "usage": {"input_tokens": 100, "output_tokens": 20}},
    "openai_chat": {
        "object": "chat.completion",
        "usage": {"prompt_tokens": 100, "completion_tokens": 20},
    },
    "openai_responses": {
        "object": "response",
        "usage": {"input_tokens": 100, "output_tokens": 20},
    },
    "google": {
        "candidates": [],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20},
    },
}
JSON = {"content-type": "application/json"}


async def answered(kind: Kind, body: JsonObject) -> CallSettlement:
    """Return the booking of a complete JSON response."""
    made = make_endpoint(kind, transport=answering(json.dumps(body).encode(), headers=JSON))
    book = RecordingMeter()
    resolved = Metering(book, Ticks())(ResolvedModel(made.model, provider_of(made)))
    with pytest.raises(ProviderError):
        await events_of(resolved, request())
    (outcome,) = book.outcomes
    return outcome


@pytest.mark.parametrize("kind", WHOLE)
async def test_a_whole_answer_in_place_of_a_stream_is_booked_as_it_says(kind: Kind) -> None:
    outcome = await answered(kind, WHOLE[kind])

    assert not outcome.ok
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (100, 20)
    assert outcome.cost_micro_usd != 0


@pytest.mark.parametrize("kind", WHOLE)
async def test_an_answer_that_says_no_usage_is_booked_at_nothing(kind: Kind) -> None:
    outcome = await answered(kind, {"detail": "Nothing here."})

    assert (outcome.usage, outcome.cost_micro_usd) == (TokenUsage(), 0)
