"""Brings the agent's edits to the pages that have a notebook open; used by ``notebook.live``.

One page, the owner, answers for an edit; the others are shown it, and keep what they have where
their text is another. Whoever calls holds the notebook's lock.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.paths import WorkspacePath
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.notebook.claims import Claim
from jupyter_ai_shoulders.notebook.journal import JournalEntry, is_done, replayable
from jupyter_ai_shoulders.notebook.ledger import Ledger
from jupyter_ai_shoulders.notebook.offers import Offers
from jupyter_ai_shoulders.notebook.other_pages import OtherPages, shown_again, shown_of
from jupyter_ai_shoulders.notebook.page_requests import PageRequests, PageTransport
from jupyter_ai_shoulders.wire.frames import DocumentConflict, DocumentSaved
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellSource

log = logging.getLogger(__name__)


class Deliveries:
    """Sends edits, and word of saves, to pages."""

    def __init__(
        self, ledger: Ledger, requests: PageRequests, transport: PageTransport, offers: Offers
    ) -> None:
        self._ledger = ledger
        self._offers = offers
        self._requests = requests
        self._transport = transport
        self._others = OtherPages(requests, transport)

    async def apply(
        self, claim: Claim, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Change the notebook in its page, and show the change in the others that have it open."""
        answer = await self._requests.apply(claim, edits, expected)
        if isinstance(answer, DocumentConflict):
            return Conflicted(answer.conflicts)
        shown = shown_of(edits, answer.inverse, claim)
        for other in self._ledger.claims.others(claim):
            self._others.show(other, shown)
        return Applied(answer.versions, answer.inverse)

    def tell_saved(self, claims: Iterable[Claim]) -> None:
        """Tell pages that others wrote the file."""
        for claim in claims:
            self._transport.send(claim.client, DocumentSaved(path=claim.page_path))

    def show_unsaved(self, claim: Claim) -> None:
        """Show a page the agent's edits that other pages have not saved yet."""
        others = {other.client for other in self._ledger.claims.others(claim)}
        for entry in self._ledger.journal(claim.path):
            if entry.client in others:
                self._others.show(claim, shown_again(entry, claim))

    def show_elsewhere(self, claim: Claim, cell_id: CellId, before: str, after: str) -> None:
        """Make a change that a page made in the others that have the notebook open."""
        inverse = CellSource(cell_id=cell_id, source=before)
        shown = shown_of([CellSource(cell_id=cell_id, source=after)], [inverse], claim)
        for other in self._ledger.claims.others(claim):
            self._others.show(other, shown)

    async def deliver(self, name: WorkspacePath) -> None:
        """Send the edits that no page has to the page that owns the notebook."""
        claim = self._ledger.owner(name)
        if claim is None:
            return
        rejected: list[JournalEntry] = []
        for entry in self._ledger.pending(name):
            try:
                done = await self._deliver_one(claim, entry)
            except ShouldersError as error:
                log.warning("An edit of the agent to %s waits for its page: %s", name, error)
                break
            self._ledger.remove(name, entry)
            if not done:
                rejected.append(entry)
        if rejected:
            self._ledger.keep_rejected(claim, rejected)
            self._offers.show(self._ledger.claims.get(name, claim.client) or claim)

    async def _deliver_one(self, claim: Claim, entry: JournalEntry) -> bool:
        """Return whether the page has the edit now."""
        now = self._ledger.claims.get(claim.path, claim.client) or claim
        if is_done(entry, {cell.id: cell.version for cell in now.cells}):
            if now.dirty:  # shown there before, and not saved from there either
                self._ledger.hold(now, entry)
            return True
        edit, expected = replayable(entry, now.order, now.order)
        return isinstance(await self.apply(now, [edit], expected), Applied)
