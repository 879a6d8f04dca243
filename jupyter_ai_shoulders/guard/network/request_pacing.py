"""Spaces the requests to a service as its rules ask, and waits where it says so.

Used by ``guard.network.http_service_client``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from jupyter_ai_shoulders.core.clock import Sleep

MOST_WAIT = 10.0
"""Seconds that a request waits because its service asked for a pause."""


class RequestPacing:
    """When the next request to one service may start, on a monotonic clock."""

    def __init__(self, interval: float, monotonic: Callable[[], float], sleep: Sleep) -> None:
        """``interval`` are the seconds between two requests."""
        self._interval = interval
        self._monotonic = monotonic
        self._sleep = sleep
        self._next = 0.0
        self._paused_until = 0.0

    async def wait_turn(self) -> None:
        """Return when a request may start. Call ``pause_left`` first."""
        now = self._monotonic()
        start = max(now, self._next, self._paused_until)
        self._next = start + self._interval
        if start > now:
            await self._sleep(start - now)

    def pause(self, seconds: float) -> None:
        """Start no request for a while."""
        self._paused_until = max(self._paused_until, self._monotonic() + seconds)

    @property
    def pause_left(self) -> float:
        """Seconds of the pause that the service asked for."""
        return max(0.0, self._paused_until - self._monotonic())


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds of ``Retry-After`` (RFC 9110, section 10.2.3): a number or a date."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())
