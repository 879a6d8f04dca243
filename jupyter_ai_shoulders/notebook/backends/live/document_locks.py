"""Locks and background tasks of the notebooks that are open in pages.

Used by ``notebook.backends.live.open_notebooks`` and its parts, which share one instance.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath

log = logging.getLogger(__name__)


class DocumentLocks:
    """A lock per notebook, and the background tasks; a resource: ``settle`` it."""

    def __init__(self) -> None:
        self._locks: dict[WorkspacePath, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def lock(self, name: WorkspacePath) -> asyncio.Lock:
        """Return the lock of a notebook."""
        return self._locks.setdefault(name, asyncio.Lock())

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a background task; a failure is logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    async def settle(self) -> None:
        """Wait until no background task runs."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("Live documents: a task in the background failed", exc_info=error)
