"""Kernels of this process's own, one per notebook: for runs without a Jupyter server, and tests."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from jupyter_client.multikernelmanager import AsyncMultiKernelManager
from jupyter_core.utils import ensure_async

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.notebook.base import KernelHandle
from jupyter_ai_shoulders.notebook.kernel_connection import own_client


class LocalKernels:
    """A ``KernelDirectory`` whose kernels end with it; they start in their notebook's folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._specs = KernelSpecManager()
        self._manager = AsyncMultiKernelManager(kernel_spec_manager=self._specs)
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
        kernel_id = str(uuid.uuid4())
        try:
            await self._manager.start_kernel(
                kernel_name=kernel_name,
                kernel_id=kernel_id,
                cwd=str((self._root / path).parent),
            )
        except NoSuchKernel as error:
            raise no_such_kernel(kernel_name, self._specs.find_kernel_specs()) from error
        self._ids[path] = kernel_id
        return kernel_handle(kernel_id, self._manager.get_kernel(kernel_id))

    async def interrupt(self, kernel_id: str) -> None:
        """See ``KernelDirectory.interrupt``."""
        if kernel_id not in self._manager:
            raise NotFound("The kernel is gone.", code="no_kernel")
        await ensure_async(self._manager.get_kernel(kernel_id).interrupt_kernel())

    async def aclose(self) -> None:
        """End all kernels."""
        await self._manager.shutdown_all(now=True)


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


def no_such_kernel(name: str | None, installed: Any) -> NotFound:
    """Say that a kernelspec is missing, and which there are."""
    names = ", ".join(sorted(installed)) or "none"
    return NotFound(
        f"The notebook asks for the kernel {name!r}, which is not installed.",
        code="no_kernel",
        hint=f"Installed kernels: {names}. Choose one for the notebook, or install this one.",
    )
