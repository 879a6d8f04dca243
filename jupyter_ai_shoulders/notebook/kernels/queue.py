"""The way into the users' kernels: one line per kernel, in which everything of the agent waits.

Made by ``host.documents.notebooks`` once; cell runs (``notebook.execution.cell_runner``), scratch
code and restarts go through it, so that nothing interleaves. A line keeps the connection of the
kernel's present life.
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
"""How long a dead kernel may take to come back: Jupyter's restarter looks every 3 s."""
RESTART_CHECK_SECONDS = 0.25
NOTICE_SECONDS = 0.15
"""Shorter waits for one's turn are not told."""
NEXT = "Another run of the agent is in this kernel; this one is next."

ReportStatus = Callable[[str], None]
"""Tells the asker what is waited for."""


@dataclass(eq=False, slots=True)
class _Line:
    """What is kept per kernel: whose turn it is, and the connection of its present life."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    connection: KernelConnection | None = None
    reader: MessageReader | None = None
    displays: DisplayRegistry = field(default_factory=DisplayRegistry)


@dataclass(eq=False, slots=True)
class KernelLease:
    """The right to be the one of the agent that uses a kernel, until the turn is left."""

    connection: KernelConnection
    line: _Line
    waited: bool
    """Whether somebody else had the turn before, who may have changed the notebook."""
    is_busy_elsewhere: bool = False
    """Whether the kernel was seen to run something of somebody else's when the turn began."""
    died: bool = False
    """Set by whoever saw the kernel die: the connection is closed when the turn is left."""

    @property
    def reader(self) -> MessageReader:
        """What reads outputs, one per connection; looks at variables need none of its imports."""
        if self.line.reader is None:
            from jupyter_ai_shoulders.notebook.kernels.execute_request import MessageReader

            self.line.reader = MessageReader(self.connection)
        return self.line.reader

    @property
    def displays(self) -> DisplayRegistry:
        """What the agent's runs in this life of the kernel have shown under display ids."""
        return self.line.displays


class KernelQueues:
    """Finds or starts the kernels of notebooks, and gives turns in them."""

    def __init__(self, kernels: KernelDirectory) -> None:
        self._kernels = kernels
        self._lines: dict[str, _Line] = {}
        self._starting: dict[str, asyncio.Task[KernelHandle]] = {}
        self.on_left: Callable[[KernelHandle], None] | None = None
        """Called when a turn is over, whatever came of it; must not raise."""

    async def find_or_start(self, path: str, name: str | None, say: ReportStatus) -> KernelHandle:
        """Return the notebook's living kernel; start one of the kernelspec ``name`` if need be.

        ``name`` None asks for the server's default. Raises ``NotFound`` (no such kernelspec),
        ``Conflict`` (dead and not coming back, does not start).
        """
        handle = await self.find_alive(path, say)
        if handle is not None:
            return handle
        if path not in self._starting:
            say(f"Starting the kernel {name}." if name else "Starting a kernel.")
            self._starting[path] = asyncio.create_task(self._start(path, name))
        # Not cancelled with the asker: a start cut short would leave a kernel nobody knows of.
        return await asyncio.shield(self._starting[path])

    async def find_alive(self, path: str, say: ReportStatus) -> KernelHandle | None:
        """Return the notebook's kernel, None while it has none; starts nothing.

        One that has just died is waited for: its server restarts it. Raises ``Conflict`` when it
        stays dead.
        """
        waited = 0.0
        while (handle := await self._kernels.find(path)) is not None:
            if await ensure_async(handle.manager.is_alive()):
                return handle
            if not waited:
                say("The kernel died; waiting for its restart.")
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
        """Return whether something of the agent is in the kernel's queue already."""
        line = self._lines.get(kernel_id)
        return line is not None and (line.lock.locked() or line.waiting > 0)

    def connection(self, kernel_id: str) -> KernelConnection | None:
        """Return the connection to the kernel's present life, None while there is none."""
        line = self._lines.get(kernel_id)
        if line is None or line.connection is None or line.connection.is_stale:
            return None
        return line.connection

    @asynccontextmanager
    async def lease(self, handle: KernelHandle, say: ReportStatus) -> AsyncGenerator[KernelLease]:
        """Wait for the kernel's line and hold it, with a connection to its present life.

        Raises ``Conflict`` (the kernel dies or does not answer).
        """
        line = self._lines.setdefault(handle.kernel_id, _Line())
        waited = self.is_in_use(handle.kernel_id)
        notice = asyncio.get_running_loop().call_later(NOTICE_SECONDS, say, NEXT)
        line.waiting += 1
        try:
            await line.lock.acquire()
        finally:
            notice.cancel()
            line.waiting -= 1
        try:
            # What the server saw of the kernel before we listened; later on we know better.
            seen = getattr(handle.manager, "execution_state", None)
            is_new = line.connection is None or line.connection.is_stale
            connection = await self._connect(line, handle, say)
            busy = connection.is_busy_elsewhere or (is_new and seen == "busy")
            turn = KernelLease(connection, line, waited, busy)
            try:
                yield turn
            finally:
                if turn.died:
                    await _disconnect(line)
        finally:
            line.lock.release()
            if self.on_left is not None:
                self.on_left(handle)

    async def aclose(self) -> None:
        """Leave the kernels alone from now on; they run on."""
        starts = [*self._starting.values()]
        for start in starts:
            start.cancel()
        await asyncio.gather(*starts, return_exceptions=True)
        for line in self._lines.values():
            await _disconnect(line)

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
        self, line: _Line, handle: KernelHandle, say: ReportStatus
    ) -> KernelConnection:
        if line.connection is not None:
            if not line.connection.is_stale:
                return line.connection
            await _disconnect(line)
        await self._drop_dead()
        connection = KernelConnection(handle)
        try:
            await connection.open(lambda: say("Waiting for the kernel to answer."))
        except BaseException:
            await connection.close()
            raise
        line.connection = connection
        crash_point("kernel.connection.opened")
        return line.connection

    async def _drop_dead(self) -> None:
        """Forget kernels that are gone or were restarted, unless someone waits for them."""
        for kernel_id, line in [*self._lines.items()]:
            connection = line.connection
            if self.is_in_use(kernel_id) or connection is None or await connection.is_current():
                continue
            if self.is_in_use(kernel_id):
                continue  # meanwhile
            self._lines.pop(kernel_id, None)
            await _disconnect(line)


async def _disconnect(line: _Line) -> None:
    connection, line.connection, line.reader = line.connection, None, None
    line.displays = DisplayRegistry()
    if connection is not None:
        await connection.close()
