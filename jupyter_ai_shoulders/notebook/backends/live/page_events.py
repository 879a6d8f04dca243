"""Handles the frames in which pages report on their open notebooks.

Used by ``notebook.backends.live.open_notebooks``. Nothing here waits: slow work runs in the
background, so that frames of a page are handled in the order they were sent.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.live_documents.file_watch import file_lag
from jupyter_ai_shoulders.live_documents.page_requests import PageAnswer, PendingRequest
from jupyter_ai_shoulders.notebook.backends.live.disconnected_pages import DisconnectedPages
from jupyter_ai_shoulders.notebook.backends.live.document_locks import DocumentLocks
from jupyter_ai_shoulders.notebook.backends.live.edit_delivery import EditDelivery
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.backends.live.page_registry import PageRegistry
from jupyter_ai_shoulders.notebook.backends.live.recovery_copies import (
    NotebookRecoveryCopies,
    copy_name,
)
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
"""A frame about a notebook that its page has announced."""


class PageEvents:
    """Records which notebooks pages open, change, rename, close and leave."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        registry: PageRegistry,
        copies: NotebookRecoveryCopies,
        renames: NotebookRenames,
        offers: RecoveryOffers,
        delivery: EditDelivery,
        disconnected: DisconnectedPages,
        locks: DocumentLocks,
    ) -> None:
        self._workspace = workspace
        self._registry = registry
        self._copies = copies
        self._renames = renames
        self._offers = offers
        self._delivery = delivery
        self._disconnected = disconnected
        self._locks = locks

    def opened(self, client: ClientId, name: WorkspacePath, frame: DocumentOpen) -> None:
        """Record a claim; a reloaded page replaces the absent ones."""
        is_new = self._registry.claims.get(name, client) is None
        was_offered = (own := copy_name(name, client)) in self._copies.waiting_for_user(name)
        replaced = self._registry.open(client, name, frame)
        opened = self._registry.claims.items[name, client]
        for claim in [*replaced, opened]:
            self._disconnected.stop_waiting(claim)
        if is_new:
            self._delivery.show_unsaved(opened)
        if file_lag(self._workspace, opened) > 0.0:  # written after the page read it
            self._delivery.notify_saved([opened])
        if was_offered:  # the page returned with everything it had
            self._offers.withdraw(own, self._registry.claims.others(opened))
        self._locks.run_in_background(self._deliver_and_offer(opened))

    def handle(self, claim: NotebookClaim, frame: DocumentEvent) -> None:
        """Handle a frame about a notebook that a page has open."""
        match frame:
            case DocumentChange():
                self._change(claim, frame)
            case DocumentFocus():
                self._registry.claims = self._registry.claims.focused(claim)
            case DocumentClose():
                self._close(claim, discarded=frame.discarded)
            case DocumentRename():
                self._rename(claim, frame.new_path)
            case DocumentRecoveryAnswer():
                self._offers.answered(claim, self._registry.claims.others(claim), frame)

    def answered(self, request: PendingRequest, answer: PageAnswer) -> None:
        """Record the outcome of a request at once: the page's next frame may say it is saved."""
        claim = self._registry.claims.get(request.claim.path, request.claim.client)
        if claim is None:
            return
        if isinstance(request.frame, DocumentApply) and isinstance(answer, DocumentApplied):
            applied = Applied(answer.versions, answer.inverse)
            self._registry.record(claim, request.frame.edits, applied)
            crash_point("live.page.applied")
        elif isinstance(answer, DocumentRefused) and answer.reason == "not_open":
            log.warning("A page does not have %s open any more", claim.path)
            self._close(claim, discarded=True)

    def page_disconnected(self, client: ClientId) -> None:
        """Handle the end of a page's connection; it may return or be reloaded."""
        for claim in self._registry.claims.of_client(client):
            if not claim.present:
                continue
            if self._registry.is_unsaved(claim):
                self._disconnected.wait_for_return(claim)
            else:
                self._registry.claims = self._registry.claims.without([claim])

    def moved(self, old: WorkspacePath, new: WorkspacePath) -> None:
        """Redirect the old path of a file or a directory to the new one from now on."""
        self._renames.add(old, new)
        self._copies.keep_renames(self._renames.known)

    def is_behind(self, claim: NotebookClaim) -> bool:
        """Return whether a page has read or written another version than the file's."""
        return file_lag(self._workspace, claim) != 0.0

    def _change(self, claim: NotebookClaim, frame: DocumentChange) -> None:
        if frame.claim_epoch != claim.epoch:
            log.debug("A change to %s that was announced before was ignored", frame.path)
            return
        if not self._registry.change(claim, frame):
            log.warning("A change to %s does not fit; its page is asked for all of it", claim.path)
            self._delivery.ask_for_announcement(claim)
            return
        if not frame.dirty:
            self._offers.saved(self._registry.claims.items[claim.path, claim.client])
        if frame.saved_at != claim.saved_at:
            self._delivery.notify_saved(self._registry.claims.others(claim))

    def _rename(self, claim: NotebookClaim, page_path: str) -> None:
        """Follow a notebook to its new path."""
        name = self._workspace.path(page_path)
        if name == claim.path:  # an absent page returns and reports a rename that another page made
            self._registry.claims = self._registry.claims.with_claim(
                replace(claim, page_path=page_path)
            )
            return
        self.moved(claim.path, name)
        self._registry.rename(claim, name, page_path)

    def _close(self, claim: NotebookClaim, *, discarded: bool) -> None:
        """End a claim. Discarding affects the user's text only: the agent's edits are written to
        the file.
        """
        if not discarded:
            self._registry.save(claim)
        self._disconnected.closed(claim)

    async def _deliver_and_offer(self, opened: NotebookClaim) -> None:
        """Send a page the agent's edits, then offer it the recovery copies it lacks."""
        async with self._locks.lock(opened.path):
            await self._delivery.deliver(opened.path)
        now = self._registry.claims.get(opened.path, opened.client)
        if now is not None and now.present:
            self._offers.show(now)
