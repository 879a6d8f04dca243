"""The notebooks of a workspace, wherever they live, and the kernels that run their cells.

Part of the composition root: ``host.build`` makes it and closes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from jupyter_ai_shoulders.core.acting_page import ActingPage
from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.guard.paths import Workspace
from jupyter_ai_shoulders.notebook.base import KernelDirectory, KernelSpecs
from jupyter_ai_shoulders.notebook.contents import Contents, StoredNotebooks
from jupyter_ai_shoulders.notebook.creation import NotebookCreation
from jupyter_ai_shoulders.notebook.disk import DiskNotebooks
from jupyter_ai_shoulders.notebook.kernel_control import KernelControl
from jupyter_ai_shoulders.notebook.kernel_lines import KernelLines
from jupyter_ai_shoulders.notebook.kernels import KernelRunner
from jupyter_ai_shoulders.notebook.live import LiveDocuments, LiveTimes
from jupyter_ai_shoulders.notebook.names import WorkspaceNotebookNames
from jupyter_ai_shoulders.notebook.page_requests import PageTransport
from jupyter_ai_shoulders.notebook.rasters import PageRasters
from jupyter_ai_shoulders.notebook.recovery import RecoveryStore
from jupyter_ai_shoulders.notebook.rooms import NoRooms, Rooms
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.notebook.scratch import KernelScratch
from jupyter_ai_shoulders.notebook.shared import SharedDocuments
from jupyter_ai_shoulders.notebook.shared_frames import RoomFrames
from jupyter_ai_shoulders.notebook.shared_runs import RoomPages
from jupyter_ai_shoulders.notebook.stale_cells import StaleBook
from jupyter_ai_shoulders.notebook.variables import KernelVariables
from jupyter_ai_shoulders.notebook.verify import KernelVerifier
from jupyter_ai_shoulders.notebook.watch import FileWatch


class Documents:
    """Back ends and runner over one workspace; a resource: ``start`` and ``aclose`` it."""

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
        acting: ActingPage | None = None,
        times: LiveTimes | None = None,
        refuses_busy: bool = False,
    ) -> None:
        self.workspace = Workspace(root, closed=closed)
        self.names = WorkspaceNotebookNames(self.workspace)
        self._disk = DiskNotebooks(self.workspace)
        stored = StoredNotebooks(self._disk, contents)
        shared = SharedDocuments(self.workspace, rooms or NoRooms(), stored)
        self.live = LiveDocuments(
            workspace=self.workspace,
            disk=shared,
            transport=pages,
            recovery=recovery,
            clock=clock,
            ids=ids,
            acting=acting,
            times=times,
        )
        self._watch = FileWatch(self.workspace, stored, self.live)
        self.rasters = PageRasters(self.live.shown_in, pages, ids)
        self.stale = StaleBook(kernels, pages)
        self.frames = RoomFrames(self.workspace, shared, self.live, self.rasters, self.stale)
        self.notebooks = NotebookRouter(self.workspace, self.live, stored, shared)
        self.new = NotebookCreation(self.workspace, stored)
        self.specs: KernelSpecs = kernels
        self.lines = KernelLines(kernels)
        self.runner = KernelRunner(
            notebooks=self.notebooks,
            kernels=kernels,
            lines=self.lines,
            pages=RoomPages(self.workspace, shared, self.live, pages),
            clock=clock,
            ids=ids,
            refuses_busy=refuses_busy,
            witness=self.stale,
        )
        self.scratch = KernelScratch(
            notebooks=self.notebooks,
            kernels=kernels,
            lines=self.lines,
            clock=clock,
            refuses_busy=refuses_busy,
        )
        self.control = KernelControl(
            kernels=kernels,
            lines=self.lines,
            shown_in=self.live.shown_in,
            pages=pages,
            clock=clock,
        )
        self.variables = KernelVariables(kernels, self.lines, clock)
        self.lines.on_left = self.variables.refresh_soon
        self.verifier = KernelVerifier(notebooks=self.notebooks, kernels=kernels, clock=clock)

    async def start(self) -> None:
        """Take up the unsaved notebooks of the last process. Raises ``StateUnavailable``."""
        await self.live.start()
        self._watch.start()

    async def aclose(self) -> None:
        """Leave the kernels running, write what is on its way to the disk, let go."""
        async with AsyncExitStack() as stack:
            stack.callback(self.workspace.close)
            stack.push_async_callback(self._disk.close)
            stack.push_async_callback(self.live.aclose)
            stack.push_async_callback(self._watch.aclose)
            stack.push_async_callback(self.stale.aclose)
            stack.push_async_callback(self.lines.aclose)
            stack.push_async_callback(self.variables.aclose)
            stack.push_async_callback(self.scratch.aclose)
            await self.runner.aclose()
