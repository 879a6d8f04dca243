"""The report for a returning user, and the start of their absence."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.host.presence.away_report import away_report
from jupyter_ai_shoulders.host.presence.page_presence import PagePresence, Period
from jupyter_ai_shoulders.testing.memory_store import FixedClock
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.away_report import AwayChange, AwayQuestion, AwayReport, AwayRun
from jupyter_ai_shoulders.wire.ids import (
    CallId,
    CellId,
    ClientId,
    EditId,
    MessageId,
    ModelId,
    ProviderId,
    SessionId,
    TurnId,
)
from jupyter_ai_shoulders.wire.results import ToolEnvelope

SESSION = SessionId("s")


def at(second: int) -> str:
    """A time; the user is away from second 100 to second 200."""
    return f"2026-03-02T09:{second // 60:02}:{second % 60:02}.000Z"


AWAY = Period(at(100), at(200))


def moment(second: int, event: ev.Event) -> ev.Event:
    return event.model_copy(update={"at": at(second), "turn_id": TurnId("t")})


def start(second: int) -> ev.Event:
    return moment(
        second,
        ev.TurnStart(
            message_id=MessageId("m"),
            model=ModelId("demo/demo"),
            provider=ProviderId("demo"),
            mode="ask",
            step_limit=5,
        ),
    )


def end(second: int, how: ev.Exit = "final_response") -> ev.Event:
    return moment(second, ev.TurnEnd(exit=how))


def call(second: int, name: str = "c", risk: ev.Risk = "execute") -> ev.Event:
    return moment(
        second,
        ev.ToolCall(
            call_id=CallId(name),
            tool="run_cell",
            arguments={},
            raw=None,
            invalid=None,
            risk=risk,
            external=False,
            title=f"Run {name}",
            target="a.ipynb",
        ),
    )


def result(second: int, name: str = "c", status: ev.CallStatus = "ok") -> ev.Event:
    return moment(
        second,
        ev.ToolResult(
            call_id=CallId(name),
            tool="run_cell",
            status=status,
            result=ToolEnvelope(ok=status == "ok", kind="text", data=None),
            content=(),
            duration_ms=1500,
        ),
    )


def edit(second: int, cell: str) -> ev.Event:
    return moment(
        second,
        ev.EditPending(
            edit_id=EditId(f"e-{cell}"),
            call_id=None,
            document="a.ipynb",
            cell_id=CellId(cell),
            before_version=None,
            after_version=None,
            hunks=(),
            title=f"{cell} = 1",
        ),
    )


def asks(second: int) -> ev.Event:
    return moment(
        second,
        ev.ClarifyRequest(
            call_id=CallId("q"), question="Which column?", options=(), allow_multiple=False
        ),
    )


def report(**change: Any) -> AwayReport:
    plain = {
        "session_id": SESSION,
        "since": at(100),
        "working_ms": 0,
        "runs": (),
        "run_count": 0,
        "changes": (),
        "change_count": 0,
        "state": "ended",
        "question": None,
        "exit": None,
    }
    return AwayReport.model_validate({**plain, **change})


def ran(name: str, status: Any = "ok", duration: int | None = 1500) -> AwayRun:
    return AwayRun(title=f"Run {name}", target="a.ipynb", status=status, duration_ms=duration)


A = AwayChange(document="a.ipynb", cell_id=CellId("a"), title="a = 1")
QUESTION = AwayQuestion(kind="clarify", text="Which column?")
CASES: dict[str, tuple[list[ev.Event], AwayReport | None]] = {
    "nothing": ([start(10), end(20)], None),
    "a run that began before and ended in it": (
        [start(10), call(20), result(150), edit(155, "a"), end(160)],
        report(
            until=at(160),
            working_ms=60_000,
            runs=(ran("c"),),
            run_count=1,
            changes=(A,),
            change_count=1,
            exit="final_response",
        ),
    ),
    "a turn that still runs": (
        [start(90), call(110), moment(111, ev.ToolStart(call_id=CallId("c")))],
        report(
            until=at(111),
            working_ms=100_000,
            runs=(ran("c", "running", None),),
            run_count=1,
            state="running",
        ),
    ),
    "a question": (
        [start(90), asks(130)],
        report(until=at(130), working_ms=30_000, state="waiting", question=QUESTION),
    ),
    "a failed run, and reads that are no runs": (
        [
            *(start(90), call(110, "r", "read"), result(111, "r")),
            *(call(112), result(113, status="error"), end(120, "error")),
        ],
        report(
            until=at(120),
            working_ms=20_000,
            runs=(ran("c", "error"),),
            run_count=1,
            exit="error",
        ),
    ),
    "what came after the return is not told": (
        [start(90), edit(150, "a"), edit(210, "b"), end(220)],
        report(until=at(150), working_ms=100_000, changes=(A,), change_count=1, state="running"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_report_tells_what_happened_in_the_absence(name: str) -> None:
    events, expected = CASES[name]
    assert away_report(SESSION, events, AWAY) == expected


@pytest.mark.parametrize(
    ("events", "told"),
    [([start(90), edit(105, "a")], False), ([start(90), end(105)], True), ([asks(105)], True)],
    ids=["went on", "ended", "asked"],
)
def test_short_absence_is_told_when_something_ended(events: list[ev.Event], *, told: bool) -> None:
    found = away_report(SESSION, events, Period(at(100), at(110)))
    assert (found is not None) == told


class MemoryFile:
    """A file in memory, or an unusable one."""

    def __init__(self) -> None:
        self.text: str | None = None
        self.broken = False

    def read(self) -> str | None:
        return self.text

    def write(self, text: str) -> None:
        if self.broken:
            raise StateUnavailable("full")
        self.text = text


class ReturningUser:
    """A user with pages, and a server that can be restarted."""

    def __init__(self) -> None:
        self.file = MemoryFile()
        self.clock = FixedClock()
        self.presence = PagePresence(self.file, self.clock)

    def comes(self, page: str = "p") -> None:
        self.presence.arrived(None, ClientId(page))

    def goes(self, page: str = "p", seconds_ago: float = 0.0) -> None:
        self.presence.left(None, ClientId(page), seconds_ago)

    def waits(self, seconds: int) -> None:
        self.clock.advance(seconds)

    def restart(self) -> None:
        self.presence = PagePresence(self.file, self.clock)

    @property
    def seconds(self) -> float | None:
        """Length of the absence."""
        period = self.presence.period(None)
        if period is None:
            return None
        until, since = map(datetime.fromisoformat, (period.until, period.since))
        return (until - since).total_seconds()


def test_absence_lasts_from_the_last_page_to_the_next() -> None:
    person = ReturningUser()
    person.comes("one")
    person.comes("two")
    person.goes("one")
    assert person.seconds is None
    person.goes("two", seconds_ago=20)
    person.waits(40)
    assert person.seconds == 60
    person.comes()
    person.waits(500)
    assert person.seconds == 60
    person.presence.dismiss(None)
    assert person.seconds is None


def test_absence_is_known_after_a_restart_and_lasts_until_it_is_dismissed() -> None:
    person = ReturningUser()
    person.comes()
    person.presence.close()
    person.waits(100)
    person.restart()
    person.comes()
    assert person.seconds == 100
    person.presence.reported(None)
    person.goes()
    person.waits(100)
    person.comes()
    assert person.seconds == 200


def test_absence_that_was_not_reported_ends_with_the_next() -> None:
    person = ReturningUser()
    person.comes()
    person.goes()
    person.waits(5)
    person.comes()
    person.waits(1000)
    person.goes()
    person.waits(7)
    person.comes()
    assert person.seconds == 7


def test_damaged_or_full_file_costs_the_report_alone() -> None:
    person = ReturningUser()
    person.file.text = "{"
    person.file.broken = True
    person.comes()
    person.goes()
    person.waits(9)
    assert person.seconds == 9
