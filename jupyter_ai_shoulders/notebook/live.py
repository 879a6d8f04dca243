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
from dataclasses import replace
from datetime import datetime
from typing import Any

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.paths import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.base import (
    Applied,
    Conflicted,
    NotebookSnapshot,
    RunQuestion,
    Stored,
)
from jupyter_ai_shoulders.notebook.claims import Claim
from jupyter_ai_shoulders.notebook.deliveries import Deliveries
from jupyter_ai_shoulders.notebook.disk import Wanted
from jupyter_ai_shoulders.notebook.edits import apply_edits
from jupyter_ai_shoulders.notebook.grace import GraceTimers, LiveTimes, Sleep
from jupyter_ai_shoulders.notebook.ledger import Ledger
from jupyter_ai_shoulders.notebook.moves import Moves
from jupyter_ai_shoulders.notebook.offers import Offers
from jupyter_ai_shoulders.notebook.overlay import read_overlay, replay
from jupyter_ai_shoulders.notebook.page_requests import (
    Answer,
    Asked,
    PageRequests,
    PageTransport,
)
from jupyter_ai_shoulders.notebook.page_runs import PageRuns
from jupyter_ai_shoulders.notebook.recovery import RecoveryCopies, RecoveryStore, copy_name
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import (
    CellInputAnswer,
    CellRunTaken,
    DocumentApplied,
    DocumentApply,
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

Said = DocumentChange | DocumentFocus | DocumentClose | DocumentRename | DocumentRecoveryAnswer
"""What a page says of a notebook that it has announced."""
CLOCK_STEP_SECONDS = 0.002
"""The contents manager's time stamps have microseconds, the file system's nanoseconds."""


class LiveDocuments:
    """The notebooks open in pages; a resource: ``start`` and ``aclose`` it."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        disk: Stored,
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
        self._copies = RecoveryCopies(recovery, clock)
        self._ledger = Ledger(self._copies)
        self._moves = Moves(workspace)
        self._requests = PageRequests(
            transport, clock, ids, answer_seconds=self._times.answer, heard=self._heard
        )
        self._offers = Offers(self._copies, transport)
        self._deliveries = Deliveries(self._ledger, self._requests, transport, self._offers)
        self._runs = PageRuns(transport)
        self._locks: dict[WorkspacePath, asyncio.Lock] = {}
        self._timers = GraceTimers(sleep)
        self._tasks: set[asyncio.Task[None]] = set()

    # life

    async def start(self) -> None:
        """Take up the unsaved notebooks of the last session: their pages may return."""
        copies = await self._copies.load()
        self._moves.restore(self._copies.moves)
        for copy in copies:
            name = self._workspace.path(copy.path)
            claim = self._ledger.restore(copy, name)
            if claim is not None:
                self._wait_for(claim, max(self._grace(claim), self._times.restart_grace))
            else:
                self._run(self._deliver_locked(name))

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
                self._open(client_id, self.current(self._workspace.path(frame.path)), frame)
            case (
                DocumentChange()
                | DocumentFocus()
                | DocumentClose()
                | DocumentRename()
                | DocumentRecoveryAnswer()
            ):
                claim = self._claim(client_id, frame.path)
                if claim is not None and claim.present:
                    self._said(claim, frame)
                else:
                    log.debug("%s of %s, which is not open", frame.type, frame.path)
            case CellRunTaken():
                self._runs.take(frame.run_id)
            case CellInputAnswer():
                self._runs.answer(frame)
            case DocumentApplied() | DocumentConflict() | DocumentContent() | DocumentRefused():
                self._requests.answered(client_id, frame)
            case _:
                log.debug("A frame that is not about documents was ignored: %s", frame.type)

    # Pages

    def owner(self, path: str) -> ClientId | None:
        """Return the connected page focused last among those that have ``path`` open."""
        claim = self._owner(path)
        return claim.client if claim is not None else None

    def pages(self, path: str) -> list[tuple[ClientId, str]]:
        """Return the connected pages that have ``path`` open, and what each calls it."""
        return [(claim.client, claim.page_path) for claim in self._present(path)]

    def shown_in(self, path: str) -> Claim | None:
        """Return that page's claim to the notebook: the page may be asked about what it shows."""
        return self._owner(path)

    def is_live(self, path: str) -> bool:
        """Return whether a page has it open, or is away with unsaved changes to it."""
        return bool(self._of_path(path))

    def current(self, name: WorkspacePath) -> WorkspacePath:
        """Return the path of a notebook that may have been renamed in a page meanwhile."""
        return name if self._ledger.claims.of_path(name) else self._moves.current(name)

    async def read(self, path: str, outputs: Wanted) -> NotebookSnapshot:
        """Return the notebook as its page has it, or last had it.

        Raises ``Conflict`` (``page_not_responding``), and what the disk raises when no page has it.
        """
        name = self.current(self._workspace.path(path))
        async with self._lock(name):
            await self._deliveries.deliver(name)
            claim = self._ledger.claims.owner(name)
            if claim is not None:
                wanted = claim.order if outputs == "all" else tuple(outputs)
                answer = await self._requests.read(claim, wanted)
                return NotebookSnapshot(name, "live", answer.cells, answer.metadata, answer.dirty)
            if (absent := self._ledger.claims.absent(name)) is not None:
                journal = self._ledger.journal(name)
                return await read_overlay(self._disk, absent, journal, outputs)
            return await self._disk.read(name, outputs)

    async def apply(
        self, path: str, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Change the notebook in its page, in the overlay of an absent page, or else on disk.

        Raises like ``read``, and ``PolicyRefusal`` (read-only). Never tried twice, never written to
        the disk while a page has it open.
        """
        name = self.current(self._workspace.path(path))
        async with self._lock(name):
            await self._deliveries.deliver(name)
            claim = self._ledger.claims.owner(name)
            if claim is not None:
                return await self._deliveries.apply(claim, edits, expected)
            if (absent := self._ledger.claims.absent(name)) is not None:
                return await self._apply_overlay(absent, edits, expected)
            return await self._disk.apply(name, edits, expected)

    def run_started(self, path: str, cell_id: CellId, run_id: RunId) -> None:
        """Show the cell as running in every page that has it open."""
        self._runs.started(self._present(path), cell_id, run_id)

    def run_output(
        self, path: str, cell_id: CellId, run_id: RunId, index: int, outputs: Sequence[JsonObject]
    ) -> None:
        """Replace the running cell's outputs from position ``index`` on."""
        self._runs.output(self._present(path), cell_id, run_id, index, outputs)

    def run_ended(
        self, path: str, cell_id: CellId, run_id: RunId, execution_count: int | None
    ) -> None:
        """Show the cell as finished; from now on its outputs are an edit that is not saved."""
        outputs = self._runs.ended(self._present(path), cell_id, run_id, execution_count)
        owner = self._owner(path)
        if owner is None or outputs is None:
            return
        edit = CellOutputs(cell_id=cell_id, outputs=outputs, execution_count=execution_count)
        self._ledger.record(owner, [edit], Applied({}, ()))

    def run_taken(self, run_id: RunId) -> bool:
        """Return whether the user took over the cell of a run that has not ended yet."""
        return self._runs.is_taken(run_id)

    def run_asks(self, path: str, cell_id: CellId, run_id: RunId, question: RunQuestion) -> None:
        """Show a field for what the running code asks in every page that has it open."""
        self._runs.asks(self._present(path), cell_id, run_id, question)

    def run_answered(self, path: str, cell_id: CellId, run_id: RunId, number: int) -> None:
        """Take the field away."""
        self._runs.answered(self._present(path), cell_id, run_id, number)

    def open_paths(self) -> frozenset[WorkspacePath]:
        """Return the notebooks that connected pages have open."""
        claims = self._ledger.claims.items.values()
        return frozenset(claim.path for claim in claims if claim.present)

    def is_behind(self, path: str) -> bool:
        """Return whether a page has read or written another file than there is now."""
        present = self._present(path)
        lags = (self._lag(claim.path, claim.saved_at) for claim in present)
        return any(abs(lag) > CLOCK_STEP_SECONDS for lag in lags)

    def renamed(self, old: str, new: str) -> None:
        """Follow a file or a directory that the server's contents manager renamed.

        Pages that have it open say so themselves; those that are away, and what waits, do not.
        """
        before, after = self._workspace.path(old), self._workspace.path(new)
        self._moved(before, after)
        self._ledger.moved(before, after, self._workspace.path)

    def wrote(self, path: str) -> None:
        """Tell pages that the file of a notebook they have open was written by others."""
        self._deliveries.tell_saved(self._present(path))

    # what pages say

    def _open(self, client: ClientId, name: WorkspacePath, frame: DocumentOpen) -> None:
        """Take a claim; a page that is loaded anew takes over from those that are away."""
        is_new = self._ledger.claims.get(name, client) is None
        was_offered = (own := copy_name(name, client)) in self._copies.left(name)
        replaced = self._ledger.open(client, name, frame)
        opened = self._ledger.claims.items[name, client]
        for claim in [*replaced, opened]:
            self._timers.stop(claim)
        if is_new:
            self._deliveries.show_unsaved(opened)
        if self._is_newer(name, frame.saved_at):
            self._deliveries.tell_saved([opened])
        if was_offered:  # the page is back, with all it has
            self._offers.withdraw(own, self._ledger.claims.others(opened))
        self._run(self._welcome(opened))

    def _said(self, claim: Claim, frame: Said) -> None:
        match frame:
            case DocumentChange():
                self._change(claim, frame)
            case DocumentFocus():
                self._ledger.claims = self._ledger.claims.focused(claim)
            case DocumentClose():
                self._close(claim, discarded=frame.discarded)
            case DocumentRename():
                self._rename(claim, frame.new_path)
            case DocumentRecoveryAnswer():
                self._offers.answered(claim, self._ledger.claims.others(claim), frame)

    def _change(self, claim: Claim, frame: DocumentChange) -> None:
        if frame.claim_epoch != claim.epoch:
            log.debug("A change to %s that was announced before was ignored", frame.path)
            return
        self._ledger.change(claim, frame)
        if not frame.dirty:
            self._offers.saved(self._ledger.claims.items[claim.path, claim.client])
        if frame.saved_at != claim.saved_at:
            self._deliveries.tell_saved(self._ledger.claims.others(claim))

    def _is_newer(self, name: WorkspacePath, saved_at: str | None) -> bool:
        """Return whether the file was written after a page read it."""
        return self._lag(name, saved_at) > CLOCK_STEP_SECONDS

    def _lag(self, name: WorkspacePath, saved_at: str | None) -> float:
        """Return by how many seconds the file is newer than what a page read or wrote."""
        try:
            read_at = datetime.fromisoformat(saved_at or "").timestamp()
            written_at = self._workspace.stat(name).mtime_ns / 1e9
        except (ValueError, ShouldersError):
            return 0.0  # the page is the only one who knows
        return written_at - read_at

    def _rename(self, claim: Claim, page_path: str) -> None:
        """Follow a notebook to its new path; who knows the old one is led there from now on."""
        name = self._workspace.path(page_path)
        if name == claim.path:  # a page that was away learns what another did
            self._ledger.claims = self._ledger.claims.with_claim(
                replace(claim, page_path=page_path)
            )
            return
        self._moved(claim.path, name)
        self._ledger.rename(claim, name, page_path)

    def _moved(self, old: WorkspacePath, new: WorkspacePath) -> None:
        self._moves.add(old, new)
        self._copies.keep_moves(self._moves.known)

    def _close(self, claim: Claim, *, discarded: bool) -> None:
        """End a claim. What the user discards is theirs alone: the agent's edits go to the disk."""
        if not discarded:
            self._ledger.save(claim)
        self._ledger.leave(claim)
        self._run(self._end(claim, keep_text=False))

    def _leave(self, client: ClientId) -> None:
        self._requests.lost(client)
        for claim in self._ledger.claims.of_client(client):
            if not claim.present:
                continue
            if self._ledger.is_unsaved(claim):
                self._ledger.leave(claim)
                self._wait_for(self._followed(claim), self._grace(claim))
            else:
                self._ledger.claims = self._ledger.claims.ended([claim])

    # pages that are away

    def _followed(self, claim: Claim) -> Claim:
        """Let a page that is away follow a rename that it has not told of."""
        follows = self._moves.current(claim.path)
        if follows == claim.path:
            return claim
        self._ledger.moved(claim.path, follows, self._workspace.path)
        return self._ledger.claims.get(follows, claim.client) or claim

    def _grace(self, claim: Claim) -> float:
        """Return how long to wait for a page: what the user typed there makes it worth waiting."""
        times = self._times
        own = self._ledger.has_own_text(claim)
        return times.grace if own else min(times.grace, times.agents_grace)

    def _wait_for(self, claim: Claim, seconds: float) -> None:
        self._timers.start(claim, seconds, lambda: self._run(self._end(claim, keep_text=True)))

    async def _end(self, claim: Claim, *, keep_text: bool) -> None:
        """End a claim: its edits go to another page that has the notebook open, or to the disk."""
        async with self._lock(claim.path):
            now = self._ledger.claims.get(claim.path, claim.client)
            if now is None or now.present or now.epoch != claim.epoch:
                return  # announced again, or taken over, meanwhile
            self._timers.stop(claim)
            journal = self._ledger.end(claim)
            crash_point("live.claim.ended")
            await self._deliveries.deliver(claim.path)
            self._ledger.keep_rejected(claim, await replay(self._disk, claim, journal))
            crash_point("live.claim.replayed")
            # Only now: until then the copy holds the edits, should the server be killed.
            if self._ledger.claims.get(claim.path, claim.client) is None:
                self._ledger.leave_copy(claim if keep_text else replace(claim, dirty=False))

    async def _apply_overlay(
        self, claim: Claim, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        journal = self._ledger.journal(claim.path)
        snapshot = await read_overlay(self._disk, claim, journal, "all")
        cells = {cell.id: cell for cell in snapshot.cells}
        outcome = apply_edits(list(cells), cells.__getitem__, edits, expected)
        if isinstance(outcome, Conflicted):
            return outcome
        self._ledger.record(claim, edits, outcome.applied, is_in_page=False)
        crash_point("live.overlay.recorded")
        return outcome.applied

    async def _welcome(self, opened: Claim) -> None:
        """Bring a page the agent's edits, then offer it what it still does not have."""
        await self._deliver_locked(opened.path)
        now = self._ledger.claims.get(opened.path, opened.client)
        if now is not None and now.present:
            self._offers.show(now)

    async def _deliver_locked(self, name: WorkspacePath) -> None:
        async with self._lock(name):
            await self._deliveries.deliver(name)

    def _heard(self, asked: Asked, answer: Answer) -> None:
        """Note what became of a request at once: the page's next frame may say it is saved."""
        claim = self._ledger.claims.get(asked.claim.path, asked.claim.client)
        if claim is None:
            return
        if isinstance(asked.frame, DocumentApply) and isinstance(answer, DocumentApplied):
            applied = Applied(answer.versions, answer.inverse)
            self._ledger.record(claim, asked.frame.edits, applied)
            crash_point("live.page.applied")
        elif isinstance(answer, DocumentRefused) and answer.reason == "not_open":
            log.warning("A page does not have %s open any more", claim.path)
            self._close(claim, discarded=True)

    # small things

    def _claim(self, client: ClientId, page_path: str) -> Claim | None:
        """Return the claim a page means; what its path leads to may have changed since."""
        claims = self._ledger.claims.of_client(client)
        return next((claim for claim in claims if claim.page_path == page_path), None)

    def _of_path(self, path: str) -> list[Claim]:
        """Return all claims to a notebook. A run asks often: where none is open none is sought."""
        if not self._ledger.claims.items:
            return []
        return self._ledger.claims.of_path(self.current(self._workspace.path(path)))

    def _present(self, path: str) -> list[Claim]:
        return [claim for claim in self._of_path(path) if claim.present]

    def _owner(self, path: str) -> Claim | None:
        claims = self._of_path(path)
        return self._ledger.claims.owner(claims[0].path) if claims else None

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
