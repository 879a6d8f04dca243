"""A panel's own threads, so that its work does not wait for a cell. Made by ``server_relay``."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)

Job = Callable[[], None]


class WorkerThreads:
    """Runs jobs, a few at a time, in daemon threads, so that a kernel can end."""

    def __init__(self, count: int) -> None:
        """``count`` jobs run at a time; the others wait. No thread is started yet."""
        self._left = count
        self._count = count
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, job: Job) -> None:
        """Run a job in the background. After ``close`` jobs are ignored."""
        with self._lock:
            if self._closed:
                return
            if self._left:
                self._left -= 1
                threading.Thread(target=self._work, name="ai-panel", daemon=True).start()
            self._jobs.put(job)

    def close(self) -> None:
        """Let the threads end after the jobs already submitted."""
        with self._lock:
            self._closed = True
            for _ in range(self._count):
                self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:  # noqa: BLE001 - the handler of a message: the others go on
                _log.exception("The AI panel could not do what its page asked for")
