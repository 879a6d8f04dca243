"""Kernel processes for cases. Scripted cases share one in turn, emptied between cases.

Created by ``runner``; each case gets a ``KernelDirectory`` of its workspace.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.notebook.base import KernelHandle, KernelSpec, RunningKernel
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels

ANSWER_SECONDS = 20.0
_EMPTY = """
import os as _os
_os.chdir({folder!r})
get_ipython().reset(new_session=True)
"""


class KernelPool:
    """Starts kernels for cases; close it with ``aclose``."""

    def __init__(self, root: Path, *, shared: bool) -> None:
        """``shared``: one kernel for all cases in turn; imported modules stay imported."""
        self._local = LocalKernels(root)
        self._shared = shared
        self._turn = asyncio.Lock()
        self._idle: KernelHandle | None = None
        self._count = 0

    @asynccontextmanager
    async def borrow(self, workspace: Path) -> AsyncGenerator[CaseKernels]:
        """Lend kernels to a case."""
        lent = CaseKernels(self, workspace)
        try:
            yield lent
        finally:
            if self._shared and lent.handles:
                self._idle = next(iter(lent.handles.values()))
                self._turn.release()

    async def take(self, folder: Path, kernel_name: str | None, *, first: bool) -> KernelHandle:
        """Return an empty kernel with ``folder`` as working directory.

        ``first``: it is the case's first kernel and waits for its turn. Raises ``NotFound``.
        """
        if not self._shared:
            return await self._start(folder, kernel_name)
        if first:
            await self._turn.acquire()
        try:
            return await self._emptied(folder, kernel_name) or await self._start(
                folder, kernel_name
            )
        except BaseException:
            if first:
                self._turn.release()
            raise

    async def _emptied(self, folder: Path, kernel_name: str | None) -> KernelHandle | None:
        """Return the idle kernel, emptied; None if none of this kind responds."""
        idle, self._idle = self._idle, None
        if idle is None or kernel_name not in (None, idle.kernel_name):
            return None
        reply = await evaluate_in(idle, _EMPTY.format(folder=str(folder)), {})
        return idle if reply.get("status") == "ok" else None

    async def _start(self, folder: Path, kernel_name: str | None) -> KernelHandle:
        self._count += 1
        return await self._local.start(str(folder / f"{self._count}.ipynb"), kernel_name)

    def throwaway(
        self, folder: Path, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        """Start a kernel that ends with the context."""
        return self._local.throwaway(str(folder / "throwaway.ipynb"), kernel_name)

    async def spec(self, name: str | None) -> KernelSpec:
        """See ``KernelSpecs.spec``."""
        return await self._local.spec(name)

    async def interrupt(self, kernel_id: str) -> None:
        await self._local.interrupt(kernel_id)

    async def restart(self, kernel_id: str) -> None:
        await self._local.restart(kernel_id)

    async def installed(self) -> Sequence[KernelSpec]:
        """Return the kernels that can be started."""
        return await self._local.installed()

    async def aclose(self) -> None:
        await self._local.aclose()


class CaseKernels:
    """The ``KernelDirectory`` of one case."""

    def __init__(self, kernels: KernelPool, workspace: Path) -> None:
        self.handles: dict[str, KernelHandle] = {}
        self._kernels = kernels
        self._workspace = workspace

    async def find(self, path: str) -> KernelHandle | None:
        """See ``KernelDirectory.find``."""
        return self.handles.get(path)

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        """See ``KernelDirectory.start``."""
        folder = (self._workspace / path).parent
        handle = await self._kernels.take(folder, kernel_name, first=not self.handles)
        self.handles[path] = handle
        return handle

    async def spec(self, name: str | None) -> KernelSpec:
        """See ``KernelSpecs.spec``."""
        return await self._kernels.spec(name)

    async def interrupt(self, kernel_id: str) -> None:
        """See ``KernelDirectory.interrupt``."""
        await self._kernels.interrupt(kernel_id)

    async def restart(self, kernel_id: str) -> None:
        """See ``KernelDirectory.restart``."""
        await self._kernels.restart(kernel_id)

    async def running(self) -> Sequence[RunningKernel]:
        """See ``KernelDirectory.running``."""
        return [
            RunningKernel(handle.kernel_id, handle.kernel_name, handle.language, path, None, None)
            for path, handle in self.handles.items()
        ]

    async def installed(self) -> Sequence[KernelSpec]:
        """See ``KernelDirectory.installed``."""
        return await self._kernels.installed()

    def throwaway(
        self, path: str, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        """See ``KernelDirectory.throwaway``."""
        return self._kernels.throwaway((self._workspace / path).parent, kernel_name)

    async def values(self, path: str, expressions: tuple[str, ...]) -> dict[str, str]:
        """Return ``repr`` of expressions in the notebook's kernel, or why there is none."""
        handle = self.handles.get(path)
        if handle is None:
            return dict.fromkeys(expressions, "(no kernel was started)")
        reply = await evaluate_in(handle, "", {each: each for each in expressions})
        found: dict[str, Any] = reply.get("user_expressions", {})
        return {each: _repr_or_error(found.get(each, {})) for each in expressions}


async def evaluate_in(
    handle: KernelHandle, code: str, expressions: dict[str, str]
) -> dict[str, Any]:
    """Return the content of the kernel's reply, ``{}`` on a timeout or error."""
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
    except (TimeoutError, RuntimeError, ShouldersError):  # the kernel died or does not respond
        return {}
    finally:
        client.stop_channels()


def _repr_or_error(value: dict[str, Any]) -> str:
    if value.get("status") == "ok":
        return str(value["data"].get("text/plain", ""))
    return f"({value.get('ename', 'no answer')}: {value.get('evalue', '')})"
