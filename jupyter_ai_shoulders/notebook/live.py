"""Live documents: notebooks open in browser pages, and those whose page is away (chapter 06).

Implements ``Pages``. The server's socket hands in frames, ``notebook.router`` and the kernels ask
for reads, changes and the display of runs. What a page has open is changed there and nowhere else;
while a page with unsaved changes is away the notebook is the file with the page's last announced
state and the agent's edits over it, and it becomes the file's when the time of grace is over.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.paths import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted, NotebookSnapshot
from jupyter_ai_shoulders.notebook.claims import Claim, Claims
from jupyter_ai_shoulders.notebook.disk import DiskNotebooks, Wanted
from jupyter_ai_shoulders.notebook.edits import apply_edits
from jupyter_ai_shoulders.notebook.grace import GraceTimers, Sleep
from jupyter_ai_shoulders.notebook.journal import (
    Journal,
    JournalEntry,
    is_done,
    moved_from,
    pending,
    recorded,
    replayable,
    saved,
    superseded,
    without_contained,
)
from jupyter_ai_shoulders.notebook.overlay import read_overlay, replay
from jupyter_ai_shoulders.notebook.page_requests import (
    Answer,
    Asked,
    PageRequests,
    PageTransport,
)
from jupyter_ai_shoulders.notebook.page_runs import PageRuns
from jupyter_ai_shoulders.notebook.recovery import RecoveryCopies, RecoveryStore
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import (
    DocumentApplied,
    DocumentApply,
    DocumentChange,
    DocumentClose,
    DocumentConflict,
    DocumentContent,
    DocumentFocus,
    DocumentOpen,
    DocumentRefused,
    PageFrame,
)
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, RunId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellOutputs

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LiveTimes:
    """How long things may take, in seconds.

    ``grace`` is the time a page with unsaved changes may be away, ``restart_grace`` the same after
    a start of the server: pages try to reconnect at least every 30 s.
    """

    answer: float = 2.0
    grace: float = 10.0
    restart_grace: float = 40.0


class LiveDocuments:
    """The notebooks open in pages; a resource: ``start`` and ``aclose`` it."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        disk: DiskNotebooks,
        transport: PageTransport,
        recovery: RecoveryStore,
        clock: Clock,
        ids: IdSource,
        times: LiveTimes | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._workspace = workspace
        self._disk = disk
        self._times = times or LiveTimes()
        self._claims = Claims()
        self._journals: dict[WorkspacePath, Journal] = {}
        self._requests = PageRequests(
            transport, clock, ids, answer_seconds=self._times.answer, heard=self._heard
        )
        self._runs = PageRuns(transport)
        self._copies = RecoveryCopies(recovery, clock)
        self._locks: dict[WorkspacePath, asyncio.Lock] = {}
        self._timers = GraceTimers(sleep)
        self._tasks: set[asyncio.Task[None]] = set()

    # life

    async def start(self) -> None:
        """Take up the unsaved notebooks of the last session: their pages may return."""
        for copy in await self._copies.load():
            claim = copy.claim(self._workspace.path(copy.path))
            journal = self._journal(claim.path)
            added = (entry for entry in copy.journal if entry not in journal)
            self._journals[claim.path] = (*journal, *added)
            if self._claims.get(claim.path, claim.client) is None:
                self._claims = self._claims.restored(claim)
                self._wait_for(claim, self._times.restart_grace)
            else:  # the page was faster
                self._run(self._deliver_locked(claim.path))

    async def settle(self) -> None:
        """Wait for what is being replayed, delivered and copied now; not for pages."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._copies.settle()

    async def aclose(self) -> None:
        """Stop waiting for pages. What is not on the disk is in the recovery copies."""
        await self._timers.aclose()
        await self.settle()

    # frames of pages

    def connected(self, client_id: ClientId) -> None:
        """Take note of a page that said hello; it announces its notebooks anew."""
        self._leave(client_id)

    def disconnected(self, client_id: ClientId) -> None:
        """Take note that a page's socket is closed: by reload, crash, network or for good."""
        self._leave(client_id)

    async def handle(self, client_id: ClientId, frame: PageFrame) -> None:
        """Take a document frame of a page without waiting. Raises ``InvalidRequest``."""
        match frame:
            case DocumentOpen():
                self._open(client_id, self._workspace.path(frame.path), frame)
            case DocumentChange():
                self._change(client_id, frame)
            case DocumentFocus():
                if (claim := self._claim(client_id, frame.path)) is not None:
                    self._claims = self._claims.focused(claim)
            case DocumentClose():
                if (claim := self._claim(client_id, frame.path)) is not None:
                    self._close(claim, discarded=frame.discarded)
            case DocumentApplied() | DocumentConflict() | DocumentContent() | DocumentRefused():
                self._requests.answered(client_id, frame)
            case _:
                log.debug("A frame that is not about documents was ignored: %s", frame.type)

    # Pages

    def owner(self, path: str) -> ClientId | None:
        """Return the connected page focused last among those that have ``path`` open."""
        claim = self._owner(path)
        return claim.client if claim is not None else None

    def is_live(self, path: str) -> bool:
        """Return whether a page has it open, or is away with unsaved changes to it."""
        return bool(self._of_path(path))

    async def read(self, path: str, outputs: Wanted) -> NotebookSnapshot:
        """Return the notebook as its page has it, or last had it.

        Raises ``Conflict`` (``page_not_responding``), and what the disk raises when no page has it.
        """
        name = self._workspace.path(path)
        async with self._lock(name):
            await self._deliver(name)
            claim = self._claims.owner(name)
            if claim is not None:
                wanted = claim.order if outputs == "all" else tuple(outputs)
                answer = await self._requests.read(claim, wanted)
                return NotebookSnapshot(name, "live", answer.cells, answer.metadata, answer.dirty)
            if (absent := self._claims.absent(name)) is not None:
                journal = self._journal(name)
                return await read_overlay(self._disk, absent, journal, outputs)
            return await self._disk.read(name, outputs)

    async def apply(
        self, path: str, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Change the notebook in its page, in the overlay of an absent page, or else on disk.

        Raises like ``read``, and ``PolicyRefusal`` (read-only). Never tried twice, never written to
        the disk while a page has it open.
        """
        name = self._workspace.path(path)
        async with self._lock(name):
            await self._deliver(name)
            claim = self._claims.owner(name)
            if claim is not None:
                return _outcome(await self._requests.apply(claim, edits, expected))
            if (absent := self._claims.absent(name)) is not None:
                return await self._apply_overlay(absent, edits, expected)
            return await self._disk.apply(name, edits, expected)

    def run_started(self, path: str, cell_id: CellId, run_id: RunId) -> None:
        """Show the cell as running in every page that has it open."""
        self._runs.started(self._present(path), cell_id, run_id)

    def run_output(
        self, path: str, cell_id: CellId, run_id: RunId, index: int, outputs: Sequence[JsonObject]
    ) -> None:
        """Replace the running cell's outputs from position ``index`` on."""
        pages = self._present(path)
        self._runs.output(pages, cell_id, run_id, index, outputs)

    def run_ended(
        self, path: str, cell_id: CellId, run_id: RunId, execution_count: int | None
    ) -> None:
        """Show the cell as finished; from now on its outputs are an edit that is not saved."""
        outputs = self._runs.ended(self._present(path), cell_id, run_id, execution_count)
        owner = self._owner(path)
        if owner is None or outputs is None:
            return
        edit = CellOutputs(cell_id=cell_id, outputs=outputs, execution_count=execution_count)
        self._journal_edits(owner, [edit], Applied({}, ()))

    # what pages say

    def _open(self, client: ClientId, name: WorkspacePath, frame: DocumentOpen) -> None:
        """Take a claim; a page that is loaded anew takes over from those that are away."""
        before = self._claims.get(name, client)
        self._claims = self._claims.opened(client, name, frame)
        self._timers.stop(self._claims.items[name, client])
        journal = self._journal(name)
        if before is None:
            journal = self._take_over(name, journal)
        elif not frame.dirty:
            journal = saved(journal, client)
        self._journals[name] = without_contained(journal, frame.cells)
        self._announced(name, client)
        if pending(self._journal(name)):
            self._run(self._deliver_locked(name))

    def _change(self, client: ClientId, frame: DocumentChange) -> None:
        claim = self._claim(client, frame.path)
        if claim is None or not claim.present or frame.claim_epoch != claim.epoch:
            log.debug("A change to %s that was not announced was ignored", frame.path)
            return
        self._claims = self._claims.changed(claim, frame)
        if not frame.dirty:
            self._journals[claim.path] = saved(self._journal(claim.path), client)
        self._announced(claim.path, client)

    def _announced(self, name: WorkspacePath, client: ClientId) -> None:
        """Follow what the user took back, and keep or drop the recovery copy."""
        claim = self._claims.items[name, client]
        self._journals[name] = superseded(self._journal(name), client, claim.cells)
        self._keep_copy(claim)

    def _close(self, claim: Claim, *, discarded: bool) -> None:
        """End a claim. What the user discards is theirs alone: the agent's edits go to the disk."""
        if not discarded:
            self._journals[claim.path] = saved(self._journal(claim.path), claim.client)
        self._claims = self._claims.left(claim)
        self._run(self._end(claim, keep_text=False))

    def _leave(self, client: ClientId) -> None:
        self._requests.lost(client)
        for claim in self._claims.of_client(client):
            if not claim.present:
                continue
            unsaved = claim.dirty or any(e.client == client for e in self._journal(claim.path))
            self._claims = self._claims.left(claim)
            if unsaved:
                self._wait_for(claim, self._times.grace)
            else:
                self._claims = self._claims.ended([claim])

    def _take_over(self, name: WorkspacePath, journal: Journal) -> Journal:
        """End the claims of pages that are away, in favour of one that is loaded anew."""
        away = [claim for claim in self._claims.of_path(name) if not claim.present]
        for claim in away:
            self._timers.stop(claim)
            self._leave_copy(claim)
        self._claims = self._claims.ended(away)
        return moved_from(journal, [claim.client for claim in away])

    # pages that are away

    def _wait_for(self, claim: Claim, seconds: float) -> None:
        self._timers.start(claim, seconds, lambda: self._run(self._end(claim, keep_text=True)))

    async def _end(self, claim: Claim, *, keep_text: bool) -> None:
        """End a claim: its edits go to another page that has the notebook open, or to the disk."""
        async with self._lock(claim.path):
            now = self._claims.get(claim.path, claim.client)
            if now is None or now.present or now.epoch != claim.epoch:
                return  # announced again, or taken over, meanwhile
            self._timers.stop(claim)
            self._claims = self._claims.ended([claim])
            journal = moved_from(self._journal(claim.path), [claim.client])
            others = self._claims.of_path(claim.path)
            self._journals[claim.path] = journal if others else ()
            for other in others:
                self._keep_copy(other)
            if others:
                await self._deliver(claim.path)
            else:
                self._copies.keep_rejected(claim, await replay(self._disk, claim, journal))
            # Only now: until then the copy holds the edits, should the server be killed.
            if self._claims.get(claim.path, claim.client) is None:
                self._leave_copy(claim if keep_text else replace(claim, dirty=False))

    async def _apply_overlay(
        self, claim: Claim, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        snapshot = await read_overlay(self._disk, claim, self._journal(claim.path), "all")
        cells = {cell.id: cell for cell in snapshot.cells}
        outcome = apply_edits(list(cells), cells.__getitem__, edits, expected)
        if isinstance(outcome, Conflicted):
            return outcome
        self._journals[claim.path] = recorded(
            self._journal(claim.path), edits, outcome.applied, None
        )
        self._keep_copy(claim)
        return outcome.applied

    # edits that no page has, on their way to one

    async def _deliver_locked(self, name: WorkspacePath) -> None:
        async with self._lock(name):
            await self._deliver(name)

    async def _deliver(self, name: WorkspacePath) -> None:
        """Send the edits that no page has to the page that owns the notebook."""
        claim = self._claims.owner(name)
        if claim is None:
            return
        rejected: list[JournalEntry] = []
        for entry in pending(self._journal(name)):
            try:
                done = await self._deliver_one(claim, entry)
            except ShouldersError as error:
                log.warning("An edit of the agent to %s waits for its page: %s", name, error)
                break
            journal = self._journal(name)
            self._journals[name] = tuple(item for item in journal if item is not entry)
            if not done:
                rejected.append(entry)
        self._copies.keep_rejected(claim, rejected)

    async def _deliver_one(self, claim: Claim, entry: JournalEntry) -> bool:
        """Return whether the page has the edit now."""
        now = self._claims.get(claim.path, claim.client) or claim
        if is_done(entry, {cell.id: cell.version for cell in now.cells}):
            return True
        edit, expected = replayable(entry, now.order, now.order)
        answer = await self._requests.apply(now, [edit], expected)
        return isinstance(answer, DocumentApplied)

    def _heard(self, asked: Asked, answer: Answer) -> None:
        """Note what became of a request at once: the page's next frame may say it is saved."""
        claim = self._claims.get(asked.claim.path, asked.claim.client)
        if claim is None:
            return
        if isinstance(asked.frame, DocumentApply) and isinstance(answer, DocumentApplied):
            applied = Applied(answer.versions, answer.inverse)
            self._journal_edits(claim, asked.frame.edits, applied)
        elif isinstance(answer, DocumentRefused) and answer.reason == "not_open":
            log.warning("A page does not have %s open any more", claim.path)
            self._close(claim, discarded=True)

    def _journal_edits(self, claim: Claim, edits: Sequence[CellEdit], applied: Applied) -> None:
        journal = recorded(self._journal(claim.path), edits, applied, claim.client)
        self._journals[claim.path] = journal
        self._keep_copy(claim)

    # small things

    def _journal(self, name: WorkspacePath) -> Journal:
        return self._journals.get(name, ())

    def _claim(self, client: ClientId, page_path: str) -> Claim | None:
        """Return the claim a page means; what its path leads to may have changed since."""
        claims = (item for item in self._claims.of_client(client) if item.page_path == page_path)
        return next(claims, None)

    def _of_path(self, path: str) -> list[Claim]:
        """Return all claims to a notebook. A run asks often: where none is open none is sought."""
        return self._claims.of_path(self._workspace.path(path)) if self._claims.items else []

    def _present(self, path: str) -> list[Claim]:
        return [claim for claim in self._of_path(path) if claim.present]

    def _owner(self, path: str) -> Claim | None:
        claims = self._of_path(path)
        return self._claims.owner(claims[0].path) if claims else None

    def _keep_copy(self, claim: Claim) -> None:
        entries = tuple(e for e in self._journal(claim.path) if e.client in {claim.client, None})
        if claim.dirty or entries:
            self._copies.keep(claim, entries)
        else:
            self._copies.drop(claim)

    def _leave_copy(self, claim: Claim) -> None:
        """Keep what the user typed until it is asked for; the agent's edits go their own way."""
        if claim.dirty:
            self._copies.keep(claim, (), left=True)
        else:
            self._copies.drop(claim)

    def _lock(self, name: WorkspacePath) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("Live documents: a task in the background failed", exc_info=error)


def _outcome(answer: DocumentApplied | DocumentConflict) -> Applied | Conflicted:
    if isinstance(answer, DocumentConflict):
        return Conflicted(answer.conflicts)
    return Applied(answer.versions, answer.inverse)
