"""Ports for time and identifiers, which tests replace by fixed ones."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Protocol

Sleep = Callable[[float], Awaitable[object]]
"""Returns after a number of seconds."""


class Clock(Protocol):
    """Wall time for display and periods, monotonic time for timeouts."""

    def now(self) -> datetime:
        """Return the current time as an aware UTC datetime."""
        ...

    def monotonic(self) -> float:
        """Return seconds of a clock that never jumps."""
        ...


class IdSource(Protocol):
    """Makes identifiers."""

    def new(self, prefix: str) -> str:
        """Return a new, unguessable identifier that starts with ``prefix`` and ``_``."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class RandomIds:
    """Random identifiers of 96 bits."""

    def new(self, prefix: str) -> str:
        """Return ``prefix_`` and 24 hex digits."""
        return f"{prefix}_{secrets.token_hex(12)}"


def timestamp(moment: datetime) -> str:
    """Format ``moment`` for the wire: UTC, milliseconds, ``Z``."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{utc.isoformat(timespec='milliseconds')[:-6]}Z"
