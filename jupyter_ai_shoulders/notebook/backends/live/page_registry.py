"""Which pages have which notebooks open, and which of the agent's edits are not on disk yet.

State of ``notebook.backends.live.open_notebooks``: nothing here waits or sends. Each change updates
the recovery copy of the page concerned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.live_documents.page_claims import path_after_move
from jupyter_ai_shoulders.notebook.backends.live.cell_lists import SentNotebook
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import (
    NotebookClaim,
    NotebookClaims,
)
from jupyter_ai_shoulders.notebook.backends.live.recovery_copies import (
    NotebookRecoveryCopies,
    RecoveryCopy,
    changed_texts,
)
from jupyter_ai_shoulders.notebook.backends.live.unsaved_edits import (
    UnsavedEdit,
    UnsavedEdits,
    add_applied_edits,
    edits_without_page,
    mark_held,
    mark_stored,
    reconcile_with_page,
    release_from_pages,
    remove_saved,
    remove_undone,
)
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.wire.frames import DocumentChange, DocumentOpen
from jupyter_ai_shoulders.wire.ids import CellId, ClientId
from jupyter_ai_shoulders.wire.notebooks import CellEdit


class PageRegistry:
    """Claims and unsaved edits of all notebooks of one server."""

    def __init__(self, copies: NotebookRecoveryCopies, acting: CurrentPage) -> None:
        self.claims = NotebookClaims()
        self._copies = copies
        self._acting = acting
        self._journals: dict[WorkspacePath, UnsavedEdits] = {}

    def owner(self, name: WorkspacePath) -> NotebookClaim | None:
        """Return the claim of the connected page that the current task's edits go to."""
        return self.claims.owner(name, self._acting.client)

    def unsaved_edits(self, name: WorkspacePath) -> UnsavedEdits:
        """Return the agent's edits to a notebook that are not on disk."""
        return self._journals.get(name, ())

    def pending(self, name: WorkspacePath) -> UnsavedEdits:
        """Return the unsaved edits that no page has."""
        return edits_without_page(self.unsaved_edits(name))

    def is_unsaved(self, claim: NotebookClaim) -> bool:
        """Return whether a page has, or should have received, anything that is not on disk."""
        entries = self.unsaved_edits(claim.path)
        return claim.dirty or any(entry.client in {claim.client, None} for entry in entries)

    def has_own_text(self, claim: NotebookClaim) -> bool:
        """Return whether a page has unsaved text of the user, not only of the agent."""
        own = self.own_cells(claim)
        return claim.dirty if own is None else claim.dirty and bool(own)

    def own_cells(self, claim: NotebookClaim) -> set[CellId] | None:
        """Return the cells with unsaved text of the user in a page; None when unknown."""
        changed = changed_texts(claim)
        if changed is None:
            return None
        made = {
            entry.after for entry in self.unsaved_edits(claim.path) if entry.client == claim.client
        }
        return {cell.id for cell in claim.cells if cell.id in changed and cell.version not in made}

    # events of pages

    def restore(self, copy: RecoveryCopy, name: WorkspacePath) -> NotebookClaim | None:
        """Restore a copy of a former process; return its claim unless its page announced itself
        first.
        """
        claim = copy.claim(name)
        journal = self.unsaved_edits(name)
        added = (entry for entry in copy.journal if entry not in journal)
        self._journals[name] = (*journal, *added)
        if self.claims.get(name, claim.client) is not None:
            return None
        self.claims = self.claims.restored(claim)
        return claim

    def open(
        self, client: ClientId, name: WorkspacePath, frame: DocumentOpen
    ) -> list[NotebookClaim]:
        """Record a claim; return the absent claims that a reloaded page replaces."""
        before = self.claims.get(name, client)
        self.claims = self.claims.opened(client, name, frame)
        journal = self.unsaved_edits(name)
        replaced: list[NotebookClaim] = []
        if before is None:
            replaced = [claim for claim in self.claims.of_path(name) if not claim.present]
            journal = release_from_pages(journal, [claim.client for claim in replaced])
        elif not frame.dirty:
            journal = remove_saved(journal, client)
        for claim in replaced:
            self.leave_copy(claim)
        self.claims = self.claims.without(replaced)
        self._journals[name] = reconcile_with_page(journal, client, frame.cells, dirty=frame.dirty)
        self._announced(self.claims.items[name, client])
        return replaced

    def change(self, claim: NotebookClaim, frame: DocumentChange) -> bool:
        """Record a change that a page announced; return whether it fits what is known."""
        claims = self.claims.changed(claim, frame)
        if claims is None:
            return False
        self.claims = claims
        if not frame.dirty:
            self.save(claim)
        self._announced(self.claims.items[claim.path, claim.client])
        return True

    def keep_sent(self, claim: NotebookClaim, sent: SentNotebook) -> None:
        """Keep what a page sent, unless it has announced the notebook again since."""
        now = self.claims.get(claim.path, claim.client)
        if now is not None and now.present and now.epoch == claim.epoch:
            self.claims = self.claims.with_claim(replace(now, sent=sent))

    def rename(self, claim: NotebookClaim, name: WorkspacePath, page_path: str) -> None:
        """Record that a notebook got another path in a page."""
        away = [other for other in self.claims.of_path(claim.path) if not other.present]
        for each in (claim, *away):
            self._copies.drop(each)
        moved = replace(claim, path=name, page_path=page_path)
        self.claims = self.claims.without([claim, *away]).with_claim(moved)
        for each in away:  # they use the old name until they return
            self.claims = self.claims.with_claim(replace(each, path=name))
        stay = {other.client for other in self.claims.of_path(claim.path)}
        journal = self._journals.pop(claim.path, ())
        self._journals[claim.path] = tuple(entry for entry in journal if entry.client in stay)
        others = tuple(entry for entry in journal if entry.client not in stay)
        self._journals[name] = (*self.unsaved_edits(name), *others)
        for each in (claim, *away):
            self._keep_copy(self.claims.items[name, each.client])
        self._copies.renamed(claim.path, name)

    def moved(self, old: WorkspacePath, new: WorkspacePath) -> None:
        """Let absent claims and copies follow a file or directory that has another path."""
        for name in {name for name, _ in self.claims.items} | self._copies.paths:
            path = path_after_move(name, old, new)
            if path is not None and not self.claims.present(name):
                self._move_absent(name, path)

    def _move_absent(self, name: WorkspacePath, path: WorkspacePath) -> None:
        """Move the claims and copies of a notebook that no page has open to another path."""
        away = self.claims.of_path(name)
        self.claims = self.claims.without(away)
        journal = self._journals.pop(name, ())
        self._journals[path] = (*self.unsaved_edits(path), *journal)
        for claim in away:
            self._copies.drop(claim)
            self.claims = self.claims.with_claim(replace(claim, path=path))
            self._keep_copy(self.claims.items[path, claim.client])
        self._copies.renamed(name, path)

    def save(self, claim: NotebookClaim) -> None:
        """Record that a page saved all it has."""
        self._journals[claim.path] = remove_saved(self.unsaved_edits(claim.path), claim.client)

    def mark_disconnected(self, claim: NotebookClaim) -> None:
        """Record that a page disconnected without closing the notebook."""
        self.claims = self.claims.mark_disconnected(claim)

    def end(self, claim: NotebookClaim) -> UnsavedEdits:
        """Remove the claim of a page that will not return; return the edits that nobody has then.

        Where other pages have the notebook open the edits stay registered, to be sent to them.
        """
        self.claims = self.claims.without([claim])
        journal = release_from_pages(self.unsaved_edits(claim.path), [claim.client])
        others = self.claims.of_path(claim.path)
        self._journals[claim.path] = journal if others else ()
        for other in others:
            self._keep_copy(other)
        return () if others else journal

    # edits of the agent

    def record(
        self,
        claim: NotebookClaim,
        edits: Sequence[CellEdit],
        applied: Applied,
        *,
        is_in_page: bool = True,
    ) -> None:
        """Record edits of the agent that are in a page now, or meant for an absent page."""
        client = claim.client if is_in_page else None
        journal = add_applied_edits(self.unsaved_edits(claim.path), edits, applied, client)
        self._journals[claim.path] = journal
        self._keep_copy(claim)

    def remove(self, name: WorkspacePath, entry: UnsavedEdit) -> None:
        """Remove an edit that was delivered or kept for the user."""
        self._journals[name] = tuple(item for item in self.unsaved_edits(name) if item is not entry)

    def mark_held(self, claim: NotebookClaim, entry: UnsavedEdit) -> None:
        """Record that a page already had a pending edit, unsaved."""
        self._journals[claim.path] = mark_held(self.unsaved_edits(claim.path), entry, claim.client)
        self._keep_copy(claim)

    def stored(self, claim: NotebookClaim, entry: UnsavedEdit) -> None:
        """Record that an edit was written to the file although its page is absent."""
        self._journals[claim.path] = mark_stored(self.unsaved_edits(claim.path), entry)
        self._keep_copy(claim)

    # recovery copies

    def leave_copy(self, claim: NotebookClaim) -> None:
        """Keep the user's text as a copy that waits for the user; the agent's edits are handled
        apart.
        """
        if claim.dirty:
            self._copies.keep(claim, (), left=True)
        else:
            self._copies.drop(claim)

    def keep_rejected(self, claim: NotebookClaim, entries: Iterable[UnsavedEdit]) -> None:
        """Keep edits whose cell was changed since they were made."""
        self._copies.keep_rejected(claim, tuple(entries))

    def _keep_copy(self, claim: NotebookClaim) -> None:
        entries = tuple(
            e for e in self.unsaved_edits(claim.path) if e.client in {claim.client, None}
        )
        if claim.dirty or entries:
            self._copies.keep(claim, entries)
        else:
            self._copies.drop(claim)

    def _announced(self, claim: NotebookClaim) -> None:
        """Remove edits that the user undid, and update the recovery copy."""
        journal = remove_undone(self.unsaved_edits(claim.path), claim.client, claim.cells)
        self._journals[claim.path] = journal
        self._keep_copy(claim)
