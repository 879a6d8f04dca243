"""Scratch code, variables and the queue of one real kernel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.notebook.base import CellRun, KernelDirectory, RunProgress
from jupyter_ai_shoulders.notebook.execution.scratch_runner import KernelScratch
from jupyter_ai_shoulders.notebook.kernels.queue import KernelQueues
from jupyter_ai_shoulders.notebook.kernels.variable_info import VariableInfo
from jupyter_ai_shoulders.notebook.kernels.variables import KernelVariables
from jupyter_ai_shoulders.notebook.outputs.collector import OutputLimits
from jupyter_ai_shoulders.testing.memory_notebooks import MemoryNotebook, MemoryNotebooks
from jupyter_ai_shoulders.wire.api.settings import DataValues
from tests.notebook.kernels.real_kernel import PATH, user_of


@dataclass
class KernelAccess:
    """The agent's access to the kernel, and the user's client."""

    queues: KernelQueues
    scratch: KernelScratch
    variables: KernelVariables
    user: AsyncKernelClient
    progress: list[RunProgress] = field(default_factory=list[RunProgress])
    stirred: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, code: str) -> CellRun:
        """Run scratch code to its end."""
        run: CellRun | None = None
        async for item in self.scratch.run_code(PATH, code):
            if isinstance(item, CellRun):
                run = item
            elif isinstance(item, RunProgress):
                self.progress.append(item)
                self.stirred.set()
        assert run is not None
        return run

    async def reported(self, part: str) -> None:
        """Wait until the running code has reported a text that contains ``part``."""
        async with asyncio.timeout(60):
            while not any(part in item.text for item in self.progress):
                self.stirred.clear()
                await self.stirred.wait()

    async def tell(self, code: str, **expressions: str) -> dict[str, str]:
        """Run code as the user does, without aborts; return expressions as text."""
        client: Any = self.user
        reply = await client.execute(
            code, reply=True, timeout=120, stop_on_error=False, user_expressions=expressions
        )
        found = reply["content"].get("user_expressions", {})
        return {name: each["data"]["text/plain"] for name, each in found.items()}

    async def seen(self, level: DataValues = "schema_only", *names: str) -> dict[str, VariableInfo]:
        """Return the description of the kernel's variables, by name."""
        look = await self.variables.describe(PATH, level, names)
        assert look.why_old is None, look.why_old
        return {variable.name: variable for variable in look.namespace.variables}


@asynccontextmanager
async def side(
    kernels: KernelDirectory, manager: Any, limits: OutputLimits | None = None
) -> AsyncGenerator[KernelAccess]:
    """Everything for one kernel, closed afterwards; the kernel continues."""
    queues = KernelQueues(kernels)
    clock = SystemClock()
    scratch = KernelScratch(
        notebooks=MemoryNotebooks(MemoryNotebook(PATH)),
        kernels=kernels,
        queues=queues,
        clock=clock,
        limits=limits,
    )
    variables = KernelVariables(kernels, queues, clock)
    try:
        async with user_of(manager) as user:
            yield KernelAccess(queues, scratch, variables, user)
    finally:
        await scratch.aclose()
        await variables.aclose()
        await queues.aclose()
