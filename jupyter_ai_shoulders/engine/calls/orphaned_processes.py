"""Ends what a killed server's calls had started and left running (chapter 04, recovery).

Run by ``engine.session.effect_runner`` when a session is read again. What watches a command ends it
when the server is gone; this is for where that was killed too. Only processes that certainly belong
to a call are touched: a number alone may be somebody else's by now.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from jupyter_ai_shoulders.guard.spawner.process_tree import end_orphans
from jupyter_ai_shoulders.wire.events import ToolStart

_log = logging.getLogger(__name__)


async def end_orphaned_processes(starts: Iterable[ToolStart | None]) -> None:
    """End the processes of calls, by what was logged before they began."""
    for start in starts:
        if start is not None and start.pid is not None:
            found = await asyncio.to_thread(end_orphans, start.pid, start.process_start)
            if found:
                _log.warning("Ended %d processes that call %s had left.", found, start.call_id)
