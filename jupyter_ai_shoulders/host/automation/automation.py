"""Schedules, watchers and notifications of one host: what they share, and their start and end.

Made by ``host.build``; ``start`` is called once the state of the last process is recovered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.ports import Models
from jupyter_ai_shoulders.host.automation.admission import Admission
from jupyter_ai_shoulders.host.automation.notifications.waiting import WaitingConversations
from jupyter_ai_shoulders.host.automation.ports import LateNotifier
from jupyter_ai_shoulders.host.automation.scheduler import Scheduler
from jupyter_ai_shoulders.host.automation.watchers.own_activity import OwnActivityLog
from jupyter_ai_shoulders.host.automation.watchers.scheduling import (
    WatcherPorts,
    WatcherSchedules,
)
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.storage.automation.schedules import has_schedules

if TYPE_CHECKING:
    from jupyter_ai_shoulders.host.automation.run_driver import RunDriver
    from jupyter_ai_shoulders.host.automation.watchers.service import (
        ChangeListener,
        FileWatchers,
    )
    from jupyter_ai_shoulders.host.automation.watchers.watching_tools import WatchingTools

TAKE_OVER_SECONDS = 10.0
"""How often a second server on a workspace looks whether the first one has ended."""


class Automation:
    """The parts that start runs without the person."""

    def __init__(
        self,
        services: SharedServices,
        conversations: SessionService,
        engine: Engine,
        models: Models,
    ) -> None:
        self._services = services
        self._conversations = conversations
        self._engine = engine
        self._models = models
        self._take_over: asyncio.Task[None] | None = None
        self.notifier = LateNotifier()
        """Tells the person; ``use`` sets how."""
        store, ports = services.store, services.ports
        self.schedules = services.schedules
        self.notifications = services.notifications
        self.notifier.use(self.notifications)
        self._waiting = WaitingConversations(self.notifications)
        store.hub.add(self._waiting)
        self.schedules.on_change(lambda: ports.pages.settings_changed("schedules"))
        admission = Admission(
            store.schedules,
            self.schedules.limits,
            store.sessions,
            services.settings.default_mode,
        )
        self.scheduler = Scheduler(
            self.schedules,
            store.schedules,
            admission,
            notifier=self.notifier,
            clock=ports.clock,
            ids=ports.ids,
        )
        self.activity = OwnActivityLog(store.operations, ports.clock)
        store.hub.add(self.activity)
        self.watchers = WatcherSchedules(
            WatcherPorts(
                schedules=store.schedules,
                starter=self.scheduler,
                tools=self._watching_tools,
                files=self._file_watchers,
                clock=ports.clock,
            )
        )
        self.schedules.on_change(self.watchers.changed)

    def _file_watchers(self, listener: ChangeListener) -> FileWatchers:
        from jupyter_ai_shoulders.host.automation.watchers.records import WatchRecords
        from jupyter_ai_shoulders.host.automation.watchers.service import FileWatchers

        services = self._services
        return FileWatchers(
            self._watching_tools(),
            WatchRecords(services.store.directory),
            listener,
            always_poll=lambda: services.preferences.schedules()[0].poll_files,
            state_changed=lambda: services.ports.pages.settings_changed("schedules"),
        )

    def _watching_tools(self) -> WatchingTools:
        from jupyter_ai_shoulders.host.automation.watchers.watching_tools import WatchingTools

        services, ports = self._services, self._services.ports
        return WatchingTools(
            services.documents.workspace,
            services.path_index,
            self.activity,
            ports.clock,
            ports.ids,
        )

    def take_over_later(self, retry: Callable[[], Awaitable[None]]) -> None:
        """Try again while another process keeps the state, if there are schedules in it."""
        if self._services.settings.runs_schedules and self._take_over is None:
            self._take_over = asyncio.create_task(self._retry(retry), name="schedules-take-over")

    async def _retry(self, retry: Callable[[], Awaitable[None]]) -> None:
        while not self.scheduler.is_running:
            await asyncio.sleep(TAKE_OVER_SECONDS)
            database = self._services.store.directory.database
            if await asyncio.to_thread(has_schedules, database):
                await retry()

    async def start(self) -> None:
        """Run what is due from now on, where this process does that."""
        self.notifications.start()
        if not self._services.settings.runs_schedules:
            return
        self.scheduler.start(self._run_driver)
        self.watchers.start()

    def _run_driver(self) -> RunDriver:
        from jupyter_ai_shoulders.host.automation.run_driver import DriverPorts, RunDriver

        services, store, ports = self._services, self._services.store, self._services.ports
        return RunDriver(
            DriverPorts(
                schedules=store.schedules,
                sessions=store.sessions,
                conversations=self._conversations,
                engine=self._engine,
                models=self._models,
                log=store.log,
                events=store.hub,
                clock=ports.clock,
                kernels=ports.kernels,
                end_kernel=ports.end_kernel,
                caps=services.budgets.caps,
                turn_cost=services.budgets.turn_cost,
            ),
            self.scheduler,
        )

    async def aclose(self) -> None:
        """Start nothing more. ``close_notifications`` follows."""
        if self._take_over is not None:
            self._take_over.cancel()
            await asyncio.gather(self._take_over, return_exceptions=True)
        await self.watchers.aclose()
        await self.scheduler.aclose()

    async def close_notifications(self) -> None:
        """Store what the person is to be told. Last, as turns that stop settle notifications."""
        await self._waiting.aclose()
        await self.notifications.aclose()
