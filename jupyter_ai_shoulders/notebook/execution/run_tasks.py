"""Runs that survive cancellation of their caller; held by the runners of cells and of scratch code.

A run belongs to the server: its caller follows it by a ticket, and leaving abandons the ticket.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.notebook.base import RunItem
from jupyter_ai_shoulders.notebook.execution.cell_run import RunTicket

log = logging.getLogger(__name__)


class RunTasks:
    """The unfinished runs of one runner."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()

    async def follow(
        self, perform: Callable[[RunTicket], Coroutine[Any, Any, None]]
    ) -> AsyncGenerator[RunItem]:
        """Start a run that settles its ticket; yield its progress, then its result."""
        ticket = RunTicket(self._clock)
        task = asyncio.create_task(perform(ticket))
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._conclude(done, ticket))
        try:
            async for item in ticket.items():
                yield item
        finally:
            await ticket.abandon(task)

    async def aclose(self) -> None:
        """Stop following runs; the kernels continue."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _conclude(self, task: asyncio.Task[None], ticket: RunTicket) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            ticket.settle(asyncio.CancelledError())
        elif error := task.exception():
            if ticket.is_settled:
                log.error("A cancelled run failed later", exc_info=error)
            ticket.settle(error)
