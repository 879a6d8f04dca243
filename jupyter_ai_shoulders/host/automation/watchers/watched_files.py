"""The files of one watcher: what it has seen, its burst of changes, and its next look.

Made and driven by ``host.automation.watchers.service``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.file_changes.attribution import TOLERANCE_NS, Moment
from jupyter_ai_shoulders.core.file_changes.settling import SettleTimes, Settling
from jupyter_ai_shoulders.core.file_changes.snapshot import FileChange, Snapshot, changes_between
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.matching_files import MOST_FILES, TooManyFiles
from jupyter_ai_shoulders.host.automation.watchers.records import (
    PendingChange,
    WatchRecord,
    WatchRecords,
    pending_change,
    record_of,
)
from jupyter_ai_shoulders.host.automation.watchers.watching_tools import WatchingTools


class WatchSettings(Protocol):
    """The part of ``service.Watch`` that is used."""

    @property
    def id(self) -> str: ...

    @property
    def globs(self) -> tuple[str, ...]: ...

    @property
    def settle_s(self) -> float: ...


@dataclass(frozen=True, slots=True)
class FileComparison:
    """How to compare: ``exact_times`` is whether times of files are those of this machine."""

    exact_times: bool


class WatchedFiles:
    """The files that match one watcher's patterns."""

    def __init__(
        self, watch: WatchSettings, tools: WatchingTools, records: WatchRecords, longest_wait: float
    ) -> None:
        self.watch = watch
        self.problem: str | None = None
        """What is wrong, in words."""
        self.count: int | None = None
        """Files that match."""
        self._tools = tools
        self._records = records
        self._globs = [Glob(text) for text in watch.globs]
        self._settling = Settling(SettleTimes(watch.settle_s, max(longest_wait, watch.settle_s)))
        self._record: WatchRecord | None = None
        self._seen: Snapshot | None = None
        self._hinted_ns: int | None = None
        self._retry_at: float | None = None
        self._burst: float | None = None
        """When the burst that is looked at began."""

    @property
    def due_at(self) -> float | None:
        """When to look, by the monotonic clock."""
        return self._retry_at if self._retry_at is not None else self._settling.due_at

    def is_due(self, now: float) -> bool:
        """Return whether to look now; if so, the next hint begins another burst."""
        if self._retry_at is not None:
            if now < self._retry_at:
                return False
            self._retry_at = None
            return True
        first = self._settling.first
        taken = self._settling.take(now)
        self._burst = first if taken else self._burst
        return taken

    def hint(self, now: float) -> None:
        """Note that something may have changed."""
        if self._settling.first is None:
            self._hinted_ns = self._tools.now_ns()
        self._settling.changed(now)

    def retry_at(self, when: float) -> None:
        """Look again at a time: the last look failed."""
        self._retry_at = when

    def concerns(self, path: str) -> bool:
        """Return whether a changed path may be one of these files."""
        return any(glob.matches(path) for glob in self._globs)

    async def start(self, now: float) -> None:
        """Take the files as they are, or look for what changed while nobody watched."""
        if self._record is None:
            await self._load()
        self.hint(now)

    async def has_moved(self) -> bool:
        """Return whether the files differ from those of the last call."""
        current = await self._scan()
        moved = (
            self._seen is not None and current is not None and changes_between(self._seen, current)
        )
        self._seen = current
        return bool(moved)

    async def look(self, comparison: FileComparison) -> PendingChange | None:
        """Return what others changed, recorded; or what is recorded and was not reported.

        Raises ``StateUnavailable``, ``TooLarge``.
        """
        record = self._record
        if record is None:
            await self._load()
            return None
        if record.pending is not None:
            return record.pending
        noticed, self._hinted_ns = self._hinted_ns, None
        now_ns = self._tools.now_ns()
        current = await self._scan()
        changes = changes_between(record.snapshot(), current) if current is not None else ()
        if current is None or not changes:
            return None
        if self._continues(changes, current, now_ns, exact_times=comparison.exact_times):
            self._hinted_ns = noticed
            return None
        first = record.looked_ns if noticed is None else noticed - TOLERANCE_NS
        others = await self._tools.made_by_others(
            changes,
            current,
            Moment(first if comparison.exact_times else record.looked_ns, now_ns),
            since_ns=record.looked_ns - TOLERANCE_NS,
            exact_times=comparison.exact_times,
        )
        key = self._tools.ids.new("change")
        pending = pending_change(key, others, now_ns) if others else None
        await self._store(record_of(self.watch.globs, current, now_ns, pending))
        return pending

    def _continues(
        self,
        changes: Sequence[FileChange],
        current: Snapshot,
        now_ns: int,
        *,
        exact_times: bool,
    ) -> bool:
        """Return whether files still change: notifications and polls lag behind under load."""
        if exact_times:
            newest = max(
                (current[each.path].changed_ns for each in changes if each.path in current),
                default=0,
            )
            moves = newest > 0 and self.watch.settle_s > (now_ns - newest) / 1e9
        else:  # they are at rest once they are as the last poll found them
            moves = self._seen is not None and bool(changes_between(self._seen, current))
            self._seen = current
        return moves and self._settling.resume(self._burst, self._tools.clock.monotonic())

    async def reported(self) -> None:
        """Forget the recorded change: its run is recorded. Raises ``StateUnavailable``."""
        if self._record is not None:
            await self._store(self._record.model_copy(update={"pending": None}))
        self.problem = None

    async def _load(self) -> None:
        try:
            record = await asyncio.to_thread(self._records.read, self.watch.id)
            if record is not None and record.globs == self.watch.globs:
                self._record = record
                self.count = len(record.files)
                return
            current = await self._scan()
            if current is not None:
                await self._store(record_of(self.watch.globs, current, self._tools.now_ns()))
        except ShouldersError as error:
            self.problem = str(error)

    async def _scan(self) -> Snapshot | None:
        try:
            current = await asyncio.to_thread(self._tools.scan, self._globs)
        except TooManyFiles:
            self.problem = (
                f"The pattern matches more than {MOST_FILES} files, so changes are not noticed. "
                "Use a narrower pattern."
            )
            return None
        self.problem, self.count = None, len(current)
        return current

    async def _store(self, record: WatchRecord) -> None:
        await asyncio.to_thread(self._records.write, self.watch.id, record)
        self._record = record
