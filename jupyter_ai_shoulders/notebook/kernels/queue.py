"""One queue per kernel for all code of the agent.

Made by ``host.documents.notebooks`` once; cell runs (``notebook.execution.cell_runner``), scratch
code and restarts use it, so that nothing interleaves. A queue keeps the connection to the kernel's
current generation.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_core.utils import ensure_async

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.notebook.base import KernelDirectory, KernelHandle
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection
from jupyter_ai_shoulders.notebook.kernels.display_ids import DisplayRegistry

if TYPE_CHECKING:
    from jupyter_ai_shoulders.notebook.kernels.execute_request import MessageReader

RESTART_SECONDS = 10.0
"""Seconds a dead kernel may take to come back: Jupyter's restarter checks every 3 s."""
RESTART_CHECK_SECONDS = 0.25
NOTICE_SECONDS = 0.15
"""Shorter waits for a lease are not reported."""
NEXT = "Another run of the agent is in this kernel; this one is next."

ReportStatus = Callable[[str], None]
"""Reports to the caller what it waits for."""


@dataclass(eq=False, slots=True)
class _KernelQueue:
    """The state of one kernel: the lock, and the connection to its current generation."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    connection: KernelConnection | None = None
    reader: MessageReader | None = None
    displays: DisplayRegistry = field(default_factory=DisplayRegistry)


@dataclass(eq=False, slots=True)
class KernelLease:
    """Exclusive use of a kernel by one caller, until it is released."""

    connection: KernelConnection
    queue: _KernelQueue
    waited: bool
    """Whether another caller had the lease before, and may have changed the notebook."""
    is_busy_elsewhere: bool = False
    """Whether the kernel ran others' code when the lease began."""
    died: bool = False
    """Set when the kernel died: the connection is closed when the lease is released."""

    @property
    def reader(self) -> MessageReader:
        """The message reader, one per connection; imported late, since reading variables does not
        need it.
        """
        if self.queue.reader is None:
            from jupyter_ai_shoulders.notebook.kernels.execute_request import MessageReader

            self.queue.reader = MessageReader(self.connection)
        return self.queue.reader

    @property
    def displays(self) -> DisplayRegistry:
        """The displays of the agent's runs in this kernel generation."""
        return self.queue.displays


class KernelQueues:
    """Finds or starts the kernels of notebooks, and leases them."""

    def __init__(self, kernels: KernelDirectory) -> None:
        self._kernels = kernels
        self._queues: dict[str, _KernelQueue] = {}
        self._starting: dict[str, asyncio.Task[KernelHandle]] = {}
        self.on_released: Callable[[KernelHandle], None] | None = None
        """Called after each lease; must not raise."""

    async def find_or_start(
        self, path: str, name: str | None, report: ReportStatus
    ) -> KernelHandle:
        """Return the notebook's living kernel; start one of the kernelspec ``name`` if needed.

        ``name`` None asks for the server's default. Raises ``NotFound`` (no such kernelspec),
        ``Conflict`` (dead and not coming back, does not start).
        """
        handle = await self.find_alive(path, report)
        if handle is not None:
            return handle
        if path not in self._starting:
            report(f"Starting the kernel {name}." if name else "Starting a kernel.")
            self._starting[path] = asyncio.create_task(self._start(path, name))
        # Shielded from cancellation: an interrupted start would leave an unknown kernel behind.
        return await asyncio.shield(self._starting[path])

    async def find_alive(self, path: str, report: ReportStatus) -> KernelHandle | None:
        """Return the notebook's kernel, None while it has none; starts nothing.

        Waits for a kernel that has just died, because its server restarts it. Raises ``Conflict``
        when it stays dead.
        """
        waited = 0.0
        while (handle := await self._kernels.find(path)) is not None:
            if await ensure_async(handle.manager.is_alive()):
                return handle
            if not waited:
                report("The kernel died; waiting for its restart.")
            if waited >= RESTART_SECONDS:
                raise Conflict(
                    f"The kernel of {path} is dead and does not restart.",
                    code="kernel_died",
                    hint="Restart the kernel in the notebook's Kernel menu, then try again.",
                    retryable=True,
                )
            await asyncio.sleep(RESTART_CHECK_SECONDS)
            waited += RESTART_CHECK_SECONDS
        return None

    def is_in_use(self, kernel_id: str) -> bool:
        """Return whether code of the agent is already in the kernel's queue."""
        queue = self._queues.get(kernel_id)
        return queue is not None and (queue.lock.locked() or queue.waiting > 0)

    def connection(self, kernel_id: str) -> KernelConnection | None:
        """Return the connection to the kernel's current generation, None while there is none."""
        queue = self._queues.get(kernel_id)
        if queue is None or queue.connection is None or queue.connection.is_stale:
            return None
        return queue.connection

    @asynccontextmanager
    async def lease(
        self, handle: KernelHandle, report: ReportStatus
    ) -> AsyncGenerator[KernelLease]:
        """Wait for the kernel and hold it, with a connection to its current generation.

        Raises ``Conflict`` (the kernel dies or does not answer).
        """
        queue = self._queues.setdefault(handle.kernel_id, _KernelQueue())
        waited = self.is_in_use(handle.kernel_id)
        notice = asyncio.get_running_loop().call_later(NOTICE_SECONDS, report, NEXT)
        queue.waiting += 1
        try:
            await queue.lock.acquire()
        finally:
            notice.cancel()
            queue.waiting -= 1
        try:
            # The server's view of the kernel from before this connection, which knows more later
            # on.
            seen = getattr(handle.manager, "execution_state", None)
            is_new = queue.connection is None or queue.connection.is_stale
            connection = await self._connect(queue, handle, report)
            busy = connection.is_busy_elsewhere or (is_new and seen == "busy")
            lease = KernelLease(connection, queue, waited, busy)
            try:
                yield lease
            finally:
                if lease.died:
                    await _disconnect(queue)
        finally:
            queue.lock.release()
            if self.on_released is not None:
                self.on_released(handle)

    async def aclose(self) -> None:
        """Close the connections; the kernels continue."""
        starts = [*self._starting.values()]
        for start in starts:
            start.cancel()
        await asyncio.gather(*starts, return_exceptions=True)
        for queue in self._queues.values():
            await _disconnect(queue)

    async def _start(self, path: str, name: str | None) -> KernelHandle:
        try:
            return await self._kernels.start(path, name)
        except (OSError, RuntimeError) as error:
            raise Conflict(
                f"The kernel of {path} could not be started: {error}.",
                code="no_kernel",
                hint="Start it in the notebook; the Jupyter server's log says more.",
                retryable=True,
            ) from error
        finally:
            del self._starting[path]

    async def _connect(
        self, queue: _KernelQueue, handle: KernelHandle, report: ReportStatus
    ) -> KernelConnection:
        if queue.connection is not None:
            if not queue.connection.is_stale:
                return queue.connection
            await _disconnect(queue)
        await self._drop_dead()
        connection = KernelConnection(handle)
        try:
            await connection.open(lambda: report("Waiting for the kernel to answer."))
        except BaseException:
            await connection.close()
            raise
        queue.connection = connection
        crash_point("kernel.connection.opened")
        return queue.connection

    async def _drop_dead(self) -> None:
        """Remove kernels that ended or were restarted, unless someone waits for them."""
        for kernel_id, queue in [*self._queues.items()]:
            connection = queue.connection
            if self.is_in_use(kernel_id) or connection is None or await connection.is_current():
                continue
            if self.is_in_use(kernel_id):
                continue  # taken during the check
            self._queues.pop(kernel_id, None)
            await _disconnect(queue)


async def _disconnect(queue: _KernelQueue) -> None:
    connection, queue.connection, queue.reader = queue.connection, None, None
    queue.displays = DisplayRegistry()
    if connection is not None:
        await connection.close()
