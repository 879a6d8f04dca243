"""Notebooks whose page is away with unsaved changes (chapter 06).

Used by ``notebook.backends.live.open_notebooks``.

Such a notebook is the file with the page's last announced state and the agent's edits over it. It
becomes the file's when the time of grace is over, when the page says it closed it, or when another
page takes it over. Before that, what the agent did to cells without unsaved text of the user, and
what they printed, is written to the file as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import OutputSelection
from jupyter_ai_shoulders.notebook.backends.live.document_locks import DocumentLocks
from jupyter_ai_shoulders.notebook.backends.live.edit_delivery import EditDelivery
from jupyter_ai_shoulders.notebook.backends.live.open_documents import PageDocument
from jupyter_ai_shoulders.notebook.backends.live.page_registry import PageRegistry
from jupyter_ai_shoulders.notebook.backends.live.renames import NotebookRenames
from jupyter_ai_shoulders.notebook.backends.live.timeouts import DisconnectTimers, LiveTimeouts
from jupyter_ai_shoulders.notebook.backends.live.unsaved_overlay import (
    read_overlay,
    replay_edits,
    store_edit,
)
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted, NotebookSnapshot, NotebookStore
from jupyter_ai_shoulders.notebook.edits import apply_edits
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit


class DisconnectedPages:
    """The claims of pages that are gone, until they are back or given up."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        disk: NotebookStore,
        ledger: PageRegistry,
        moves: NotebookRenames,
        deliveries: EditDelivery,
        work: DocumentLocks,
        times: LiveTimeouts,
        timers: DisconnectTimers,
    ) -> None:
        self._workspace = workspace
        self._disk = disk
        self._ledger = ledger
        self._moves = moves
        self._deliveries = deliveries
        self._work = work
        self._times = times
        self._timers = timers
        self._written: set[tuple[str, str]] = set()
        """Claims below which the agent's work is written at once."""

    def restored(self, claim: PageDocument) -> None:
        """Wait for a page that had the notebook open before the server was started."""
        self._wait_for(claim, max(self._grace(claim), self._times.restart_grace))

    def wait_for_return(self, claim: PageDocument) -> None:
        """Wait for a page that is gone without a word and has changes to the notebook."""
        self._ledger.mark_disconnected(claim)
        self._wait_for(self._followed(claim), self._grace(claim))

    def closed(self, claim: PageDocument) -> None:
        """Give a claim up at once: its page has closed the notebook, or does not know of it."""
        self._ledger.mark_disconnected(claim)
        self._work.run_in_background(self._end(claim, keep_text=False))

    def stop_waiting(self, claim: PageDocument) -> None:
        """Do not wait for a page any more: it is back, or another has taken over."""
        self._timers.stop(claim)
        self._written.discard((claim.path, claim.client))

    async def aclose(self) -> None:
        """Stop waiting for pages. What is not on the disk is in the recovery copies."""
        await self._timers.aclose()

    async def read(self, claim: PageDocument, outputs: OutputSelection) -> NotebookSnapshot:
        """Return the notebook as its page last had it, with what the agent did since."""
        return await read_overlay(
            self._disk, claim, self._ledger.unsaved_edits(claim.path), outputs
        )

    async def apply(
        self, claim: PageDocument, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Note edits to the notebook until they can be made where it is open, or in the file."""
        snapshot = await self.read(claim, "all")
        cells = {cell.id: cell for cell in snapshot.cells}
        outcome = apply_edits(list(cells), cells.__getitem__, edits, expected)
        if isinstance(outcome, Conflicted):
            return outcome
        self._ledger.record(claim, edits, outcome.applied, is_in_page=False)
        crash_point("live.overlay.recorded")
        if (claim.path, claim.client) in self._written:
            await self._store(claim)
        return outcome.applied

    def _followed(self, claim: PageDocument) -> PageDocument:
        """Let a page that is away follow a rename that it has not told of."""
        follows = self._moves.current(claim.path)
        if follows == claim.path:
            return claim
        self._ledger.moved(claim.path, follows, self._workspace.path)
        return self._ledger.claims.get(follows, claim.client) or claim

    def _grace(self, claim: PageDocument) -> float:
        """Return how long to wait for a page: what the user typed there makes it worth waiting."""
        times = self._times
        own = self._ledger.has_own_text(claim)
        return times.grace if own else min(times.grace, times.agents_grace)

    def _wait_for(self, claim: PageDocument, seconds: float) -> None:
        self._timers.start(claim, seconds, lambda: self._give_up(claim))
        soon = min(seconds, self._times.agents_grace)
        if soon < seconds:
            self._timers.start(
                claim, soon, lambda: self._work.run_in_background(self._write(claim)), "write"
            )

    async def _write(self, claim: PageDocument) -> None:
        """Write the agent's work below a page that is away; from now on at once."""
        async with self._work.lock(claim.path):
            now = self._ledger.claims.get(claim.path, claim.client)
            if now is None or now.present or now.epoch != claim.epoch:
                return
            self._written.add((claim.path, claim.client))
            await self._store(now)

    async def _store(self, claim: PageDocument) -> None:
        """Write what the agent did to cells without unsaved text of the user.

        Nothing is written below another page that has the notebook open.
        """
        own = self._ledger.own_cells(claim)
        if own is None or self._ledger.claims.owner(claim.path) is not None:
            return
        for entry in self._ledger.unsaved_edits(claim.path):
            is_its = entry.client in {claim.client, None}
            if (
                is_its
                and not entry.stored
                and entry.edit.cell_id not in own
                and await store_edit(self._disk, claim, entry)
            ):
                self._ledger.stored(claim, entry)
                crash_point("live.overlay.stored")

    def _give_up(self, claim: PageDocument) -> None:
        self._work.run_in_background(self._end(claim, keep_text=True))

    async def _end(self, claim: PageDocument, *, keep_text: bool) -> None:
        """End a claim: its edits go to another page that has the notebook open, or to the disk."""
        async with self._work.lock(claim.path):
            now = self._ledger.claims.get(claim.path, claim.client)
            if now is None or now.present or now.epoch != claim.epoch:
                return  # announced again, or taken over, meanwhile
            self.stop_waiting(claim)
            journal = self._ledger.end(claim)
            crash_point("live.claim.ended")
            await self._deliveries.deliver(claim.path)
            self._ledger.keep_rejected(claim, await replay_edits(self._disk, claim, journal))
            crash_point("live.claim.replayed")
            # Only now: until then the copy holds the edits, should the server be killed.
            if self._ledger.claims.get(claim.path, claim.client) is None:
                self._ledger.leave_copy(claim if keep_text else replace(claim, dirty=False))
