"""The notifications that are kept, in one file of the state directory.

Used by ``host.automation.notifications.service`` and ``webhook``. A notification is stored before
it is shown or sent, so that none is lost.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.wire.api.automation.notifications import (
    NotificationKind,
    NotificationLevel,
)
from jupyter_ai_shoulders.wire.base import Timestamp, WireModel
from jupyter_ai_shoulders.wire.ids import SessionId

MOST_KEPT = 200
MOST_QUEUED = 100
"""Notifications waiting for the webhook; of more, the oldest are given up."""

_log = logging.getLogger(__name__)


class WebhookDelivery(WireModel):
    """The state of a notification that must be sent; ``due`` in seconds since 1970."""

    attempts: int = 0
    due: float


class NotificationRecord(WireModel):
    """A notification as it is stored."""

    id: str
    key: str
    at: Timestamp
    kind: NotificationKind
    title: str
    message: str
    level: NotificationLevel
    owner: str | None = None
    session_id: SessionId | None = None
    schedule_id: str | None = None
    seen: bool = False
    delivery: WebhookDelivery | None = None
    """Null: nothing is to be sent, or it was sent or given up."""


class NotificationFileContent(WireModel):
    """Content of the file, the oldest first."""

    version: int = 1
    notifications: tuple[NotificationRecord, ...] = ()


Change = Callable[[Sequence[NotificationRecord]], Sequence[NotificationRecord]]


class NotificationRecords:
    """The stored notifications; ``update`` blocks."""

    def __init__(self, file: StateFile, is_own: Callable[[], bool] = lambda: True) -> None:
        """``is_own`` returns whether the file cannot have come with the folder.

        Others are removed: they would speak in our name, also to the webhook.
        """
        self._file = file
        self._is_own = is_own
        self._lock = threading.Lock()
        self._known: tuple[NotificationRecord, ...] | None = None

    def all(self) -> Sequence[NotificationRecord]:
        """Return the notifications, the oldest first. Blocks at the first call."""
        with self._lock:
            return self._read()

    def update(self, change: Change) -> Sequence[NotificationRecord]:
        """Store what ``change`` returns, if it differs, and return it.

        Where it cannot be stored, it is kept in memory and stored with the next change.
        """
        with self._lock:
            before = self._read()
            after = tuple(change(before))[-MOST_KEPT:]
            if after != before:
                self._known = after
                content = NotificationFileContent(notifications=after)
                try:
                    self._file.write(content.model_dump_json())
                except ShouldersError as error:
                    _log.warning("Notifications are kept in memory only: %s", error)
            return after

    def _read(self) -> tuple[NotificationRecord, ...]:
        if self._known is None:
            try:
                if not self._is_own():
                    self._file.remove()
                text = self._file.read()
                found = NotificationFileContent.model_validate(json.loads(text or "{}"))
                self._known = found.notifications
            except (ShouldersError, ValueError):
                _log.warning("Earlier notifications cannot be read", exc_info=True)
                self._known = ()
        return self._known
