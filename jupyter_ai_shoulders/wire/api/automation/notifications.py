"""Messages for the person: runs that ended, questions that wait, words of the agent.

``GET notifications``, ``POST notifications/seen``, ``POST notifications/test``, ``PUT
notifications/secret`` and ``GET notifications/webhook``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, Timestamp, WireModel
from jupyter_ai_shoulders.wire.ids import SessionId

NotificationLevel = Literal["info", "warning", "error"]
NotificationKind = Literal["run", "waiting", "agent", "test"]
"""``waiting``: a conversation waits for the person; ``agent``: the agent's own words."""


class StoredNotification(WireModel):
    """One notification."""

    id: str
    at: Timestamp
    kind: NotificationKind
    title: str
    message: str
    level: NotificationLevel
    session_id: SessionId | None
    schedule_id: str | None
    seen: bool
    """Whether a page has shown it."""


class NotificationList(WireModel):
    """``GET notifications``, the latest first; ``unread`` counts those that no page has shown."""

    notifications: tuple[StoredNotification, ...]
    unread: int


class SeenNotifications(CommandModel):
    """``POST notifications/seen``: these were shown."""

    ids: tuple[str, ...] = Field(max_length=500)


class PutWebhookSecret(CommandModel):
    """``PUT notifications/secret``; null removes the secret."""

    secret: str | None = Field(max_length=4_096)


class WebhookStatus(WireModel):
    """``GET notifications/webhook``, also the answer of the other routes about it."""

    host: str | None
    """Where notifications are sent; null where no address is set."""
    has_secret: bool
    secret_last4: str | None
    queued: int
    """Notifications that are not delivered yet."""
    failed: int
    """Notifications that were given up since the server started."""
    last_error: str | None
    """Why the last attempt failed, in words; null after a success."""
