"""Budget arithmetic: the cost of a call, the limit that stops it, and nearly reached limits.

Pure rules in integer micro-dollars. Used by ``storage.ledger.usage_ledger`` inside its
transactions, by ``providers.metering`` for amounts and by ``host.usage.budgets`` for limits.
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
"""The order in which limits are checked: raising a later one does not help while an earlier one is
reached.
"""

NOTICE_PERCENT = 80
"""Share of a limit at which the user gets a notice."""


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """Limits in micro-dollars per scope; None for no limit."""

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
        """Whether any limit is set."""
        return any(self.of(scope) is not None for scope in SCOPES)

    def capped(self, ceiling: SpendingLimits) -> SpendingLimits:
        """Return these limits, capped at the ceiling's."""
        return SpendingLimits(*(_lower(self.of(scope), ceiling.of(scope)) for scope in SCOPES))

    def raised(self, session: int | None, turn: int | None) -> SpendingLimits:
        """Return these limits plus the amounts the user granted one session and one turn."""
        return replace(self, session=_higher(self.session, session), turn=_higher(self.turn, turn))


@dataclass(frozen=True, slots=True)
class Budget:
    """The effective limits: the user's, capped at the administrator's."""

    user: SpendingLimits = SpendingLimits()
    administrator: SpendingLimits = SpendingLimits()

    @property
    def limits(self) -> SpendingLimits:
        """The effective limits."""
        return self.user.capped(self.administrator)


@dataclass(frozen=True, slots=True)
class ScopeTotals:
    """The cost of one scope: ``booked``, and ``held`` for calls in flight."""

    booked: int = 0
    reserved: int = 0


Tallies = Mapping[LimitScope, ScopeTotals]
"""Totals by scope; a scope that does not apply (a proxy call has no turn) is absent."""


@dataclass(frozen=True, slots=True)
class BillingPeriods:
    """The stored keys of a call's day and month in the user's time zone."""

    day: str
    month: str


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call about to be sent. ``micro_usd`` is its maximum cost, None when unknown."""

    account: UsageAccount
    provider: ProviderId
    model: ModelId
    prompt_tokens: int
    max_output: int
    micro_usd: int | None
    session_cap: int | None = None
    """Limit of the session that nobody can raise, in micro-dollars; None: there is none."""


@dataclass(frozen=True, slots=True)
class CallSettlement:
    """The result of a call. ``cost_micro_usd`` is None when unknown; ``ok``: the answer was
    complete.
    """

    usage: TokenUsage
    cost_micro_usd: int | None
    ok: bool
    duration_ms: int


@dataclass(frozen=True, slots=True)
class LimitExceeded:
    """A reached limit that stops further calls."""

    scope: LimitScope
    limit: int
    tally: ScopeTotals
    administrator: bool

    @property
    def is_by_reservations(self) -> bool:
        """Whether calls in flight hold the money, so that it may become available again."""
        return self.tally.booked < self.limit


@dataclass(frozen=True, slots=True)
class LimitWarning:
    """A limit that is nearly reached."""

    scope: LimitScope
    limit: int
    spent: int


def reservation_micro_usd(
    prompt_tokens: int, max_output: int, prices: PriceTable | None
) -> int | None:
    """Return the maximum cost of a call, rounded up; None when its price is unknown.

    Assumes the most expensive kind of prompt token and the most expensive tier within reach, so no
    usage with at most these tokens costs more.
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
    """Return the first limit reached by spending plus the possible cost of calls in flight.

    A call is allowed while anything is left, so all allowed calls together cost at most the limit
    and one call more. ``limits`` are the budget's with granted amounts added. See docs/budgets.md.
    """
    for scope, limit, tally in _limited(limits, tallies):
        if tally.booked + tally.reserved >= limit:
            return LimitExceeded(scope, limit, tally, budget.administrator.of(scope) == limit)
    return None


def limits_nearly_reached(
    limits: SpendingLimits, tallies: Tallies, cost: int = 0
) -> list[LimitWarning]:
    """Return the limits of which ``NOTICE_PERCENT`` is spent after booking ``cost``."""
    return [
        LimitWarning(scope, limit, tally.booked + cost)
        for scope, limit, tally in _limited(limits, tallies)
        if limit > 0 and (tally.booked + cost) * 100 >= limit * NOTICE_PERCENT
    ]


def billing_periods(moment: datetime) -> BillingPeriods:
    """Return the day and month of a moment in this machine's time zone."""
    local = moment.astimezone()
    return BillingPeriods(day=local.strftime("%Y-%m-%d"), month=local.strftime("%Y-%m"))


def scope_key(scope: LimitScope, account: UsageAccount, when: BillingPeriods) -> str | None:
    """Return a scope's key for a call (``2026-11``, a session's id); None if it does not apply."""
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
    """Return the first limit above the administrator's; None when all are allowed."""
    for scope in SCOPES:
        wanted, highest = limits.of(scope), ceiling.of(scope)
        if wanted is not None and highest is not None and wanted > highest:
            return scope
    return None


def format_dollars(micro_usd: int) -> str:
    """Format an amount in cents, or with more digits below one cent."""
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
