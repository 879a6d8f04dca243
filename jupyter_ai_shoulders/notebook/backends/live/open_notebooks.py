"""Notebooks open in browser pages, and those whose page disconnected with unsaved changes.

Implements ``Pages``. The server's socket passes frames in; ``notebook.router`` and the kernels
request reads, changes and the display of runs. An open notebook is changed in its page only. While
a page with unsaved changes is absent, the notebook is the file overlaid with the page's last
announced state and the agent's edits, until the grace period ends. ``page_events`` handles frames
of pages, ``disconnected_pages`` the absent ones. See ``docs/design/notebooks.md``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from jupyter_ai_shoulders.core.clock import Clock, IdSource, Sleep
from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.live_documents.page_requests import (
    PageAnswer,
    PageTransport,
    PendingRequest,
)
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import OutputSelection
from jupyter_ai_shoulders.notebook.backends.live.disconnected_pages import DisconnectedPages
from jupyter_ai_shoulders.notebook.backends.live.document_locks import DocumentLocks
from jupyter_ai_shoulders.notebook.backends.live.edit_delivery import EditDelivery
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.backends.live.notebook_requests import NotebookRequests
from jupyter_ai_shoulders.notebook.backends.live.page_events import PageEvents
from jupyter_ai_shoulders.notebook.backends.live.page_reads import PageReads
from jupyter_ai_shoulders.notebook.backends.live.page_registry import PageRegistry
from jupyter_ai_shoulders.notebook.backends.live.recovery_copies import (
    NotebookRecoveryCopies,
    RecoveryStore,
)
from jupyter_ai_shoulders.notebook.backends.live.recovery_offers import RecoveryOffers
from jupyter_ai_shoulders.notebook.backends.live.renames import NotebookRenames
from jupyter_ai_shoulders.notebook.backends.live.run_display import PageRuns
from jupyter_ai_shoulders.notebook.backends.live.timeouts import (
    DisconnectTimers,
    LiveTimeouts,
)
from jupyter_ai_shoulders.notebook.base import (
    Applied,
    Conflicted,
    NotebookSnapshot,
    NotebookStore,
    RunQuestion,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import (
    AnnouncedCell,
    CellInputAnswer,
    CellRunTaken,
    DocumentApplied,
    DocumentChange,
    DocumentClose,
    DocumentConflict,
    DocumentContent,
    DocumentFocus,
    DocumentOpen,
    DocumentRecoveryAnswer,
    DocumentRefused,
    DocumentRename,
    PageFrame,
)
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, RunId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellOutputs

log = logging.getLogger(__name__)


class OpenNotebooks:
    """The notebooks open in pages; a resource: ``start`` and ``aclose`` it."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        disk: NotebookStore,
        transport: PageTransport,
        recovery: RecoveryStore,
        clock: Clock,
        ids: IdSource,
        acting: CurrentPage | None = None,
        times: LiveTimeouts | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._workspace = workspace
        self._disk = disk
        self._times = times or LiveTimeouts()
        self._copies = NotebookRecoveryCopies(recovery, clock)
        self._registry = PageRegistry(self._copies, acting or CurrentPage())
        self._renames = NotebookRenames(workspace)
        self._requests = NotebookRequests(
            transport, clock, ids, answer_seconds=self._times.answer, on_answer=self._on_answer
        )
        offers = RecoveryOffers(self._copies, transport)
        self._delivery = EditDelivery(self._registry, self._requests, transport, offers)
        self._reads = PageReads(self._registry, self._requests)
        self._locks = DocumentLocks()
        self._disconnected = DisconnectedPages(
            disk=disk,
            registry=self._registry,
            renames=self._renames,
            delivery=self._delivery,
            locks=self._locks,
            times=self._times,
            timers=DisconnectTimers(sleep),
        )
        self._events = PageEvents(
            workspace=workspace,
            registry=self._registry,
            copies=self._copies,
            renames=self._renames,
            offers=offers,
            delivery=self._delivery,
            disconnected=self._disconnected,
            locks=self._locks,
        )
        self._run_display = PageRuns(transport)

    # lifecycle

    async def start(self) -> None:
        """Load the unsaved notebooks of the last session: their pages may return."""
        copies = await self._copies.load()
        self._renames.restore(self._copies.renames)
        for copy in copies:
            name = self._workspace.path(copy.path)
            claim = self._registry.restore(copy, name)
            if claim is not None:
                self._disconnected.restored(claim)
            else:
                self._locks.run_in_background(self._deliver(name))

    async def settle(self) -> None:
        """Wait for pending replays, delivery and copies; not for pages."""
        await self._locks.settle()
        await self._copies.settle()

    async def aclose(self) -> None:
        """Stop waiting for pages. Unsaved changes stay in the recovery copies."""
        await self._disconnected.aclose()
        await self.settle()
        await self._copies.aclose()

    # frames of pages

    def connected(self, client_id: ClientId) -> None:
        """Register a page that said hello; it announces its notebooks again."""
        self._leave(client_id)

    def disconnected(self, client_id: ClientId) -> None:
        """Handle a closed socket of a page: by reload, crash, network or for good."""
        self._leave(client_id)

    async def handle(self, client_id: ClientId, frame: PageFrame) -> None:
        """Handle a document frame of a page without waiting. Raises ``InvalidRequest``."""
        match frame:
            case DocumentOpen():
                self._events.opened(
                    client_id, self.current(self._workspace.path(frame.path)), frame
                )
            case (
                DocumentChange()
                | DocumentFocus()
                | DocumentClose()
                | DocumentRename()
                | DocumentRecoveryAnswer()
            ):
                claim = self._registry.claims.named(client_id, frame.path)
                if claim is not None:
                    self._events.handle(claim, frame)
                else:
                    log.debug("%s of %s, which is not open", frame.type, frame.path)
            case CellRunTaken():
                self._run_display.take(frame.run_id)
            case CellInputAnswer():
                self._run_display.answer(frame)
            case DocumentApplied() | DocumentConflict() | DocumentContent() | DocumentRefused():
                self._requests.answered(client_id, frame)
            case _:
                log.debug("A frame that is not about documents was ignored: %s", frame.type)

    # Pages

    def owner(self, path: str) -> ClientId | None:
        """Return the connected page that receives edits of ``path``."""
        claim = self._owner(path)
        return claim.client if claim is not None else None

    def pages(self, path: str) -> list[tuple[ClientId, str]]:
        """Return the connected pages that have ``path`` open, with each page's own name for it."""
        return [(claim.client, claim.page_path) for claim in self._present(path)]

    def shown_in(self, path: str) -> NotebookClaim | None:
        """Return the owner's claim to the notebook, for requests about its display."""
        return self._owner(path)

    def is_live(self, path: str) -> bool:
        """Return whether a page has the notebook open, or is absent with unsaved changes to it."""
        return bool(self._of_path(path))

    def current(self, name: WorkspacePath) -> WorkspacePath:
        """Return the current path of a notebook that may have been renamed in a page."""
        return name if self._registry.claims.of_path(name) else self._renames.current(name)

    def announced(self, client_id: ClientId, page_path: str) -> tuple[AnnouncedCell, ...]:
        """Return the cells of a notebook as a connected page announced them."""
        claim = self._registry.claims.named(client_id, page_path)
        return () if claim is None else claim.cells

    async def read(self, path: str, outputs: OutputSelection) -> NotebookSnapshot:
        """Return the notebook as its page has it, or last had it.

        Raises ``Conflict`` (``page_not_responding``), and what the disk raises when no page has it.
        """
        name = self.current(self._workspace.path(path))
        async with self._locks.lock(name):
            await self._delivery.deliver(name)
            claim = self._registry.owner(name)
            if claim is not None:
                return await self._reads.read(claim, outputs)
            if (absent := self._registry.claims.last_disconnected(name)) is not None:
                return await self._disconnected.read(absent, outputs)
            return await self._disk.read(name, outputs)

    async def apply(
        self, path: str, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Change the notebook in its page, in the overlay of an absent page, or else on disk.

        Raises like ``read``, and ``PolicyRefusal`` (read-only). Never tried twice, never written to
        the disk while a page has it open.
        """
        name = self.current(self._workspace.path(path))
        async with self._locks.lock(name):
            await self._delivery.deliver(name)
            claim = self._registry.owner(name)
            if claim is not None:
                return await self._delivery.apply(claim, edits, expected)
            if (absent := self._registry.claims.last_disconnected(name)) is not None:
                return await self._disconnected.apply(absent, edits, expected)
            return await self._disk.apply(name, edits, expected)

    def run_started(self, path: str, cell_id: CellId, run_id: RunId) -> None:
        """Show the cell as running in every page that has it open."""
        self._run_display.started(self._present(path), cell_id, run_id)

    def run_output(
        self, path: str, cell_id: CellId, run_id: RunId, index: int, outputs: Sequence[JsonObject]
    ) -> None:
        """Replace the running cell's outputs from position ``index`` on."""
        self._run_display.output(self._present(path), cell_id, run_id, index, outputs)

    def run_ended(
        self, path: str, cell_id: CellId, run_id: RunId, execution_count: int | None
    ) -> None:
        """Show the cell as finished; from now on its outputs are an unsaved edit."""
        outputs = self._run_display.ended(self._present(path), cell_id, run_id, execution_count)
        owner = self._owner(path)
        if owner is None or outputs is None:
            return
        edit = CellOutputs(cell_id=cell_id, outputs=outputs, execution_count=execution_count)
        self._registry.record(owner, [edit], Applied({}, ()))

    def run_taken(self, run_id: RunId) -> bool:
        """Return whether the user took over the cell of a run that has not ended."""
        return self._run_display.is_taken(run_id)

    def run_asks(self, path: str, cell_id: CellId, run_id: RunId, question: RunQuestion) -> None:
        """Show an input field for a question of the running code in every page that has it open."""
        self._run_display.asks(self._present(path), cell_id, run_id, question)

    def run_answered(self, path: str, cell_id: CellId, run_id: RunId, number: int) -> None:
        """Remove the input field."""
        self._run_display.answered(self._present(path), cell_id, run_id, number)

    def open_paths(self) -> frozenset[WorkspacePath]:
        """Return the notebooks that connected pages have open."""
        return self._registry.claims.open_paths

    def unsaved(self, path: str) -> list[WorkspacePath]:
        """Return the notebooks at or below a path with unsaved changes in a connected or absent
        page.
        """
        name = self._workspace.path(path)
        claims = self._registry.claims.items.values()
        left = {claim.path for claim in claims if claim.dirty or not claim.present}
        return sorted(held for held in left if not name or f"{held}/".startswith(f"{name}/"))

    def is_behind(self, path: str) -> bool:
        """Return whether a page has read or written another version than the file's."""
        return any(self._events.is_behind(claim) for claim in self._present(path))

    def renamed(self, old: str, new: str) -> None:
        """Follow a file or a directory that the server's contents manager renamed.

        Pages that have it open report it themselves; absent pages and recovery copies do not.
        """
        before, after = self._workspace.path(old), self._workspace.path(new)
        self._events.moved(before, after)
        self._registry.moved(before, after)

    def wrote(self, path: str) -> None:
        """Notify the pages that have a notebook open that its file was written elsewhere."""
        self._delivery.notify_saved(self._present(path))

    def show_elsewhere(self, path: str, cell_id: CellId, before: str, after: str) -> None:
        """Apply a change that the current task's page already made to the other pages."""
        claim = self._owner(path)
        if claim is not None:
            self._delivery.show_elsewhere(claim, cell_id, before, after)

    # lookups

    def _leave(self, client: ClientId) -> None:
        self._requests.lost(client)
        self._events.page_disconnected(client)

    def _on_answer(self, request: PendingRequest, answer: PageAnswer) -> None:
        self._events.answered(request, answer)

    async def _deliver(self, name: WorkspacePath) -> None:
        async with self._locks.lock(name):
            await self._delivery.deliver(name)

    def _of_path(self, path: str) -> list[NotebookClaim]:
        """Return all claims to a notebook; fast when there are none, because runs ask often."""
        if not self._registry.claims.items:
            return []
        return self._registry.claims.of_path(self.current(self._workspace.path(path)))

    def _present(self, path: str) -> list[NotebookClaim]:
        return [claim for claim in self._of_path(path) if claim.present]

    def _owner(self, path: str) -> NotebookClaim | None:
        claims = self._of_path(path)
        return self._registry.owner(claims[0].path) if claims else None
