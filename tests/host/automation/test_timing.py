"""When schedules are due: daylight saving in three zones, quiet hours, late times, properties."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.host.automation.timing import (
    DueRun,
    check_trigger,
    dated_copy,
    decide_due,
    end_of_quiet,
    next_due,
    next_run,
    parse_moment,
    run_id,
    shortest_gap_s,
    stored,
    zone,
)
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    CronTrigger,
    IntervalTrigger,
    Missed,
    OnceTrigger,
    QuietHours,
    Trigger,
)

MADE = datetime(2026, 1, 1, tzinfo=UTC)
BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"

CHANGES = [
    # zone, expression, after (UTC), the next runs: local time with its offset, and UTC
    # Berlin, 29 March: 02:00 becomes 03:00. A skipped time runs right after the change.
    (BERLIN, "30 2 * * *", "2026-03-28T12:00", [
        ("2026-03-29T03:00+02:00", "2026-03-29T01:00"),
        ("2026-03-30T02:30+02:00", "2026-03-30T00:30"),
    ]),
    (BERLIN, "0 * * * *", "2026-03-28T23:30", [
        ("2026-03-29T01:00+01:00", "2026-03-29T00:00"),
        ("2026-03-29T03:00+02:00", "2026-03-29T01:00"),
        ("2026-03-29T04:00+02:00", "2026-03-29T02:00"),
    ]),
    # 25 October: 03:00 becomes 02:00. A repeated time runs once, every hour each hour.
    (BERLIN, "30 2 * * *", "2026-10-24T12:00", [
        ("2026-10-25T02:30+02:00", "2026-10-25T00:30"),
        ("2026-10-26T02:30+01:00", "2026-10-26T01:30"),
    ]),
    (BERLIN, "0 * * * *", "2026-10-24T23:30", [
        ("2026-10-25T02:00+02:00", "2026-10-25T00:00"),
        ("2026-10-25T02:00+01:00", "2026-10-25T01:00"),
        ("2026-10-25T03:00+01:00", "2026-10-25T02:00"),
    ]),
    # New York, 8 March: 02:00 becomes 03:00; 1 November: 02:00 becomes 01:00.
    (NEW_YORK, "30 2 * * *", "2026-03-07T20:00", [
        ("2026-03-08T03:00-04:00", "2026-03-08T07:00"),
        ("2026-03-09T02:30-04:00", "2026-03-09T06:30"),
    ]),
    (NEW_YORK, "15 1 * * *", "2026-10-31T20:00", [
        ("2026-11-01T01:15-04:00", "2026-11-01T05:15"),
        ("2026-11-02T01:15-05:00", "2026-11-02T06:15"),
    ]),
    (NEW_YORK, "0 * * * *", "2026-11-01T04:30", [
        ("2026-11-01T01:00-04:00", "2026-11-01T05:00"),
        ("2026-11-01T01:00-05:00", "2026-11-01T06:00"),
        ("2026-11-01T02:00-05:00", "2026-11-01T07:00"),
    ]),
    # Lord Howe moves by half an hour. 4 October: 02:00 becomes 02:30.
    (LORD_HOWE, "15 2 * * *", "2026-10-03T02:00", [
        ("2026-10-04T02:30+11:00", "2026-10-03T15:30"),
        ("2026-10-05T02:15+11:00", "2026-10-04T15:15"),
    ]),
    (LORD_HOWE, "30 1 * * *", "2026-10-03T02:00", [
        ("2026-10-04T01:30+10:30", "2026-10-03T15:00"),
        ("2026-10-05T01:30+11:00", "2026-10-04T14:30"),
    ]),
    # 5 April: 02:00 becomes 01:30.
    (LORD_HOWE, "45 1 * * *", "2026-04-04T02:00", [
        ("2026-04-05T01:45+11:00", "2026-04-04T14:45"),
        ("2026-04-06T01:45+10:30", "2026-04-05T15:15"),
    ]),
]  # fmt: skip


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def due_times(trigger: Trigger, after: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    for _ in range(count):
        due = next_due(trigger, after, MADE)
        assert due is not None
        found.append(due)
        after = due
    return found


@pytest.mark.parametrize(("name", "expression", "after", "expected"), CHANGES)
def test_daylight_saving_neither_loses_nor_repeats_a_run(
    name: str, expression: str, after: str, expected: list[tuple[str, str]]
) -> None:
    trigger = CronTrigger(expression=expression, time_zone=name)

    found = due_times(trigger, utc(after), len(expected))

    local = [moment.astimezone(zone(name)).isoformat(timespec="minutes") for moment in found]
    assert local == [local for local, _ in expected]
    assert found == [utc(moment) for _, moment in expected]


@pytest.mark.parametrize(
    ("name", "expression", "first", "second"),
    [
        (BERLIN, "30 2 * * *", "2026-10-25T00:30", "2026-10-26T01:30"),
        (NEW_YORK, "15 1 * * *", "2026-11-01T05:15", "2026-11-02T06:15"),
        (LORD_HOWE, "45 1 * * *", "2026-04-04T14:45", "2026-04-05T15:15"),
    ],
)
def test_looking_again_within_the_repeated_hour_repeats_nothing(
    name: str, expression: str, first: str, second: str
) -> None:
    trigger = CronTrigger(expression=expression, time_zone=name)

    for minutes in range(0, 24 * 60, 7):
        assert next_due(trigger, utc(first) + timedelta(minutes=minutes), MADE) == utc(second)


def test_an_interval_counts_from_its_start_and_a_single_time_comes_once() -> None:
    hourly = IntervalTrigger(seconds=3600)
    once = OnceTrigger(at="2026-06-01T09:00", time_zone=BERLIN)

    assert next_due(hourly, MADE, MADE) == MADE + timedelta(hours=1)
    assert next_due(hourly, MADE + timedelta(hours=9, minutes=1), MADE) == MADE + timedelta(
        hours=10
    )
    assert next_due(once, MADE, MADE) == utc("2026-06-01T07:00")
    assert next_due(once, utc("2026-06-01T07:00"), MADE) is None


NIGHT = QuietHours(start="22:00", end="07:00", time_zone=BERLIN)
NOON = QuietHours(start="12:00", end="13:00", time_zone=BERLIN)


@pytest.mark.parametrize(
    ("moment", "end"),
    [
        ("2026-06-01T19:59", "2026-06-01T19:59"),
        ("2026-06-01T20:00", "2026-06-02T05:00"),
        ("2026-06-02T04:59", "2026-06-02T05:00"),
        ("2026-06-02T05:00", "2026-06-02T05:00"),
        ("2026-06-02T10:30", "2026-06-02T11:00"),
        ("2026-10-24T21:00", "2026-10-25T06:00"),  # the night of the change has an hour more
    ],
)
def test_quiet_hours_end(moment: str, end: str) -> None:
    assert end_of_quiet(utc(moment), (NIGHT, NOON)) == utc(end)


def test_quiet_hours_pass_over_repeated_times_and_postpone_a_single_one() -> None:
    hourly = CronTrigger(expression="0 * * * *", time_zone=BERLIN)
    once = OnceTrigger(at="2026-06-01T23:00", time_zone=BERLIN)
    nightly = CronTrigger(expression="0 3 * * *", time_zone=BERLIN)

    assert next_run(hourly, utc("2026-06-01T19:30"), MADE, (NIGHT,)) == utc("2026-06-02T05:00")
    assert next_run(once, MADE, MADE, (NIGHT,)) == utc("2026-06-02T05:00")
    assert next_run(nightly, MADE, MADE, (NIGHT,)) is None


DUE = utc("2026-06-01T09:00")


@pytest.mark.parametrize(
    ("late", "missed", "quiet", "expected"),
    [
        (timedelta(seconds=1), "run", (), DueRun(starts=True, cause="time")),
        (timedelta(minutes=2), "skip", (), DueRun(starts=True, cause="time")),
        (timedelta(days=1), "run", (), DueRun(starts=True, cause="late")),
        (timedelta(days=1), "skip", (), DueRun(starts=False, cause="late")),
        (
            timedelta(hours=12),
            "run",
            (NIGHT,),
            DueRun(starts=False, cause="late", postponed=utc("2026-06-02T05:00")),
        ),
        (timedelta(hours=12), "skip", (NIGHT,), DueRun(starts=False, cause="late")),
    ],
)
def test_a_time_that_has_come_is_run_passed_over_or_postponed(
    late: timedelta, missed: Missed, quiet: tuple[QuietHours, ...], expected: DueRun
) -> None:
    assert decide_due(DUE, DUE + late, missed, quiet) == expected


@pytest.mark.parametrize(
    "trigger",
    [
        CronTrigger(expression="0 0 30 2 *", time_zone="UTC"),
        CronTrigger(expression="* * * * * *", time_zone="UTC"),
        CronTrigger(expression="61 * * * *", time_zone="UTC"),
        CronTrigger(expression="0 9 * * *", time_zone="../etc/passwd"),
        OnceTrigger(at="2026-01-01T00:00", time_zone="UTC"),
        OnceTrigger(at="9999-12-31T23:59", time_zone="America/New_York"),
        OnceTrigger(at="tomorrow"),
    ],
)
def test_a_time_that_never_comes_or_means_nothing_is_refused(trigger: Trigger) -> None:
    with pytest.raises(InvalidRequest):
        check_trigger(trigger, MADE)


ZONES = st.sampled_from([BERLIN, NEW_YORK, LORD_HOWE, "UTC", "Asia/Kathmandu"])
MOMENTS = st.integers(0, 2 * 365 * 86_400).map(lambda s: MADE + timedelta(seconds=s))
EXPRESSIONS = st.sampled_from(
    ["*/15 * * * *", "30 2 * * *", "0 9 * * MON-FRI", "15 1,3 * * *", "0 0 1 * *", "45 1 * * 0"]
)
TRIGGERS = st.one_of(
    st.builds(CronTrigger, expression=EXPRESSIONS, time_zone=ZONES),
    st.builds(IntervalTrigger, seconds=st.integers(60, 90_000)),
)


@given(TRIGGERS, MOMENTS, st.lists(st.floats(0, 0.999), max_size=4))
def test_the_next_time_is_later_and_does_not_depend_on_when_it_is_asked_for(
    trigger: Trigger, after: datetime, shares: list[float]
) -> None:
    first = next_due(trigger, after, MADE)
    assert first is not None
    assert first > after
    second = next_due(trigger, first, MADE)
    assert second is not None
    for share in shares:
        moment = first + (second - first) * share
        assert next_due(trigger, moment, MADE) == second
    gap = shortest_gap_s(trigger, after, 900)
    assert gap is not None
    assert gap <= (second - first).total_seconds() or isinstance(trigger, CronTrigger)


@given(TRIGGERS, MOMENTS)
def test_no_run_starts_in_quiet_hours(trigger: Trigger, after: datetime) -> None:
    found = next_run(trigger, after, MADE, (NIGHT, NOON))

    assert found is None or (found > after and end_of_quiet(found, (NIGHT, NOON)) == found)


@given(MOMENTS, MOMENTS)
def test_stored_times_sort_by_time_and_name_their_runs(first: datetime, second: datetime) -> None:
    assert (stored(first) < stored(second)) == (first < second)
    assert parse_moment(stored(first)) == first
    assert (run_id("a", stored(first)) == run_id("a", stored(second))) == (first == second)


def test_a_copy_is_named_after_the_local_time_it_was_due() -> None:
    due = utc("2026-11-29T08:00")

    assert dated_copy("a/report.ipynb", due, BERLIN) == "a/report-2026-11-29T0900.ipynb"
