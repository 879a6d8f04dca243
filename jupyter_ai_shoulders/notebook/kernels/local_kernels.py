"""Kernels of this process, one per notebook: for runs without a Jupyter server, and tests."""

from __future__ import annotations

import asyncio
import subprocess
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from jupyter_client.multikernelmanager import AsyncMultiKernelManager
from jupyter_core.paths import jupyter_runtime_dir
from jupyter_core.utils import ensure_async

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.notebook.base import KernelHandle, KernelSpec, RunningKernel
from jupyter_ai_shoulders.notebook.kernels.connection import own_client


class LocalKernels:
    """A ``KernelDirectory`` whose kernels end with it; they start in their notebook's folder."""

    def __init__(self, root: Path, *, quiet: bool = False) -> None:
        """``quiet``: output of kernels outside messages does not reach our terminal."""
        self._root = root
        silence = subprocess.DEVNULL
        self._launch: dict[str, Any] = {"stdout": silence, "stderr": silence} if quiet else {}
        self._specs = KernelSpecManager()
        runtime = Path(jupyter_runtime_dir())
        runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Otherwise the kernels' files, with their keys, would be written to the current folder.
        self._manager = AsyncMultiKernelManager(
            kernel_spec_manager=self._specs, connection_dir=str(runtime)
        )
        self._ids: dict[str, str] = {}

    async def find(self, path: str) -> KernelHandle | None:
        """See ``KernelDirectory.find``; a kernel that died is not found."""
        kernel_id = self._ids.get(path)
        if kernel_id is None:
            return None
        if await ensure_async(self._manager.get_kernel(kernel_id).is_alive()):
            return kernel_handle(kernel_id, self._manager.get_kernel(kernel_id))
        del self._ids[path]
        await self._manager.shutdown_kernel(kernel_id, now=True)  # frees its ports and sockets
        return None

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        """See ``KernelDirectory.start``."""
        handle = await self._start(path, kernel_name)
        self._ids[path] = handle.kernel_id
        return handle

    async def spec(self, name: str | None) -> KernelSpec:
        """See ``KernelSpecs.spec``."""
        return await installed_spec(self._specs, name or self._manager.default_kernel_name)

    async def interrupt(self, kernel_id: str) -> None:
        """See ``KernelDirectory.interrupt``."""
        if kernel_id not in self._manager:
            raise NotFound("The kernel no longer exists.", code="no_kernel")
        await ensure_async(self._manager.get_kernel(kernel_id).interrupt_kernel())

    async def restart(self, kernel_id: str) -> None:
        """See ``KernelDirectory.restart``."""
        if kernel_id not in self._manager:
            raise NotFound("The kernel no longer exists.", code="no_kernel")
        await ensure_async(self._manager.get_kernel(kernel_id).restart_kernel(now=True))

    async def running(self) -> Sequence[RunningKernel]:
        """See ``KernelDirectory.running``; nobody observes the state of these."""
        found = [(path, await self.find(path)) for path in [*self._ids]]
        return [
            RunningKernel(handle.kernel_id, handle.kernel_name, handle.language, path, None, None)
            for path, handle in found
            if handle is not None
        ]

    async def installed(self) -> Sequence[KernelSpec]:
        """See ``KernelDirectory.installed``."""
        return [await self.spec(name) for name in sorted(self._specs.find_kernel_specs())]

    @asynccontextmanager
    async def throwaway(self, path: str, kernel_name: str | None) -> AsyncGenerator[KernelHandle]:
        """See ``KernelDirectory.throwaway``."""
        start = self._start(path, kernel_name)
        async with ended_with(start, self._end) as handle:
            yield handle

    async def aclose(self) -> None:
        """End all kernels."""
        await self._manager.shutdown_all(now=True)

    async def _start(self, path: str, kernel_name: str | None) -> KernelHandle:
        kernel_id = str(uuid.uuid4())
        try:
            await self._manager.start_kernel(
                kernel_name=kernel_name,
                kernel_id=kernel_id,
                cwd=str((self._root / path).parent),
                **self._launch,
            )
        except NoSuchKernel as error:
            raise no_such_kernel(kernel_name, self._specs.find_kernel_specs()) from error
        return kernel_handle(kernel_id, self._manager.get_kernel(kernel_id))

    async def _end(self, kernel_id: str) -> None:
        if kernel_id in self._manager:
            await self._manager.shutdown_kernel(kernel_id, now=True)


@asynccontextmanager
async def ended_with(
    start: Coroutine[Any, Any, KernelHandle], end: Callable[[str], Awaitable[None]]
) -> AsyncGenerator[KernelHandle]:
    """Start a kernel that ends with the context, at any cancellation."""
    starting = asyncio.create_task(start)
    try:
        yield await asyncio.shield(starting)
    finally:
        with anyio.CancelScope(shield=True):
            await asyncio.wait([starting])
            if not starting.cancelled() and starting.exception() is None:
                await end(starting.result().kernel_id)


def kernel_handle(kernel_id: str, manager: Any) -> KernelHandle:
    """Describe a running kernel of a jupyter_client kernel manager."""
    spec = manager.kernel_spec
    return KernelHandle(
        kernel_id=kernel_id,
        kernel_name=manager.kernel_name,
        language=spec.language if spec is not None else "",
        manager=manager,
        client=lambda: own_client(manager),
    )


async def installed_spec(specs: Any, name: str) -> KernelSpec:
    """Return a kernel of a kernelspec manager. Raises ``NotFound`` (``no_kernel``)."""
    try:
        found = await ensure_async(specs.get_kernel_spec(name))
    except NoSuchKernel as error:
        raise no_such_kernel(name, specs.find_kernel_specs()) from error
    return KernelSpec(name, found.display_name or name, found.language)


def no_such_kernel(name: str | None, installed: Any) -> NotFound:
    """Return the error for a missing kernelspec, with the installed ones."""
    names = ", ".join(sorted(installed)) or "none"
    return NotFound(
        f"The notebook asks for the kernel {name!r}, which is not installed.",
        code="no_kernel",
        hint=f"Installed kernels: {names}. Choose one for the notebook, or install this one.",
    )
