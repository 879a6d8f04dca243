"""When schedules are due. Pure: no clock, no I/O; used by ``service`` and ``scheduler``.

All times are aware datetimes in UTC. Cron expressions and their behaviour at changes of daylight
saving are ``cronsim``'s, which follows Debian's cron.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from jupyter_ai_shoulders.core.clock import timestamp
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    CronTrigger,
    FilesTrigger,
    IntervalTrigger,
    Missed,
    OnceTrigger,
    QuietHours,
    RunCause,
    Trigger,
)

if TYPE_CHECKING:
    from cronsim import CronSim

ON_TIME = timedelta(minutes=2)
"""A run that starts this late still counts as on time."""
MOST_SKIPPED = 2_000
"""Times within quiet hours that are passed over before a schedule counts as never due."""
_PROBED_DAYS = 2
_REPEATED = timedelta(hours=3)
"""Longer than any repeated hour."""
_NOTHING = timedelta()


def zone(name: str) -> ZoneInfo:
    """Return a time zone. Raises ``InvalidRequest``."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError) as error:  # ZoneInfoNotFoundError is a KeyError
        raise _unknown_zone(name) from error
    except KeyError as error:
        raise _unknown_zone(name) from error


def _unknown_zone(name: str) -> InvalidRequest:
    return InvalidRequest(
        f"time_zone: there is no time zone {name!r}.", hint="Use a name such as Europe/Berlin."
    )


def parse_moment(text: str, time_zone: str = "UTC", field: str = "at") -> datetime:
    """Return a moment in UTC; one without an offset is local to ``time_zone``.

    Raises ``InvalidRequest``.
    """
    try:
        found = datetime.fromisoformat(text)
        moment = found.replace(tzinfo=zone(time_zone)) if found.tzinfo is None else found
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidRequest(
            f"{field}: {text!r} is not a date and time.",
            hint="Write it as 2026-11-29T09:00, or with an offset: 2026-11-29T09:00+01:00.",
        ) from error


def check_trigger(trigger: Trigger, now: datetime) -> None:
    """Raise ``InvalidRequest`` for a trigger that cannot be understood or is never due."""
    if isinstance(trigger, CronTrigger):
        _cron(trigger.expression, zone(trigger.time_zone), now)
    if not isinstance(trigger, FilesTrigger) and next_due(trigger, now, now) is None:
        raise InvalidRequest("trigger: this time has passed already, so nothing would ever run.")


def next_due(trigger: Trigger, after: datetime, created: datetime) -> datetime | None:
    """Return the first time after ``after``; None if there is none. Files have no times."""
    match trigger:
        case OnceTrigger():
            at = parse_moment(trigger.at, trigger.time_zone)
            return at if at > after else None
        case IntervalTrigger():
            step = timedelta(seconds=trigger.seconds)
            count = max((after - created) // step + 1, 1)
            return created + count * step
        case CronTrigger():
            return _next_of_cron(trigger, after)
        case FilesTrigger():
            return None


def _next_of_cron(trigger: CronTrigger, after: datetime) -> datetime | None:
    """Return the next time of an expression.

    Within the second pass of a repeated hour, ``cronsim`` returns a time of the first pass, so it
    is asked from before that hour.
    """
    local = zone(trigger.time_zone)
    repeated = after.astimezone(local).fold == 1
    for moment in _cron(trigger.expression, local, after - (_REPEATED if repeated else _NOTHING)):
        found = moment.astimezone(UTC)
        if found > after:
            return found
    return None


def next_run(
    trigger: Trigger, after: datetime, created: datetime, quiet: Sequence[QuietHours] = ()
) -> datetime | None:
    """Return the next time a run may start: quiet hours pass over times, and postpone a single one.

    None if there is none.
    """
    for _ in range(MOST_SKIPPED):
        due = next_due(trigger, after, created)
        if due is None:
            return None
        allowed = end_of_quiet(due, quiet)
        if allowed == due:
            return due
        if isinstance(trigger, OnceTrigger):
            return allowed
        after = due
    return None


def end_of_quiet(moment: datetime, quiet: Sequence[QuietHours]) -> datetime:
    """Return the moment itself, or the end of the quiet hours it falls into."""
    for _ in range(len(quiet) + 1):  # the end of one may lie within another
        before = moment
        for hours in quiet:
            moment = _after_quiet(moment, hours)
        if moment == before:
            break
    return moment


def _after_quiet(moment: datetime, hours: QuietHours) -> datetime:
    local = moment.astimezone(zone(hours.time_zone))
    start, end = time.fromisoformat(hours.start), time.fromisoformat(hours.end)
    now = local.time().replace(tzinfo=None)
    crosses = end <= start
    inside = (now >= start or now < end) if crosses else start <= now < end
    if not inside or start == end:
        return moment
    day = local.date() + timedelta(days=1 if crosses and now >= start else 0)
    return datetime.combine(day, end, local.tzinfo).astimezone(UTC)


def shortest_gap_s(trigger: Trigger, now: datetime, limit_s: int) -> float | None:
    """Return the shortest time between the next runs; None if there are never two.

    Cron expressions are probed for two days' worth of runs at the allowed interval, so that every
    pattern within an hour, a day and over midnight is seen.
    """
    if isinstance(trigger, IntervalTrigger):
        return float(trigger.seconds)
    if not isinstance(trigger, CronTrigger):
        return None
    cron = _cron(trigger.expression, zone(trigger.time_zone), now)
    wanted = _PROBED_DAYS * 86_400 // max(limit_s, 60) + 10
    found = [moment for moment, _ in zip(cron, range(wanted), strict=False)]
    gaps = [(second - first).total_seconds() for first, second in pairwise(_in_utc(found))]
    return min(gaps, default=None)


@dataclass(frozen=True, slots=True)
class DueRun:
    """What to do about a schedule whose time has come."""

    starts: bool
    """Whether a run starts; else the time is passed over."""
    cause: RunCause
    postponed: datetime | None = None
    """When to look again, if quiet hours forbid a run now."""


def decide_due(
    due: datetime, now: datetime, missed: Missed, quiet: Sequence[QuietHours] = ()
) -> DueRun:
    """Decide on a time that has come: it is run, run late once, passed over, or postponed."""
    late = now - due > ON_TIME
    cause: RunCause = "late" if late else "time"
    if late and missed == "skip":
        return DueRun(starts=False, cause=cause)
    allowed = end_of_quiet(now, quiet)
    if allowed != now:
        return DueRun(starts=False, cause=cause, postponed=allowed)
    return DueRun(starts=True, cause=cause)


def run_id(schedule_id: str, due: str) -> str:
    """Return the id of the run that a schedule starts for a time, or for another cause."""
    named = f"{schedule_id}\0{due}".encode("utf-8", "surrogatepass")
    return f"srun_{hashlib.sha256(named).hexdigest()[:24]}"


def stored(moment: datetime) -> str:
    """Return a moment as it is stored; such texts sort by time."""
    return timestamp(moment)


def dated_copy(path: str, due: datetime, time_zone: str) -> str:
    """Return the name of the copy of a notebook that a run writes its outputs to."""
    stem, dot, extension = path.rpartition(".")
    local = due.astimezone(zone(time_zone))
    return f"{stem if dot else path}-{local:%Y-%m-%dT%H%M}{dot}{extension if dot else ''}"


def _in_utc(moments: Sequence[datetime]) -> list[datetime]:
    return [moment.astimezone(UTC) for moment in moments]


def _cron(expression: str, tz: ZoneInfo, after: datetime) -> CronSim:
    if not _is_cron(expression):
        raise InvalidRequest(
            f"expression: {expression!r} is not a cron expression.",
            hint="Five fields: minute, hour, day of month, month, day of week; for instance "
            "0 9 * * MON-FRI.",
        )
    from cronsim import CronSim

    return CronSim(expression, after.astimezone(tz))


@lru_cache(maxsize=256)
def _is_cron(expression: str) -> bool:
    if len(expression.split()) != 5:
        return False  # six fields are seconds
    from cronsim import CronSim, CronSimError

    try:
        CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError:
        return False
    return True
