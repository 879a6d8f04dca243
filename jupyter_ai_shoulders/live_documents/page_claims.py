"""Which pages have which documents open, as a value; changed only by pure functions.

Base of ``notebook.backends.live.notebook_claims`` and ``files.open_files.text_claims``. When a page
disconnects with unsaved changes its claim stays, absent, until the page returns, another page
replaces it, or the grace period ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, Self, TypeVar

from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.wire.ids import ClientId


@dataclass(frozen=True, slots=True, kw_only=True)
class PageClaim:
    """A document open in a page, as the page last announced it.

    ``page_path`` is the page's own name for it: a link may lead to the same file. ``focus`` grows
    with each focus of any document. ``present`` says that the page is connected, ``in_editor`` that
    an editor outside of JupyterLab takes the page's part.
    """

    client: ClientId
    path: WorkspacePath
    page_path: str
    epoch: int
    dirty: bool
    saved_at: str | None
    focus: int
    present: bool = True
    in_editor: bool = False


Claim = TypeVar("Claim", bound=PageClaim)


@dataclass(frozen=True, slots=True)
class PageClaims(Generic[Claim]):
    """All claims of one server to documents of one kind."""

    items: Mapping[tuple[WorkspacePath, ClientId], Claim] = field(
        default_factory=dict[tuple[WorkspacePath, ClientId], Claim]
    )
    focuses: int = 0

    def get(self, path: WorkspacePath, client: ClientId) -> Claim | None:
        """Return a page's claim to a document."""
        return self.items.get((path, client))

    def of_path(self, path: WorkspacePath) -> list[Claim]:
        """Return all claims to a document."""
        return [claim for claim in self.items.values() if claim.path == path]

    def of_client(self, client: ClientId) -> list[Claim]:
        """Return all claims of a page."""
        return [claim for claim in self.items.values() if claim.client == client]

    def named(self, client: ClientId, page_path: str) -> Claim | None:
        """Return the claim that a connected page calls ``page_path``.

        The claim's own path can differ: a link may lead elsewhere since it was announced.
        """
        claims = (claim for claim in self.of_client(client) if claim.page_path == page_path)
        return next((claim for claim in claims if claim.present), None)

    def present(self, path: WorkspacePath) -> list[Claim]:
        """Return the claims of connected pages to a document."""
        return [claim for claim in self.of_path(path) if claim.present]

    def others(self, claim: Claim) -> list[Claim]:
        """Return the claims of the other connected pages that have the same document open."""
        return [other for other in self.present(claim.path) if other.client != claim.client]

    def owner(self, path: WorkspacePath, acting: ClientId | None = None) -> Claim | None:
        """Return the claim of the connected page that edits go to.

        That is the ``acting`` page if it has the document open, else the page focused last.
        """
        claims = self.present(path)
        return max(claims, key=lambda claim: (claim.client == acting, claim.focus), default=None)

    @property
    def open_paths(self) -> frozenset[WorkspacePath]:
        """The documents that connected pages have open."""
        return frozenset(claim.path for claim in self.items.values() if claim.present)

    def focused(self, claim: Claim) -> Self:
        """Return the claims after the user focused a document; opening it counts as focus."""
        focuses = self.focuses + 1
        return replace(self.with_claim(replace(claim, focus=focuses)), focuses=focuses)

    def without(self, claims: Iterable[Claim]) -> Self:
        """Return the claims without these."""
        removed = {(claim.path, claim.client) for claim in claims}
        items = {key: claim for key, claim in self.items.items() if key not in removed}
        return replace(self, items=items)

    def with_claim(self, claim: Claim) -> Self:
        """Return the claims with this one, which replaces an earlier one of the same page."""
        return replace(self, items={**self.items, (claim.path, claim.client): claim})


def path_after_move(path: str, old: str, new: str) -> WorkspacePath | None:
    """Return a path after ``old``, the file or a folder above it, moved; None if unaffected."""
    if path == old:
        return WorkspacePath(new)
    return WorkspacePath(f"{new}{path[len(old) :]}") if path.startswith(f"{old}/") else None
