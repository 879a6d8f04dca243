"""Which pages have which notebooks open, as a value; changed only by these pure functions.

Used by ``notebook.backends.live.open_notebooks``. A claim whose page is gone but had unsaved
changes stays, absent, until the page returns, another page takes over, or its time of grace is
over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.wire.frames import AnnouncedCell, DocumentChange, DocumentOpen
from jupyter_ai_shoulders.wire.ids import CellId, ClientId


@dataclass(frozen=True, slots=True)
class PageDocument:
    """A notebook open in a page, as the page last announced it.

    ``page_path`` is the page's own name for it: a link may lead to the same file. ``cells`` carry
    every source that was ever announced.
    """

    client: ClientId
    path: WorkspacePath
    page_path: str
    epoch: int
    cells: tuple[AnnouncedCell, ...]
    dirty: bool
    saved_at: str | None
    focus: int
    present: bool = True
    base: Mapping[CellId, str] | None = None
    """The texts when the page last had nothing unsaved; None when it was never seen so."""

    @property
    def order(self) -> tuple[CellId, ...]:
        """The cells' ids in order."""
        return tuple(cell.id for cell in self.cells)


@dataclass(frozen=True, slots=True)
class PageDocuments:
    """All claims of one server."""

    items: Mapping[tuple[WorkspacePath, ClientId], PageDocument] = field(
        default_factory=dict[tuple[WorkspacePath, ClientId], PageDocument]
    )
    focuses: int = 0

    def get(self, path: WorkspacePath, client: ClientId) -> PageDocument | None:
        """Return a page's claim to a notebook."""
        return self.items.get((path, client))

    def of_path(self, path: WorkspacePath) -> list[PageDocument]:
        """Return all claims to a notebook."""
        return [claim for claim in self.items.values() if claim.path == path]

    def of_client(self, client: ClientId) -> list[PageDocument]:
        """Return all claims of a page."""
        return [claim for claim in self.items.values() if claim.client == client]

    def owner(self, path: WorkspacePath, acting: ClientId | None = None) -> PageDocument | None:
        """Return the claim of the connected page that edits go to.

        That is the ``acting`` page if it has the notebook open, else the one focused last.
        """
        present = (claim for claim in self.of_path(path) if claim.present)
        return max(present, key=lambda claim: (claim.client == acting, claim.focus), default=None)

    def others(self, claim: PageDocument) -> list[PageDocument]:
        """Return the claims of the other connected pages that have the same notebook open."""
        claims = self.of_path(claim.path)
        return [other for other in claims if other.present and other.client != claim.client]

    def last_disconnected(self, path: WorkspacePath) -> PageDocument | None:
        """Return the latest claim of a page that is away; only when no connected page has one."""
        claims = self.of_path(path)
        if any(claim.present for claim in claims):
            return None
        return max(claims, key=lambda claim: claim.focus, default=None)

    def opened(self, client: ClientId, path: WorkspacePath, frame: DocumentOpen) -> PageDocuments:
        """Return the claims after a page announced a notebook; opening it counts as focus."""
        before = self.get(path, client)
        cells = _with_sources(frame.cells, before)
        claim = PageDocument(
            client,
            path,
            frame.path,
            frame.claim_epoch,
            cells,
            frame.dirty,
            frame.saved_at,
            self.focuses + 1,
            base=_base(cells, before, dirty=frame.dirty),
        )
        return replace(self.with_claim(claim), focuses=self.focuses + 1)

    def changed(self, claim: PageDocument, frame: DocumentChange) -> PageDocuments:
        """Return the claims after a page announced a change."""
        cells = _with_sources(frame.cells, claim)
        base = _base(cells, claim, dirty=frame.dirty)
        return self.with_claim(
            replace(claim, cells=cells, dirty=frame.dirty, saved_at=frame.saved_at, base=base)
        )

    def focused(self, claim: PageDocument) -> PageDocuments:
        """Return the claims after the user looked at a notebook."""
        focuses = self.focuses + 1
        return replace(self.with_claim(replace(claim, focus=focuses)), focuses=focuses)

    def mark_disconnected(self, claim: PageDocument) -> PageDocuments:
        """Return the claims after a page went away without closing the notebook."""
        return self.with_claim(replace(claim, present=False))

    def without(self, claims: Iterable[PageDocument]) -> PageDocuments:
        """Return the claims without these."""
        gone = {(claim.path, claim.client) for claim in claims}
        return replace(
            self, items={key: claim for key, claim in self.items.items() if key not in gone}
        )

    def restored(self, claim: PageDocument) -> PageDocuments:
        """Return the claims with one that a former process left."""
        return self.with_claim(replace(claim, present=False, focus=0))

    def with_claim(self, claim: PageDocument) -> PageDocuments:
        """Return the claims with this one, in the place of an earlier one of the same page."""
        return replace(self, items={**self.items, (claim.path, claim.client): claim})


def _base(
    cells: tuple[AnnouncedCell, ...], before: PageDocument | None, *, dirty: bool
) -> Mapping[CellId, str] | None:
    """Return the texts that unsaved changes are made of."""
    if dirty:
        return before.base if before is not None else None
    return {cell.id: cell.source for cell in cells if cell.source is not None}


def _with_sources(
    cells: tuple[AnnouncedCell, ...], before: PageDocument | None
) -> tuple[AnnouncedCell, ...]:
    """Fill in the sources that the page left out because they had not changed."""
    known = {cell.id: cell for cell in before.cells} if before is not None else {}

    def filled(cell: AnnouncedCell) -> AnnouncedCell:
        earlier = known.get(cell.id)
        if cell.source is not None or earlier is None or earlier.version != cell.version:
            return cell
        return cell.model_copy(update={"source": earlier.source})

    return tuple(map(filled, cells))
