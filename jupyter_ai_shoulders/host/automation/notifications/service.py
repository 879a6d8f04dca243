"""Tells the person: stores each notification, lets pages fetch it, and queues it for the webhook.

``Notifier`` of ``host.automation``; used by the tool ``notify`` and the handlers. Nothing is lost:
a notification counts as unread until a page has shown it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.clock import Clock, IdSource, timestamp
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.host.automation.notifications.records import (
    NotificationRecord,
    NotificationRecords,
    WebhookDelivery,
)
from jupyter_ai_shoulders.host.automation.notifications.webhook import (
    BACK_OFF,
    WAITING_GRACE,
    SignedSender,
    WebhookQueue,
    WebhookTarget,
    webhook_host,
)
from jupyter_ai_shoulders.host.automation.ports import Notification
from jupyter_ai_shoulders.providers.credentials.key_store import KeyStore
from jupyter_ai_shoulders.wire.api.automation.notifications import (
    NotificationKind,
    NotificationList,
    StoredNotification,
    WebhookStatus,
)
from jupyter_ai_shoulders.wire.hidden_characters import without_hidden

SECRET_NAME = "SHOULDERS_WEBHOOK_SECRET"  # noqa: S105 a name
MOST_TITLE = 120
MOST_MESSAGE = 1_000


@dataclass(frozen=True, slots=True)
class NotificationPorts:
    """What the service uses of its host."""

    keys: KeyStore
    webhook_url: Callable[[], str]
    """Returns the address of the settings; empty for none."""
    changed: Callable[[], None]
    """Tells the pages that there are other notifications."""
    redact: Callable[[str], str]
    sender: Callable[[], SignedSender]
    clock: Clock
    ids: IdSource


def signed_posts() -> SignedSender:
    """Return the sender of the webhook; importing it takes time."""
    from jupyter_ai_shoulders.guard.network.signed_posts import SignedPosts

    return SignedPosts()


class NotificationService:
    """The notifications of one workspace."""

    def __init__(
        self,
        records: NotificationRecords,
        ports: NotificationPorts,
        *,
        back_off: Sequence[float] = BACK_OFF,
        grace: float = WAITING_GRACE,
    ) -> None:
        self._records = records
        self._ports = ports
        self._grace = grace
        self._tasks: set[asyncio.Task[None]] = set()
        self.webhook = WebhookQueue(records, self._target, ports.sender, ports.clock, back_off)

    async def load(self) -> None:
        """Read what is stored, before the state directory is marked as the user's own."""
        await asyncio.to_thread(self._records.all)

    def start(self) -> None:
        """Continue the queue of the webhook."""
        self.webhook.start()

    async def aclose(self) -> None:
        """Store what is not stored yet, and stop."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))
        await self.webhook.aclose()

    def notify(self, notification: Notification) -> None:
        """Store and deliver a notification about a run, later."""
        self.begin(notification, "run")

    def begin(self, notification: Notification, kind: NotificationKind) -> None:
        """Store and deliver a notification, later."""
        task = asyncio.get_running_loop().create_task(
            self.add(notification, kind), name="shoulders-notification"
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def add(self, notification: Notification, kind: NotificationKind) -> None:
        """Store and deliver a notification; one with a known key is ignored."""
        record = await asyncio.to_thread(self._record, notification, kind)

        def change(known: Sequence[NotificationRecord]) -> Sequence[NotificationRecord]:
            if any(each.key == record.key for each in known):
                return known
            return [*known, record]

        await self._update(change)

    async def withdraw(self, key: str) -> None:
        """Count a notification as seen, and do not send it if it was not sent: it is settled."""

        def change(known: Sequence[NotificationRecord]) -> Sequence[NotificationRecord]:
            gone = {"seen": True, "delivery": None}
            return [each.model_copy(update=gone) if each.key == key else each for each in known]

        await self._update(change)

    async def seen(self, ids: Collection[str], user: str | None) -> NotificationList:
        """Count notifications as shown. One about a waiting conversation is then not sent."""

        def change(known: Sequence[NotificationRecord]) -> Sequence[NotificationRecord]:
            return [
                each.model_copy(update=_shown(each))
                if each.id in ids and not each.seen and _concerns(each, user)
                else each
                for each in known
            ]

        await self._update(change)
        return await self.list(user)

    async def list(self, user: str | None) -> NotificationList:
        """Return a user's notifications, the latest first."""
        known = await asyncio.to_thread(self._records.all)
        own = [_shared(each) for each in reversed(known) if _concerns(each, user)]
        return NotificationList(notifications=tuple(own), unread=sum(not each.seen for each in own))

    async def test(self, user: str | None) -> WebhookStatus:
        """Notify of nothing, so that the person sees whether it arrives."""
        notification = Notification(
            key=self._ports.ids.new("test"),
            title="Test notification",
            message="Notifications of the AI colleague look like this.",
            owner=user,
        )
        await self.add(notification, "test")
        return await self.webhook_status()

    async def set_secret(self, secret: str | None) -> WebhookStatus:
        """Store or remove the secret that signs what is sent.

        Raises ``InvalidRequest``, ``Conflict`` (the environment has one), ``StateUnavailable``.
        """
        if secret is None:
            await asyncio.to_thread(self._ports.keys.remove, SECRET_NAME)
        elif len(secret.strip()) < 16:
            raise InvalidRequest("secret: Use at least 16 characters.")
        else:
            await asyncio.to_thread(self._ports.keys.set, SECRET_NAME, secret)
        return await self.webhook_status()

    async def webhook_status(self) -> WebhookStatus:
        """Return the state of the webhook, without its address and secret."""
        return await asyncio.to_thread(self._webhook_status)

    def has_webhook(self) -> bool:
        """Return whether notifications leave this machine."""
        return bool(self._ports.webhook_url())

    def secrets(self) -> Sequence[str]:
        """Return what must be removed from shown text."""
        return self._ports.keys.values([SECRET_NAME])

    def _webhook_status(self) -> WebhookStatus:
        key = self._ports.keys.get(SECRET_NAME)
        return WebhookStatus(
            host=webhook_host(self._ports.webhook_url()),
            has_secret=key is not None,
            secret_last4=key.last4 if key else None,
            queued=self.webhook.queued(),
            failed=self.webhook.failed,
            last_error=self.webhook.last_error,
        )

    def _target(self) -> WebhookTarget | None:
        url, key = self._ports.webhook_url(), self._ports.keys.get(SECRET_NAME)
        return WebhookTarget(url, key.value) if url and key is not None else None

    async def _update(
        self, change: Callable[[Sequence[NotificationRecord]], Sequence[NotificationRecord]]
    ) -> None:
        before = await asyncio.to_thread(self._records.all)
        if await asyncio.to_thread(self._records.update, change) != before:
            self._ports.changed()
            self.webhook.start()

    def _record(self, notification: Notification, kind: NotificationKind) -> NotificationRecord:
        now = self._ports.clock.now()
        wait = self._grace if kind == "waiting" else 0.0
        sends = self._target() is not None
        return NotificationRecord(
            id=self._ports.ids.new("note"),
            key=notification.key,
            at=timestamp(now),
            kind=kind,
            title=self._clean(notification.title, MOST_TITLE),
            message=self._clean(notification.message, MOST_MESSAGE),
            level=notification.level,
            owner=notification.owner,
            session_id=notification.session_id,
            schedule_id=notification.schedule_id,
            delivery=WebhookDelivery(due=now.timestamp() + wait) if sends else None,
        )

    def _clean(self, text: str, limit: int) -> str:
        clean, _ = without_hidden(self._ports.redact(text))
        clean = " ".join(clean.split())
        return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def _shown(record: NotificationRecord) -> dict[str, object]:
    """Return what changes when a page has shown it."""
    if record.kind != "waiting" or record.delivery is None or record.delivery.attempts:
        return {"seen": True}
    return {"seen": True, "delivery": None}


def _concerns(record: NotificationRecord, user: str | None) -> bool:
    return user is None or record.owner is None or record.owner == user


def _shared(record: NotificationRecord) -> StoredNotification:
    return StoredNotification(
        id=record.id,
        at=record.at,
        kind=record.kind,
        title=record.title,
        message=record.message,
        level=record.level,
        session_id=record.session_id,
        schedule_id=record.schedule_id,
        seen=record.seen,
    )
