"""Which pages have which notebooks open, and which of the agent's edits are not on the disk yet.

The books of ``notebook.backends.live.open_notebooks``: nothing in here waits or sends. After each
change the recovery copy of the page concerned says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.notebook.backends.live.open_documents import PageDocument, PageDocuments
from jupyter_ai_shoulders.notebook.backends.live.recovery_copies import (
    RecoveryCopies,
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
    """Claims and journals of all notebooks of one server."""

    def __init__(self, copies: RecoveryCopies, acting: CurrentPage) -> None:
        self.claims = PageDocuments()
        self._copies = copies
        self._acting = acting
        self._journals: dict[WorkspacePath, UnsavedEdits] = {}

    def owner(self, name: WorkspacePath) -> PageDocument | None:
        """Return the claim of the connected page that the present task's edits go to."""
        return self.claims.owner(name, self._acting.client)

    def unsaved_edits(self, name: WorkspacePath) -> UnsavedEdits:
        """Return the agent's edits to a notebook that are not on the disk."""
        return self._journals.get(name, ())

    def pending(self, name: WorkspacePath) -> UnsavedEdits:
        """Return those of them that no page has."""
        return edits_without_page(self.unsaved_edits(name))

    def is_unsaved(self, claim: PageDocument) -> bool:
        """Return whether a page has, or should have got, anything that is not on the disk."""
        entries = self.unsaved_edits(claim.path)
        return claim.dirty or any(entry.client in {claim.client, None} for entry in entries)

    def has_own_text(self, claim: PageDocument) -> bool:
        """Return whether a page has unsaved text of the user, not of the agent alone."""
        own = self.own_cells(claim)
        return claim.dirty if own is None else claim.dirty and bool(own)

    def own_cells(self, claim: PageDocument) -> set[CellId] | None:
        """Return the cells with unsaved text of the user in a page, None when it is not known."""
        changed = changed_texts(claim)
        if changed is None:
            return None
        made = {
            entry.after for entry in self.unsaved_edits(claim.path) if entry.client == claim.client
        }
        return {cell.id for cell in claim.cells if cell.id in changed and cell.version not in made}

    # what pages say

    def restore(self, copy: RecoveryCopy, name: WorkspacePath) -> PageDocument | None:
        """Take up a copy of a former process; return the claim unless its page was faster."""
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
    ) -> list[PageDocument]:
        """Take a claim; return those of pages that are away, which a page loaded anew replaces."""
        before = self.claims.get(name, client)
        self.claims = self.claims.opened(client, name, frame)
        journal = self.unsaved_edits(name)
        replaced: list[PageDocument] = []
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

    def change(self, claim: PageDocument, frame: DocumentChange) -> None:
        """Take what a page announces of its notebook."""
        self.claims = self.claims.changed(claim, frame)
        if not frame.dirty:
            self.save(claim)
        self._announced(self.claims.items[claim.path, claim.client])

    def rename(self, claim: PageDocument, name: WorkspacePath, page_path: str) -> None:
        """Take note that a notebook got another path in a page."""
        away = [other for other in self.claims.of_path(claim.path) if not other.present]
        for each in (claim, *away):
            self._copies.drop(each)
        moved = replace(claim, path=name, page_path=page_path)
        self.claims = self.claims.without([claim, *away]).with_claim(moved)
        for each in away:  # they know the old name until they return
            self.claims = self.claims.with_claim(replace(each, path=name))
        stay = {other.client for other in self.claims.of_path(claim.path)}
        journal = self._journals.pop(claim.path, ())
        self._journals[claim.path] = tuple(entry for entry in journal if entry.client in stay)
        others = tuple(entry for entry in journal if entry.client not in stay)
        self._journals[name] = (*self.unsaved_edits(name), *others)
        for each in (claim, *away):
            self._keep_copy(self.claims.items[name, each.client])
        self._copies.renamed(claim.path, name)

    def moved(
        self, old: WorkspacePath, new: WorkspacePath, path: Callable[[str], WorkspacePath]
    ) -> None:
        """Take note that a file or directory has another path; ``path`` makes one of a text."""
        for name in self._below(old):
            follows = path(f"{new}{name[len(old) :]}")
            if all(not claim.present for claim in self.claims.of_path(name)):
                self._move_away(name, follows)

    def _below(self, path: str) -> set[WorkspacePath]:
        names = {name for name, _ in self.claims.items} | self._copies.paths
        return {name for name in names if name == path or name.startswith(f"{path}/")}

    def _move_away(self, name: WorkspacePath, follows: WorkspacePath) -> None:
        """Give what nobody has open another path."""
        away = self.claims.of_path(name)
        self.claims = self.claims.without(away)
        journal = self._journals.pop(name, ())
        self._journals[follows] = (*self.unsaved_edits(follows), *journal)
        for claim in away:
            self._copies.drop(claim)
            self.claims = self.claims.with_claim(replace(claim, path=follows))
            self._keep_copy(self.claims.items[follows, claim.client])
        self._copies.renamed(name, follows)

    def save(self, claim: PageDocument) -> None:
        """Take note that a page saved all it has."""
        self._journals[claim.path] = remove_saved(self.unsaved_edits(claim.path), claim.client)

    def mark_disconnected(self, claim: PageDocument) -> None:
        """Take note that a page went away without closing the notebook."""
        self.claims = self.claims.mark_disconnected(claim)

    def end(self, claim: PageDocument) -> UnsavedEdits:
        """Take note that a page is gone for good; return the edits that nobody has then.

        Where others have the notebook open the edits stay in the journal, to be sent to them.
        """
        self.claims = self.claims.without([claim])
        journal = release_from_pages(self.unsaved_edits(claim.path), [claim.client])
        others = self.claims.of_path(claim.path)
        self._journals[claim.path] = journal if others else ()
        for other in others:
            self._keep_copy(other)
        return () if others else journal

    # what the agent does

    def record(
        self,
        claim: PageDocument,
        edits: Sequence[CellEdit],
        applied: Applied,
        *,
        is_in_page: bool = True,
    ) -> None:
        """Note edits of the agent that are in a page now, or meant for the page that is away."""
        client = claim.client if is_in_page else None
        journal = add_applied_edits(self.unsaved_edits(claim.path), edits, applied, client)
        self._journals[claim.path] = journal
        self._keep_copy(claim)

    def remove(self, name: WorkspacePath, entry: UnsavedEdit) -> None:
        """Forget an edit that was delivered or kept aside."""
        self._journals[name] = tuple(item for item in self.unsaved_edits(name) if item is not entry)

    def mark_held(self, claim: PageDocument, entry: UnsavedEdit) -> None:
        """Note that a page turned out to have a pending edit already, unsaved."""
        self._journals[claim.path] = mark_held(self.unsaved_edits(claim.path), entry, claim.client)
        self._keep_copy(claim)

    def stored(self, claim: PageDocument, entry: UnsavedEdit) -> None:
        """Note that an edit was written to the file although its page is away."""
        self._journals[claim.path] = mark_stored(self.unsaved_edits(claim.path), entry)
        self._keep_copy(claim)

    # recovery copies

    def leave_copy(self, claim: PageDocument) -> None:
        """Keep what the user typed until it is asked for; the agent's edits go their own way."""
        if claim.dirty:
            self._copies.keep(claim, (), left=True)
        else:
            self._copies.drop(claim)

    def keep_rejected(self, claim: PageDocument, entries: Iterable[UnsavedEdit]) -> None:
        """Keep edits that found another cell than the one they were made for."""
        self._copies.keep_rejected(claim, tuple(entries))

    def _keep_copy(self, claim: PageDocument) -> None:
        entries = tuple(
            e for e in self.unsaved_edits(claim.path) if e.client in {claim.client, None}
        )
        if claim.dirty or entries:
            self._copies.keep(claim, entries)
        else:
            self._copies.drop(claim)

    def _announced(self, claim: PageDocument) -> None:
        """Follow what the user took back, and keep or drop the recovery copy."""
        journal = remove_undone(self.unsaved_edits(claim.path), claim.client, claim.cells)
        self._journals[claim.path] = journal
        self._keep_copy(claim)
