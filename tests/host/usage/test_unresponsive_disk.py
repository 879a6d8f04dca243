"""Usage and limits while the home directory hangs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.host.usage.budgets import UserBudget
from jupyter_ai_shoulders.host.usage.service import BoundedReader, UsageService
from jupyter_ai_shoulders.storage.budget_file import NAME
from jupyter_ai_shoulders.wire.usage import UsageQuery


@pytest.fixture
def hanging(tmp_path: Path) -> Generator[Path]:
    """A folder whose limits file hangs when it is opened, as on a lost network disk: a named pipe
    without a writer, until the end of the test.
    """
    pipe = tmp_path / NAME
    os.mkfifo(pipe)
    yield tmp_path
    for _ in range(2):
        try:
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))  # releases a reader
        except OSError:
            return


async def test_usage_is_told_without_what_hangs(hanging: Path) -> None:
    budgets = UserBudget(hanging, SystemClock(), wait_seconds=0.2)
    service = UsageService(budgets, hanging / "state.db", SystemClock(), wait_seconds=0.2)
    async with asyncio.timeout(60):
        usage = await service.usage(UsageQuery(by="day"))
    await budgets.aclose()

    assert usage.budget.error is not None
    assert "named pipe" in usage.budget.error.message
    assert usage.rows == ()


async def test_one_thread_hangs_at_most_and_it_is_asked_again_once_it_is_back() -> None:
    gate, begun = threading.Event(), list[int]()

    def work() -> int:
        begun.append(1)
        gate.wait()
        return 7

    patience = BoundedReader(0.05)
    for _ in range(3):
        with pytest.raises(StateUnavailable, match="The disk does not answer"):
            await patience.read("The disk", work)
    assert len(begun) == 1

    hanging = [task for task in asyncio.all_tasks() if task.get_name() == "The disk"]
    gate.set()
    async with asyncio.timeout(60):
        assert await asyncio.gather(*hanging) == [7]
    with suppress(StateUnavailable):  # the retry may be slow again
        await patience.read("The disk", work)
    assert len(begun) == 2
