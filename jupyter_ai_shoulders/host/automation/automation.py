"""Schedules, watchers and notifications of one host: what they share, and their start and end.

Made by ``host.build``; ``start`` is called once the state of the last process is recovered.
"""

from __future__ import annotations

from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.host.automation.limits import LimitSource
from jupyter_ai_shoulders.host.automation.notifications.waiting import WaitingConversations
from jupyter_ai_shoulders.host.automation.ports import LateNotifier
from jupyter_ai_shoulders.host.automation.service import ScheduleService
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.host.shared_services import SharedServices


class Automation:
    """The parts that start runs without the person."""

    def __init__(
        self, services: SharedServices, conversations: SessionService, engine: Engine
    ) -> None:
        self._services = services
        self._conversations = conversations
        self._engine = engine
        self.notifier = LateNotifier()
        """Tells the person; ``use`` sets how."""
        store, ports = services.store, services.ports
        self.schedules = ScheduleService(
            store.schedules,
            LimitSource(services.preferences),
            store.sessions,
            ports.clock,
            ports.ids,
        )
        self.notifications = services.notifications
        self.notifier.use(self.notifications)
        self._waiting = WaitingConversations(self.notifications)
        store.hub.add(self._waiting)
        self.schedules.on_change(lambda: ports.pages.settings_changed("schedules"))

    async def start(self) -> None:
        """Start the scheduler."""
        self.notifications.start()

    async def aclose(self) -> None:
        """Start nothing more."""
        await self._waiting.aclose()
        await self.notifications.aclose()
