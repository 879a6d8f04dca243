"""Decides when a burst of changes has settled. Pure; used by ``host.automation.watchers``."""

from __future__ import annotations

from dataclasses import dataclass

SETTLE_SECONDS = 2.0
"""Without another change before a change counts as settled."""
LONGEST_WAIT_SECONDS = 60.0
"""After the first change of a burst that does not end."""


@dataclass(frozen=True, slots=True)
class SettleTimes:
    """Both times, in seconds."""

    settle: float = SETTLE_SECONDS
    longest_wait: float = LONGEST_WAIT_SECONDS


@dataclass(slots=True)
class Settling:
    """The burst of one watcher; times are those of one monotonic clock."""

    times: SettleTimes
    first: float | None = None
    last: float = 0.0

    def changed(self, now: float) -> None:
        """Record a change."""
        if self.first is None:
            self.first = now
        self.last = now

    def resume(self, first: float | None, now: float) -> bool:
        """Continue a burst that was taken too early; return False if it has lasted long enough."""
        began = now if first is None else first
        if now >= began + self.times.longest_wait:
            return False
        self.first, self.last = began, now
        return True

    @property
    def due_at(self) -> float | None:
        """When the burst counts as settled; None without one."""
        if self.first is None:
            return None
        return min(self.last + self.times.settle, self.first + self.times.longest_wait)

    def take(self, now: float) -> bool:
        """Return whether the burst has settled; if so, the next change begins another."""
        due = self.due_at
        if due is None or now < due:
            return False
        self.first = None
        return True
