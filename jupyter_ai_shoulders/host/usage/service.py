"""Reports usage and budgets. Called by ``server.handlers.usage``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, TypeVar

from jupyter_ai_shoulders.core.budget.limits import (
    SCOPES,
    Budget,
    SpendingLimits,
    Tallies,
    billing_periods,
)
from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    PolicyRefusal,
    StateUnavailable,
)
from jupyter_ai_shoulders.host.usage.budgets import UserBudget
from jupyter_ai_shoulders.host.usage.owner_budgets import OwnerBudgets
from jupyter_ai_shoulders.storage.ledger.turn_queries import (
    first_output_times,
    most_frequent_failures,
    step_usage,
    tool_usage,
    turn_usage,
)
from jupyter_ai_shoulders.storage.ledger.usage_ledger import WAIT_SECONDS
from jupyter_ai_shoulders.storage.ledger.usage_queries import (
    usage_rows,
    usage_total,
)
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.usage import (
    BudgetLimit,
    BudgetState,
    PutBudget,
    Usage,
    UsageBy,
    UsageQuery,
)
from jupyter_ai_shoulders.wire.versions import cell_version

_NOTHING: Mapping[str, Any] = {
    "rows": (),
    "total": None,
    "tools": (),
    "steps": None,
    "turns": None,
    "first_output": None,
    "failures": (),
}


class OwnerUsage:
    """Usage and budget of each user; see ``OwnerBudgets``."""

    def __init__(self, budgets: OwnerBudgets, database: Path, clock: Clock) -> None:
        self._budgets = budgets
        self._database = database
        self._clock = clock
        self._known: dict[str | None, UsageService] = {}

    def of(self, owner: str | None) -> UsageService:
        """Return the usage service of a user; None: where users are not distinguished."""
        found = self._known.get(owner)
        if found is None:
            budgets = self._budgets.of(owner)
            found = UsageService(budgets, self._database, self._clock, owner=owner)
            self._known[owner] = found
        return found


class UsageService:
    """Usage and budget of one user for the API."""

    def __init__(
        self,
        budgets: UserBudget,
        database: Path,
        clock: Clock,
        *,
        owner: str | None = None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        """``database`` holds this workspace's events, which record the success of tools: those of
        ``owner`` and of sessions without one, None: all.

        A read that takes longer than ``wait_seconds`` is reported as missing.
        """
        self._budgets = budgets
        self._database = database
        self._clock = clock
        self._owner = owner
        self._timeout = BoundedReader(wait_seconds)
        self._writing = asyncio.Lock()

    async def usage(self, query: UsageQuery) -> Usage:
        """Return the usage; ``error`` says what could not be read.

        Raises ``InvalidRequest``.
        """
        today = self._clock.now().astimezone().date()
        first, last = query.from_ or today.replace(day=1), query.to or today
        if first > last:
            raise InvalidRequest(
                f"from: {first} is after {last}.", hint="Give the earlier day as from."
            )
        budget = await self.budget()  # now the ledger holds all settled calls
        try:
            return await self._timeout.read(
                f"The usage ledger {self._budgets.ledger.path}",
                lambda: self._summed(query, first, last, budget),
            )
        except StateUnavailable as problem:
            return _budget_statement(_NOTHING, query.by, (first, last), budget, problem.info)

    async def budget(self) -> BudgetState:
        """Return limits and spending; ``error`` says what could not be read."""
        budget = Budget(SpendingLimits(), self._budgets.administrator)
        tallies: Tallies = {}
        error: ErrorInfo | None = None
        revision: str | None = None
        try:
            budget = await self._timeout.read("The file with your limits", self._budgets.read)
            revision = _revision(budget.user)
            tallies = await self._budgets.tallies()
        except (PolicyRefusal, StateUnavailable) as problem:
            error = problem.info
        return self._state(budget, tallies, revision, error)

    async def set_budget(self, command: PutBudget) -> BudgetState:
        """Store the user's limits.

        Raises ``PolicyRefusal``, ``StateUnavailable``, ``Conflict`` (the limits changed since they
        were read).
        """
        async with self._writing:
            await self._refuse_stale(command.revision)
            await self._store(command)
        return await self.budget()

    async def _refuse_stale(self, seen: str | None) -> None:
        if seen is not None and seen != (await self.budget()).revision:
            raise Conflict(
                "The limits were changed elsewhere. Your change was not saved.",
                code="stale",
                hint="Check them and repeat the change.",
            )

    async def _store(self, command: PutBudget) -> None:
        await self._budgets.set_limits(
            SpendingLimits(
                month=command.month_micro_usd,
                day=command.day_micro_usd,
                session=command.session_micro_usd,
                turn=command.turn_micro_usd,
            )
        )

    def _summed(self, query: UsageQuery, first: date, last: date, budget: BudgetState) -> Usage:
        found = _NOTHING
        error: ErrorInfo | None = None
        for sums in (self._calls, self._tools):
            try:
                found = {**found, **sums(query.by, first, last)}
            except StateUnavailable as problem:
                error = error or problem.info
        return _budget_statement(found, query.by, (first, last), budget, error)

    def _calls(self, by: UsageBy, first: date, last: date) -> dict[str, Any]:
        """Return the usage in the ledger. Raises ``StateUnavailable``."""
        ledger, days = self._budgets.ledger.path, (first.isoformat(), last.isoformat())
        rows = () if by == "tool" else usage_rows(ledger, by, *days)
        return {"rows": rows, "total": usage_total(ledger, *days)}

    def _tools(self, by: UsageBy, first: date, last: date) -> dict[str, Any]:
        """Return the tools' usage in the event log, if requested. Raises ``StateUnavailable``."""
        if by != "tool":
            return {}
        span = (_midnight(first), _midnight(last + timedelta(days=1)))
        return {
            "tools": tool_usage(self._database, *span, self._owner),
            "steps": step_usage(self._database, *span, self._owner),
            "turns": turn_usage(self._database, *span, self._owner),
            "first_output": first_output_times(self._database, *span, self._owner),
            "failures": most_frequent_failures(self._database, *span, self._owner),
        }

    def _state(
        self, budget: Budget, tallies: Tallies, revision: str | None, error: ErrorInfo | None
    ) -> BudgetState:
        when = billing_periods(self._clock.now())
        limits = tuple(
            BudgetLimit(
                scope=scope,
                limit_micro_usd=budget.limits.of(scope),
                user_micro_usd=budget.user.of(scope),
                administrator_micro_usd=budget.administrator.of(scope),
                spent_micro_usd=tallies[scope].booked if scope in tallies else None,
                held_micro_usd=tallies[scope].reserved if scope in tallies else None,
            )
            for scope in SCOPES
        )
        return BudgetState(
            limits=limits, month=when.month, day=when.day, revision=revision, error=error
        )


def _budget_statement(
    found: Mapping[str, Any],
    by: UsageBy,
    days: tuple[date, date],
    budget: BudgetState,
    error: ErrorInfo | None,
) -> Usage:
    first, last = days
    return Usage(
        first_day=first.isoformat(),
        last_day=last.isoformat(),
        by=by,
        budget=budget,
        error=error,
        **found,
    )


def _midnight(day: date) -> str:
    """Return the start of a day in this machine's time zone, in the form of event times."""
    return timestamp(datetime.combine(day, time()).astimezone())


def _revision(limits: SpendingLimits) -> str:
    """Return an identifier of the user's limits."""
    return cell_version(repr([limits.of(scope) for scope in SCOPES]))


T = TypeVar("T")


class BoundedReader:
    """Reads files whose disk may hang, such as a home directory on the network, with a timeout.

    A hanging thread cannot be ended, and the process has few: while one hangs no other is started,
    and callers get an error at once.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._late: asyncio.Task[object] | None = None

    async def read(self, what: str, work: Callable[[], T]) -> T:
        """Return what ``work`` reads in a thread, or raise what it raises.

        Raises ``StateUnavailable`` if ``what`` does not answer in time.
        """
        if self._late is not None:
            raise _unresponsive(what)
        task = asyncio.create_task(asyncio.to_thread(work), name=what)
        done, _ = await asyncio.wait({task}, timeout=self._seconds)
        if done:
            return task.result()
        if self._late is None:
            self._late = task
            task.add_done_callback(self._on_late_result)
        raise _unresponsive(what)

    def _on_late_result(self, task: asyncio.Task[object]) -> None:
        self._late = None
        if not task.cancelled():
            task.exception()  # already reported as unresponsive


def _unresponsive(what: str) -> StateUnavailable:
    return StateUnavailable(
        f"{what} does not answer.",
        hint="Its disk may not be responding, or another program may have locked it. Try again.",
        retryable=True,
    )
