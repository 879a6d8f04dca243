"""``schedules/preview`` and ``schedules/watchers``: for the page of schedules."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.automation.previews import PreviewSchedule, WatcherList


class SchedulePreviewHandler(ShouldersHandler):
    """``schedules/preview``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Return the next times of a trigger, or how many files match."""
        trigger = self.body(PreviewSchedule).trigger
        watchers = self.host.automation.watchers
        self.answer(await asyncio.to_thread(watchers.preview, trigger))


class WatchersHandler(ShouldersHandler):
    """``schedules/watchers``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Return how the user's watchers fare."""
        known = {
            status.schedule.id
            for status in self.host.automation.schedules.list(self.user).schedules
        }
        states = self.host.automation.watchers.states()
        self.answer(
            WatcherList(watchers=tuple(each for each in states if each.schedule_id in known))
        )
