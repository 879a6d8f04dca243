"""When to retry a failed model call, and after which wait. Pure rules.

``should_retry`` and ``requested_wait_ms`` are used by ``error_mapping``, ``delay_ms`` by the
engine. The rules are those of the vendors' SDKs, see docs/design/providers.md#retries.
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
"""A longer requested wait makes the error final."""


def should_retry(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether a retry may succeed: ``x-should-retry`` wins over the status."""
    asked = headers.get("x-should-retry", "").strip().lower()
    if asked in {"true", "false"}:
        return asked == "true"
    return status in {408, 409, 429} or status >= 500


def requested_wait_ms(headers: Mapping[str, str], now: datetime) -> int | None:
    """Return the wait a provider requested, in ms, or None.

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
    """Return the wait before attempt ``attempt + 1``, in ms; ``attempt`` counts from 1.

    The provider's requested wait, or 0.5 s doubled each time up to 8 s, minus up to a random
    quarter.
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
