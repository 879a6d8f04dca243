"""The notebooks of a workspace, in any back end, and the kernels that run their cells.

Part of the composition root: ``host.build`` makes it and closes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.live_documents.file_watch import FileWatch
from jupyter_ai_shoulders.live_documents.page_requests import PageTransport
from jupyter_ai_shoulders.notebook.analysis.staleness_tracker import StalenessTracker
from jupyter_ai_shoulders.notebook.backends.disk.contents_manager import Contents, StoredNotebooks
from jupyter_ai_shoulders.notebook.backends.disk.creation import NotebookCreation
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import LiveTimeouts, OpenNotebooks
from jupyter_ai_shoulders.notebook.backends.live.output_images import PageOutputRasterizer
from jupyter_ai_shoulders.notebook.backends.live.recovery_copies import RecoveryStore
from jupyter_ai_shoulders.notebook.backends.shared.notebooks import SharedNotebooks
from jupyter_ai_shoulders.notebook.backends.shared.rooms import NoRooms, Rooms
from jupyter_ai_shoulders.notebook.backends.shared.run_display import RoomPages
from jupyter_ai_shoulders.notebook.base import KernelDirectory, KernelSpecs
from jupyter_ai_shoulders.notebook.execution.cell_runner import KernelRunner
from jupyter_ai_shoulders.notebook.execution.own_kernels import KernelsOfSubAgents
from jupyter_ai_shoulders.notebook.execution.scratch_runner import KernelScratch
from jupyter_ai_shoulders.notebook.execution.verification import KernelVerifier
from jupyter_ai_shoulders.notebook.kernels.control import KernelControl
from jupyter_ai_shoulders.notebook.kernels.queue import KernelQueues
from jupyter_ai_shoulders.notebook.kernels.variables import KernelVariables
from jupyter_ai_shoulders.notebook.page_frames import PageFrameHandler
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.notebook.workspace_index import WorkspaceNotebookIndex


class NotebookServices:
    """Back ends and runner over one workspace; ``start`` and ``aclose`` it."""

    def __init__(
        self,
        *,
        root: Path,
        closed: Sequence[Path] = (),
        recovery: RecoveryStore,
        kernels: KernelDirectory,
        pages: PageTransport,
        rooms: Rooms | None = None,
        contents: Contents | None = None,
        clock: Clock,
        ids: IdSource,
        current_page: CurrentPage | None = None,
        times: LiveTimeouts | None = None,
        refuses_busy: bool = False,
    ) -> None:
        self.workspace = Workspace(root, closed=closed)
        self.names = WorkspaceNotebookIndex(self.workspace)
        self._disk = DiskNotebooks(self.workspace)
        stored = StoredNotebooks(self._disk, contents)
        shared = SharedNotebooks(self.workspace, rooms or NoRooms(), stored)
        self.live = OpenNotebooks(
            workspace=self.workspace,
            disk=shared,
            transport=pages,
            recovery=recovery,
            clock=clock,
            ids=ids,
            acting=current_page,
            times=times,
        )
        self._watch = FileWatch(self.workspace, stored, self.live)
        self.rasters = PageOutputRasterizer(self.live.shown_in, pages, clock, ids)
        self.staleness = StalenessTracker(kernels, pages)
        self.frames = PageFrameHandler(
            self.workspace, shared, self.live, self.rasters, self.staleness
        )
        self.notebooks = NotebookRouter(self.workspace, self.live, stored, shared)
        self.new = NotebookCreation(self.workspace, stored)
        self.specs: KernelSpecs = kernels
        self.queues = KernelQueues(kernels)
        room_pages = RoomPages(self.workspace, shared, self.live, pages)
        self.runner = self._runner(kernels, room_pages, clock, ids, refuses_busy=refuses_busy)
        self.scratch = self._scratch(kernels, clock, refuses_busy=refuses_busy)
        self.control = self._control(kernels, pages, clock)
        self.variables = KernelVariables(kernels, self.queues, clock)
        self.queues.on_released = self.variables.refresh_soon
        self.verifier = KernelVerifier(notebooks=self.notebooks, kernels=kernels, clock=clock)
        self.own_kernels = KernelsOfSubAgents(self.notebooks, kernels, clock)

    def _runner(
        self,
        kernels: KernelDirectory,
        pages: RoomPages,
        clock: Clock,
        ids: IdSource,
        *,
        refuses_busy: bool,
    ) -> KernelRunner:
        return KernelRunner(
            notebooks=self.notebooks,
            kernels=kernels,
            queues=self.queues,
            pages=pages,
            clock=clock,
            ids=ids,
            refuses_busy=refuses_busy,
            observer=self.staleness,
        )

    def _scratch(
        self, kernels: KernelDirectory, clock: Clock, *, refuses_busy: bool
    ) -> KernelScratch:
        return KernelScratch(
            notebooks=self.notebooks,
            kernels=kernels,
            queues=self.queues,
            clock=clock,
            refuses_busy=refuses_busy,
        )

    def _control(
        self, kernels: KernelDirectory, pages: PageTransport, clock: Clock
    ) -> KernelControl:
        return KernelControl(
            kernels=kernels,
            queues=self.queues,
            shown_in=self.live.shown_in,
            pages=pages,
            clock=clock,
        )

    async def start(self) -> None:
        """Restore the unsaved notebooks of the last process. Raises ``StateUnavailable``."""
        await self.live.start()
        self._watch.start()

    async def aclose(self) -> None:
        """Write pending changes to the disk and release everything; kernels go on running."""
        async with AsyncExitStack() as stack:
            stack.callback(self.workspace.close)
            stack.push_async_callback(self._disk.close)
            stack.push_async_callback(self.live.aclose)
            stack.push_async_callback(self._watch.aclose)
            stack.push_async_callback(self.staleness.aclose)
            stack.push_async_callback(self.queues.aclose)
            stack.push_async_callback(self.variables.aclose)
            stack.push_async_callback(self.scratch.aclose)
            stack.push_async_callback(self.own_kernels.aclose)
            await self.runner.aclose()
