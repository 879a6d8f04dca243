"""Syncs committed events to disk without blocking the event loop.

A commit in WAL mode survives the death of the process at once, but a power loss only after the WAL
file is synced; see docs/design/reliability.md. ``SqliteEventLog`` reports each commit here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from jupyter_ai_shoulders.core.errors import StateUnavailable

_log = logging.getLogger(__name__)

LATEST_SYNC_SECONDS = 0.2
CHECKPOINT_BYTES = 8 << 20
"""Approximate size at which the WAL is copied into the database; its restart then costs one sync.
"""
_COMMIT_BYTES = 4096


class Durability:
    """Syncs on request and at the latest 200 ms after a commit; makes checkpoints."""

    def __init__(self, flush: Callable[[], None], checkpoint: Callable[[], None]) -> None:
        """``flush`` syncs everything written; both functions run in a thread."""
        self._flush = flush
        self._checkpoint = checkpoint
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="shoulders-storage")
        self._written = 0
        self._durable = 0
        self._weight = 0
        self._running: asyncio.Task[None] | None = None
        self._checkpointing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def note_commit(self, size: int) -> None:
        """Record a commit of about ``size`` bytes; it is synced within 200 ms."""
        self._written += 1
        self._weight += size + _COMMIT_BYTES
        if self._timer is None:
            self._set_timer()

    async def sync(self) -> None:
        """Return when everything committed so far is on disk. Raises ``StateUnavailable``."""
        target = self._written
        while self._durable < target:
            await asyncio.shield(self._started())

    async def aclose(self) -> None:
        """Sync a last time and end the threads."""
        if self._timer is not None:
            self._timer.cancel()
        try:
            await self.sync()
        except StateUnavailable as error:
            _log.error("The last events may not be on the disk: %s", error)
        if self._checkpointing is not None:
            await asyncio.gather(self._checkpointing, return_exceptions=True)
        self._threads.shutdown()

    def _set_timer(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # a script without a loop: closing syncs
        self._timer = loop.call_later(LATEST_SYNC_SECONDS, self._due)

    def _due(self) -> None:
        self._timer = None
        if self._durable == self._written:
            return
        under_way = self._running is not None and not self._running.done()
        sync = self._started()
        if under_way:  # it may have started before the commit this call is for
            sync.add_done_callback(lambda _: self._due())

    def _started(self) -> asyncio.Task[None]:
        """Return the running sync, or start one."""
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._sync_once(), name="shoulders-sync")
            self._running.add_done_callback(_report)
        return self._running

    async def _sync_once(self) -> None:
        reached = self._written
        await asyncio.get_running_loop().run_in_executor(self._threads, self._flush)
        self._durable = reached
        if self._weight >= CHECKPOINT_BYTES and self._checkpointing is None:
            self._weight = 0
            self._checkpointing = asyncio.create_task(self._checkpoint_once())

    async def _checkpoint_once(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._checkpoint)
        except StateUnavailable as error:
            _log.warning(
                "The log could not be folded into the database and keeps growing: %s", error
            )
        finally:
            self._checkpointing = None


def _report(task: asyncio.Task[None]) -> None:
    """Log a failed sync: often no caller waits for it."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("Events may be lost if the machine loses power now: %s", error)
