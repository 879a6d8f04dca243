"""The ledger's transactions: reserve, book, presume, raise a limit, claim a notice.

All methods block; ``storage.ledger.usage_ledger`` calls them in its thread. Money is in integer
micro-dollars.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.budget.account import LimitScope, UsageAccount
from jupyter_ai_shoulders.core.budget.limits import (
    SCOPES,
    BillingPeriods,
    Budget,
    CallSettlement,
    LimitExceeded,
    PlannedCall,
    ScopeTotals,
    SpendingLimits,
    Tallies,
    billing_periods,
    first_exceeded_limit,
    scope_key,
)
from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.storage.ledger.database import OPEN, PUT, LedgerDatabase
from jupyter_ai_shoulders.storage.ledger.live_processes import LiveProcesses
from jupyter_ai_shoulders.wire.usage import TokenUsage

_NAME = "usage.db"
_OWNERS = "usage-owners"

_SPENT = "SELECT micro_usd FROM spent WHERE scope = ? AND key = ?"
_RAISED = "SELECT micro_usd FROM raised WHERE scope = ? AND key = ?"
_HELD_IN = ", ".join(
    f"coalesce(sum(held_micro_usd) FILTER (WHERE {name} = ?), 0)" for name in SCOPES
)
_HELD = f"SELECT {_HELD_IN} FROM calls WHERE state = 'open'"  # noqa: S608 columns' names
_ADD = (
    "INSERT INTO spent VALUES (?, ?, ?) "
    "ON CONFLICT (scope, key) DO UPDATE SET micro_usd = micro_usd + excluded.micro_usd"
)
_RAISE = (
    "INSERT INTO raised VALUES (?, ?, ?) "
    "ON CONFLICT (scope, key) DO UPDATE SET micro_usd = excluded.micro_usd"
)
_PRESUMED = (
    "SELECT call, held_micro_usd, day, month, session, turn FROM calls "
    "WHERE state = 'open' AND owner = ?"
)
_PRESUME = "UPDATE calls SET state = 'presumed', cost_micro_usd = held_micro_usd WHERE call = ?"


HIGHEST = 10**15
"""Maximum stored micro-dollars or tokens of one call. Callers may request answers of any length and
services report any usage, but SQLite's integers, sums included, have 64 bits.
"""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Permission to send a call; ``limits`` are those that apply, with granted amounts.

    ``tallies`` are those before the call; without limits they are not read.
    """

    call: str
    planned: PlannedCall
    at: str
    when: BillingPeriods
    limits: SpendingLimits
    tallies: Tallies


Settled = tuple[Reservation, CallSettlement]
"""A finished call and its result."""


class SqliteLedger:
    """The ledger of one user as seen by one process."""

    def __init__(self, folder: Path, clock: Clock, budget: Callable[[], Budget]) -> None:
        """``folder`` is ``~/.shoulders``; ``budget`` returns the effective limits and may block."""
        self.path = folder / _NAME
        self.file = LedgerDatabase(self.path, clock)
        self._owners = LiveProcesses(folder / _OWNERS)
        self._clock = clock
        self._budget = budget
        self._swept = False

    def reserve(self, call: str, planned: PlannedCall) -> Reservation | LimitExceeded:
        """Reserve the money of a call, or return the limit that forbids it.

        Raises ``StateUnavailable``, and ``PolicyRefusal`` when the user's limits cannot be read.
        """
        budget = self._budget()
        if not self._swept:
            self._presume_dead()
        found = self._reserve(call, planned, budget)
        if isinstance(found, LimitExceeded) and found.tally.reserved and self._presume_dead():
            return self._reserve(call, planned, budget)
        return found

    def open(self, reservation: Reservation) -> int:
        """Record a call that no limit could stop; return the month's spending.

        Raises ``StateUnavailable``.
        """
        planned, month = reservation.planned, reservation.when.month
        with self.file.transaction() as connection:
            self._owners.register()
            connection.execute(OPEN, self._row(reservation, "open", _presumed(planned)))
            crash_point("ledger.open.written")
            return _one(connection, _SPENT, "month", month) or 0

    def settle(self, settled: Sequence[Settled]) -> dict[str, int]:
        """Replace reservations by the results of their calls; return the spending of their months.

        Also corrects calls presumed by another process. Raises ``StateUnavailable``.
        """
        with self.file.transaction() as connection:
            for reservation, outcome in settled:
                self._settle(connection, reservation, outcome)
                crash_point("ledger.settle.written")
            months = sorted({reservation.when.month for reservation, _ in settled})
            return {month: _one(connection, _SPENT, "month", month) or 0 for month in months}

    def tallies(self, account: UsageAccount, when: BillingPeriods) -> Tallies:
        """Return the booked and held amounts per scope; creates no ledger. Raises
        ``StateUnavailable``.
        """
        if not self.path.exists():
            none: Tallies = {
                scope: ScopeTotals() for scope in SCOPES if scope_key(scope, account, when)
            }
            return none
        self._presume_dead()
        with self.file.transaction() as connection:
            return _tallies(connection, account, when)

    def raise_limit(self, scope: LimitScope, key: str, micro_usd: int) -> None:
        """Grant one session or turn an additional amount. Raises ``StateUnavailable``."""
        with self.file.transaction() as connection:
            connection.execute(_RAISE, (scope, key, micro_usd))
        crash_point("ledger.raise.committed")

    def claim(self, notice: str) -> bool:
        """Return whether no process has given this notice before.

        Raises ``StateUnavailable``.
        """
        with self.file.transaction() as connection:
            at = timestamp(self._clock.now())
            done = connection.execute("INSERT OR IGNORE INTO notices VALUES (?, ?)", (notice, at))
            return done.rowcount == 1

    def close(self) -> None:
        """Close the file. Open calls count as sent, see ``docs/budgets.md``."""
        self.file.close()
        self._owners.unregister()

    def _reserve(
        self, call: str, planned: PlannedCall, budget: Budget
    ) -> Reservation | LimitExceeded:
        account, now = planned.account, self._clock.now()
        when = billing_periods(now)
        with self.file.transaction() as connection:
            self._owners.register()
            tallies = _tallies(connection, account, when)
            cap = SpendingLimits(session=planned.session_cap)
            limits = _raised(connection, budget, account).capped(cap)
            found = first_exceeded_limit(budget, limits, tallies)
            if found is not None and planned.micro_usd != 0:
                return found
            made = Reservation(call, planned, timestamp(now), when, limits, tallies)
            connection.execute(OPEN, self._row(made, "open", _presumed(planned)))
            crash_point("ledger.reserve.written")
        crash_point("ledger.reserve.committed")
        return made

    def _settle(
        self, connection: sqlite3.Connection, reservation: Reservation, outcome: CallSettlement
    ) -> None:
        before = _booked(connection, reservation.call)
        connection.execute(PUT, self._row(reservation, "booked", outcome))
        cost = _stored(outcome.cost_micro_usd) or 0
        _add(connection, reservation.planned.account, reservation.when, cost - before)

    def _row(
        self, reservation: Reservation, state: str, outcome: CallSettlement
    ) -> tuple[str | int | None, ...]:
        planned, usage = reservation.planned, outcome.usage
        account = planned.account
        return (
            reservation.call,
            self._owners.name,
            state,
            reservation.at,
            reservation.when.day,
            reservation.when.month,
            planned.provider,
            planned.model,
            account.purpose,
            account.session_id,
            account.turn_id,
            _stored(planned.micro_usd),
            _stored(usage.input_tokens),
            _stored(usage.output_tokens),
            _stored(usage.cache_read_tokens),
            _stored(usage.cache_write_tokens),
            _stored(usage.reasoning_tokens),
            _stored(outcome.cost_micro_usd),
            usage.estimated,
            outcome.ok,
            outcome.duration_ms,
        )

    def _presume_dead(self) -> bool:
        """Book calls left open by dead processes at their maximum cost.

        They may have been sent; releasing them could let a limit be exceeded.
        """
        with self.file.transaction() as connection:
            query = "SELECT DISTINCT owner FROM calls WHERE state = 'open'"
            owners = [owner for (owner,) in connection.execute(query).fetchall()]
            dead = [owner for owner in owners if not self._owners.is_alive(owner)]
            for owner in dead:
                _presume(connection, owner)
                crash_point("ledger.presume.written")
        for owner in dead:
            self._owners.remove(owner)
            crash_point("ledger.owner.forgotten")
        self._swept = True
        return bool(dead)


def _stored(number: int | None) -> int | None:
    """Return the amount that fits the file and its sums; None stays unknown."""
    return None if number is None else min(number, HIGHEST)


def _presumed(planned: PlannedCall) -> CallSettlement:
    """Return the amounts booked for a call whose process died."""
    usage = TokenUsage(
        input_tokens=planned.prompt_tokens, output_tokens=planned.max_output, estimated=True
    )
    return CallSettlement(usage, None, ok=False, duration_ms=0)


def _presume(connection: sqlite3.Connection, owner: str) -> None:
    for call, held, day, month, *names in connection.execute(_PRESUMED, (owner,)).fetchall():
        connection.execute(_PRESUME, (call,))
        session, turn = names
        _add(
            connection, UsageAccount("other", session, turn), BillingPeriods(day, month), held or 0
        )


def _booked(connection: sqlite3.Connection, call: str) -> int:
    """Return the amount booked for a call; 0 while it is open."""
    query = "SELECT cost_micro_usd FROM calls WHERE call = ? AND state != 'open'"
    return _one(connection, query, call) or 0


def _tallies(
    connection: sqlite3.Connection, account: UsageAccount, when: BillingPeriods
) -> Tallies:
    keys = [scope_key(scope, account, when) for scope in SCOPES]
    held = connection.execute(_HELD, keys).fetchone()
    found: dict[LimitScope, ScopeTotals] = {}
    for scope, key, amount in zip(SCOPES, keys, held, strict=True):
        if key is not None:
            found[scope] = ScopeTotals(_one(connection, _SPENT, scope, key) or 0, amount)
    return found


def _raised(
    connection: sqlite3.Connection, budget: Budget, account: UsageAccount
) -> SpendingLimits:
    session = _one(connection, _RAISED, "session", account.session_id)
    turn = _one(connection, _RAISED, "turn", account.turn_id)
    return budget.user.raised(session, turn).capped(budget.administrator)


def _add(
    connection: sqlite3.Connection, account: UsageAccount, when: BillingPeriods, micro_usd: int
) -> None:
    for scope in SCOPES:
        key = scope_key(scope, account, when)
        if key is not None:
            connection.execute(_ADD, (scope, key, micro_usd))


def _one(connection: sqlite3.Connection, query: str, *parameters: Any) -> int | None:
    row = connection.execute(query, parameters).fetchone()
    return None if row is None else row[0]
