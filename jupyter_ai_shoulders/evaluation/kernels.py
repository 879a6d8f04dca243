"""Kernels for cases: real processes, of which scripted cases share one, emptied between them.

Made by ``runner``; each case gets a view of its own workspace (``KernelDirectory``).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.notebook.base import KernelHandle
from jupyter_ai_shoulders.notebook.local_kernels import LocalKernels

ANSWER_SECONDS = 20.0
_EMPTY = """
import os as _os
_os.chdir({folder!r})
get_ipython().reset(new_session=True)
"""


class Kernels:
    """Starts kernels for cases that run one after the other; a resource: ``aclose`` it."""

    def __init__(self, root: Path, *, shared: bool) -> None:
        """``shared`` keeps a kernel for the next case; modules it imported stay imported."""
        self._local = LocalKernels(root)
        self._shared = shared
        self._idle: KernelHandle | None = None
        self._count = 0

    @asynccontextmanager
    async def lent(self, workspace: Path) -> AsyncGenerator[CaseKernels]:
        """Lend kernels to a case."""
        lent = CaseKernels(self, workspace)
        try:
            yield lent
        finally:
            handles = list(lent.handles.values())
            self._idle = handles[0] if handles and self._shared else self._idle

    async def take(self, folder: Path, kernel_name: str | None) -> KernelHandle:
        """Return an empty kernel that works in ``folder``. Raises ``NotFound``."""
        idle, self._idle = self._idle, None
        if idle is not None and kernel_name in (None, idle.kernel_name):
            reply = await evaluate_in(idle, _EMPTY.format(folder=str(folder)), {})
            if reply.get("status") == "ok":
                return idle
        self._count += 1
        return await self._local.start(str(folder / f"{self._count}.ipynb"), kernel_name)

    async def interrupt(self, kernel_id: str) -> None:
        """Interrupt a kernel."""
        await self._local.interrupt(kernel_id)

    async def aclose(self) -> None:
        """End all kernels."""
        await self._local.aclose()


class CaseKernels:
    """The ``KernelDirectory`` of one case."""

    def __init__(self, kernels: Kernels, workspace: Path) -> None:
        self.handles: dict[str, KernelHandle] = {}
        self._kernels = kernels
        self._workspace = workspace

    async def find(self, path: str) -> KernelHandle | None:
        """See ``KernelDirectory.find``."""
        return self.handles.get(path)

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        """See ``KernelDirectory.start``."""
        folder = (self._workspace / path).parent
        handle = self.handles[path] = await self._kernels.take(folder, kernel_name)
        return handle

    async def interrupt(self, kernel_id: str) -> None:
        """See ``KernelDirectory.interrupt``."""
        await self._kernels.interrupt(kernel_id)

    async def values(self, path: str, expressions: tuple[str, ...]) -> dict[str, str]:
        """Return ``repr`` of expressions in the notebook's kernel, or why there is none."""
        handle = self.handles.get(path)
        if handle is None:
            return dict.fromkeys(expressions, "(no kernel was started)")
        reply = await evaluate_in(handle, "", {each: each for each in expressions})
        found: dict[str, Any] = reply.get("user_expressions", {})
        return {each: _shown(found.get(each, {})) for each in expressions}


async def evaluate_in(
    handle: KernelHandle, code: str, expressions: dict[str, str]
) -> dict[str, Any]:
    """Return the content of the kernel's reply, ``{}`` when none comes in time."""
    client: Any = handle.client()
    client.start_channels(stdin=False, hb=False)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await client.wait_for_ready()
            sent = client.execute(
                code, silent=not code, store_history=False, user_expressions=expressions
            )
            while True:
                reply = await client.get_shell_msg()
                if reply["parent_header"].get("msg_id") == sent:
                    return reply["content"]
    except (TimeoutError, RuntimeError, ShouldersError):  # died, or does not answer
        return {}
    finally:
        client.stop_channels()


def _shown(value: dict[str, Any]) -> str:
    if value.get("status") == "ok":
        return str(value["data"].get("text/plain", ""))
    return f"({value.get('ename', 'no answer')}: {value.get('evalue', '')})"
