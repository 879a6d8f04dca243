"""Identifies a kernel's process, so that a restart is detected; the kernel id stays the same.

Used by ``changes.restore`` to find variables that a kernel still holds.
"""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.notebook.base import KernelDirectory


class KernelGenerations:
    """Finds the current kernels of notebooks."""

    def __init__(self, kernels: KernelDirectory) -> None:
        self._kernels = kernels

    async def kernel_generation(self, path: str) -> str | None:
        """Return kernel and process id, or the kernel's alone if no local process is known.

        None while the notebook has no kernel. A gateway's kernels have no local process.
        """
        handle = await self._kernels.find(path)
        if handle is None:
            return None
        provisioner: Any = getattr(handle.manager, "provisioner", None)
        pid: Any = getattr(provisioner, "pid", None)
        return handle.kernel_id if pid is None else f"{handle.kernel_id} {pid}"
