"""``schedules``: schedules and watchers, and their runs."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.host.automation.service import ScheduleOrigin
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    PatchSchedule,
    PostSchedule,
    RunsQuery,
)


class SchedulesHandler(ShouldersHandler):
    """``schedules``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the schedules with their last runs, and the limits."""
        self.answer(self.host.automation.schedules.list(self.user))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Make a schedule."""
        command = self.body(PostSchedule)
        service = self.host.automation.schedules
        made = await service.create(command, ScheduleOrigin(self.user))
        self.answer(service.status(made), 201)


class ScheduleHandler(ShouldersHandler):
    """``schedules/{id}``."""

    @web.authenticated
    @authorized
    async def get(self, schedule_id: str) -> None:
        """Return a schedule with its last run."""
        service = self.host.automation.schedules
        self.answer(service.status(service.get(schedule_id, self.user)))

    @web.authenticated
    @authorized
    async def patch(self, schedule_id: str) -> None:
        """Change or pause a schedule; 409 when another page changed it first."""
        command = self.body(PatchSchedule)
        self.answer(await self.host.automation.schedules.change(schedule_id, command, self.user))

    @web.authenticated
    @authorized
    async def delete(self, schedule_id: str) -> None:
        """Delete a schedule and its history."""
        await self.host.automation.schedules.delete(schedule_id, self.user)
        self.no_content()


class ScheduleRunHandler(ShouldersHandler):
    """``schedules/{id}/run``."""

    @web.authenticated
    @authorized
    async def post(self, schedule_id: str) -> None:
        """Start a run now; 202 with the run."""
        run = await self.host.automation.scheduler.run_now(schedule_id, self.user)
        self.answer(run, 202)


class ScheduleRunsHandler(ShouldersHandler):
    """``schedules/{id}/runs``."""

    @web.authenticated
    @authorized
    async def get(self, schedule_id: str) -> None:
        """Return the runs of a schedule, the latest first."""
        limit = self.query(RunsQuery).limit
        self.answer(self.host.automation.schedules.runs(schedule_id, self.user, limit))
