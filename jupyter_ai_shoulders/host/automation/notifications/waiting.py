"""Notifies the person of a conversation that begins to wait for them, once.

A listener of the event bus, made by ``host.automation``. A visible page that shows the conversation
says so at once; then nothing is sent. When the conversation continues, the notification is settled.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from jupyter_ai_shoulders.host.automation.ports import Notification
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.api.automation.notifications import NotificationKind
from jupyter_ai_shoulders.wire.events import SessionUpdate
from jupyter_ai_shoulders.wire.ids import SessionId

_log = logging.getLogger(__name__)


class Notifications(Protocol):
    """The part of ``NotificationService`` that is used."""

    async def add(self, notification: Notification, kind: NotificationKind) -> None:
        """Store and deliver a notification."""
        ...

    async def withdraw(self, key: str) -> None:
        """Settle a notification."""
        ...


class WaitingConversations:
    """The conversations that wait, with the keys of their notifications."""

    def __init__(self, notifications: Notifications) -> None:
        self._notifications = notifications
        self._waiting: dict[SessionId, str] = {}
        self._actions: deque[Callable[[], Awaitable[None]]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def on_event(self, logged: LoggedEvent) -> None:
        """Note that a conversation begins to wait, or continues."""
        event = logged.event
        if self._closed or not isinstance(event, SessionUpdate):
            return
        session = event.session
        key = self._waiting.get(session.id)
        if session.status == "waiting" and key is None:
            key = f"waiting.{session.id}.{event.seq}"
            self._waiting[session.id] = key
            title = session.title or "A conversation"
            notification = Notification(
                key=key,
                title=f"{title}: waiting for you",
                message="The agent asks a question or needs an approval.",
                level="warning",
                owner=session.owner,
                session_id=session.id,
            )
            self._in_order(lambda: self._notifications.add(notification, "waiting"))
        elif session.status != "waiting" and key is not None:
            del self._waiting[session.id]
            self._in_order(lambda: self._notifications.withdraw(key))

    async def aclose(self) -> None:
        """Store what is not stored yet, and note nothing more."""
        self._closed = True
        if self._task is not None:
            await asyncio.wait({self._task})

    def _in_order(self, action: Callable[[], Awaitable[None]]) -> None:
        self._actions.append(action)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(
                self._work(), name="shoulders-waiting"
            )

    async def _work(self) -> None:
        while self._actions:
            try:
                await self._actions.popleft()()
            except Exception:  # noqa: BLE001 a bug: logged, and the next one follows
                _log.exception("A notification about a waiting conversation failed.")
