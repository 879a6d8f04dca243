"""Notebooks whose page disconnected with unsaved changes.

Used by ``notebook.backends.live.open_notebooks``. See ``docs/design/notebooks.md``.

Such a notebook is the file, overlaid with the page's last announced state and the agent's edits.
The overlay ends when the grace period ends, when the page says it closed the notebook, or when
another page replaces it. Before that, the agent's edits to cells without unsaved user text, and
their outputs, are already written to the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import OutputSelection
from jupyter_ai_shoulders.notebook.backends.live.document_locks import DocumentLocks
from jupyter_ai_shoulders.notebook.backends.live.edit_delivery import EditDelivery
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
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
    """The claims of absent pages, until they return or are given up."""

    def __init__(
        self,
        *,
        disk: NotebookStore,
        registry: PageRegistry,
        renames: NotebookRenames,
        delivery: EditDelivery,
        locks: DocumentLocks,
        times: LiveTimeouts,
        timers: DisconnectTimers,
    ) -> None:
        self._disk = disk
        self._registry = registry
        self._renames = renames
        self._delivery = delivery
        self._locks = locks
        self._times = times
        self._timers = timers
        self._written: set[tuple[str, str]] = set()
        """Claims for which the agent's edits are written to the file at once."""

    def restored(self, claim: NotebookClaim) -> None:
        """Wait for a page that had the notebook open before the server started."""
        self._wait_for(claim, max(self._absence_seconds(claim), self._times.restart_absence))

    def wait_for_return(self, claim: NotebookClaim) -> None:
        """Wait for a page that disconnected with changes to the notebook."""
        self._registry.mark_disconnected(claim)
        self._wait_for(self._followed(claim), self._absence_seconds(claim))

    def closed(self, claim: NotebookClaim) -> None:
        """End a claim at once: its page closed the notebook, or does not know it."""
        self._registry.mark_disconnected(claim)
        self._locks.run_in_background(self._end(claim, keep_text=False))

    def stop_waiting(self, claim: NotebookClaim) -> None:
        """Stop waiting for a page that returned or was replaced."""
        self._timers.stop(claim)
        self._written.discard((claim.path, claim.client))

    async def aclose(self) -> None:
        """Stop waiting for pages. Unsaved changes stay in the recovery copies."""
        await self._timers.aclose()

    async def read(self, claim: NotebookClaim, outputs: OutputSelection) -> NotebookSnapshot:
        """Return the notebook as its page last had it, with the agent's later edits."""
        return await read_overlay(
            self._disk, claim, self._registry.unsaved_edits(claim.path), outputs
        )

    async def apply(
        self, claim: NotebookClaim, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Record edits until they can be delivered to a page or written to the file."""
        snapshot = await self.read(claim, "all")
        cells = {cell.id: cell for cell in snapshot.cells}
        outcome = apply_edits(list(cells), cells.__getitem__, edits, expected)
        if isinstance(outcome, Conflicted):
            return outcome
        self._registry.record(claim, edits, outcome.applied, is_in_page=False)
        crash_point("live.overlay.recorded")
        if (claim.path, claim.client) in self._written:
            await self._store(claim)
        return outcome.applied

    def _followed(self, claim: NotebookClaim) -> NotebookClaim:
        """Apply a rename that an absent page has not reported."""
        follows = self._renames.current(claim.path)
        if follows == claim.path:
            return claim
        self._registry.moved(claim.path, follows)
        return self._registry.claims.get(follows, claim.client) or claim

    def _absence_seconds(self, claim: NotebookClaim) -> float:
        """Return how many seconds to wait for a page: longer when it has the user's own text."""
        times = self._times
        own = self._registry.has_own_text(claim)
        return times.absence if own else min(times.absence, times.agent_absence)

    def _wait_for(self, claim: NotebookClaim, seconds: float) -> None:
        self._timers.start(claim, seconds, lambda: self._give_up(claim))
        soon = min(seconds, self._times.agent_absence)
        if soon < seconds:
            self._timers.start(
                claim, soon, lambda: self._locks.run_in_background(self._write(claim)), "write"
            )

    async def _write(self, claim: NotebookClaim) -> None:
        """Write the agent's edits of an absent page to the file, from now on at once."""
        async with self._locks.lock(claim.path):
            now = self._registry.claims.get(claim.path, claim.client)
            if now is None or now.present or now.epoch != claim.epoch:
                return
            self._written.add((claim.path, claim.client))
            await self._store(now)

    async def _store(self, claim: NotebookClaim) -> None:
        """Write the agent's edits to cells without unsaved user text.

        Nothing is written while another page has the notebook open.
        """
        own = self._registry.own_cells(claim)
        if own is None or self._registry.claims.owner(claim.path) is not None:
            return
        for entry in self._registry.unsaved_edits(claim.path):
            is_its = entry.client in {claim.client, None}
            if (
                is_its
                and not entry.stored
                and entry.edit.cell_id not in own
                and await store_edit(self._disk, claim, entry)
            ):
                self._registry.stored(claim, entry)
                crash_point("live.overlay.stored")

    def _give_up(self, claim: NotebookClaim) -> None:
        self._locks.run_in_background(self._end(claim, keep_text=True))

    async def _end(self, claim: NotebookClaim, *, keep_text: bool) -> None:
        """End a claim: its edits are delivered to another page that has the notebook open, or
        written to the file.
        """
        async with self._locks.lock(claim.path):
            now = self._registry.claims.get(claim.path, claim.client)
            if now is None or now.present or now.epoch != claim.epoch:
                return  # announced again or replaced since
            self.stop_waiting(claim)
            journal = self._registry.end(claim)
            crash_point("live.claim.ended")
            await self._delivery.deliver(claim.path)
            self._registry.keep_rejected(claim, await replay_edits(self._disk, claim, journal))
            crash_point("live.claim.replayed")
            # Only now: until here the copy holds the edits in case the server is killed.
            if self._registry.claims.get(claim.path, claim.client) is None:
                self._registry.leave_copy(claim if keep_text else replace(claim, dirty=False))
