"""A second process on the same ledger, for ``test_usage_ledger``; makes reservations.

Run as ``python -m tests.storage.ledger.second_process FOLDER LIMIT AMOUNT COUNT MODE``; ``MODE`` is
``race`` (settle each call at its whole amount) or ``hold`` (print ``held`` and wait to be killed).
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.budget.limits import (
    Budget,
    CallSettlement,
    PlannedCall,
    SpendingLimits,
)
from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.storage.ledger.sqlite_ledger import Reservation
from jupyter_ai_shoulders.storage.ledger.usage_ledger import UsageLedger
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.usage import TokenUsage


def planned(amount: int | None, purpose: str = "turn") -> PlannedCall:
    """Return a call with this maximum cost."""
    account = UsageAccount("turn", SessionId("s1"), TurnId("t1"))
    if purpose == "proxy":
        account = UsageAccount("proxy")
    return PlannedCall(account, ProviderId("p"), ModelId("m"), 100, 1000, amount)


def outcome(cost: int | None) -> CallSettlement:
    """Return a successful outcome with this cost."""
    return CallSettlement(
        TokenUsage(input_tokens=10, output_tokens=5), cost, ok=True, duration_ms=7
    )


async def main(folder: Path, limit: int, amount: int, count: int, mode: str) -> None:
    """Make the reservations; print how many calls were admitted."""
    ledger = UsageLedger(folder, SystemClock(), lambda: Budget(SpendingLimits(month=limit)))
    print("ready", flush=True)  # noqa: T201 the test reads it
    sys.stdin.readline()
    admitted = 0
    for _ in range(count):
        found = await ledger.reserve(planned(amount))
        if not isinstance(found, Reservation):
            continue
        admitted += 1
        if mode == "race":
            ledger.settle(found, outcome(amount))
    if mode == "hold":
        print("held", flush=True)  # noqa: T201 the test reads it
        sys.stdin.readline()
    await ledger.aclose()
    print(admitted, flush=True)  # noqa: T201 the test reads it


if __name__ == "__main__":
    LIMIT, AMOUNT, COUNT = map(int, sys.argv[2:5])
    asyncio.run(main(Path(sys.argv[1]), LIMIT, AMOUNT, COUNT, sys.argv[5]))
