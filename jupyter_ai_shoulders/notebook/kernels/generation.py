"""Names a notebook's kernel so that it has another name once it was restarted.

For saying what a kernel still holds (``changes.restore``): its id stays the same over a restart.
"""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.notebook.base import KernelDirectory


class KernelGenerations:
    """Finds the kernels of notebooks, as they run now."""

    def __init__(self, kernels: KernelDirectory) -> None:
        self._kernels = kernels

    async def kernel_generation(self, path: str) -> str | None:
        """Return kernel and process id, the kernel's alone where no process is known here.

        None while the notebook has no kernel. A gateway's kernels have no process here.
        """
        handle = await self._kernels.find(path)
        if handle is None:
            return None
        provisioner: Any = getattr(handle.manager, "provisioner", None)
        pid: Any = getattr(provisioner, "pid", None)
        return handle.kernel_id if pid is None else f"{handle.kernel_id} {pid}"
