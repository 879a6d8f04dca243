"""Connects watchers with schedules: which to watch for, and the runs that their changes start.

Made and started by ``host.automation.automation``, in the process that runs schedules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.host.automation.timing import check_trigger, next_run, stored
from jupyter_ai_shoulders.wire.api.automation.previews import SchedulePreview, WatcherStatus
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    FilesTrigger,
    Schedule,
    ScheduleRun,
    Trigger,
)

if TYPE_CHECKING:
    from jupyter_ai_shoulders.host.automation.watchers.records import PendingChange
    from jupyter_ai_shoulders.host.automation.watchers.service import (
        ChangeListener,
        FileWatchers,
        Watch,
    )
    from jupyter_ai_shoulders.host.automation.watchers.watching_tools import WatchingTools

PREVIEWED = 3
"""Times that a preview shows."""


class StoredSchedules(Protocol):
    """The part of ``SqliteSchedules`` that is used."""

    def all(self) -> list[Schedule]:
        """Return all schedules."""
        ...

    def open_runs(self) -> list[ScheduleRun]:
        """Return the runs that have not ended."""
        ...


class RunStarter(Protocol):
    """The part of ``Scheduler`` that is used."""

    async def files_changed(
        self, schedule_id: str, files: Sequence[str], key: str
    ) -> ScheduleRun | None:
        """Start a run of a watcher; the same key again does nothing."""
        ...


@dataclass(frozen=True, slots=True)
class WatcherPorts:
    """What the watchers use of their host."""

    schedules: StoredSchedules
    starter: RunStarter
    tools: Callable[[], WatchingTools]
    files: Callable[[ChangeListener], FileWatchers]
    """Makes the watching; called for the first watcher, as its modules are imported then."""
    clock: Clock


class WatcherSchedules:
    """Keeps the watching in step with the stored schedules."""

    def __init__(self, ports: WatcherPorts) -> None:
        self._ports = ports
        self._is_started = False
        self._running: frozenset[str] = frozenset()
        self._known: frozenset[str] = frozenset()
        self._watches: tuple[Watch, ...] | None = None
        self._files: FileWatchers | None = None

    def start(self) -> None:
        """Watch from now on."""
        self._is_started = True
        self.changed()

    def changed(self) -> None:
        """Follow changes of schedules and the ends of runs. Raises nothing."""
        if not self._is_started:
            return
        try:
            schedules, runs = self._ports.schedules.all(), self._ports.schedules.open_runs()
        except ShouldersError:  # the state cannot be read: the next change tries again
            return
        watchers = [each for each in schedules if isinstance(each.trigger, FilesTrigger)]
        if self._files is None:
            if not watchers:
                return
            self._files = self._ports.files(_Listener(self._ports))
        self._follow(self._files, watchers, runs)

    def _follow(
        self, files: FileWatchers, watchers: Sequence[Schedule], runs: Sequence[ScheduleRun]
    ) -> None:
        known = frozenset(each.id for each in watchers)
        for schedule_id in self._known - known:
            files.forget(schedule_id)
        self._known = known
        wanted = tuple(_watch(each) for each in watchers if each.state == "active")
        if wanted != self._watches:
            self._watches = wanted
            files.set(wanted)
        running = frozenset(run.schedule_id for run in runs)
        ended, self._running = self._running - running, running
        for schedule_id in ended:
            files.run_ended(schedule_id)

    def states(self) -> Sequence[WatcherStatus]:
        """Return how each enabled watcher fares."""
        if self._files is None:
            return []
        return [
            WatcherStatus(
                schedule_id=schedule_id,
                method=state.method,
                problem=state.problem,
                files=state.files,
            )
            for schedule_id, state in self._files.states().items()
        ]

    def preview(self, trigger: Trigger) -> SchedulePreview:
        """Return the next times of a trigger, or the number of matching files. Blocks.

        Raises ``InvalidRequest``.
        """
        now = self._ports.clock.now()
        check_trigger(trigger, now)
        if isinstance(trigger, FilesTrigger):
            return SchedulePreview(next_times=(), matching_files=self._matching(trigger.globs))
        times: list[str] = []
        after = now
        while len(times) < PREVIEWED and (due := next_run(trigger, after, now)) is not None:
            times.append(stored(due))
            after = due
        return SchedulePreview(next_times=tuple(times), matching_files=None)

    async def aclose(self) -> None:
        """Stop watching."""
        if self._files is not None:
            await self._files.aclose()

    def _matching(self, globs: Sequence[str]) -> int | None:
        from jupyter_ai_shoulders.guard.search.matching_files import TooManyFiles

        try:
            return len(self._ports.tools().scan([Glob(text) for text in globs]))
        except TooManyFiles:
            return None


class _Listener:
    """``ChangeListener`` of the watchers."""

    def __init__(self, ports: WatcherPorts) -> None:
        self._ports = ports

    async def settled(self, watch_id: str, change: PendingChange) -> None:
        from jupyter_ai_shoulders.core.file_changes.prompt import change_lines

        lines = change_lines(change.file_changes(), change.total)
        try:
            await self._ports.starter.files_changed(watch_id, lines, change.key)
        except NotFound:  # deleted
            return

    def is_running(self, watch_id: str) -> bool:
        try:
            runs = self._ports.schedules.open_runs()
        except ShouldersError:
            return True
        return any(run.schedule_id == watch_id for run in runs)


def _watch(schedule: Schedule) -> Watch:
    from jupyter_ai_shoulders.host.automation.watchers.service import Watch

    assert isinstance(schedule.trigger, FilesTrigger)
    return Watch(schedule.id, schedule.trigger.globs, schedule.trigger.settle_s)
