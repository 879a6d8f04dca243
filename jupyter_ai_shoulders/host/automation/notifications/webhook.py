"""Sends notifications to the webhook: signed, in order, at least once, with back-off.

Made by ``host.automation.notifications.service``. The queue is the stored notifications, so that a
restart continues it; its length is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.host.automation.notifications.records import (
    MOST_QUEUED,
    NotificationRecord,
    NotificationRecords,
    WebhookDelivery,
)
from jupyter_ai_shoulders.wire.base import WireModel

BACK_OFF = (1.0, 5.0, 30.0, 120.0, 600.0, 1_800.0, 3_600.0, 10_800.0, 21_600.0, 43_200.0)
"""Seconds after each failed attempt; after the last one it is given up, a day after the first."""
WAITING_GRACE = 15.0
"""Seconds in which a visible page can show that a conversation waits, before the webhook does."""

_log = logging.getLogger(__name__)


class SignedSender(Protocol):
    """Implemented by ``guard.network.signed_posts.SignedPosts``."""

    async def send(
        self, url: str, body: bytes, *, secret: str, event_id: str, timestamp: int
    ) -> int:
        """Post a body and return the status. Raises ``ShouldersError``."""
        ...


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """Where to send; without a secret nothing is sent."""

    url: str
    secret: str


class WebhookEvent(WireModel):
    """The body of a request."""

    version: int = 1
    id: str
    """The same for each attempt."""
    at: str
    kind: str
    level: str
    title: str
    message: str
    session_id: str | None
    schedule_id: str | None


class WebhookQueue:
    """Sends what is due, one at a time."""

    def __init__(
        self,
        records: NotificationRecords,
        target: Callable[[], WebhookTarget | None],
        sender: Callable[[], SignedSender],
        clock: Clock,
        back_off: Sequence[float] = BACK_OFF,
    ) -> None:
        """``target`` may read files, so it is called in a thread; ``sender`` is made once."""
        self._records = records
        self._target = target
        self._make_sender = sender
        self._sender: SignedSender | None = None
        self._clock = clock
        self._back_off = back_off
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self.failed = 0
        """Notifications that were given up."""
        self.last_error: str | None = None

    def start(self) -> None:
        """Send what is due, now and later; nothing once it is closed."""
        self._wake.set()
        if self._task is None and not self._closed:
            self._task = asyncio.create_task(self._run(), name="shoulders-webhook")

    async def aclose(self) -> None:
        """Stop; what is queued is sent by the next process."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def queued(self) -> int:
        """Return how many notifications are not delivered."""
        return sum(record.delivery is not None for record in self._records.all())

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            queued = [each for each in await self._all() if each.delivery is not None]
            if len(queued) > MOST_QUEUED:
                await self._give_up(queued[:-MOST_QUEUED], "too many are queued")
                continue
            now = self._clock.now().timestamp()
            due = next((each for each in queued if _due(each) <= now), None)
            if due is not None:
                await self._attempt(due)
                continue
            wait = min((_due(each) - now for each in queued), default=None)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake.wait()

    async def _attempt(self, record: NotificationRecord) -> None:
        target = await asyncio.to_thread(self._target)
        if target is None:
            await self._set(record.id, None)  # the address was removed
            return
        if self._sender is None:
            self._sender = await asyncio.to_thread(self._make_sender)
        try:
            status = await self._sender.send(
                target.url,
                _body(record),
                secret=target.secret,
                event_id=record.id,
                timestamp=int(self._clock.now().timestamp()),
            )
            problem = None if 200 <= status < 300 else f"The receiver answered {status}."
        except ShouldersError as error:
            problem = f"{error.info.message}"
        self.last_error = problem
        if problem is None:
            await self._set(record.id, None)
        else:
            await self._failed_once(record, problem)

    async def _failed_once(self, record: NotificationRecord, problem: str) -> None:
        attempts = (record.delivery.attempts if record.delivery else 0) + 1
        if attempts > len(self._back_off):
            await self._give_up([record], problem)
            return
        due = self._clock.now().timestamp() + self._back_off[attempts - 1]
        await self._set(record.id, WebhookDelivery(attempts=attempts, due=due))

    async def _give_up(self, records: Sequence[NotificationRecord], reason: str) -> None:
        self.failed += len(records)
        _log.warning("%d notifications were not sent to the webhook: %s", len(records), reason)
        for record in records:
            await self._set(record.id, None)

    async def _all(self) -> Sequence[NotificationRecord]:
        return await asyncio.to_thread(self._records.all)

    async def _set(self, record_id: str, delivery: WebhookDelivery | None) -> None:
        def change(known: Sequence[NotificationRecord]) -> Sequence[NotificationRecord]:
            return [
                each.model_copy(update={"delivery": delivery})
                if each.id == record_id and each.delivery is not None
                else each
                for each in known
            ]

        await asyncio.to_thread(self._records.update, change)


def webhook_host(url: str) -> str | None:
    """Return the host of an address, which is all that is shown of it."""
    return urlsplit(url).hostname if url else None


def _due(record: NotificationRecord) -> float:
    return float("inf") if record.delivery is None else record.delivery.due


def _body(record: NotificationRecord) -> bytes:
    event = WebhookEvent(
        id=record.id,
        at=record.at,
        kind=record.kind,
        level=record.level,
        title=record.title,
        message=record.message,
        session_id=record.session_id,
        schedule_id=record.schedule_id,
    )
    return event.model_dump_json().encode()
