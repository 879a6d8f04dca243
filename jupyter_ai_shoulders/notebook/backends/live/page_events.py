"""What pages say of the notebooks they have open, and what comes of it.

Used by ``notebook.backends.live.open_notebooks``.

Nothing in here waits: what takes time goes on in the background, so that a page's frames are taken
in the order they were sent.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.backends.live.disconnected_pages import DisconnectedPages
from jupyter_ai_shoulders.notebook.backends.live.document_locks import DocumentLocks
from jupyter_ai_shoulders.notebook.backends.live.edit_delivery import EditDelivery
from jupyter_ai_shoulders.notebook.backends.live.open_documents import PageDocument
from jupyter_ai_shoulders.notebook.backends.live.page_registry import PageRegistry
from jupyter_ai_shoulders.notebook.backends.live.page_requests import PageAnswer, PendingRequest
from jupyter_ai_shoulders.notebook.backends.live.recovery_copies import RecoveryCopies, copy_name
from jupyter_ai_shoulders.notebook.backends.live.recovery_offers import RecoveryOffers
from jupyter_ai_shoulders.notebook.backends.live.renames import NotebookRenames
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.wire.frames import (
    DocumentApplied,
    DocumentApply,
    DocumentChange,
    DocumentClose,
    DocumentFocus,
    DocumentOpen,
    DocumentRecoveryAnswer,
    DocumentRefused,
    DocumentRename,
)
from jupyter_ai_shoulders.wire.ids import ClientId

log = logging.getLogger(__name__)

DocumentEvent = (
    DocumentChange | DocumentFocus | DocumentClose | DocumentRename | DocumentRecoveryAnswer
)
"""What a page says of a notebook that it has announced."""
CLOCK_STEP_SECONDS = 0.002
"""The contents manager's time stamps have microseconds, the file system's nanoseconds."""


class PageEvents:
    """Takes note of what pages open, change, rename, close and leave."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        ledger: PageRegistry,
        copies: RecoveryCopies,
        moves: NotebookRenames,
        offers: RecoveryOffers,
        deliveries: EditDelivery,
        absences: DisconnectedPages,
        work: DocumentLocks,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._copies = copies
        self._moves = moves
        self._offers = offers
        self._deliveries = deliveries
        self._absences = absences
        self._work = work

    def opened(self, client: ClientId, name: WorkspacePath, frame: DocumentOpen) -> None:
        """Take a claim; a page that is loaded anew takes over from those that are away."""
        is_new = self._ledger.claims.get(name, client) is None
        was_offered = (own := copy_name(name, client)) in self._copies.waiting_for_user(name)
        replaced = self._ledger.open(client, name, frame)
        opened = self._ledger.claims.items[name, client]
        for claim in [*replaced, opened]:
            self._absences.stop_waiting(claim)
        if is_new:
            self._deliveries.show_unsaved(opened)
        if self._lag(name, frame.saved_at) > CLOCK_STEP_SECONDS:  # written after the page read it
            self._deliveries.notify_saved([opened])
        if was_offered:  # the page is back, with all it has
            self._offers.withdraw(own, self._ledger.claims.others(opened))
        self._work.run_in_background(self._welcome(opened))

    def handle(self, claim: PageDocument, frame: DocumentEvent) -> None:
        """Take what a page says of a notebook that it has open."""
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

    def answered(self, asked: PendingRequest, answer: PageAnswer) -> None:
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

    def page_disconnected(self, client: ClientId) -> None:
        """Take note that a page has no connection; it may be away, or loaded anew."""
        for claim in self._ledger.claims.of_client(client):
            if not claim.present:
                continue
            if self._ledger.is_unsaved(claim):
                self._absences.wait_for_return(claim)
            else:
                self._ledger.claims = self._ledger.claims.without([claim])

    def moved(self, old: WorkspacePath, new: WorkspacePath) -> None:
        """Lead those who know a file or a directory by its old path to the new one from now on."""
        self._moves.add(old, new)
        self._copies.keep_moves(self._moves.known)

    def is_behind(self, claim: PageDocument) -> bool:
        """Return whether a page has read or written another file than there is now."""
        return abs(self._lag(claim.path, claim.saved_at)) > CLOCK_STEP_SECONDS

    def _change(self, claim: PageDocument, frame: DocumentChange) -> None:
        if frame.claim_epoch != claim.epoch:
            log.debug("A change to %s that was announced before was ignored", frame.path)
            return
        self._ledger.change(claim, frame)
        if not frame.dirty:
            self._offers.saved(self._ledger.claims.items[claim.path, claim.client])
        if frame.saved_at != claim.saved_at:
            self._deliveries.notify_saved(self._ledger.claims.others(claim))

    def _lag(self, name: WorkspacePath, saved_at: str | None) -> float:
        """Return by how many seconds the file is newer than what a page read or wrote."""
        try:
            read_at = datetime.fromisoformat(saved_at or "").timestamp()
            written_at = self._workspace.stat(name).mtime_ns / 1e9
        except (ValueError, ShouldersError):
            return 0.0  # the page is the only one who knows
        return written_at - read_at

    def _rename(self, claim: PageDocument, page_path: str) -> None:
        """Follow a notebook to its new path."""
        name = self._workspace.path(page_path)
        if name == claim.path:  # a page that was away learns what another did
            self._ledger.claims = self._ledger.claims.with_claim(
                replace(claim, page_path=page_path)
            )
            return
        self.moved(claim.path, name)
        self._ledger.rename(claim, name, page_path)

    def _close(self, claim: PageDocument, *, discarded: bool) -> None:
        """End a claim. What the user discards is theirs alone: the agent's edits go to the disk."""
        if not discarded:
            self._ledger.save(claim)
        self._absences.closed(claim)

    async def _welcome(self, opened: PageDocument) -> None:
        """Bring a page the agent's edits, then offer it what it still does not have."""
        async with self._work.lock(opened.path):
            await self._deliveries.deliver(opened.path)
        now = self._ledger.claims.get(opened.path, opened.client)
        if now is not None and now.present:
            self._offers.show(now)
