"""Which pages have which notebooks open, with the cells that each page announced.

Used by ``notebook.backends.live.open_notebooks``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.live_documents.page_claims import PageClaim, PageClaims
from jupyter_ai_shoulders.notebook.backends.live.cell_lists import (
    NOTHING_SENT,
    SentNotebook,
    updated_cells,
)
from jupyter_ai_shoulders.wire.frames import AnnouncedCell, DocumentChange, DocumentOpen
from jupyter_ai_shoulders.wire.ids import CellId, ClientId


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookClaim(PageClaim):
    """A notebook open in a page. ``cells`` carry every source that was ever announced."""

    cells: tuple[AnnouncedCell, ...]
    base: Mapping[CellId, str] | None = None
    """The texts when the page last had nothing unsaved; None when that was never seen."""
    sent: SentNotebook = field(default=NOTHING_SENT, compare=False, repr=False)
    """The page's last answer to a read, which the next one is a difference to."""

    @property
    def order(self) -> tuple[CellId, ...]:
        """The cells' ids in order."""
        return tuple(cell.id for cell in self.cells)


@dataclass(frozen=True, slots=True)
class NotebookClaims(PageClaims[NotebookClaim]):
    """All claims of one server to notebooks."""

    def last_disconnected(self, path: WorkspacePath) -> NotebookClaim | None:
        """Return the latest claim of an absent page; None while a connected page has a claim."""
        claims = self.of_path(path)
        if any(claim.present for claim in claims):
            return None
        return max(claims, key=lambda claim: claim.focus, default=None)

    def opened(self, client: ClientId, path: WorkspacePath, frame: DocumentOpen) -> NotebookClaims:
        """Return the claims after a page announced a notebook; opening it counts as focus."""
        before = self.get(path, client)
        cells = _with_sources(frame.cells, before)
        claim = NotebookClaim(
            client=client,
            path=path,
            page_path=frame.path,
            epoch=frame.claim_epoch,
            dirty=frame.dirty,
            saved_at=frame.saved_at,
            focus=0,
            cells=cells,
            base=_base(cells, before, dirty=frame.dirty),
        )
        return self.focused(claim)

    def changed(self, claim: NotebookClaim, frame: DocumentChange) -> NotebookClaims | None:
        """Return the claims after a page announced a change; None if it does not fit the claim."""
        cells = updated_cells(claim.cells, frame.order, _with_sources(frame.cells, claim))
        if cells is None:
            return None
        base = _base(cells, claim, dirty=frame.dirty)
        return self.with_claim(
            replace(claim, cells=cells, dirty=frame.dirty, saved_at=frame.saved_at, base=base)
        )

    def mark_disconnected(self, claim: NotebookClaim) -> NotebookClaims:
        """Return the claims after a page disconnected without closing the notebook."""
        return self.with_claim(replace(claim, present=False, sent=NOTHING_SENT))

    def restored(self, claim: NotebookClaim) -> NotebookClaims:
        """Return the claims with a claim of a former process."""
        return self.with_claim(replace(claim, present=False, focus=0))


def _base(
    cells: tuple[AnnouncedCell, ...], before: NotebookClaim | None, *, dirty: bool
) -> Mapping[CellId, str] | None:
    """Return the texts that unsaved changes are based on."""
    if dirty:
        return before.base if before is not None else None
    return {cell.id: cell.source for cell in cells if cell.source is not None}


def _with_sources(
    cells: tuple[AnnouncedCell, ...], before: NotebookClaim | None
) -> tuple[AnnouncedCell, ...]:
    """Add the sources that the page left out because they had not changed."""
    known = {cell.id: cell for cell in before.cells} if before is not None else {}

    def filled(cell: AnnouncedCell) -> AnnouncedCell:
        earlier = known.get(cell.id)
        if cell.source is not None or earlier is None or earlier.version != cell.version:
            return cell
        return cell.model_copy(update={"source": earlier.source})

    return tuple(map(filled, cells))
