"""Lets a started change finish when its caller is cancelled.

Used by ``files.disk_texts``, ``files.file_changes`` and ``files.undo.file_undo``: a thread cannot
be stopped, and the code that began a row of the operation log has to end it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_log = logging.getLogger(__name__)


async def run_to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of ``work``; a cancelled caller leaves only after it has finished."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("A change failed while its caller was cancelled: %s", error)
        raise
