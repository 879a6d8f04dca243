"""The runs that the agent schedules for itself: one more turn of its conversation, within limits.

Called by ``tools.agent.schedule_next_run``.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, PolicyRefusal
from jupyter_ai_shoulders.host.automation.limits import latest_expiry, limit_refusal
from jupyter_ai_shoulders.host.automation.service import ScheduleOrigin, ScheduleService
from jupyter_ai_shoulders.host.automation.timing import parse_moment, stored
from jupyter_ai_shoulders.storage.base import Sessions
from jupyter_ai_shoulders.tools.agent.schedule_next_run import (
    CANCEL_NEXT_RUN,
    SCHEDULE_NEXT_RUN,
    ScheduleNextRunArguments,
)
from jupyter_ai_shoulders.wire.api.automation.schedules import OnceTrigger, PostSchedule
from jupyter_ai_shoulders.wire.ids import SessionId

TOOLS = frozenset({SCHEDULE_NEXT_RUN, CANCEL_NEXT_RUN})
_UNITS = {"min": "minutes", "h": "hours", "d": "days"}


class AgentNextRuns:
    """``NextRuns`` over the service of schedules."""

    def __init__(self, service: ScheduleService, sessions: Sessions, clock: Clock) -> None:
        self._service = service
        self._sessions = sessions
        self._clock = clock

    def disabled_tools(self) -> frozenset[str]:
        """Return the tools that the setting switches off."""
        return frozenset() if self._service.limits.agent_may_schedule() else TOOLS

    def time_of(self, args: ScheduleNextRunArguments) -> str:
        """Return the time in words. Raises ``InvalidRequest``."""
        if args.in_ is not None:
            return f"in {args.in_}"
        return f"{parse_moment(args.at or ''):%Y-%m-%d %H:%M} UTC"

    async def schedule(
        self, session_id: SessionId, args: ScheduleNextRunArguments
    ) -> tuple[str, str]:
        """Schedule a turn of the conversation; return its id and time.

        Raises ``InvalidRequest`` and ``PolicyRefusal`` (a limit).
        """
        now, limits = self._clock.now(), self._service.limits.current()
        at = self._moment(args, now)
        if not self._service.limits.agent_may_schedule():
            raise PolicyRefusal(
                "Schedules of the agent are switched off here (schedules.agent).", code="disabled"
            )
        soonest = now + timedelta(seconds=limits.shortest_interval_s)
        if at < soonest - timedelta(seconds=1):
            raise limit_refusal(
                limits,
                "shortest_interval_s",
                f"The next run may be in {limits.shortest_interval_s} seconds at the earliest.",
            )
        latest = latest_expiry(limits, now)
        if at > latest:
            raise limit_refusal(
                limits,
                "longest_agent_days",
                f"The next run may be in {limits.longest_agent_days} days at the latest.",
            )
        command = PostSchedule(
            trigger=OnceTrigger(at=stored(at)),
            prompt=args.prompt,
            session_id=session_id,
            expires_at=stored(latest),
        )
        owner = self._sessions.get(session_id).owner
        origin = ScheduleOrigin(owner, "agent", session_id, args.reason)
        made = await self._service.create(command, origin)
        return made.id, f"{at:%Y-%m-%d %H:%M} UTC"

    async def cancel(self, session_id: SessionId, schedule_id: str) -> None:
        """Delete a schedule that this conversation made. Raises ``NotFound``."""
        owner = self._sessions.get(session_id).owner
        schedule = self._service.get(schedule_id, owner)
        if schedule.created_by != "agent" or schedule.made_in != session_id:
            raise NotFound(f"This conversation has scheduled no run {schedule_id}.")
        await self._service.delete(schedule_id, owner)

    def _moment(self, args: ScheduleNextRunArguments, now: datetime) -> datetime:
        if args.in_ is not None:
            unit = args.in_.lstrip("0123456789 ")
            count = int(args.in_.removesuffix(unit))
            return now + timedelta(**{_UNITS[unit]: count})
        at = args.at or ""
        moment = parse_moment(at)  # refuses what is no time
        if datetime.fromisoformat(at).tzinfo is None:
            raise InvalidRequest("at: give the offset, such as 2026-11-29T09:00+01:00.")
        return moment
