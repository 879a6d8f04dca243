"""Which pages have which text files open, as a value; changed only by these pure functions.

Used by ``files.open_files.open_text_files``. A claim whose page is gone but had unsaved text stays,
absent, until the page returns, another page opens the file, or its time of grace is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.wire.frames import TextChange, TextOpen
from jupyter_ai_shoulders.wire.ids import ClientId, Version


@dataclass(frozen=True, slots=True)
class PageTextFile:
    """A text file open in a page, as the page last announced it.

    ``page_path`` is the page's own name for it: a link may lead to the same file. ``left_at`` is
    when the page went away (monotonic seconds), None while it is connected.
    """

    client: ClientId
    path: WorkspacePath
    page_path: str
    epoch: int
    version: Version
    dirty: bool
    writable: bool
    saved_at: str | None
    focus: int
    left_at: float | None = None

    @property
    def present(self) -> bool:
        """Return whether its page is connected."""
        return self.left_at is None


@dataclass(frozen=True, slots=True)
class PageTextFiles:
    """All claims of one server to text files."""

    items: Mapping[tuple[WorkspacePath, ClientId], PageTextFile] = field(
        default_factory=dict[tuple[WorkspacePath, ClientId], PageTextFile]
    )
    focuses: int = 0

    def get(self, path: WorkspacePath, client: ClientId) -> PageTextFile | None:
        """Return a page's claim to a file."""
        return self.items.get((path, client))

    def of_path(self, path: WorkspacePath) -> list[PageTextFile]:
        """Return all claims to a file."""
        return [claim for claim in self.items.values() if claim.path == path]

    def of_client(self, client: ClientId) -> list[PageTextFile]:
        """Return all claims of a page."""
        return [claim for claim in self.items.values() if claim.client == client]

    def present(self, path: WorkspacePath) -> list[PageTextFile]:
        """Return the claims of connected pages, the one focused last first."""
        claims = (claim for claim in self.of_path(path) if claim.present)
        return sorted(claims, key=lambda claim: -claim.focus)

    def opened(self, client: ClientId, path: WorkspacePath, frame: TextOpen) -> PageTextFiles:
        """Return the claims after a page announced a file; opening it counts as focus.

        A page that is loaded anew takes the place of those that are away.
        """
        claim = PageTextFile(
            client,
            path,
            frame.path,
            frame.claim_epoch,
            frame.version,
            frame.dirty,
            frame.writable,
            frame.saved_at,
            self.focuses + 1,
        )
        away = [other for other in self.of_path(path) if not other.present]
        # It may have left under this name, and the file have been moved since.
        away += [own for own in self.of_client(client) if own.page_path == frame.path]
        return replace(self.without(away).with_claim(claim), focuses=self.focuses + 1)

    def changed(self, claim: PageTextFile, frame: TextChange) -> PageTextFiles:
        """Return the claims after a page announced a change."""
        return self.with_claim(
            replace(
                claim,
                version=frame.version,
                dirty=frame.dirty,
                writable=frame.writable,
                saved_at=frame.saved_at,
            )
        )

    def focused(self, claim: PageTextFile) -> PageTextFiles:
        """Return the claims after the user looked at a file."""
        focuses = self.focuses + 1
        return replace(self.with_claim(replace(claim, focus=focuses)), focuses=focuses)

    def moved(self, claim: PageTextFile, path: WorkspacePath, page_path: str) -> PageTextFiles:
        """Return the claims after a file got another path in a page."""
        return self.without([claim]).with_claim(replace(claim, path=path, page_path=page_path))

    def renamed(self, old: WorkspacePath, new: WorkspacePath) -> PageTextFiles:
        """Return the claims after a file or folder was moved: pages that are away cannot say so."""
        after = self
        for claim in self.items.values():
            if not claim.present and (follows := path_after_move(claim.path, old, new)) is not None:
                after = after.without([claim]).with_claim(replace(claim, path=follows))
        return after

    def mark_disconnected(self, client: ClientId, now: float) -> PageTextFiles:
        """Return the claims after a page went away: only those with unsaved text stay."""
        claims = [claim for claim in self.of_client(client) if claim.present]
        after = self.without(claim for claim in claims if not claim.dirty)
        for claim in claims:
            if claim.dirty:
                after = after.with_claim(replace(claim, left_at=now))
        return after

    def without(self, claims: Iterable[PageTextFile]) -> PageTextFiles:
        """Return the claims without these."""
        gone = {(claim.path, claim.client) for claim in claims}
        return replace(
            self, items={key: claim for key, claim in self.items.items() if key not in gone}
        )

    def with_claim(self, claim: PageTextFile) -> PageTextFiles:
        """Return the claims with this one, in the place of an earlier one of the same page."""
        return replace(self, items={**self.items, (claim.path, claim.client): claim})


def path_after_move(path: str, old: str, new: str) -> WorkspacePath | None:
    """Return where a path leads after a move of it or of a folder above it; None: as before."""
    if path == old:
        return WorkspacePath(new)
    return WorkspacePath(f"{new}{path[len(old) :]}") if path.startswith(f"{old}/") else None
