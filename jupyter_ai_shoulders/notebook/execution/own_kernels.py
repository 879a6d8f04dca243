"""Kernels of sub-agents: private, kept between their calls, ended with them.

Implements ``tools.agent.own_kernel.OwnKernels`` over the throw-away kernels of a
``KernelDirectory``, which also end when the server is killed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.notebook.base import CellRun, KernelDirectory, Notebooks, RunProgress
from jupyter_ai_shoulders.notebook.execution.cell_runner import kernel_name
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection
from jupyter_ai_shoulders.notebook.outputs.collector import OutputCollector, OutputLimits
from jupyter_ai_shoulders.notebook.outputs.run_log import RunLog
from jupyter_ai_shoulders.wire.ids import SessionId

if TYPE_CHECKING:
    from jupyter_ai_shoulders.notebook.kernels.execute_request import MessageReader

MOST_KERNELS = 3
"""Kernels that one sub-agent may have, one for each notebook it names."""


@dataclass(eq=False)
class _OwnKernel:
    """A kernel and the task that holds it: it is started and ended in the same task."""

    task: asyncio.Task[None]
    ready: asyncio.Future[tuple[KernelConnection, MessageReader]]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_ending: bool = False

    def end(self) -> None:
        """Begin to end it, once: a second cancellation would break off the first."""
        if not self.is_ending:
            self.is_ending = True
            self.task.cancel()


class KernelsOfSubAgents:
    """The kernels of all sub-agents; ``aclose`` ends them."""

    def __init__(
        self,
        notebooks: Notebooks,
        kernels: KernelDirectory,
        clock: Clock,
        limits: OutputLimits | None = None,
    ) -> None:
        self._notebooks = notebooks
        self._kernels = kernels
        self._clock = clock
        self._limits = limits
        self._held: dict[SessionId, dict[str, _OwnKernel]] = {}

    async def run_code(
        self, owner: SessionId, path: str, code: str
    ) -> AsyncGenerator[RunProgress | CellRun]:
        """See ``OwnKernels.run_code``."""
        held = self._held.setdefault(owner, {})
        kernel = held.get(path)
        if kernel is None or kernel.is_ending or kernel.task.done():
            if kernel is None and len(held) >= MOST_KERNELS:
                raise Conflict(
                    f"{MOST_KERNELS} throw-away kernels are in use already.",
                    hint="Use one of the notebooks named before.",
                )
            yield RunProgress("status", "Starting a throw-away kernel.")
            name = kernel_name(await self._notebooks.open(path).read())
            kernel = held[path] = self._start(path, name)
        async with kernel.lock:
            connection, reader = await asyncio.shield(kernel.ready)
            try:
                async for item in self._run(connection, reader, code):
                    if isinstance(item, CellRun) and item.status == "died":
                        kernel.end()  # the next call gets another one
                    yield item
            except (asyncio.CancelledError, GeneratorExit):
                kernel.end()  # what it runs ends with it
                raise

    async def end(self, owner: SessionId) -> None:
        """End the kernels of a sub-agent."""
        held = self._held.pop(owner, {})
        for kernel in held.values():
            kernel.end()
        if held:
            await asyncio.wait([kernel.task for kernel in held.values()])

    @property
    def count(self) -> int:
        """Return how many kernels are held."""
        return sum(map(len, self._held.values()))

    async def aclose(self) -> None:
        """End all kernels."""
        await asyncio.gather(*map(self.end, list(self._held)))

    def _start(self, path: str, name: str | None) -> _OwnKernel:
        ready: asyncio.Future[tuple[KernelConnection, MessageReader]]
        ready = asyncio.get_running_loop().create_future()
        ready.add_done_callback(lambda done: done.cancelled() or done.exception())
        return _OwnKernel(asyncio.create_task(self._hold(path, name, ready)), ready)

    async def _hold(
        self,
        path: str,
        name: str | None,
        ready: asyncio.Future[tuple[KernelConnection, MessageReader]],
    ) -> None:
        from jupyter_ai_shoulders.notebook.kernels.execute_request import MessageReader

        try:
            async with self._kernels.throwaway(path, name) as handle:
                connection = KernelConnection(handle)
                try:
                    await connection.open(lambda: None)
                    ready.set_result((connection, MessageReader(connection)))
                    await asyncio.Event().wait()  # until it is cancelled
                finally:
                    await connection.close()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)
        finally:
            ready.cancel()

    async def _run(
        self, connection: KernelConnection, reader: MessageReader, code: str
    ) -> AsyncGenerator[RunProgress | CellRun]:
        from jupyter_ai_shoulders.notebook.execution.detached_run import DetachedRun, ScratchRequest

        log = RunLog()
        request = ScratchRequest(reader, OutputCollector(self._limits), log)
        request.send_scratch(connection, code)
        run = DetachedRun(request, connection, self._clock)
        try:
            while not await run.wait():
                for piece in log.take():
                    yield piece
        finally:
            request.close()
        for piece in log.take():
            yield piece
        yield run.current_result()
