"""The ledger off the event loop: one thread does everything that may wait for a disk or a process.

Made by ``host``. A call is reserved before it is sent (awaited) and settled afterwards (queued,
regardless of cancellation). See ``docs/budgets.md``.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import secrets
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from jupyter_ai_shoulders.core.budget.account import BudgetStatus, LimitScope, UsageAccount
from jupyter_ai_shoulders.core.budget.limits import (
    BillingPeriods,
    Budget,
    CallSettlement,
    LimitExceeded,
    PlannedCall,
    SpendingLimits,
    Tallies,
    billing_periods,
)
from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.ledger.sqlite_ledger import Reservation, SqliteLedger
from jupyter_ai_shoulders.wire.usage import TokenUsage

_log = logging.getLogger(__name__)

WAIT_SECONDS = 5.0
"""Time a call waits for an unresponsive ledger (a home directory that hangs)."""
CLOSE_SECONDS = 2.0
OPEN_SECONDS = 0.05
"""A call that no limit could stop is recorded as open after this time, in case this process dies;
shorter calls are written once, when finished.
"""
WRITE_SECONDS = 0.05
"""Calls without limits that end within this time of each other are written in one transaction: a
commit costs as much as a third of all other work of a short call.
"""
MOST_UNWRITTEN = 10_000
"""Settlements kept in memory while the ledger cannot be written."""

T = TypeVar("T")


class UsageLedger:
    """The cost of every call of this user, over all workspaces and server processes."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        budget: Callable[[], Budget],
        *,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        """``folder`` is ``~/.shoulders``. ``budget`` is called in the ledger's thread."""
        self._book = SqliteLedger(folder, clock, budget)
        self._clock = clock
        self._wait = wait_seconds
        self._thread: ThreadPoolExecutor | None = None
        self._closed = False
        self._prefix = secrets.token_hex(8)
        self._numbers = itertools.count(1)
        self._guard = threading.Lock()
        self._unwritten: deque[tuple[Reservation, CallSettlement]] = deque()
        self._month_status: tuple[str, BudgetStatus] | None = None
        self._problem: StateUnavailable | None = None
        self._opening: dict[str, tuple[asyncio.TimerHandle, Reservation]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._due: asyncio.TimerHandle | None = None

    @property
    def path(self) -> Path:
        """Path of the ledger."""
        return self._book.path

    @property
    def problem(self) -> StateUnavailable | None:
        """Why the ledger's last use failed; None if it succeeded."""
        return self._problem

    @property
    def is_loaded(self) -> bool:
        """Whether this process has read the ledger."""
        return self._month_status is not None

    async def reserve(self, planned: PlannedCall) -> Reservation | LimitExceeded:
        """Reserve the money of a call, or return the limit that forbids it.

        Raises ``StateUnavailable``, and ``PolicyRefusal`` when the user's limits cannot be read.
        """
        call = f"{self._prefix}-{next(self._numbers)}"
        future = self._submit(self._reserve, call, planned)
        try:
            return await self._answer(future)
        except BaseException:
            future.add_done_callback(self._release)  # the call will not be sent
            raise

    def reserve_unlimited(self, planned: PlannedCall) -> Reservation:
        """Return the reservation of a call that no limit can stop; never waits."""
        reservation = self.unmetered_reservation(planned)
        self._loop = asyncio.get_running_loop()
        timer = self._loop.call_later(OPEN_SECONDS, self._open, reservation)
        self._opening[reservation.call] = (timer, reservation)
        return reservation

    def settle(self, reservation: Reservation, outcome: CallSettlement) -> None:
        """Queue the result of a call for booking; never raises or waits."""
        opening = self._opening.pop(reservation.call, None)
        if opening is not None:
            opening[0].cancel()
        with self._guard:
            if len(self._unwritten) >= MOST_UNWRITTEN:
                _log.error("A model call of %s is not counted.", reservation.planned.model)
                return
            self._unwritten.append((reservation, outcome))
        if opening is None or self._loop is None:
            self._write_now()
        elif self._due is None:
            self._due = self._loop.call_later(WRITE_SECONDS, self._write_now)

    def month_status(self) -> BudgetStatus | None:
        """Return the month's cost, including unwritten settlements.

        None when the ledger was never read. Reads no file.
        """
        month = billing_periods(self._clock.now()).month
        with self._guard:
            if self._month_status is None:
                return None
            known_month, known = self._month_status
            spent = known.month_micro_usd if known_month == month else 0
            waiting = [
                outcome.cost_micro_usd or 0
                for reservation, outcome in self._unwritten
                if reservation.when.month == month
            ]
        return BudgetStatus(spent + sum(waiting), known.month_limit_micro_usd)

    async def tallies(self, account: UsageAccount) -> Tallies:
        """Return the current booked and held amounts per scope. Raises ``StateUnavailable``."""
        when = billing_periods(self._clock.now())
        return await self._answer(self._submit(self._tallies, account, when))

    async def raise_limit(self, scope: LimitScope, key: str, micro_usd: int) -> None:
        """Grant one session or turn more for later calls. Raises ``StateUnavailable``."""
        await self._answer(self._submit(self._do, self._book.raise_limit, scope, key, micro_usd))

    async def claim(self, notice: str) -> bool:
        """Return whether this notice was never given before. Raises ``StateUnavailable``."""
        return await self._answer(self._submit(self._do, self._book.claim, notice))

    def unmetered_reservation(self, planned: PlannedCall) -> Reservation:
        """Return the reservation of a call that is sent regardless of the ledger."""
        call = f"{self._prefix}-{next(self._numbers)}"
        now = self._clock.now()
        when = billing_periods(now)
        return Reservation(call, planned, timestamp(now), when, SpendingLimits(), {})

    async def flush(self) -> None:
        """Return when all queued settlements were written or failed."""
        await asyncio.wrap_future(self._submit(self._attempt, self._write))

    async def aclose(self) -> None:
        """Write all settlements and close the file, within seconds."""
        if self._thread is None or self._closed:
            return
        if self._due is not None:
            self._due.cancel()
        for timer, reservation in list(self._opening.values()):
            timer.cancel()
            self._open(reservation)  # it will not be settled
        done = self._submit(self._close)
        self._closed = True
        self._thread.shutdown(wait=False)
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await asyncio.shield(asyncio.wrap_future(done))
        except TimeoutError:
            _log.error("The usage ledger %s does not answer.", self.path)
        if self._unwritten:
            _log.error("%d model calls could not be counted.", len(self._unwritten))

    # the ledger's thread

    def _submit(self, work: Callable[..., T], *arguments: object) -> Future[T]:
        if self._closed:
            raise StateUnavailable(
                "The server is shutting down; model usage is no longer counted.",
                hint="Try again once it is back.",
                retryable=True,
            )
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="shoulders-ledger")
        return self._thread.submit(work, *arguments)

    def _post(self, work: Callable[..., object], *arguments: object) -> None:
        """Run work without waiting for it. Raises ``StateUnavailable`` once closed."""
        self._submit(self._attempt, work, *arguments).add_done_callback(_log_failure)

    async def _answer(self, future: Future[T]) -> T:
        try:
            async with asyncio.timeout(self._wait):
                return await asyncio.wrap_future(
                    future
                )  # if cancelled before it starts, it never starts
        except TimeoutError as error:
            raise StateUnavailable(
                f"The usage ledger {self.path} does not answer.",
                hint="Another program may have locked it, or its disk does not respond. Try again.",
                retryable=True,
            ) from error

    def _reserve(self, call: str, planned: PlannedCall) -> Reservation | LimitExceeded:
        self._do(self._write)
        found = self._do(self._book.reserve, call, planned)
        if isinstance(found, Reservation):
            month = found.tallies["month"].booked
            self._note(found.when.month, BudgetStatus(month, found.limits.month))
        return found

    def _release(self, future: Future[Reservation | LimitExceeded]) -> None:
        """Release the reservation of a cancelled call; runs in the thread."""
        if future.cancelled() or future.exception() is not None:
            return
        found = future.result()
        if isinstance(found, Reservation):
            self.settle(found, NOTHING)

    def _tallies(self, account: UsageAccount, when: BillingPeriods) -> Tallies:
        self._do(self._write)
        return self._do(self._book.tallies, account, when)

    def _write_now(self) -> None:
        """Write the queued settlements; on the event loop, or from ``_give_back``."""
        self._due = None
        with contextlib.suppress(StateUnavailable):  # closed: ``aclose`` reports the loss
            self._post(self._write)

    def _write(self) -> None:
        with self._guard:
            settled = tuple(self._unwritten)
        if not settled:
            return
        spent = self._book.settle(settled)
        with self._guard:
            for _ in settled:
                self._unwritten.popleft()
            for month, amount in spent.items():
                self._spent(month, amount)

    def _open(self, reservation: Reservation) -> None:
        """Record a running call as open; on the event loop."""
        self._opening.pop(reservation.call, None)
        with contextlib.suppress(StateUnavailable):  # closing
            self._post(self._opened, reservation)

    def _opened(self, reservation: Reservation) -> None:
        spent = self._book.open(reservation)
        with self._guard:
            self._spent(reservation.when.month, spent)

    def _spent(self, month: str, micro_usd: int) -> None:
        if self._month_status is not None and month >= self._month_status[0]:
            limit = self._month_status[1].month_limit_micro_usd
            self._month_status = (month, BudgetStatus(micro_usd, limit))

    def _note(self, month: str, month_status: BudgetStatus) -> None:
        with self._guard:
            self._month_status = (month, month_status)

    def _attempt(self, work: Callable[..., object], *arguments: object) -> None:
        """Run work without waiting for it; a failure is stored in ``problem``."""
        try:
            self._do(work, *arguments)
        except StateUnavailable as error:
            _log.debug("The ledger could not be written: %s", error)

    def _do(self, work: Callable[..., T], *arguments: object) -> T:
        """Run work, again on a new file if the old one was found damaged."""
        try:
            try:
                done = work(*arguments)
            except StateUnavailable:
                if not self._book.file.damaged:
                    raise
                done = work(*arguments)
        except StateUnavailable as error:
            self._failed(error)
            raise
        self._problem = None
        return done

    def _failed(self, error: StateUnavailable) -> None:
        if self._problem is None:
            _log.warning("%s %s", error, error.info.hint)
        self._problem = error

    def _close(self) -> None:
        self._attempt(self._write)
        self._book.close()


NOTHING = CallSettlement(TokenUsage(), 0, ok=False, duration_ms=0)
"""The result of a call that was never sent."""


def _log_failure(future: Future[None]) -> None:
    """Log an internal error: no caller reads the result."""
    if not future.cancelled() and (error := future.exception()) is not None:
        _log.error("The usage ledger could not be written.", exc_info=error)
