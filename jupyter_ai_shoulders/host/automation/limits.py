"""Limits of schedules: their values, and the refusals that name them.

Used by ``service`` when a schedule is made or changed, and by ``scheduler`` before each run. The
host enforces them; no tool changes them.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from jupyter_ai_shoulders.core.budget.limits import format_dollars
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.host.automation.timing import (
    check_trigger,
    end_of_quiet,
    parse_moment,
    shortest_gap_s,
)
from jupyter_ai_shoulders.host.settings.preferences import Preferences
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    QuietHours,
    ScheduleLimits,
    ScheduleOptions,
    Trigger,
)
from jupyter_ai_shoulders.wire.sessions import Mode, Toolset

TOOLSETS: tuple[Toolset, ...] = ("inline", "document", "notebook", "workspace", "full")
"""The narrowest first."""
MODES: tuple[Mode, ...] = ("plan", "ask", "auto_edit", "bypass")
"""The strictest first."""
AREA = "schedules"


class LimitSource:
    """The limits that apply now."""

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences

    def current(self) -> ScheduleLimits:
        """Return the limits of the settings and of the administrator."""
        values, locked = self._preferences.schedules()
        return ScheduleLimits(
            shortest_interval_s=values.shortest_interval_s,
            most_schedules=values.most_schedules,
            runs_per_day=values.runs_per_day,
            micro_usd_per_day=round(values.usd_per_day * 1_000_000),
            most_concurrent=values.most_concurrent,
            longest_agent_days=values.longest_agent_days,
            largest_toolset=values.largest_toolset,
            quiet_hours=quiet_hours(values.quiet_hours),
            locked=locked,
        )

    def agent_may_schedule(self) -> bool:
        """Return whether the agent gets the tools that make schedules."""
        return self._preferences.schedules()[0].agent


def quiet_hours(text: str) -> QuietHours | None:
    """Return the setting ``22:00-07:00 Europe/Berlin`` as quiet hours; None for an empty one."""
    if not text:
        return None
    span, _, name = text.partition(" ")
    start, _, end = span.partition("-")
    return QuietHours(start=start, end=end, time_zone=name)


def limit_refusal(limits: ScheduleLimits, name: str, message: str) -> PolicyRefusal:
    """Return the refusal because of a limit, which says who can change it."""
    if name in limits.locked:
        hint = f"Your administrator set it (Shoulders.settings, {AREA}.{name})."
    else:
        hint = f"You can change it in the AI settings ({AREA}.{name}); the agent cannot."
    return PolicyRefusal(message, hint=hint, limit=f"{AREA}.{name}", value=_value(limits, name))


def _value(limits: ScheduleLimits, name: str) -> int | str | None:
    found = getattr(limits, "micro_usd_per_day" if name == "usd_per_day" else name)
    return found if isinstance(found, int | str) else None


def check_schedule(
    limits: ScheduleLimits, trigger: Trigger, options: ScheduleOptions, now: datetime
) -> None:
    """Raise ``PolicyRefusal`` or ``InvalidRequest`` for a schedule that may not be stored."""
    check_trigger(trigger, now)
    gap = shortest_gap_s(trigger, now, limits.shortest_interval_s)
    if gap is not None and gap < limits.shortest_interval_s:
        raise limit_refusal(
            limits,
            "shortest_interval_s",
            f"Runs may not be less than {_span(limits.shortest_interval_s)} apart; these would be "
            f"{_span(round(gap))} apart.",
        )
    if options.quiet_hours is not None:
        end_of_quiet(now, (options.quiet_hours,))  # raises for an unknown time zone
    toolset = options.toolset
    if toolset is not None and is_wider(TOOLSETS, toolset, limits.largest_toolset):
        raise limit_refusal(
            limits,
            "largest_toolset",
            f"Scheduled runs may use the tools {limits.largest_toolset}, not {toolset}.",
        )
    if options.mode == "bypass":
        raise PolicyRefusal(
            "Scheduled runs may not be in the mode bypass.",
            hint="Choose another mode, and allow single tools in the permissions.",
        )
    _check_notebook(limits, options)
    if options.notebook is not None and options.session_id is not None:
        raise InvalidRequest("session_id: a run of a notebook has a conversation of its own.")
    _check_own(limits, options, now)


def _check_notebook(limits: ScheduleLimits, options: ScheduleOptions) -> None:
    """Refuse tools without those that copy and run a notebook."""
    if options.notebook is None:
        return
    copies = options.output == "copy"
    needed: Toolset = "workspace" if copies else "notebook"
    text = "To write a dated copy" if copies else "To run a notebook"
    hint = " Or save the outputs in the notebook itself." if copies else ""
    if is_wider(TOOLSETS, needed, limits.largest_toolset):
        raise limit_refusal(
            limits,
            "largest_toolset",
            f"{text}, the tools {needed} are needed; scheduled runs may use the tools "
            f"{limits.largest_toolset}.{hint}",
        )
    toolset = options.toolset
    if toolset is not None and is_wider(TOOLSETS, needed, toolset):
        raise InvalidRequest(
            f"toolset: {text[0].lower()}{text[1:]}, the tools {needed} are needed, not {toolset}.",
            hint=f"Choose the tools {needed} or full.{hint}",
        )


def _check_own(limits: ScheduleLimits, options: ScheduleOptions, now: datetime) -> None:
    """Check the schedule's own limits."""
    expires = options.expires_at
    if expires is not None and parse_moment(expires, field="expires_at") <= now:
        raise InvalidRequest("expires_at: this time has passed already.")
    if options.runs_per_day is not None and options.runs_per_day > limits.runs_per_day:
        raise limit_refusal(
            limits,
            "runs_per_day",
            f"All schedules together may run {limits.runs_per_day} times a day, not "
            f"{options.runs_per_day} times.",
        )
    own = options.micro_usd_per_day
    if own is not None and own > limits.micro_usd_per_day:
        raise limit_refusal(
            limits,
            "usd_per_day",
            f"All schedules together may spend {format_dollars(limits.micro_usd_per_day)} a day, "
            f"not {format_dollars(own)}.",
        )


def check_count(limits: ScheduleLimits, count: int) -> None:
    """Raise ``PolicyRefusal`` when there are as many active schedules as allowed."""
    if count >= limits.most_schedules:
        raise limit_refusal(
            limits,
            "most_schedules",
            f"There may be {limits.most_schedules} active schedules, and there are {count}.",
        )


def latest_expiry(limits: ScheduleLimits, now: datetime) -> datetime:
    """Return the latest time at which a schedule of the agent expires."""
    return now + timedelta(days=limits.longest_agent_days)


def is_wider(order: tuple[str, ...], value: str, than: str) -> bool:
    """Return whether a value allows more than another."""
    return order.index(value) > order.index(than)


def narrower_mode(first: Mode, second: Mode) -> Mode:
    """Return the stricter of two modes."""
    return first if MODES.index(first) <= MODES.index(second) else second


def narrower_toolset(first: Toolset, second: Toolset) -> Toolset:
    """Return the smaller of two toolsets."""
    return first if TOOLSETS.index(first) <= TOOLSETS.index(second) else second


def _span(seconds: int) -> str:
    if seconds % 3_600 == 0 and seconds:
        return f"{seconds // 3_600} h"
    return f"{seconds // 60} min" if seconds % 60 == 0 and seconds else f"{seconds} s"
