"""Budget arithmetic: admitted calls exceed a limit by at most one call."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.budget.limits import (
    SCOPES,
    BillingPeriods,
    Budget,
    LimitExceeded,
    LimitWarning,
    ScopeTotals,
    SpendingLimits,
    Tallies,
    billing_periods,
    first_exceeded_limit,
    format_dollars,
    limit_above_ceiling,
    limits_nearly_reached,
    reservation_micro_usd,
    scope_key,
)
from jupyter_ai_shoulders.core.catalogue.prices import PriceTable, PriceTier, cost_micro_usd
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId
from jupyter_ai_shoulders.wire.usage import TokenUsage

AMOUNTS = st.integers(min_value=0, max_value=10**9)
MAYBE = st.none() | AMOUNTS
LIMITS = st.builds(SpendingLimits, month=MAYBE, day=MAYBE, session=MAYBE, turn=MAYBE)
PRICE = st.integers(min_value=0, max_value=10**8)
TOKENS = st.integers(min_value=0, max_value=10**6)
TIERS = st.lists(
    st.builds(
        PriceTier,
        above=st.integers(min_value=1, max_value=10**6),
        input=PRICE,
        output=PRICE,
        cache_read=st.none() | PRICE,
        cache_write=st.none() | PRICE,
    ),
    max_size=2,
).map(tuple)
TABLES = st.builds(
    PriceTable,
    input=PRICE,
    output=PRICE,
    cache_read=st.none() | PRICE,
    cache_write=st.none() | PRICE,
    tiers=TIERS,
)


@given(TABLES, TOKENS, TOKENS, st.data())
def test_no_usage_within_the_reserved_tokens_costs_more_than_the_reservation(
    prices: PriceTable, prompt: int, output: int, data: st.DataObject
) -> None:
    used = data.draw(st.integers(min_value=0, max_value=prompt))
    read = data.draw(st.integers(min_value=0, max_value=used))
    written = data.draw(st.integers(min_value=0, max_value=used - read))
    usage = TokenUsage(
        input_tokens=used,
        output_tokens=data.draw(st.integers(min_value=0, max_value=output)),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )

    reserved = reservation_micro_usd(prompt, output, prices)
    cost = cost_micro_usd(usage, prices)

    assert reserved is not None
    assert cost is not None
    assert cost <= reserved


@pytest.mark.parametrize(
    "prices",
    [None, PriceTable(), PriceTable(input=5), PriceTable(output=5)],
    ids=["no table", "empty", "no output", "no input"],
)
def test_an_unknown_price_reserves_nothing_and_is_not_zero(prices: PriceTable | None) -> None:
    assert reservation_micro_usd(100, 100, prices) is None


def test_a_reservation_is_rounded_up() -> None:
    assert reservation_micro_usd(1, 0, PriceTable(input=1, output=1)) == 1


def test_a_model_that_costs_nothing_reserves_zero() -> None:
    assert reservation_micro_usd(10**6, 10**6, PriceTable(input=0, output=0)) == 0


@given(AMOUNTS, st.lists(st.tuples(AMOUNTS, st.floats(0, 1), st.booleans()), max_size=30))
def test_admitted_calls_pass_a_limit_by_less_than_one_of_them(
    limit: int, calls: list[tuple[int, float, bool]]
) -> None:
    """In any order of admitting and settling, if no call costs more than reserved."""
    limits, budget = SpendingLimits(month=limit), Budget(SpendingLimits(month=limit))
    booked, flying, largest = 0, list[tuple[int, int]](), 0
    for reserved, share, settles in calls:
        tallies: Tallies = {"month": ScopeTotals(booked, sum(held for held, _ in flying))}
        if first_exceeded_limit(budget, limits, tallies) is None:
            flying.append((reserved, int(reserved * share)))
            largest = max(largest, reserved)
        if settles and flying:
            booked += flying.pop(0)[1]
    booked += sum(cost for _, cost in flying)

    assert booked <= limit + largest


@given(LIMITS, LIMITS)
def test_no_limit_is_above_the_administrators(
    user: SpendingLimits, ceiling: SpendingLimits
) -> None:
    found = Budget(user, ceiling).limits

    for scope in SCOPES:
        highest, own, holds = ceiling.of(scope), user.of(scope), found.of(scope)
        assert holds == min((x for x in (highest, own) if x is not None), default=None)
    assert limit_above_ceiling(found, ceiling) is None


@given(LIMITS, LIMITS)
def test_the_first_limit_that_is_too_high_is_named(
    user: SpendingLimits, ceiling: SpendingLimits
) -> None:
    scope = limit_above_ceiling(user, ceiling)
    assume(scope is not None)
    assert scope is not None

    wanted, highest = user.of(scope), ceiling.of(scope)
    assert wanted is not None
    assert highest is not None
    assert wanted > highest


def test_the_month_is_named_before_the_turn_because_raising_the_turn_would_not_help() -> None:
    budget = Budget(SpendingLimits(month=10, turn=5), SpendingLimits(month=10))
    tallies: Tallies = {scope: ScopeTotals(10) for scope in SCOPES}

    assert first_exceeded_limit(budget, budget.limits, tallies) == LimitExceeded(
        "month", 10, ScopeTotals(10), True
    )


def test_a_limit_filled_by_calls_in_flight_only_may_come_free_again() -> None:
    budget = Budget(SpendingLimits(day=10))

    found = first_exceeded_limit(budget, budget.limits, {"day": ScopeTotals(4, 6)})

    assert found == LimitExceeded("day", 10, ScopeTotals(4, 6), False)
    assert found is not None
    assert found.is_by_reservations


def test_a_limit_of_zero_lets_nothing_through() -> None:
    budget = Budget(SpendingLimits(month=0))

    assert first_exceeded_limit(budget, budget.limits, {"month": ScopeTotals()}) is not None


def test_a_scope_that_does_not_apply_does_not_stop_a_call() -> None:
    budget = Budget(SpendingLimits(turn=0, session=0))

    assert (
        first_exceeded_limit(
            budget, budget.limits, {"month": ScopeTotals(5), "day": ScopeTotals(5)}
        )
        is None
    )


@pytest.mark.parametrize(("spent", "expected"), [(79, []), (80, [80]), (100, [100])])
def test_four_fifths_of_a_limit_are_noticed(spent: int, expected: list[int]) -> None:
    found = limits_nearly_reached(
        SpendingLimits(month=100), {"month": ScopeTotals(spent - 9, reserved=50)}, cost=9
    )

    assert found == [LimitWarning("month", 100, amount) for amount in expected]


def test_what_was_granted_raises_and_never_lowers_or_makes_a_limit() -> None:
    assert SpendingLimits(turn=5).raised(None, 9).turn == 9
    assert SpendingLimits(turn=5).raised(None, 3).turn == 5
    assert SpendingLimits().raised(7, 7) == SpendingLimits()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be changed here")
def test_days_and_months_are_those_of_the_machines_time_zone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        found = billing_periods(datetime(2026, 11, 30, 23, 30, tzinfo=UTC))
    time.tzset()

    assert found == BillingPeriods(day="2026-12-01", month="2026-12")


def test_scopes_have_the_keys_of_the_call() -> None:
    account = UsageAccount("turn", SessionId("s1"), TurnId("t1"))
    when = billing_periods(datetime(2026, 11, 21, 12, tzinfo=UTC))

    keys = [scope_key(scope, account, when) for scope in SCOPES]

    assert keys == ["2026-11", "2026-11-21", "s1", "t1"]
    assert scope_key("turn", UsageAccount("proxy"), when) is None


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0.00"), (12_340_000, "$12.34"), (123, "$0.000123"), (1_234_000_000, "$1,234.00")],
)
def test_amounts_are_written_for_people(amount: int, text: str) -> None:
    assert format_dollars(amount) == text
