"""Ports of schedules and watchers: ``Notifier`` tells the person of runs.

Implemented in this package; ``NoNotifier`` serves until then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from jupyter_ai_shoulders.wire.ids import SessionId

NotificationLevel = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Notification:
    """Something the person should learn of, wherever they are."""

    key: str
    """The same key twice is one notification."""
    title: str
    message: str
    level: NotificationLevel = "info"
    owner: str | None = None
    """The user it is for; None where users are not distinguished."""
    session_id: SessionId | None = None
    schedule_id: str | None = None


class Notifier(Protocol):
    """Tells the person; must not block or raise."""

    def notify(self, notification: Notification) -> None:
        """Deliver a notification, now or later."""
        ...


class NoNotifier:
    """Tells nobody."""

    def notify(self, notification: Notification) -> None:
        """Do nothing."""


class LateNotifier:
    """Passes notifications on to a notifier that is set later."""

    def __init__(self) -> None:
        self._target: Notifier = NoNotifier()

    def use(self, target: Notifier) -> None:
        """Pass everything on to ``target`` from now on."""
        self._target = target

    def notify(self, notification: Notification) -> None:
        """Deliver a notification."""
        self._target.notify(notification)
