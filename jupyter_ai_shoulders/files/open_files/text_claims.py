"""Which pages have which text files open. Used by ``files.open_files.open_text_files``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.live_documents.page_claims import PageClaim, PageClaims, path_after_move
from jupyter_ai_shoulders.wire.frames import TextChange, TextOpen
from jupyter_ai_shoulders.wire.ids import ClientId, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class TextClaim(PageClaim):
    """A text file open in a page; ``left_at`` is when the page disconnected (monotonic seconds)."""

    version: Version
    writable: bool
    left_at: float = 0.0


@dataclass(frozen=True, slots=True)
class TextClaims(PageClaims[TextClaim]):
    """All claims of one server to text files."""

    def opened(self, client: ClientId, path: WorkspacePath, frame: TextOpen) -> TextClaims:
        """Return the claims after a page announced a file; opening it counts as focus.

        A reloaded page replaces the absent ones.
        """
        claim = TextClaim(
            client=client,
            path=path,
            page_path=frame.path,
            epoch=frame.claim_epoch,
            dirty=frame.dirty,
            saved_at=frame.saved_at,
            focus=0,
            version=frame.version,
            writable=frame.writable,
        )
        replaced = [other for other in self.of_path(path) if not other.present]
        # The page may have left under this name, and the file have been moved since.
        replaced += [own for own in self.of_client(client) if own.page_path == frame.path]
        return self.without(replaced).focused(claim)

    def changed(self, claim: TextClaim, frame: TextChange) -> TextClaims:
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

    def moved(self, claim: TextClaim, path: WorkspacePath, page_path: str) -> TextClaims:
        """Return the claims after a file got another path in a page."""
        return self.without([claim]).with_claim(replace(claim, path=path, page_path=page_path))

    def renamed(self, old: WorkspacePath, new: WorkspacePath) -> TextClaims:
        """Return the claims after a file or folder was moved: absent pages cannot say so."""
        after = self
        for claim in self.items.values():
            if not claim.present and (path := path_after_move(claim.path, old, new)) is not None:
                after = after.without([claim]).with_claim(replace(claim, path=path))
        return after

    def mark_disconnected(self, client: ClientId, now: float) -> TextClaims:
        """Return the claims after a page disconnected: only those with unsaved text stay."""
        claims = [claim for claim in self.of_client(client) if claim.present]
        after = self.without(claims)
        for claim in claims:
            if claim.dirty:
                after = after.with_claim(replace(claim, present=False, left_at=now))
        return after
