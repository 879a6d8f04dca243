"""Threads of a panel's own, so that nothing it does waits for a cell. Made by ``relay``."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)

Job = Callable[[], None]


class WorkerThreads:
    """Do jobs, a few at a time. Daemons, so that a kernel ends when it is told to."""

    def __init__(self, count: int) -> None:
        """``count`` jobs run at a time; the others wait. Nothing is started yet."""
        self._left = count
        self._count = count
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, job: Job) -> None:
        """Have a job done; returns at once. After ``close`` nothing is done."""
        with self._lock:
            if self._closed:
                return
            if self._left:
                self._left -= 1
                threading.Thread(target=self._work, name="ai-panel", daemon=True).start()
            self._jobs.put(job)

    def close(self) -> None:
        """Let the threads end, each after the job it does and those before."""
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
