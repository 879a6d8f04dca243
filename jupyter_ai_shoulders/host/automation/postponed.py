"""Changes of a watcher whose run may not start yet: kept in the schedule, joined with later ones.

Pure; used by ``scheduler``. The run has the key of the latest change, so that a watcher that
reports this change again, after a crash, starts no second run.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from jupyter_ai_shoulders.host.automation.timing import stored
from jupyter_ai_shoulders.wire.api.automation.schedules import PostponedChange, Schedule

MOST_FILES = 50
_MORE = "more files; list the files to see them"


def postponed(schedule: Schedule, files: Sequence[str], key: str, until: datetime) -> Schedule:
    """Return the schedule with a change that waits."""
    change = PostponedChange(key=key, files=with_postponed(schedule, files))
    return schedule.model_copy(update={"postponed": change, "next_at": stored(until)})


def with_postponed(schedule: Schedule, files: Sequence[str]) -> tuple[str, ...]:
    """Return the files that wait, and these."""
    known = () if schedule.postponed is None else schedule.postponed.files
    joined = tuple(dict.fromkeys((*known, *files)))
    return joined if len(joined) <= MOST_FILES else (*joined[:MOST_FILES], _MORE)


def started(schedule: Schedule) -> Schedule:
    """Return the schedule of a watcher once the run of its change has begun."""
    return schedule.model_copy(update={"next_at": None, "postponed": None})
