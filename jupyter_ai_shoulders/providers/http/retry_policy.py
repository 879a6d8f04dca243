"""When and how long to wait before a failed model call is tried again; pure rules (chapter 03).

``should_retry`` and ``requested_wait_ms`` are used by ``failure`` to fill a ``ProviderError``;
``delay_ms`` by the engine, which decides. The rules are those of the vendors' SDKs (reference
§1.6), so that our clients treat a provider as its own do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random

from jupyter_ai_shoulders.core.errors import ProviderError, ShouldersError

FIRST_DELAY_MS = 500
LAST_DELAY_MS = 8_000
MAX_WAIT_MS = 300_000
"""A provider that asks for more is not waited for: the error is not retryable."""


def should_retry(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether another try makes sense: ``x-should-retry`` wins, else the status says."""
    asked = headers.get("x-should-retry", "").strip().lower()
    if asked in {"true", "false"}:
        return asked == "true"
    return status in {408, 409, 429} or status >= 500


def requested_wait_ms(headers: Mapping[str, str], now: datetime) -> int | None:
    """Return the wait a provider asked for, in ms, or None.

    ``retry-after-ms`` is milliseconds; ``retry-after`` seconds, fractions allowed, or an HTTP date.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return math.ceil(milliseconds)
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return math.ceil(seconds * 1000)
    moment = _date(value)
    return None if moment is None else max(0, math.ceil((moment - now).total_seconds() * 1000))


def delay_ms(attempt: int, error: ShouldersError, rng: Random) -> int:
    """Return how long to wait before try ``attempt + 1``, in ms; ``attempt`` counts from 1.

    The provider's own wish, else 0.5 s doubled each time up to 8 s, less up to a quarter at random.
    """
    if isinstance(error, ProviderError) and error.retry_after_ms is not None:
        return min(error.retry_after_ms, MAX_WAIT_MS)
    longest = min(FIRST_DELAY_MS * 2.0 ** min(attempt - 1, 10), LAST_DELAY_MS)
    return round(longest * (1 - 0.25 * rng.random()))


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(value: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
