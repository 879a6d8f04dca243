import asyncio
from datetime import datetime, timedelta
from typing import Literal

import pytest

from jupyter_ai_shoulders.server.adapters import activity_reporter
from jupyter_ai_shoulders.server.adapters.activity_reporter import ActivityReporter
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.events import SessionUpdate
from tests.storage.store import START, MovableClock, session


class Times(dict[str, datetime]):
    """The application's times of last activity; signals when one is set."""

    def __init__(self) -> None:
        super().__init__()
        self.news = asyncio.Event()

    def __setitem__(self, name: str, value: datetime) -> None:
        super().__setitem__(name, value)
        self.news.set()


def update(name: str, status: Literal["running", "waiting", "idle"]) -> LoggedEvent:
    value = session(name).model_copy(update={"status": status})
    return LoggedEvent(SessionUpdate(session=value, session_id=value.id), "")


async def test_a_running_turn_counts_as_activity_until_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(activity_reporter, "REPORT_SECONDS", 0.001)
    times = Times()
    clock = MovableClock()
    report = ActivityReporter(times, clock)

    report.on_event(update("a", "idle"))
    assert times == {}

    report.on_event(update("a", "running"))
    report.on_event(update("b", "running"))
    clock.move(timedelta(hours=1))
    times.news.clear()
    async with asyncio.timeout(60):
        await times.news.wait()

    report.on_event(update("a", "waiting"))
    report.on_event(update("b", "idle"))
    ended = times["shoulders"]
    clock.move(timedelta(hours=1))
    times.news.clear()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(times.news.wait(), 0.02)

    assert times["shoulders"] == ended == START + timedelta(hours=1)
    report.close()
