"""Delivers the agent's edits to the pages that have a notebook open.

Used by ``notebook.backends.live.open_notebooks``. One page, the owner, answers for an edit; the
others are shown it, and keep their own text where it differs. The caller holds the notebook's lock.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.live_documents.page_requests import PageTransport
from jupyter_ai_shoulders.notebook.backends.live.edit_broadcast import (
    EditBroadcaster,
    applied_edits,
    reapplied_edit,
)
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.backends.live.notebook_requests import NotebookRequests
from jupyter_ai_shoulders.notebook.backends.live.page_registry import PageRegistry
from jupyter_ai_shoulders.notebook.backends.live.recovery_offers import RecoveryOffers
from jupyter_ai_shoulders.notebook.backends.live.unsaved_edits import (
    UnsavedEdit,
    is_applied,
    prepare_replay,
)
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.wire.frames import DocumentAnnounce, DocumentConflict, DocumentSaved
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellSource

log = logging.getLogger(__name__)


class EditDelivery:
    """Sends edits and notifications of saves to pages."""

    def __init__(
        self,
        registry: PageRegistry,
        requests: NotebookRequests,
        transport: PageTransport,
        offers: RecoveryOffers,
    ) -> None:
        self._registry = registry
        self._offers = offers
        self._requests = requests
        self._transport = transport
        self._others = EditBroadcaster(requests, transport)

    async def apply(
        self, claim: NotebookClaim, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Change the notebook in its page, and show the change in the other pages that have it
        open.
        """
        answer = await self._requests.apply(claim, edits, expected)
        if isinstance(answer, DocumentConflict):
            return Conflicted(answer.conflicts)
        shown = applied_edits(edits, answer.inverse, claim)
        for other in self._registry.claims.others(claim):
            self._others.show(other, shown)
        return Applied(answer.versions, answer.inverse)

    def ask_for_announcement(self, claim: NotebookClaim) -> None:
        """Ask a page to announce its whole notebook again."""
        self._transport.send(claim.client, DocumentAnnounce(path=claim.page_path))

    def notify_saved(self, claims: Iterable[NotebookClaim]) -> None:
        """Notify pages that the file was written elsewhere."""
        for claim in claims:
            self._transport.send(claim.client, DocumentSaved(path=claim.page_path))

    def show_unsaved(self, claim: NotebookClaim) -> None:
        """Show a page the agent's edits that other pages have not saved."""
        others = {other.client for other in self._registry.claims.others(claim)}
        for entry in self._registry.unsaved_edits(claim.path):
            if entry.client in others:
                self._others.show(claim, reapplied_edit(entry, claim))

    def show_elsewhere(
        self, claim: NotebookClaim, cell_id: CellId, before: str, after: str
    ) -> None:
        """Apply a change that a page made to the other pages that have the notebook open."""
        inverse = CellSource(cell_id=cell_id, source=before)
        shown = applied_edits([CellSource(cell_id=cell_id, source=after)], [inverse], claim)
        for other in self._registry.claims.others(claim):
            self._others.show(other, shown)

    async def deliver(self, name: WorkspacePath) -> None:
        """Send the edits that no page has to the page that owns the notebook."""
        claim = self._registry.owner(name)
        if claim is None:
            return
        rejected: list[UnsavedEdit] = []
        for entry in self._registry.pending(name):
            try:
                done = await self._deliver_one(claim, entry)
            except ShouldersError as error:
                log.warning("An edit of the agent to %s waits for its page: %s", name, error)
                break
            self._registry.remove(name, entry)
            if not done:
                rejected.append(entry)
        if rejected:
            self._registry.keep_rejected(claim, rejected)
            self._offers.show(self._registry.claims.get(name, claim.client) or claim)

    async def _deliver_one(self, claim: NotebookClaim, entry: UnsavedEdit) -> bool:
        """Return whether the page has the edit now."""
        now = self._registry.claims.get(claim.path, claim.client) or claim
        if is_applied(entry, {cell.id: cell.version for cell in now.cells}):
            if now.dirty:  # shown there before and not saved there either
                self._registry.mark_held(now, entry)
            return True
        edit, expected = prepare_replay(entry, now.order, now.order)
        return isinstance(await self.apply(now, [edit], expected), Applied)
