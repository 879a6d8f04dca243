"""Budget arithmetic: what a call may cost, which limit stops it, when a limit is nearly reached.

Pure rules in integer micro-dollars. Used by ``storage.ledger.usage_ledger`` inside its
transactions, by ``providers.metering`` for the amounts and by ``host.usage.budgets`` for the
limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from jupyter_ai_shoulders.core.budget.account import LimitScope, UsageAccount
from jupyter_ai_shoulders.core.catalogue.prices import TOKENS_PER_PRICE, PriceTable
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId
from jupyter_ai_shoulders.wire.usage import TokenUsage

SCOPES: tuple[LimitScope, ...] = ("month", "day", "session", "turn")
"""The order in which limits are looked at: raising a later one does not help while an earlier one
is reached."""

NOTICE_PERCENT = 80
"""Of a limit; once that much is spent the user is told (chapter 03)."""


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """Micro-dollars that may be spent per scope; None where there is no limit."""

    month: int | None = None
    day: int | None = None
    session: int | None = None
    turn: int | None = None

    def of(self, scope: LimitScope) -> int | None:
        """Return the limit of a scope."""
        found: int | None = getattr(self, scope)
        return found

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return any(self.of(scope) is not None for scope in SCOPES)

    def capped(self, ceiling: SpendingLimits) -> SpendingLimits:
        """Return these limits, none of them above the ceiling's."""
        return SpendingLimits(*(_lower(self.of(scope), ceiling.of(scope)) for scope in SCOPES))

    def raised(self, session: int | None, turn: int | None) -> SpendingLimits:
        """Return these limits with what the user granted one session and one turn."""
        return replace(self, session=_higher(self.session, session), turn=_higher(self.turn, turn))


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits that hold: the user's, none of them above the administrator's."""

    user: SpendingLimits = SpendingLimits()
    administrator: SpendingLimits = SpendingLimits()

    @property
    def limits(self) -> SpendingLimits:
        """What holds."""
        return self.user.capped(self.administrator)


@dataclass(frozen=True, slots=True)
class ScopeTotals:
    """What one scope has cost: ``booked`` for good, ``held`` by calls in flight."""

    booked: int = 0
    held: int = 0


Tallies = Mapping[LimitScope, ScopeTotals]
"""By scope; one that does not apply to the call (a proxy call has no turn) is absent."""


@dataclass(frozen=True, slots=True)
class BillingPeriods:
    """The stored keys of a call's day and month, in the user's time zone."""

    day: str
    month: str


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call about to be sent. ``micro_usd`` is the most it may cost, None where unknown."""

    account: UsageAccount
    provider: ProviderId
    model: ModelId
    prompt_tokens: int
    max_output: int
    micro_usd: int | None


@dataclass(frozen=True, slots=True)
class CallSettlement:
    """How a call ended. ``cost_micro_usd`` None: unknown. ``ok``: the answer was complete."""

    usage: TokenUsage
    cost_micro_usd: int | None
    ok: bool
    duration_ms: int


@dataclass(frozen=True, slots=True)
class LimitExceeded:
    """A limit that lets no further call through."""

    scope: LimitScope
    limit: int
    tally: ScopeTotals
    administrator: bool

    @property
    def held_only(self) -> bool:
        """Whether the money is held by calls in flight and may come free again."""
        return self.tally.booked < self.limit


@dataclass(frozen=True, slots=True)
class LimitWarning:
    """A limit of which most is spent."""

    scope: LimitScope
    limit: int
    spent: int


def reservation_micro_usd(
    prompt_tokens: int, max_output: int, prices: PriceTable | None
) -> int | None:
    """Return the most that a call may cost, rounded up; None when its price is unknown.

    No usage with at most these tokens costs more: the dearest kind of prompt token and the dearest
    tier within reach are taken.
    """
    if prices is None:
        return None
    rows = (prices, *(tier for tier in prices.tiers if prompt_tokens > tier.above))
    inputs = [
        price
        for row in rows
        for price in (row.input, row.cache_read, row.cache_write)
        if price is not None
    ]
    outputs = [row.output for row in rows if row.output is not None]
    if not inputs or not outputs:
        return None
    total = prompt_tokens * max(inputs) + max_output * max(outputs)
    return -(-total // TOKENS_PER_PRICE)


def first_exceeded_limit(
    budget: Budget, limits: SpendingLimits, tallies: Tallies
) -> LimitExceeded | None:
    """Return the first limit that is reached by what is spent and what calls in flight may cost.

    A call is let through while anything is left, so all that are let through together cost at most
    the limit and one call more (chapter 12, I9). ``limits`` are the budget's, with what was raised.
    """
    for scope, limit, tally in _limited(limits, tallies):
        if tally.booked + tally.held >= limit:
            return LimitExceeded(scope, limit, tally, budget.administrator.of(scope) == limit)
    return None


def limits_nearly_reached(
    limits: SpendingLimits, tallies: Tallies, cost: int = 0
) -> list[LimitWarning]:
    """Return the limits of which four fifths are spent, once ``cost`` is booked too."""
    return [
        LimitWarning(scope, limit, tally.booked + cost)
        for scope, limit, tally in _limited(limits, tallies)
        if limit > 0 and (tally.booked + cost) * 100 >= limit * NOTICE_PERCENT
    ]


def billing_periods(moment: datetime) -> BillingPeriods:
    """Return the day and month of a moment, in the time zone of this machine."""
    local = moment.astimezone()
    return BillingPeriods(day=local.strftime("%Y-%m-%d"), month=local.strftime("%Y-%m"))


def scope_key(scope: LimitScope, account: UsageAccount, when: BillingPeriods) -> str | None:
    """Return what a scope is for a call (``2026-11``, a session's id); None: does not apply."""
    match scope:
        case "month":
            return when.month
        case "day":
            return when.day
        case "session":
            return account.session_id
        case "turn":
            return account.turn_id


def limit_above_ceiling(limits: SpendingLimits, ceiling: SpendingLimits) -> LimitScope | None:
    """Return the first limit above the administrator's; None when all may be set."""
    for scope in SCOPES:
        wanted, highest = limits.of(scope), ceiling.of(scope)
        if wanted is not None and highest is not None and wanted > highest:
            return scope
    return None


def format_dollars(micro_usd: int) -> str:
    """Return an amount for people: cents, or more digits where there is less than a cent."""
    digits = 2 if micro_usd == 0 or micro_usd >= 10_000 else 6
    return f"${micro_usd / 1_000_000:,.{digits}f}"


def _limited(
    limits: SpendingLimits, tallies: Tallies
) -> Iterator[tuple[LimitScope, int, ScopeTotals]]:
    for scope in SCOPES:
        limit = limits.of(scope)
        tally = tallies.get(scope)
        if limit is not None and tally is not None:
            yield scope, limit, tally


def _lower(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def _higher(limit: int | None, granted: int | None) -> int | None:
    if limit is None or granted is None:
        return limit
    return max(limit, granted)
