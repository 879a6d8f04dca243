"""The ledger of a user: several processes, crashes, damaged files, and changing periods."""

import asyncio
import errno
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.budget.account import BudgetStatus, UsageAccount
from jupyter_ai_shoulders.core.budget.limits import (
    Budget,
    CallSettlement,
    LimitExceeded,
    ScopeTotals,
    SpendingLimits,
)
from jupyter_ai_shoulders.core.clock import Clock, SystemClock
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.ledger import live_processes
from jupyter_ai_shoulders.storage.ledger.live_processes import LIVENESS_TIMEOUT_S, LiveProcesses
from jupyter_ai_shoulders.storage.ledger.migrations import SCHEMA_VERSION
from jupyter_ai_shoulders.storage.ledger.sqlite_ledger import (
    HIGHEST,
    Reservation,
    Settled,
    SqliteLedger,
)
from jupyter_ai_shoulders.storage.ledger.usage_ledger import UsageLedger
from jupyter_ai_shoulders.testing.memory_store import FixedClock
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.storage.ledger import second_process
from tests.storage.ledger.second_process import outcome, planned

PROXY = UsageAccount("proxy")


class MovingClock(FixedClock):
    """A clock that can jump in either direction."""

    def jump(self, to: datetime) -> None:
        self._now = to


@asynccontextmanager
async def opened(
    folder: Path,
    limits: SpendingLimits | None = None,
    clock: Clock | None = None,
    wait_seconds: float = 5.0,
) -> AsyncGenerator[UsageLedger]:
    budget = Budget(limits or SpendingLimits())
    ledger = UsageLedger(folder, clock or FixedClock(), lambda: budget, wait_seconds=wait_seconds)
    try:
        yield ledger
    finally:
        await ledger.aclose()


async def reserved(ledger: UsageLedger, amount: int | None = 10) -> Reservation:
    found = await ledger.reserve(planned(amount))
    assert isinstance(found, Reservation), found
    return found


async def spend(ledger: UsageLedger, amount: int) -> None:
    ledger.settle(await reserved(ledger, amount), outcome(amount))


def names(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def look(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "usage.db")) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def folder(isolated_home: Path) -> Path:
    return isolated_home / ".shoulders"


class Other:
    """Another server process of the same user."""

    def __init__(self, folder: Path, limit: int, amount: int, count: int, mode: str) -> None:
        arguments = [str(folder), str(limit), str(amount), str(count), mode]
        self.process = subprocess.Popen(
            [sys.executable, "-m", second_process.__name__, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.expect("ready")

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def expect(self, word: str) -> None:
        assert self.line() == word

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def others() -> Iterator[list[Other]]:
    started: list[Other] = []
    yield started
    for other in started:
        other.end()


async def test_what_is_settled_is_what_is_spent(folder: Path) -> None:
    async with opened(folder) as ledger:
        first, second = await reserved(ledger), await reserved(ledger)
        ledger.settle(first, outcome(7))
        await ledger.flush()

        tallies = await ledger.tallies(first.planned.account)

    assert tallies == dict.fromkeys(("month", "day", "session", "turn"), ScopeTotals(7, 10))
    assert second.tallies["month"] == ScopeTotals(0, 10)


async def test_a_call_of_unknown_cost_is_null_in_the_ledger_and_adds_nothing(folder: Path) -> None:
    async with opened(folder) as ledger:
        ledger.settle(await reserved(ledger, None), outcome(None))
        await ledger.flush()
        tallies = await ledger.tallies(PROXY)

    assert look(folder, "SELECT state, cost_micro_usd, held_micro_usd FROM calls") == [
        ("booked", None, None)
    ]
    assert tallies["month"] == ScopeTotals()


async def test_a_limit_stops_calls_once_it_is_reached_and_not_before(folder: Path) -> None:
    async with opened(folder, SpendingLimits(day=25)) as ledger:
        for _ in range(3):
            await spend(ledger, 10)

        found = await ledger.reserve(planned(10))

    assert found == LimitExceeded("day", 25, ScopeTotals(30), administrator=False)


async def test_a_call_that_costs_nothing_passes_a_limit_that_is_reached(folder: Path) -> None:
    async with opened(folder, SpendingLimits(day=0)) as ledger:
        assert isinstance(await ledger.reserve(planned(0)), Reservation)
        assert isinstance(await ledger.reserve(planned(None)), LimitExceeded)


async def test_two_processes_racing_never_pass_the_limit_by_more_than_one_call(
    folder: Path, others: list[Other]
) -> None:
    limit, amount = 100_000, 3_000
    others.extend(Other(folder, limit, amount, 60, "race") for _ in range(2))

    for other in others:
        other.go()
    admitted = [int(other.line()) for other in others]

    (spent,) = look(folder, "SELECT sum(cost_micro_usd) FROM calls")[0]
    assert spent == sum(admitted) * amount
    assert limit <= spent < limit + amount
    assert look(folder, "SELECT micro_usd FROM spent WHERE scope = 'month'") == [(spent,)]


async def test_a_new_ledger_waits_for_another_process_that_creates_it(folder: Path) -> None:
    folder.mkdir()  # noqa: ASYNC240 a test
    with closing(
        sqlite3.connect(folder / "usage.db", isolation_level=None, check_same_thread=False)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.1, other.execute, ["COMMIT"])
        timer.start()
        async with opened(folder, SpendingLimits(day=25)) as ledger:
            await reserved(ledger)
        timer.join()


async def test_calls_of_a_killed_process_are_booked_at_what_they_may_have_cost(
    folder: Path, others: list[Other]
) -> None:
    other = Other(folder, 1_000, 100, 3, "hold")
    others.append(other)
    other.go()
    other.expect("held")

    async with opened(folder, SpendingLimits(month=1_000), SystemClock()) as ledger:
        alive = await ledger.tallies(PROXY)
        os.kill(other.process.pid, signal.SIGKILL)
        other.process.wait()
        dead = await ledger.tallies(PROXY)

    assert alive["month"] == ScopeTotals(0, 300)
    assert dead["month"] == ScopeTotals(300, 0)
    query = "SELECT state, cost_micro_usd, estimated, ok, input_tokens, output_tokens FROM calls"
    assert look(folder, query) == [("presumed", 100, 1, 0, 100, 1000)] * 3
    assert names(folder / "usage-owners", "*") == []


async def test_a_limit_held_by_a_dead_process_is_looked_at_anew_before_it_refuses(
    folder: Path, others: list[Other]
) -> None:
    async with opened(folder, SpendingLimits(month=1_000), SystemClock()) as ledger:
        await spend(ledger, 1)  # this process has already checked for dead ones
        other = Other(folder, 1_000, 1_500, 1, "hold")
        others.append(other)
        other.go()
        other.expect("held")
        held = await ledger.reserve(planned(1))
        other.end()
        spent = await ledger.reserve(planned(1))

    assert held == LimitExceeded("month", 1_000, ScopeTotals(1, 1_500), administrator=False)
    assert spent == LimitExceeded("month", 1_000, ScopeTotals(1_501, 0), administrator=False)


async def test_a_settlement_corrects_what_was_presumed_of_a_call(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may seem dead where files cannot be locked, or while its machine sleeps."""

    def dead(owners: LiveProcesses, name: str) -> bool:
        del owners, name
        return False

    async with opened(folder) as sleeper, opened(folder) as other:
        call = await reserved(sleeper, 100)
        with monkeypatch.context() as patch:
            patch.setattr(LiveProcesses, "is_alive", dead)
            assert (await other.tallies(PROXY))["month"] == ScopeTotals(100, 0)
        sleeper.settle(call, outcome(40))
        await sleeper.flush()

        assert (await other.tallies(PROXY))["month"] == ScopeTotals(40, 0)


async def test_a_call_is_booked_in_the_period_it_was_sent_in(folder: Path) -> None:
    clock = MovingClock(datetime(2026, 11, 30, 12, tzinfo=UTC))
    async with opened(folder, SpendingLimits(month=50), clock) as ledger:
        call = await reserved(ledger, 50)
        clock.jump(datetime(2026, 12, 1, 12, tzinfo=UTC))
        assert isinstance(await ledger.reserve(planned(10)), Reservation)
        ledger.settle(call, outcome(50))
        await ledger.flush()
        december = await ledger.tallies(PROXY)
        clock.jump(datetime(2026, 11, 30, 13, tzinfo=UTC))  # the clock is set back
        november = await ledger.reserve(planned(10))

    assert december["month"] == ScopeTotals(0, 10)
    assert november == LimitExceeded("month", 50, ScopeTotals(50), administrator=False)


async def test_the_standing_counts_what_is_settled_but_not_yet_written(folder: Path) -> None:
    async with opened(folder, SpendingLimits(month=1_000)) as ledger:
        assert ledger.month_status() is None
        ledger.settle(await reserved(ledger), outcome(9))
        assert ledger.month_status() == BudgetStatus(9, 1_000)
        await ledger.flush()
        assert ledger.month_status() == BudgetStatus(9, 1_000)


async def test_what_one_turn_was_granted_counts_for_it_alone_and_survives(folder: Path) -> None:
    limits = SpendingLimits(turn=10)
    async with opened(folder, limits) as ledger:
        await spend(ledger, 10)
        assert isinstance(await ledger.reserve(planned(1)), LimitExceeded)
        await ledger.raise_limit("turn", "t1", 30)
        await spend(ledger, 10)

    async with opened(folder, limits) as ledger:
        found = await reserved(ledger)
        assert found.limits == SpendingLimits(turn=30)
        assert (await ledger.reserve(planned(5, "proxy"))) != limits


async def test_a_notice_is_claimed_once_by_all_processes_together(folder: Path) -> None:
    async with opened(folder) as first, opened(folder) as second:
        claims = await asyncio.gather(*(each.claim("n") for each in (first, second, first)))

    assert sorted(claims) == [False, False, True]


async def test_a_reservation_that_is_cancelled_is_given_back(folder: Path) -> None:
    async with opened(folder) as ledger:
        for _ in range(20):
            task = asyncio.create_task(ledger.reserve(planned(10)))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await ledger.flush()
        await ledger.flush()

        assert (await ledger.tallies(PROXY))["month"] == ScopeTotals(0, 0)


async def test_closing_writes_all_that_was_settled(folder: Path) -> None:
    async with opened(folder) as ledger:
        calls = [await reserved(ledger) for _ in range(50)]
        for call in calls:
            ledger.settle(call, outcome(3))

    assert look(
        folder, "SELECT count(*), sum(cost_micro_usd) FROM calls WHERE state = 'booked'"
    ) == [(50, 150)]


async def test_a_call_without_limits_is_noted_while_it_runs_and_written_once_when_short(
    folder: Path,
) -> None:
    async with opened(folder) as ledger:
        await spend(ledger, 1)
        short, long = ledger.reserve_unlimited(planned(10)), ledger.reserve_unlimited(planned(20))
        ledger.settle(short, outcome(2))
        async with asyncio.timeout(10):
            while (await ledger.tallies(PROXY))["month"] != ScopeTotals(3, 20):
                pass  # each check waits for the ledger's thread
        ledger.settle(long, outcome(4))
        await ledger.flush()

        assert (await ledger.tallies(PROXY))["month"] == ScopeTotals(7, 0)
        assert ledger.month_status() == BudgetStatus(7, None)


async def test_short_calls_without_limits_are_written_together_and_closing_loses_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[int] = []
    settle = SqliteLedger.settle

    def noted(book: SqliteLedger, settled: Sequence[Settled]) -> dict[str, int]:
        commits.append(len(settled))
        return settle(book, settled)

    monkeypatch.setattr(SqliteLedger, "settle", noted)
    async with opened(folder) as ledger:
        for _ in range(20):
            ledger.settle(ledger.reserve_unlimited(planned(10)), outcome(2))
        assert (await ledger.tallies(PROXY))["month"] == ScopeTotals(40, 0)
        ledger.settle(ledger.reserve_unlimited(planned(10)), outcome(2))

    assert commits == [20, 1]
    assert look(folder, "SELECT micro_usd FROM spent WHERE scope = 'month'") == [(42,)]


async def test_numbers_beyond_the_files_integers_hold_up_no_other_call(folder: Path) -> None:
    """A caller may request an answer of any length, and a service may report any usage."""
    beyond = CallSettlement(TokenUsage(output_tokens=10**30), 10**30, ok=True, duration_ms=7)
    async with opened(folder) as ledger:
        ledger.settle(await reserved(ledger, 10**30), beyond)
        await ledger.flush()
        await spend(ledger, 5)

        assert (await ledger.tallies(PROXY))["month"] == ScopeTotals(HIGHEST + 5, 0)


async def test_a_call_that_is_settled_is_not_opened_again(folder: Path) -> None:
    """The timer of a call may fire while its settlement is being written."""
    book = SqliteLedger(folder, FixedClock(), Budget)
    call = book.reserve("c1", planned(10))
    assert isinstance(call, Reservation)
    book.settle([(call, outcome(4))])

    assert book.open(call) == 4
    assert book.tallies(PROXY, call.when)["month"] == ScopeTotals(4, 0)
    book.close()


async def test_a_call_that_closing_cuts_off_counts_at_what_it_may_have_cost(folder: Path) -> None:
    async with opened(folder) as ledger:
        ledger.reserve_unlimited(planned(10))
        await ledger.flush()

    async with opened(folder) as ledger:
        assert (await ledger.tallies(PROXY))["month"] == ScopeTotals(10, 0)


async def test_a_ledger_locked_by_another_program_loses_no_settlement(folder: Path) -> None:
    async with opened(folder, wait_seconds=0.2) as ledger:
        call = await reserved(ledger)
        with closing(sqlite3.connect(folder / "usage.db", isolation_level=None)) as foreign:
            foreign.execute("BEGIN IMMEDIATE")
            ledger.settle(call, outcome(8))
            with pytest.raises(StateUnavailable, match="does not answer"):
                await ledger.reserve(planned(1))
            foreign.execute("ROLLBACK")
        await ledger.flush()

        assert (await ledger.tallies(PROXY))["month"] == ScopeTotals(8, 0)


async def test_the_event_loop_goes_on_while_the_ledger_waits(folder: Path) -> None:
    async with opened(folder, wait_seconds=0.3) as ledger:
        await spend(ledger, 1)
        with closing(sqlite3.connect(folder / "usage.db", isolation_level=None)) as foreign:
            foreign.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(ledger.reserve(planned(1)))
            turns = 0
            while not waiting.done():
                await asyncio.sleep(0.01)
                turns += 1
            foreign.execute("ROLLBACK")
        with pytest.raises(StateUnavailable):
            await waiting

    assert turns > 10


@pytest.mark.parametrize("damage", ["noise", "truncated", "page"])
async def test_a_damaged_ledger_is_moved_aside_and_its_calls_are_kept(
    folder: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(folder) as ledger:
        for _ in range(300):
            await spend(ledger, 10)
    path = folder / "usage.db"
    whole = path.read_bytes()
    middle = len(whole) // 2 // 4096 * 4096
    broken = {
        "noise": os.urandom(20_000),
        "truncated": whole[:middle],
        "page": whole[:middle] + b"\xa5" * 4096 + whole[middle + 4096 :],
    }[damage]
    path.write_bytes(broken)

    async with opened(folder) as ledger:
        await spend(ledger, 5)
        await ledger.flush()
        tallies = await ledger.tallies(PROXY)
        assert ledger.problem is None

    (aside,) = names(folder, "usage.db.damaged-*Z")
    assert aside.read_bytes() == broken
    (kept,) = look(folder, "SELECT count(*) FROM calls")[0]
    assert kept == 1 if damage == "noise" else 50 < kept <= 301
    assert tallies["month"].booked == (5 if damage == "noise" else 3_005)
    assert "damaged" in caplog.text


async def test_a_ledger_that_breaks_while_it_is_open_is_replaced(folder: Path) -> None:
    async with opened(folder) as ledger:
        for _ in range(5):
            await spend(ledger, 10)
        await ledger.flush()
        with closing(sqlite3.connect(folder / "usage.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = (folder / "usage.db").stat().st_size
        with (folder / "usage.db").open("r+b") as file:
            file.write(b"\xa5" * size)

        await spend(ledger, 10)
        await ledger.flush()

        assert ledger.problem is None
        assert (await ledger.tallies(PROXY))["month"].booked >= 10


async def test_a_ledger_that_was_removed_is_made_anew(folder: Path) -> None:
    async with opened(folder) as ledger:
        call = await reserved(ledger)
        for path in names(folder, "usage.db*"):
            path.unlink()
        ledger.settle(call, outcome(4))
        await ledger.flush()

        assert (await ledger.tallies(PROXY))["month"] == ScopeTotals(4, 0)


async def test_a_ledger_of_a_newer_version_is_left_alone(folder: Path) -> None:
    async with opened(folder) as ledger:
        await spend(ledger, 1)
    with closing(sqlite3.connect(folder / "usage.db")) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")

    async with opened(folder) as ledger:
        with pytest.raises(StateUnavailable, match="newer version") as caught:
            await ledger.reserve(planned(1))

    assert caught.value.info.hint == "Upgrade jupyter-ai-shoulders in this environment."
    assert look(folder, "SELECT count(*) FROM calls") == [(1,)]


async def test_the_files_are_the_users_alone(folder: Path) -> None:
    async with opened(folder) as ledger:
        await spend(ledger, 1)
        await ledger.flush()
        modes = {path.name: mode(path) for path in names(folder, "*")}

    assert mode(folder) == 0o700
    assert {found for name, found in modes.items() if name.startswith("usage.db")} == {0o600}
    assert modes["usage-owners"] == 0o700


@pytest.mark.parametrize(("age", "alive"), [(0.0, True), (2 * LIVENESS_TIMEOUT_S, False)])
def test_where_files_cannot_be_locked_an_owner_lives_for_an_hour(
    folder: Path, monkeypatch: pytest.MonkeyPatch, age: float, alive: bool
) -> None:
    def unsupported(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, f"No locks available for {descriptor}")

    monkeypatch.setattr(live_processes, "lock_exclusively", unsupported)
    owner, other = LiveProcesses(folder), LiveProcesses(folder)
    owner.register()
    made = (folder / owner.name).stat().st_mtime
    os.utime(folder / owner.name, (made - age, made - age))

    assert other.is_alive(owner.name) is alive
    assert owner.is_alive(owner.name)
    owner.unregister()
    assert not other.is_alive(owner.name)
