"""Watches the workspace for the watchers that are enabled, and reports settled changes.

Made by ``host.automation``; the scheduler starts a run for each reported change. Nothing is watched
while there is no watcher. Notifications of the system, or a timer on network file systems, say when
to look; what changed is found by comparing snapshots, which also finds what changed while no server
ran. See docs/design/watchers.md#watchers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.change_notifications import (
    STEP_SECONDS,
    FolderNotifications,
    WatchFailed,
)
from jupyter_ai_shoulders.guard.filesystem.network_mounts import remote_file_system
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.automation.watchers.records import PendingChange, WatchRecords
from jupyter_ai_shoulders.host.automation.watchers.watched_files import (
    FileComparison,
    WatchedFiles,
)
from jupyter_ai_shoulders.host.automation.watchers.watching_tools import WatchingTools

_log = logging.getLogger(__name__)

POLL_SECONDS = 10.0
RETRY_SECONDS = 30.0
"""Before a change that could not be reported is reported again."""
_MOST_RESTARTS = 5
"""Of notifications that end at once, before polling takes over."""


@dataclass(frozen=True, slots=True)
class WatchTimes:
    """Times in seconds, short in tests."""

    poll: float = POLL_SECONDS
    step: float = STEP_SECONDS
    longest_wait: float = 60.0
    retry: float = RETRY_SECONDS


@dataclass(frozen=True, slots=True)
class Watch:
    """An enabled watcher."""

    id: str
    globs: tuple[str, ...]
    settle_s: float


@dataclass(frozen=True, slots=True)
class WatchState:
    """How a watcher fares, for its row."""

    method: Literal["notifications", "polling"]
    problem: str | None
    """What is wrong, in words."""
    files: int | None
    """Files that match now; None before the first look."""


class ChangeListener(Protocol):
    """Starts a run for a settled change."""

    async def settled(self, watch_id: str, change: PendingChange) -> None:
        """Record the start of a run; the same key again does nothing.

        Raises ``ShouldersError`` when nothing could be recorded; it is called again then.
        """
        ...

    def is_running(self, watch_id: str) -> bool:
        """Return whether a run of this watcher has not ended."""
        ...


class FileWatchers:
    """The watchers of one workspace, on one event loop."""

    def __init__(
        self,
        tools: WatchingTools,
        records: WatchRecords,
        listener: ChangeListener,
        *,
        times: WatchTimes | None = None,
        always_poll: Callable[[], bool] = lambda: False,
        state_changed: Callable[[], None] = lambda: None,
        remote: Callable[[Workspace], str | None] = lambda w: remote_file_system(w.directory),
    ) -> None:
        """``always_poll`` is the setting; ``remote`` returns the type of a network file system."""
        self._tools = tools
        self._records = records
        self._listener = listener
        self._state_changed = state_changed
        self._shown: Mapping[str, WatchState] = {}
        self._times = times or WatchTimes()
        self._always_poll = always_poll
        self._remote = remote
        self._watched: dict[str, WatchedFiles] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._polls = False
        self._problem: str | None = None

    def set(self, watches: Iterable[Watch]) -> None:
        """Watch for these watchers only; what the others have seen is forgotten."""
        wanted = {watch.id: watch for watch in watches}
        for watch_id, watched in list(self._watched.items()):
            if wanted.get(watch_id) != watched.watch:
                del self._watched[watch_id]
        for watch_id, watch in wanted.items():
            if watch_id not in self._watched:
                self._watched[watch_id] = WatchedFiles(
                    watch, self._tools, self._records, self._times.longest_wait
                )
        self._restart()

    def forget(self, watch_id: str) -> None:
        """Forget what a deleted or paused watcher has seen. Raises ``StateUnavailable``."""
        self._records.remove(watch_id)

    def states(self) -> Mapping[str, WatchState]:
        """Return how each watcher fares."""
        method = "polling" if self._polls else "notifications"
        return {
            watch_id: WatchState(method, watched.problem or self._problem, watched.count)
            for watch_id, watched in self._watched.items()
        }

    def run_ended(self, watch_id: str) -> None:
        """Look again: changes during the run wait until it has ended."""
        watched = self._watched.get(watch_id)
        if watched is not None:
            watched.hint(self._now())
            self._wake.set()

    async def aclose(self) -> None:
        """Stop watching."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def _restart(self) -> None:
        earlier, self._task = self._task, None
        if earlier is not None:
            earlier.cancel()
        if self._watched or earlier is not None:
            self._task = asyncio.create_task(self._run(earlier), name="shoulders-file-watchers")

    async def _run(self, earlier: asyncio.Task[None] | None) -> None:
        """Watch, once an earlier task has ended: both would write the records."""
        if earlier is not None:
            await asyncio.wait({earlier})
        if not self._watched:
            return
        for watched in list(self._watched.values()):
            await watched.start(self._now())
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._receive_hints())
            tasks.create_task(self._look_when_due())

    async def _receive_hints(self) -> None:
        """Tell the watchers when to look: by notifications, or else by polling."""
        kind = await asyncio.to_thread(self._remote, self._tools.workspace)
        if self._always_poll() or kind is not None:
            self._problem = None
            await self._poll()
        failures = 0
        while failures <= _MOST_RESTARTS:
            try:
                failures = 0 if await self._listen() else failures
            except WatchFailed as error:
                failures = _MOST_RESTARTS + 1 if error.is_limit else failures + 1
                self._problem = _fallback_reason(error)
                _log.info("Watching the workspace begins again: %s", error)
                self._hint_all()
                await asyncio.sleep(self._times.step)
        _log.warning("Watchers look every %g s: %s", self._times.poll, self._problem)
        await self._poll()

    async def _listen(self) -> bool:
        """Pass notifications on until other folders must be watched; return whether any came."""
        folders = await asyncio.to_thread(self._tools.folders, self._globs())
        notifications = FolderNotifications(
            self._tools.workspace.directory, folders, self._times.step
        )
        heard = False
        async with contextlib.aclosing(notifications.changes()) as changes:
            self._polls, self._problem = False, None
            is_first = True
            async for paths in changes:
                if is_first:
                    is_first = False
                    self._hint_all()  # of what changed before it listened
                    continue
                heard = True
                self._hint(paths)
                if await asyncio.to_thread(self._tools.folders, self._globs()) != folders:
                    break
        return heard

    async def _poll(self) -> None:
        self._polls = True
        while True:
            for watched in list(self._watched.values()):
                if await watched.has_moved():
                    watched.hint(self._now())
            self._wake.set()
            await asyncio.sleep(self._times.poll)

    async def _look_when_due(self) -> None:
        while True:
            self._wake.clear()
            self._tell_states()
            now = self._now()
            for watched in list(self._watched.values()):
                if watched.is_due(now) and not self._listener.is_running(watched.watch.id):
                    await self._look(watched)
            due = [at for watched in self._watched.values() if (at := self._due_at(watched))]
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(due) - self._now() if due else None):
                    await self._wake.wait()

    def _due_at(self, watched: WatchedFiles) -> float | None:
        """Return when to look; None for a watcher that waits for its run, which wakes us."""
        return None if self._listener.is_running(watched.watch.id) else watched.due_at

    async def _look(self, watched: WatchedFiles) -> None:
        """Compare the files and report what changed, recorded first."""
        now = self._now()
        try:
            pending = await watched.look(FileComparison(exact_times=not self._polls))
            if pending is not None:
                crash_point("watchers.change.recorded")
                await self._listener.settled(watched.watch.id, pending)
                crash_point("watchers.run.started")
                await watched.reported()
                crash_point("watchers.change.forgotten")
                watched.hint(self._now())  # of what changed after it was recorded
        except ShouldersError as error:
            _log.warning("Watcher %s: %s", watched.watch.id, error)
            watched.problem = f"{error} It is tried again every {self._times.retry:.0f} s."
            watched.retry_at(now + self._times.retry)

    def _tell_states(self) -> None:
        states = self.states()
        if states != self._shown:
            self._shown = states
            self._state_changed()

    def _hint_all(self) -> None:
        for watched in self._watched.values():
            watched.hint(self._now())
        self._wake.set()

    def _hint(self, paths: frozenset[str]) -> None:
        now = self._now()
        for watched in self._watched.values():
            if not paths or any(watched.concerns(path) for path in paths):
                watched.hint(now)
        self._wake.set()

    def _globs(self) -> tuple[str, ...]:
        return tuple(glob for watched in self._watched.values() for glob in watched.watch.globs)

    def _now(self) -> float:
        return self._tools.clock.monotonic()


def _fallback_reason(error: WatchFailed) -> str:
    if error.is_limit:
        return (
            "The system's limit of watched folders is reached, so changes are found by polling. "
            "Raise fs.inotify.max_user_watches, or use a pattern with fewer folders."
        )
    if error.is_gone:
        return "The folder is gone or cannot be read. It is looked for by polling."
    return f"The system reports no changes here ({error}), so they are found by polling."
