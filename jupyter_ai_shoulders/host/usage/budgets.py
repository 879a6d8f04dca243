"""Budgets and spending of one user: joins ledger, limits and meter. Part of the composition root.

Used by the meter before each call, by the engine for display, and by ``server.handlers.usage``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.core.budget.account import (
    BudgetNotice,
    BudgetStatus,
    LimitScope,
    UsageAccount,
)
from jupyter_ai_shoulders.core.budget.limits import (
    Budget,
    CallSettlement,
    LimitExceeded,
    LimitWarning,
    PlannedCall,
    SpendingLimits,
    Tallies,
    format_dollars,
    limit_above_ceiling,
    limits_nearly_reached,
    scope_key,
)
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import PolicyRefusal, StateUnavailable
from jupyter_ai_shoulders.storage.budget_file import BudgetFile
from jupyter_ai_shoulders.storage.ledger.sqlite_ledger import Reservation
from jupyter_ai_shoulders.storage.ledger.usage_ledger import WAIT_SECONDS, UsageLedger
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId

_log = logging.getLogger(__name__)

NAMES: dict[LimitScope, str] = {
    "month": "this month",
    "day": "today",
    "session": "this conversation",
    "turn": "this turn",
}
_DURING: dict[LimitScope, str] = {
    "month": "this month",
    "day": "today",
    "session": "in this conversation",
    "turn": "in this turn",
}
MAX_TURNS = 256
"""Maximum turns whose notices are kept until the engine fetches them."""


class UserBudget:
    """The budget of one user in one process."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        administrator: SpendingLimits | None = None,
        *,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        """``folder`` is ``~/.shoulders``; a call waits ``wait_seconds`` for a ledger that hangs."""
        self.administrator = administrator or SpendingLimits()
        self._file = BudgetFile(folder)
        self._read: Budget | None = None
        self.ledger = UsageLedger(folder, clock, self.read, wait_seconds=wait_seconds)
        self._notices: dict[TurnId, list[BudgetNotice]] = defaultdict(list)
        self._announced: set[str] = set()

    # for the meter

    async def admit(self, planned: PlannedCall) -> AdmittedCall:
        """Reserve the money of a call. Raises ``PolicyRefusal``: nothing may be sent.

        Does not wait if there is no limit.
        """
        unlimited = planned.session_cap is None and not self.administrator.any
        if self.ledger.is_loaded and unlimited and self._file.is_known_empty():
            return AdmittedCall(self, self.ledger.reserve_unlimited(planned))
        try:
            found = await self.ledger.reserve(planned)
        except StateUnavailable as error:
            if planned.session_cap is not None or not self._unlimited():
                raise _uncountable(error) from error
            return AdmittedCall(self, self.ledger.unmetered_reservation(planned))
        if isinstance(found, LimitExceeded):
            raise refusal(found)
        return AdmittedCall(self, found)

    async def announce(self, reservation: Reservation, cost: int | None) -> None:
        """Store the notices of a call for its turn, unless they were given before."""
        for name, notice in self.remarks(reservation, cost):
            if await self._is_new(name):
                self._store_notice(notice, reservation.planned.account.turn_id)

    def remarks(self, reservation: Reservation, cost: int | None) -> list[tuple[str, BudgetNotice]]:
        """Return the new notices of a finished call, each with its key.

        Only calls of a turn have notices: nobody would read others.
        """
        if reservation.planned.account.turn_id is None:
            return []
        return [found for found in _remarks(reservation, cost) if found[0] not in self._announced]

    # for the engine

    def standing(self) -> BudgetStatus | None:
        """Return the month's spending and limit, None when unknown; reads no file."""
        return self.ledger.month_status()

    def notices(self, turn_id: TurnId) -> tuple[BudgetNotice, ...]:
        """Return the notices of a turn, once."""
        return tuple(self._notices.pop(turn_id, ()))

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        """Raise the limit of this session or turn to ``micro_usd`` micro-dollars.

        Raises ``PolicyRefusal`` if the administrator's limit is lower or the user may not raise
        this scope, ``StateUnavailable`` if it could not be stored.
        """
        if scope not in ("session", "turn"):
            raise PolicyRefusal(
                f"The limit of {NAMES[scope]} cannot be raised for a single conversation.",
                hint="Change it in the AI settings, unless your administrator set it.",
                scope=scope,
            )
        self._allowed(SpendingLimits(**{scope: micro_usd}))
        key = session_id if scope == "session" else turn_id
        await self.ledger.raise_limit(scope, key, micro_usd)

    # for the API

    def read(self) -> Budget:
        """Read the limits. For any thread but the event loop's.

        Raises ``PolicyRefusal`` (unreadable), ``StateUnavailable``.
        """
        self._read = Budget(self._file.read(), self.administrator)
        return self._read

    async def tallies(self) -> Tallies:
        """Return the cost of this month and day. Raises ``StateUnavailable``."""
        return await self.ledger.tallies(UsageAccount("other"))

    async def set_limits(self, limits: SpendingLimits) -> None:
        """Store the user's limits.

        Raises ``PolicyRefusal`` (above the administrator's), ``StateUnavailable``.
        """
        self._allowed(limits)
        await asyncio.to_thread(self._file.write, limits)

    def problem(self) -> ErrorInfo | None:
        """Return why model usage cannot be counted now; None when it can."""
        error = self.ledger.problem
        return None if error is None else error.info

    async def aclose(self) -> None:
        """Write settled calls and close the ledger."""
        await self.ledger.aclose()

    def _allowed(self, limits: SpendingLimits) -> None:
        scope = limit_above_ceiling(limits, self.administrator)
        if scope is None:
            return
        ceiling = self.administrator.of(scope) or 0
        raise PolicyRefusal(
            f"Your administrator allows {format_dollars(ceiling)} for {NAMES[scope]}, not "
            f"{format_dollars(limits.of(scope) or 0)}.",
            hint=f"Ask for at most {format_dollars(ceiling)}; the setting is "
            f"Shoulders.budget_{scope}_usd.",
            scope=scope,
            administrator_micro_usd=ceiling,
        )

    def _unlimited(self) -> bool:
        """Return whether there was no limit when the limits were last read."""
        return self._read is not None and not self._read.limits.any

    async def _is_new(self, name: str) -> bool:
        self._announced.add(name)
        try:
            return await self.ledger.claim(name)
        except StateUnavailable:
            self._announced.discard(name)
            return False  # ``problem`` reports it

    def _store_notice(self, notice: BudgetNotice, turn_id: TurnId | None) -> None:
        if turn_id is None:
            return
        self._notices[turn_id].append(notice)
        if len(self._notices) > MAX_TURNS:
            del self._notices[next(iter(self._notices))]


@dataclass(frozen=True, slots=True)
class AdmittedCall:
    """A call that may be sent."""

    budgets: UserBudget
    reservation: Reservation
    on_settled: Callable[[CallSettlement], None] = lambda _: None

    def settle(self, outcome: CallSettlement) -> None:
        """Record the outcome of the call; never raises or waits."""
        self.on_settled(outcome)
        self.budgets.ledger.settle(self.reservation, outcome)

    def remarks(self, cost_micro_usd: int | None) -> bool:
        """Return whether ``announce`` would have a notice after such a cost."""
        return bool(self.budgets.remarks(self.reservation, cost_micro_usd))

    async def announce(self, cost_micro_usd: int | None) -> None:
        """Notify the user, once per limit and period."""
        await self.budgets.announce(self.reservation, cost_micro_usd)


def refusal(found: LimitExceeded) -> PolicyRefusal:
    """Return the error of a call that a limit forbids."""
    whose = "your administrator's limit" if found.administrator else "your limit"
    spent, limit = format_dollars(found.tally.booked), format_dollars(found.limit)
    if found.is_by_reservations:
        message = (
            f"You have spent {spent} of {limit} ({whose} for {NAMES[found.scope]}). Calls that are "
            "running may need the rest."
        )
        hint = "Try again when they are done."
    else:
        message = f"You have spent {spent} {_DURING[found.scope]}; {whose} is {limit}."
        hint = _hint(found)
    return PolicyRefusal(
        message,
        code="budget_exhausted",
        hint=hint,
        retryable=found.is_by_reservations,
        scope=found.scope,
        limit_micro_usd=found.limit,
        spent_micro_usd=found.tally.booked,
        held_micro_usd=found.tally.reserved,
        administrator=found.administrator,
    )


def _hint(found: LimitExceeded) -> str:
    if found.administrator:
        return "Ask your administrator to raise it, or use a free model."
    return "Raise it in the AI settings, or use a free model."


def _uncountable(error: StateUnavailable) -> PolicyRefusal:
    return PolicyRefusal(
        f"No model was called, because its cost cannot be checked against your limits: {error}",
        code="state_unavailable",
        hint=error.info.hint,
        retryable=error.info.retryable,
    )


def _remarks(reservation: Reservation, cost: int | None) -> list[tuple[str, BudgetNotice]]:
    """Return the notices after a call, each with the key that makes it unique."""
    planned, limits = reservation.planned, reservation.limits
    if not limits.any:
        return []
    if cost is None:
        name = f"unknown_price:{reservation.when.month}:{planned.model}"
        return [(name, _unknown_price(planned))]
    found: list[tuple[str, BudgetNotice]] = []
    for near in limits_nearly_reached(limits, reservation.tallies, cost):
        key = scope_key(near.scope, planned.account, reservation.when)
        name = f"budget_80:{near.scope}:{key}:{near.limit}"
        found.append((name, _nearly_spent(near)))
    return found


def _nearly_spent(near: LimitWarning) -> BudgetNotice:
    spent, limit, name = format_dollars(near.spent), format_dollars(near.limit), NAMES[near.scope]
    share = near.spent * 100 // near.limit
    if share > 100:  # one call may cost more than the remaining budget
        return BudgetNotice(
            "budget_80", f"You are over the limit for {name}: {spent} of {limit} spent."
        )
    return BudgetNotice(
        "budget_80", f"You have spent {share} % of the limit for {name}: {spent} of {limit}."
    )


def _unknown_price(planned: PlannedCall) -> BudgetNotice:
    return BudgetNotice(
        "budget_unknown_price",
        f"The price of {planned.model} is unknown, so your limits do not apply to it. "
        'Add its "prices" to models.json.',
    )
