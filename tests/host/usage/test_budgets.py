"""Budgets over the real ledger, the real adapters and the strict simulator."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.budget.limits import SpendingLimits
from jupyter_ai_shoulders.core.catalogue.prices import cost_micro_usd
from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.errors import PolicyRefusal, StateUnavailable
from jupyter_ai_shoulders.host.usage.budgets import UserBudget
from jupyter_ai_shoulders.providers.base import UsageReport
from jupyter_ai_shoulders.providers.metering import Metering
from jupyter_ai_shoulders.providers.registry import ModelRegistry
from jupyter_ai_shoulders.providers.registry_builder import RegistryOptions, build_registry
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.providers.adapter_fixtures import ask
from tests.simulator import Delivery, Simulator, Usage, reply
from tests.simulator.script import SimRequest

PRICES = {"input": 1_000_000, "output": 5_000_000}
S1, T1 = SessionId("s1"), TurnId("t1")


@dataclass
class Server:
    """One server process of the user: its budgets, and the models behind them."""

    budgets: UserBudget
    registry: ModelRegistry

    async def call(
        self, model: str, max_output: int = 1_000, turn: TurnId | None = T1
    ) -> TokenUsage:
        resolved = self.registry.resolve(ModelId(model))
        account = UsageAccount("turn", S1, turn) if turn else UsageAccount("proxy")
        asked = replace(
            ask("Hello"), model=resolved.spec.model, max_output=max_output, account=account
        )
        reports = [
            event.usage
            async for event in resolved.provider.stream(asked)
            if isinstance(event, UsageReport)
        ]
        return reports[-1]

    def cost(self, model: str, usage: TokenUsage) -> int | None:
        return cost_micro_usd(usage, self.registry.resolve(ModelId(model)).spec.prices)


@asynccontextmanager
async def serving(
    home: Path,
    simulator: Simulator,
    administrator: SpendingLimits | None = None,
    user: SpendingLimits | None = None,
    wait_seconds: float = 5.0,
) -> AsyncGenerator[Server]:
    folder = home / ".shoulders"
    budgets = UserBudget(folder, SystemClock(), administrator, wait_seconds=wait_seconds)
    if user is not None:
        await budgets.set_limits(user)
    key = {"api_key_env": "ANTHROPIC_API_KEY"}
    trait: dict[str, Any] = {
        "providers": {
            "anthropic": {"url": simulator.url},
            "openai": {"url": simulator.openai_url, **key},
            "google": {"url": f"{simulator.url}/v1beta", **key},
            "lab": {"kind": "openai_chat", "url": simulator.openai_url, **key},
        },
        "models": [
            {"id": "local", "provider": "lab", "model": "sim-local"},
            {
                "id": "free",
                "provider": "lab",
                "model": "sim-local",
                "prices": {"input": 0, "output": 0},
            },
            {"id": "dear", "provider": "lab", "model": "sim-local", "prices": PRICES},
        ],
    }
    metering = Metering(budgets)
    registry = build_registry(
        home,
        home / "work",
        SystemClock(),
        RandomIds(),
        RegistryOptions(
            environ={"ANTHROPIC_API_KEY": simulator.key},
            trait=trait,
            metered=metering,
            metered_embedding=metering.embedding,
        ),
    )
    try:
        yield Server(budgets, registry)
    finally:
        await registry.aclose()
        await budgets.aclose()


def ledger_rows(home: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(home / ".shoulders" / "usage.db")) as connection:
        return connection.execute(query).fetchall()


def varied() -> Callable[[SimRequest], Any]:
    numbers = itertools.count(1)

    def answer(_: SimRequest) -> Any:
        number = next(numbers)
        usage = Usage(input=90 + number, output=7 * number % 50 + 1, cache_read=number % 13)
        return reply(f"Answer {number}.", usage=usage)

    return answer


async def test_two_hundred_calls_at_once_never_pass_a_limit_by_more_than_one(
    isolated_home: Path,
) -> None:
    usage = Usage(input=20, output=900)  # nearly all of the reserved output
    async with Simulator() as simulator:
        delivery = Delivery(event_delay=0.005)
        simulator.default(lambda _: reply("A few words of text.", usage=usage, delivery=delivery))
        limit = 100_000
        async with serving(isolated_home, simulator, user=SpendingLimits(month=limit)) as server:
            refused: list[PolicyRefusal] = []
            admitted = 0
            for _ in range(8):
                calls = (server.call("dear") for _ in range(200))
                ends = await asyncio.gather(*calls, return_exceptions=True)
                refused += [end for end in ends if isinstance(end, PolicyRefusal)]
                admitted += sum(isinstance(end, TokenUsage) for end in ends)
            tallies = await server.budgets.tallies()

    one = 20 + 900 * 5
    assert len(simulator.requests) == admitted
    assert tallies["month"].reserved == 0
    assert tallies["month"].booked == admitted * one
    assert limit <= tallies["month"].booked < limit + one
    assert len(refused) == 8 * 200 - admitted
    assert {error.info.code for error in refused} == {"budget_exhausted"}
    assert not refused[-1].info.retryable
    assert refused[0].info.retryable  # reserved by running calls only


async def test_the_ledger_is_the_sum_of_what_providers_reported_to_the_micro_dollar(
    isolated_home: Path,
) -> None:
    async with Simulator() as simulator:
        simulator.default(varied())
        async with serving(isolated_home, simulator) as server:
            names = ["claude-haiku-5-5", "dear", "free", "local", *_priced(server)]
            jobs = [(name, server.call(name)) for name in names for _ in range(25)]
            usages = await asyncio.gather(*(call for _, call in jobs))
            pairs = list(zip((name for name, _ in jobs), usages, strict=True))
            costs = [server.cost(name, usage) for name, usage in pairs]

    known = [cost for cost in costs if cost is not None]
    assert 0 < len(known) < len(costs)
    rows = ledger_rows(
        isolated_home,
        "SELECT count(*), sum(cost_micro_usd), sum(cost_micro_usd IS NULL), sum(input_tokens),"
        " sum(output_tokens), sum(cache_read_tokens), sum(estimated) FROM calls",
    )
    assert rows == [
        (
            len(pairs),
            sum(known),
            len(costs) - len(known),
            sum(usage.input_tokens for _, usage in pairs),
            sum(usage.output_tokens for _, usage in pairs),
            sum(usage.cache_read_tokens for _, usage in pairs),
            0,
        )
    ]
    spent = ledger_rows(isolated_home, "SELECT micro_usd FROM spent WHERE scope = 'month'")
    assert spent == [(sum(known),)]


def _priced(server: Server) -> list[str]:
    """One model with a price of each other vendor."""
    found: dict[str, str] = {}
    for model in server.registry.listing().models:
        if model.provider in {"openai", "google"} and model.prices.input is not None:
            found.setdefault(model.provider, model.id)
    assert set(found) == {"openai", "google"}
    return list(found.values())


async def test_at_the_limit_nothing_is_sent_and_the_error_says_all(isolated_home: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        async with serving(isolated_home, simulator, user=SpendingLimits(turn=600)) as server:
            await server.call("dear")
            with pytest.raises(PolicyRefusal) as caught:
                await server.call("dear")
            sent = len(simulator.requests)
            other = await server.call("dear", turn=TurnId("t2"))

    assert sent == 1
    assert other.output_tokens == 100
    info = caught.value.info
    assert (info.code, info.retryable) == ("budget_exhausted", False)
    assert info.message == "You have spent $0.000600 in this turn; your limit is $0.000600."
    assert info.details == {
        "scope": "turn",
        "limit_micro_usd": 600,
        "spent_micro_usd": 600,
        "held_micro_usd": 0,
        "administrator": False,
    }


async def test_a_turn_goes_on_once_its_limit_is_raised(isolated_home: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        limits = SpendingLimits(turn=600)
        async with serving(isolated_home, simulator, user=limits) as server:
            await server.call("dear")
            await server.budgets.raise_limit("turn", 1_000, S1, T1)
            await server.call("dear")
            await server.budgets.raise_limit("turn", 1_900, S1, T1)
        async with serving(isolated_home, simulator, user=limits) as server:  # after a restart
            await server.call("dear")
            await server.budgets.raise_limit("turn", 1_850, S1, T1)
            await server.call("dear")
            with pytest.raises(PolicyRefusal):
                await server.call("dear")


async def test_the_administrators_limit_is_not_the_users_to_raise(isolated_home: Path) -> None:
    async with Simulator() as simulator:
        ceiling = SpendingLimits(month=10_000, turn=2_000)
        async with serving(isolated_home, simulator, ceiling) as server:
            with pytest.raises(PolicyRefusal, match=r"administrator allows \$0.002000") as turn:
                await server.budgets.raise_limit("turn", 2_001, S1, T1)
            with pytest.raises(PolicyRefusal, match="cannot be raised") as month:
                await server.budgets.raise_limit("month", 1, S1, T1)
            with pytest.raises(PolicyRefusal) as stored:
                await server.budgets.set_limits(SpendingLimits(month=10_001))
            await server.budgets.set_limits(SpendingLimits(month=10_000, turn=2_000))

    assert turn.value.info.details == {"scope": "turn", "administrator_micro_usd": 2_000}
    assert month.value.info.details == {"scope": "month"}
    assert "Shoulders.budget_month_usd" in (stored.value.info.hint or "")


async def test_the_administrators_limit_holds_and_is_named(isolated_home: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        async with serving(isolated_home, simulator, SpendingLimits(month=600)) as server:
            await server.call("dear")
            with pytest.raises(PolicyRefusal, match="your administrator's limit") as caught:
                await server.call("dear")

    assert (caught.value.info.details or {})["administrator"] is True


async def test_four_fifths_are_said_once_per_limit_and_period(isolated_home: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        limits = SpendingLimits(month=2_900, session=100_000)
        async with serving(isolated_home, simulator, user=limits) as server:
            said = list[tuple[str, str]]()
            for _ in range(5):
                await server.call("dear")
                said += [(note.code, note.text) for note in server.budgets.notices(T1)]
        async with serving(isolated_home, simulator, user=SpendingLimits(month=4_000)) as server:
            await server.call("dear")
            said += [(note.code, note.text) for note in server.budgets.notices(T1)]
            assert server.budgets.notices(T1) == ()

    assert said == [
        (
            "budget_80",
            "You have spent 82 % of the limit for this month: $0.002400 of $0.002900.",
        ),
        ("budget_80", "You have spent 90 % of the limit for this month: $0.003600 of $0.004000."),
    ]


async def test_a_call_that_cost_more_than_was_left_says_that_the_limit_is_passed(
    isolated_home: Path,
) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        async with serving(isolated_home, simulator, user=SpendingLimits(month=100)) as server:
            await server.call("dear")
            (said,) = server.budgets.notices(T1)

    assert said.text == "You are over the limit for this month: $0.000600 of $0.000100 spent."


async def test_an_unknown_price_is_said_once_where_there_is_a_limit(isolated_home: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        async with serving(isolated_home, simulator, user=SpendingLimits(month=1_000)) as server:
            for _ in range(3):
                await server.call("local")
            (said,) = server.budgets.notices(T1)
            tallies = await server.budgets.tallies()

    assert said.code == "budget_unknown_price"
    assert "local" in said.text
    assert tallies["month"].booked == 0
    assert ledger_rows(isolated_home, "SELECT DISTINCT cost_micro_usd FROM calls") == [(None,)]


async def test_without_a_limit_an_unknown_price_is_no_matter(isolated_home: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes."))
        async with serving(isolated_home, simulator) as server:
            await server.call("local")

            assert server.budgets.notices(T1) == ()


@pytest.fixture
def unwritable(isolated_home: Path) -> Path:
    """A home directory where no ledger can be made; a file blocks it, since root may write
    anywhere.
    """
    (isolated_home / ".shoulders").mkdir()
    (isolated_home / ".shoulders" / "usage.db").mkdir()
    return isolated_home


async def test_without_limits_calls_work_when_the_ledger_does_not(
    unwritable: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes."))
        async with serving(unwritable, simulator) as server:
            for _ in range(3):
                await server.call("dear")
            problem = server.budgets.problem()

    assert problem is not None
    assert problem.code == "state_unavailable"
    warnings = [each for each in caplog.records if each.levelname == "WARNING"]
    assert len(warnings) == 1
    assert "cannot be counted" in warnings[0].getMessage()


async def test_a_raise_is_refused_when_it_cannot_be_stored(isolated_home: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        limits = SpendingLimits(turn=600)
        async with serving(isolated_home, simulator, user=limits, wait_seconds=0.2) as server:
            await server.call("dear")
            await server.budgets.ledger.flush()
            with closing(sqlite3.connect(server.budgets.ledger.path)) as foreign:
                foreign.execute("BEGIN IMMEDIATE")
                with pytest.raises(StateUnavailable):
                    await server.budgets.raise_limit("turn", 1_000, S1, T1)
                foreign.execute("ROLLBACK")


@pytest.mark.parametrize("limited", [False, True], ids=["no limit", "a limit"])
async def test_a_ledger_that_hangs_delays_calls_or_stops_them_where_there_is_a_limit(
    isolated_home: Path, limited: bool
) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        limits = SpendingLimits(month=10**9) if limited else None
        async with serving(isolated_home, simulator, limits, wait_seconds=0.2) as server:
            await server.call("dear")
            await server.budgets.ledger.flush()
            path = server.budgets.ledger.path
            with closing(sqlite3.connect(path, isolation_level=None)) as foreign:
                foreign.execute("BEGIN IMMEDIATE")
                ends = await asyncio.gather(server.call("dear"), return_exceptions=True)
                foreign.execute("ROLLBACK")
            await server.budgets.ledger.flush()
            tallies = await server.budgets.tallies()

    assert [type(end) for end in ends] == [PolicyRefusal if limited else TokenUsage]
    assert len(simulator.requests) == (1 if limited else 2)
    assert tallies["month"].booked == (600 if limited else 1_200)


@pytest.mark.parametrize("whose", ["administrator", "user"])
async def test_with_a_limit_nothing_is_sent_when_the_ledger_does_not_work(
    unwritable: Path, whose: str
) -> None:
    limits = SpendingLimits(month=10**9)
    administrator, user = (limits, None) if whose == "administrator" else (None, limits)
    async with Simulator() as simulator:
        async with serving(unwritable, simulator, administrator, user) as server:
            with pytest.raises(PolicyRefusal, match="checked against your limits") as caught:
                await server.call("dear")

        assert simulator.requests == []
    assert caught.value.info.code == "state_unavailable"


async def test_a_ledger_that_works_again_counts_what_it_missed(unwritable: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        async with serving(unwritable, simulator) as server:
            await server.call("dear")
            (unwritable / ".shoulders" / "usage.db").rmdir()
            await server.call("dear")
            assert server.budgets.problem() is None
            tallies = await server.budgets.tallies()

    assert tallies["month"].booked == 1_200


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", "line 1"),
        ('{\n "month_micro_usd": -1}', "line 2"),
        ('{"day_micro_usd": 1.5}', "line 1"),
        ('{\n\n"version": 2}', "line 3"),
        ("[]", "object"),
    ],
)
async def test_limits_that_cannot_be_read_let_nothing_through(
    isolated_home: Path, text: str, line: str
) -> None:
    folder = isolated_home / ".shoulders"
    folder.mkdir()
    (folder / "budget.json").write_text(text)
    async with Simulator() as simulator:
        async with serving(isolated_home, simulator) as server:
            with pytest.raises(PolicyRefusal, match=line) as caught:
                await server.call("dear")
        assert simulator.requests == []

    assert "budget.json" in caught.value.info.message
    assert (folder / "budget.json").read_text() == text


async def test_limits_are_the_persons_over_workspaces_and_take_effect_at_once(
    isolated_home: Path,
) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        async with (
            serving(isolated_home, simulator) as first,
            serving(isolated_home, simulator) as second,
        ):
            await first.call("dear")
            await second.budgets.set_limits(SpendingLimits(month=600))
            with pytest.raises(PolicyRefusal):
                await first.call("dear")


async def test_embeddings_are_booked_and_stop_at_the_limit(isolated_home: Path) -> None:
    limits = SpendingLimits(month=40)
    async with (
        Simulator() as simulator,
        serving(isolated_home, simulator, user=limits) as server,
    ):
        embedder = server.registry.embedder("text-embedding-3-large", "ada")
        assert embedder is not None
        await embedder.embed(["four" * 500] * 3, "document")
        with pytest.raises(PolicyRefusal):
            await embedder.embed(["four"], "query")
        await server.budgets.ledger.flush()
        assert len(simulator.requests) == 1

    columns = "purpose, model, input_tokens, output_tokens, cost_micro_usd, estimated"
    assert ledger_rows(isolated_home, f"SELECT {columns} FROM calls") == [
        ("embedding", "text-embedding-3-large", 1_500, 0, 195, 0)
    ]


async def test_the_round_trip_of_the_test_button_is_metered(isolated_home: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply("Yes.", usage=Usage(input=100, output=100)))
        async with serving(isolated_home, simulator) as server:
            await server.registry.test(ProviderId("anthropic"))
            await server.budgets.ledger.flush()

    assert ledger_rows(isolated_home, "SELECT purpose, provider FROM calls") == [
        ("test", "anthropic")
    ]
