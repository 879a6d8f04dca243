"""Reads of files whose disk may hang, such as a home directory on the network. Used by ``usage``.

A thread that hangs cannot be ended, and the process has few: while one of ours does, no other is
started, and whoever asks is told so at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from jupyter_ai_shoulders.core.errors import StateUnavailable

T = TypeVar("T")


class BoundedReader:
    """Waits so many seconds for a read, and for none while an earlier one is not back."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._late: asyncio.Task[object] | None = None

    async def read(self, what: str, work: Callable[[], T]) -> T:
        """Return what ``work`` reads in a thread, or raise what it raises.

        Raises ``StateUnavailable``: ``what`` does not answer.
        """
        if self._late is not None:
            raise _silent(what)
        task = asyncio.create_task(asyncio.to_thread(work), name=what)
        done, _ = await asyncio.wait({task}, timeout=self._seconds)
        if done:
            return task.result()
        if self._late is None:
            self._late = task
            task.add_done_callback(self._is_back)
        raise _silent(what)

    def _is_back(self, task: asyncio.Task[object]) -> None:
        self._late = None
        if not task.cancelled():
            task.exception()  # told as silence already


def _silent(what: str) -> StateUnavailable:
    return StateUnavailable(
        f"{what} does not answer.",
        hint="Its disk may not be responding, or another program may have locked it. Try again.",
        retryable=True,
    )
