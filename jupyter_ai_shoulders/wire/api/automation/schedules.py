"""Schedules and watchers: what starts a run without the person, and the runs it started.

``GET/POST schedules``, ``GET/PATCH/DELETE schedules/{id}``, ``POST schedules/{id}/run`` and ``GET
schedules/{id}/runs``. A watcher is a schedule with the trigger ``files``.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from jupyter_ai_shoulders.wire.base import CommandModel, Timestamp, WireModel
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId
from jupyter_ai_shoulders.wire.sessions import Mode, Toolset

TimeZone = Annotated[str, StringConstraints(min_length=1, max_length=64)]
"""An IANA name such as ``Europe/Berlin``."""
ClockTime = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
"""A time of day, ``HH:MM``."""
Glob = Annotated[str, StringConstraints(min_length=1, max_length=256)]
LONGEST_PROMPT = 20_000

OnQuestion = Literal["wait", "refuse"]
"""A call that would ask waits for the person, or is refused."""
Missed = Literal["run", "skip"]
"""A time at which no server ran: run once at the next start, or not at all."""
ScheduleState = Literal["active", "paused", "ended"]
Creator = Literal["person", "agent"]
RunState = Literal[
    "starting", "running", "waiting", "done", "failed", "refused", "interrupted", "cancelled"
]
"""``refused``: a limit or a rule stopped it; ``interrupted``: the server ended during the run."""
RunCause = Literal["time", "late", "person", "files"]
"""``late``: its time passed while no server ran."""


class OnceTrigger(CommandModel):
    """One run."""

    kind: Literal["once"] = "once"
    at: str = Field(max_length=64)
    """ISO 8601; without an offset it is the local time of ``time_zone``."""
    time_zone: TimeZone = "UTC"


class IntervalTrigger(CommandModel):
    """A run every so many seconds, counted from when the schedule was made."""

    kind: Literal["interval"] = "interval"
    seconds: int = Field(ge=1, le=366 * 86_400)


class CronTrigger(CommandModel):
    """Runs at the times of a cron expression (five fields) in a time zone.

    Changes of daylight saving follow Debian's cron: a skipped time runs right after the change, a
    repeated one runs once; times with wildcards run by the clock.
    """

    kind: Literal["cron"] = "cron"
    expression: str = Field(min_length=1, max_length=200)
    time_zone: TimeZone


class FilesTrigger(CommandModel):
    """A run after files of the workspace that match a glob changed and came to rest (a watcher)."""

    kind: Literal["files"] = "files"
    globs: tuple[Glob, ...] = Field(min_length=1, max_length=20)
    settle_s: float = Field(default=5.0, ge=1.0, le=3_600.0)
    """Seconds without another change before the run."""


Trigger = Annotated[
    OnceTrigger | IntervalTrigger | CronTrigger | FilesTrigger, Field(discriminator="kind")
]


class QuietHours(CommandModel):
    """A daily span without runs; it may cross midnight."""

    start: ClockTime
    end: ClockTime
    time_zone: TimeZone


class ScheduleOptions(CommandModel):
    """What a run does, and what it may do; shared by the schedule and the requests."""

    title: str = Field(default="", max_length=200)
    prompt: str | None = Field(default=None, max_length=LONGEST_PROMPT)
    """The message of each run; with a notebook, sent after it ran."""
    notebook: str | None = Field(default=None, min_length=1, max_length=4_096)
    """The notebook that each run executes from top to bottom."""
    output: Literal["in_place", "copy"] = "in_place"
    """Whether outputs are saved in the notebook or in a dated copy beside it."""
    session_id: SessionId | None = None
    """The conversation that runs continue; None: each run is a new one."""
    model: ModelId | None = None
    mode: Mode | None = None
    toolset: Toolset | None = None
    on_question: OnQuestion = "refuse"
    missed: Missed = "run"
    quiet_hours: QuietHours | None = None
    expires_at: str | None = Field(default=None, max_length=64)
    """ISO 8601 with an offset; no run starts after it."""
    runs_per_day: int | None = Field(default=None, ge=1)
    micro_usd_per_day: int | None = Field(default=None, ge=0)
    """Limits of this schedule, beside those of all schedules together."""


class PostSchedule(ScheduleOptions):
    """``POST schedules``."""

    trigger: Trigger

    @model_validator(mode="after")
    def _has_work(self) -> Self:
        if not (self.prompt or "").strip() and self.notebook is None:
            raise ValueError("a schedule needs a prompt or a notebook")
        return self


class PatchSchedule(CommandModel):
    """``PATCH schedules/{id}``: absent fields stay; 409 ``stale`` for another ``revision``."""

    revision: int
    state: Literal["active", "paused"] | None = None
    options: ScheduleOptions | None = None
    """Replaces all options."""
    trigger: Trigger | None = None


class ScheduleRun(WireModel):
    """One run of a schedule."""

    id: str
    schedule_id: str
    cause: RunCause
    due_at: Timestamp
    started_at: Timestamp
    ended_at: Timestamp | None = None
    state: RunState
    message: str | None = None
    """What went wrong or what it waits for, in words."""
    session_id: SessionId | None = None
    notebook: str | None = None
    """The notebook that runs, with the outputs."""
    copied_from: str | None = None
    """The notebook that it is a dated copy of."""
    files: tuple[str, ...] = ()
    """The changed files that started it."""
    cost_micro_usd: int | None = None

    @property
    def counts(self) -> bool:
        """Whether it counts as a run of its day: limits stopped it otherwise."""
        return self.state != "refused"


class PostponedChange(WireModel):
    """Changed files whose run may not start yet; ``key`` is that of the latest change."""

    key: str
    files: tuple[str, ...]


class Schedule(WireModel):
    """A schedule as it is stored and shown."""

    id: str
    revision: int
    trigger: Trigger
    options: ScheduleOptions
    state: ScheduleState
    state_reason: str | None = None
    """Why it was paused or ended, where the person did not do it."""
    created_by: Creator
    made_in: SessionId | None = None
    """The conversation whose agent made it."""
    reason: str | None = None
    """Why the agent made it, in its words."""
    owner: str | None
    created_at: Timestamp
    updated_at: Timestamp
    next_at: Timestamp | None
    """Time of the next run; None without one, and for watchers unless a change is postponed."""
    postponed: PostponedChange | None = None
    """What a watcher's next run is about, while quiet hours or other runs keep it back."""


class ScheduleStatus(WireModel):
    """A schedule with its last run and what it used today."""

    schedule: Schedule
    last_run: ScheduleRun | None
    runs_today: int
    cost_today_micro_usd: int


class ScheduleLimits(WireModel):
    """The limits of all schedules; a model can never change them."""

    shortest_interval_s: int
    most_schedules: int
    runs_per_day: int
    micro_usd_per_day: int
    most_concurrent: int
    longest_agent_days: int
    """Days after which schedules made by the agent expire at the latest."""
    largest_toolset: Toolset
    quiet_hours: QuietHours | None
    locked: tuple[str, ...]
    """Names of the limits that the administrator set."""


class ScheduleList(WireModel):
    """``GET schedules``."""

    schedules: tuple[ScheduleStatus, ...]
    limits: ScheduleLimits
    agent_may_schedule: bool


class RunsQuery(CommandModel):
    """Query of ``GET schedules/{id}/runs``."""

    limit: int = Field(default=50, ge=1, le=200)


class ScheduleRunList(WireModel):
    """``GET schedules/{id}/runs``, the latest first."""

    runs: tuple[ScheduleRun, ...]
