"""Lists, interrupts and restarts kernels for the agent.

Made by ``host.documents.notebooks``; the tools' ``KernelControls``. It does not wait in the
kernels' queues, because it is for code in them that does not end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.live_documents.page_requests import PageTransport
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.base import (
    KernelDirectory,
    KernelHandle,
    KernelSpec,
    RunningKernel,
)
from jupyter_ai_shoulders.notebook.kernel_channels import generation_of
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection, Message
from jupyter_ai_shoulders.notebook.kernels.queue import KernelQueues
from jupyter_ai_shoulders.wire.frames import KernelRestart

log = logging.getLogger(__name__)

Runs = Literal["user", "agent"]


@dataclass(frozen=True, slots=True)
class ControlTimes:
    """Timeouts in seconds."""

    interrupt: float = 10.0
    """For a kernel to respond to an interrupt."""
    page: float = 3.0
    """For a page to begin a requested restart."""
    restart: float = 60.0
    """For a new process to answer."""
    poll: float = 0.05
    """Between two checks whether a restart has begun."""


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A notebook's kernel and its current activity; ``code`` is the user's, if known."""

    kernel_id: str
    kernel_name: str
    language: str
    busy: bool | None
    """None when nobody observes the kernel."""
    runs: Runs | None
    code: str | None
    since: datetime | None


@dataclass(frozen=True, slots=True)
class ListedKernel:
    """A running kernel, and whose code it runs."""

    kernel: RunningKernel
    runs: Runs | None
    since: datetime | None


@dataclass(frozen=True, slots=True)
class KernelList:
    """The running kernels and the installed ones."""

    running: tuple[ListedKernel, ...]
    installed: tuple[KernelSpec, ...]


class KernelControls(Protocol):
    """Lists, interrupts and restarts kernels."""

    async def list(self) -> KernelList:
        """Return the running kernels and the installed ones."""
        ...

    async def use(self, path: str) -> KernelUse:
        """Return the activity of the notebook's kernel. Raises ``NotFound`` (``no_kernel``)."""
        ...

    async def interrupt(self, path: str) -> bool:
        """Interrupt the notebook's kernel; return whether it stopped.

        Raises ``NotFound`` (``no_kernel``).
        """
        ...

    async def restart(self, path: str) -> None:
        """Restart the notebook's kernel and wait until it answers.

        Runs in it end like those of a kernel that died. Raises ``NotFound`` (``no_kernel``),
        ``Conflict`` (does not come back).
        """
        ...


class KernelControl:
    """The ``KernelControls`` of the kernels of a ``KernelDirectory``."""

    def __init__(
        self,
        *,
        kernels: KernelDirectory,
        queues: KernelQueues,
        shown_in: Callable[[str], NotebookClaim | None],
        pages: PageTransport,
        clock: Clock,
        times: ControlTimes | None = None,
    ) -> None:
        self._kernels = kernels
        self._queues = queues
        self._shown_in = shown_in
        self._pages = pages
        self._clock = clock
        self._times = times or ControlTimes()

    async def list(self) -> KernelList:
        """See ``KernelControls.list``."""
        running = [
            ListedKernel(kernel, *self._runs(kernel.kernel_id, kernel.state))
            for kernel in await self._kernels.running()
        ]
        return KernelList(tuple(running), tuple(await self._kernels.installed()))

    async def use(self, path: str) -> KernelUse:
        """See ``KernelControls.use``."""
        handle = await self._handle(path)
        state: str | None = getattr(handle.manager, "execution_state", None)
        runs, since = self._runs(handle.kernel_id, state)
        connection = self._queues.connection(handle.kernel_id)
        known = state is not None or connection is not None
        return KernelUse(
            kernel_id=handle.kernel_id,
            kernel_name=handle.kernel_name,
            language=handle.language,
            busy=runs is not None if known else None,
            runs=runs,
            code=connection.code_elsewhere if connection and runs == "user" else None,
            since=since,
        )

    async def interrupt(self, path: str) -> bool:
        """See ``KernelControls.interrupt``."""
        handle = await self._handle(path)
        await self._kernels.interrupt(handle.kernel_id)
        crash_point("kernel.interrupted")
        try:
            async with asyncio.timeout(self._times.interrupt):
                await self._answered(handle)
        except (TimeoutError, Conflict):
            log.info("The kernel %s did not let go when interrupted", handle.kernel_id)
            return False
        return True

    async def restart(self, path: str) -> None:
        """See ``KernelControls.restart``."""
        handle = await self._handle(path)
        if not await self._restarted_by_page(path, handle):
            await self._kernels.restart(handle.kernel_id)
        crash_point("kernel.restarted")
        fresh = await self._handle(path)
        connection = KernelConnection(fresh)
        try:
            await connection.open(lambda: None, self._times.restart)
        finally:
            await connection.close()

    async def _handle(self, path: str) -> KernelHandle:
        handle = await self._kernels.find(path)
        if handle is None:
            raise NotFound(
                f"{path} has no running kernel.",
                code="no_kernel",
                hint="Running a cell starts one.",
            )
        return handle

    def _runs(self, kernel_id: str, state: str | None) -> tuple[Runs | None, datetime | None]:
        """Return whose code runs, and since when; a connection knows more than the server."""
        connection = self._queues.connection(kernel_id)
        if connection is not None and connection.is_busy_elsewhere:
            return "user", connection.busy_since
        if self._queues.is_in_use(kernel_id):
            return "agent", None
        return ("user" if state == "busy" and connection is None else None), None

    async def _answered(self, handle: KernelHandle) -> None:
        """Return when the kernel answers an empty request."""
        connection = self._queues.connection(handle.kernel_id)
        if connection is not None:
            await _wait_for_reply(connection)
            return
        async with self._queues.lease(handle, lambda _: None) as turn:
            await _wait_for_reply(turn.connection)

    async def _restarted_by_page(self, path: str, handle: KernelHandle) -> bool:
        """Have the page restart it, which then shows it; false when none begins in time."""
        before, claim = generation_of(handle.manager), self._shown_in(path)
        if claim is None or before is None:
            return False
        deadline = self._clock.now().timestamp() + self._times.page
        self._pages.send(
            claim.client,
            KernelRestart(
                path=claim.page_path,
                kernel_id=handle.kernel_id,
                deadline_ms=round(deadline * 1000),
            ),
        )
        begun = await self._within(
            self._times.page + 1, lambda: generation_of(handle.manager) is not before
        )
        return begun and await self._within(self._times.restart, lambda: _is_up(handle))

    async def _within(self, seconds: float, happened: Callable[[], bool]) -> bool:
        """Poll attributes of jupyter_client's managers, which have no events."""
        for _ in range(round(seconds / self._times.poll)):
            if happened():
                return True
            await asyncio.sleep(self._times.poll)
        return happened()


class _ReplyWaiter:
    """Waits for the reply to a request."""

    def __init__(self) -> None:
        self.received = asyncio.Event()

    def on_output(self, message: Message) -> None:
        """Ignore the output."""

    def on_reply(self, message: Message) -> None:
        """See ``Request.on_reply``; an aborted request counts as answered, too."""
        del message
        self.received.set()


async def _wait_for_reply(connection: KernelConnection) -> None:
    request = _ReplyWaiter()
    message_id = connection.ask("", request, silent=True, expressions={})
    try:
        await request.received.wait()
    finally:
        connection.forget(message_id)


def _is_up(handle: KernelHandle) -> bool:
    """Return whether a restart has finished: it replaces the generation at its end and its
    beginning.
    """
    ready: Any = generation_of(handle.manager)
    shutting_down: bool = getattr(handle.manager, "shutting_down", False)
    return not shutting_down and (not hasattr(ready, "done") or ready.done())
