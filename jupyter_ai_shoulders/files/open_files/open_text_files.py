"""Text files open in the editors of browser pages (chapters 06 and 07).

The server's socket hands in frames, ``files.text_router`` asks for reads and changes. What a page
has open is changed there; below unsaved text of a page that is away nothing is written until its
time of grace is over (then the page, if it returns, merges what it finds). Made by
``host.documents.files``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.core.errors import Conflict, ShouldersError
from jupyter_ai_shoulders.files.open_files.page_files import (
    PageTextFile,
    PageTextFiles,
    path_after_move,
)
from jupyter_ai_shoulders.files.open_files.page_requests import TextPageTransport, TextRequests
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import ClientId, Version

log = logging.getLogger(__name__)

CLOCK_STEP_SECONDS = 0.002
"""The contents manager's time stamps have microseconds, the file system's nanoseconds."""

MOVES_KNOWN = 1_000
"""Renames that a page which was away meanwhile is told of."""


@dataclass(frozen=True, slots=True)
class PageTimeouts:
    """How long things may take, in seconds.

    ``answer``: a page's answer; ``saved``: its save of a text that was clean before a change;
    ``grace``: how long a page with unsaved text may be away.
    """

    answer: float = 2.0
    saved: float = 5.0
    grace: float = 600.0


class OpenTextFiles:
    """The text files open in pages."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        transport: TextPageTransport,
        clock: Clock,
        ids: IdSource,
        acting: CurrentPage | None = None,
        times: PageTimeouts | None = None,
    ) -> None:
        self._workspace = workspace
        self._transport = transport
        self._clock = clock
        self._acting = acting or CurrentPage()
        self._times = times or PageTimeouts()
        self._requests = TextRequests(transport, clock, ids, self._times.answer)
        self._claims = PageTextFiles()
        self._clients: set[ClientId] = set()
        self._moves: deque[tuple[WorkspacePath, WorkspacePath]] = deque(maxlen=MOVES_KNOWN)
        self._news: set[asyncio.Event] = set()
        self.on_version: Callable[[WorkspacePath, Version], None] | None = None
        """Told of every version that a page announces."""

    # frames of pages

    def connected(self, client_id: ClientId) -> None:
        """Take note of a page that said hello; it announces its texts anew."""
        self.disconnected(client_id)
        self._clients.add(client_id)

    def disconnected(self, client_id: ClientId) -> None:
        """Take note that a page's socket is closed: by reload, crash, network or for good."""
        self._clients.discard(client_id)
        self._requests.lost(client_id)
        self._claims = self._claims.mark_disconnected(client_id, self._clock.monotonic())
        self._tell_waiters()

    def handle(self, client_id: ClientId, frame: frames.PageFrame) -> None:
        """Take a frame of a page; those that are not about texts are none of this one's.

        Raises ``InvalidRequest`` for a path that leads out of the workspace.
        """
        match frame:
            case frames.TextOpen():
                self._opened(client_id, frame)
            case (
                frames.TextChange() | frames.TextFocus() | frames.TextClose() | frames.TextRename()
            ):
                claim = self._claim(client_id, frame.path)
                if claim is not None:
                    self._said(claim, frame)
                else:
                    log.debug("%s of %s, which is not open", frame.type, frame.path)
            case (
                frames.TextContent()
                | frames.TextApplied()
                | frames.TextConflict()
                | frames.TextRefused()
            ):
                self._requests.answered(client_id, frame)
            case _:
                pass

    # who has what

    def owner(self, name: WorkspacePath) -> PageTextFile | None:
        """Return the claim of the connected page that the present task's edits go to.

        That is the page it works for if it has the file open, else the one focused last.
        """
        claims = self._claims.present(name)
        own = (claim for claim in claims if claim.client == self._acting.client)
        return next(own, claims[0] if claims else None)

    def absent(self, name: WorkspacePath) -> PageTextFile | None:
        """Return the claim of a page that is away with unsaved text, if no other has it open."""
        if self._claims.present(name):
            return None
        now = self._clock.monotonic()
        for claim in self._claims.of_path(name):
            if claim.left_at is not None and now - claim.left_at < self._times.grace:
                return claim
        return None

    def unsaved(self, path: str) -> Sequence[str]:
        """Return the files at or below a path to which a page, here or away, has unsaved text."""
        names = self._below(self._workspace.path(path))
        return [name for name in names if self._is_unsaved(name)]

    def open_paths(self) -> frozenset[WorkspacePath]:
        """Return the files that connected pages have open."""
        return frozenset(claim.path for claim in self._claims.items.values() if claim.present)

    def is_behind(self, path: str) -> bool:
        """Return whether a page has read or written another file than there is now."""
        name = self._workspace.path(path)
        return any(self._lag(claim) != 0.0 for claim in self._claims.present(name))

    # what is asked of pages

    async def read(self, claim: PageTextFile) -> frames.TextContent:
        """Return the text as its page has it. Raises ``Conflict`` (``page_not_responding``)."""
        answer = await self._requests.read(claim)
        known = self._claims.get(claim.path, claim.client)
        if known is not None and answer.dirty and not known.dirty:  # sooner than it is announced
            self._claims = self._claims.with_claim(replace(known, dirty=True))
        return answer

    async def apply(
        self, claim: PageTextFile, text: str, expected: Version
    ) -> frames.TextApplied | frames.TextConflict:
        """Give it another text in its page; the page saves it where nothing else was unsaved.

        Raises ``Conflict`` (``page_not_responding``), ``PolicyRefusal`` (read-only). Never tried
        twice. A save that fails or takes long is left to the page, which shows it.
        """
        answer = await self._requests.apply(claim, text, expected)
        if isinstance(answer, frames.TextApplied) and answer.saves:
            await self._saved(claim, answer.version)
        return answer

    def check_absent(self, name: WorkspacePath) -> None:
        """Raise ``Conflict`` while a page with unsaved text of the file is away."""
        if self.absent(name) is not None:
            raise Conflict(
                f"{name} has unsaved changes in a page that is not connected now; "
                "nothing was written below them.",
                code="page_not_responding",
                hint="Wait for the page to come back, or ask the user to save or close the file.",
                retryable=True,
            )

    def wrote(self, path: str) -> None:
        """Tell the pages that have a file open that others have written it."""
        self._tell_saved(self._claims.present(self._workspace.path(path)))

    def renamed(self, old: str, new: str) -> None:
        """Follow a file or folder that has another path now; pages are not told, unless away."""
        before, after = self._workspace.path(old), self._workspace.path(new)
        self._moves.append((before, after))
        self._claims = self._claims.renamed(before, after)

    async def moved(self, path: str, new_path: str) -> None:
        """Let every page follow a file or folder that has another path now."""
        self.renamed(path, new_path)
        for client in self._clients:
            self._transport.send(client, frames.FileMoved(path=path, new_path=new_path))

    async def removed(self, path: str) -> None:
        """Let every page close a file that is gone."""
        for client in self._clients:
            self._transport.send(client, frames.FileRemoved(path=path))

    # small things

    def _is_unsaved(self, name: WorkspacePath) -> bool:
        if self.absent(name) is not None:
            return True
        return any(claim.dirty for claim in self._claims.present(name))

    def _below(self, path: WorkspacePath) -> list[WorkspacePath]:
        names = {claim.path for claim in self._claims.items.values()}
        return sorted(name for name in names if f"{name}/".startswith(f"{path}/" if path else ""))

    def _opened(self, client: ClientId, frame: frames.TextOpen) -> None:
        name = self._workspace.path(frame.path)
        self._claims = self._claims.opened(client, name, frame)
        self._lead(client, name, frame.path)
        claim = self._claims.items[name, client]
        if self._lag(claim) > 0.0:  # written after the page read it
            self._tell_saved([claim])
        self._announced(claim)

    def _lead(self, client: ClientId, name: WorkspacePath, page_path: str) -> None:
        """Tell a page that was away where a file is that was moved meanwhile."""
        now = name
        for old, new in self._moves:
            now = path_after_move(now, old, new) or now
        if now != name and not self._stands(name) and self._stands(now):
            self._transport.send(client, frames.FileMoved(path=page_path, new_path=now))

    def _stands(self, name: WorkspacePath) -> bool:
        try:
            self._workspace.stat(name)
        except ShouldersError:
            return False
        return True

    def _said(
        self,
        claim: PageTextFile,
        frame: frames.TextChange | frames.TextFocus | frames.TextClose | frames.TextRename,
    ) -> None:
        match frame:
            case frames.TextChange():
                self._changed(claim, frame)
            case frames.TextFocus():
                self._claims = self._claims.focused(claim)
            case frames.TextClose():
                self._claims = self._claims.without([claim])
                self._tell_waiters()
            case frames.TextRename():
                name = self._workspace.path(frame.new_path)
                away = [other for other in self._claims.of_path(claim.path) if not other.present]
                self._claims = self._claims.without(away).moved(claim, name, frame.new_path)

    def _changed(self, claim: PageTextFile, frame: frames.TextChange) -> None:
        if frame.claim_epoch != claim.epoch:
            log.debug("A change to %s that was announced before was ignored", frame.path)
            return
        self._claims = self._claims.changed(claim, frame)
        if frame.saved_at != claim.saved_at:
            others = self._claims.present(claim.path)
            self._tell_saved(other for other in others if other.client != claim.client)
        self._announced(self._claims.items[claim.path, claim.client])

    def _announced(self, claim: PageTextFile) -> None:
        if self.on_version is not None:
            self.on_version(claim.path, claim.version)
        self._tell_waiters()

    async def _saved(self, claim: PageTextFile, after: Version) -> None:
        """Wait until the page has saved the change, or has the file no more; not for ever."""

        def is_over() -> bool:
            now = self._claims.get(claim.path, claim.client)
            if now is None or not now.present:
                return True
            return not now.dirty and (now.version == after or now.saved_at != claim.saved_at)

        news = asyncio.Event()
        self._news.add(news)
        try:
            async with asyncio.timeout(self._times.saved):
                while not is_over():
                    await news.wait()
                    news.clear()
        except TimeoutError:
            log.info("A page has not saved %s yet", claim.path)
        finally:
            self._news.discard(news)

    def _tell_waiters(self) -> None:
        for news in self._news:
            news.set()

    def _tell_saved(self, claims: Iterable[PageTextFile]) -> None:
        for claim in claims:
            self._transport.send(claim.client, frames.TextSaved(path=claim.page_path))

    def _lag(self, claim: PageTextFile) -> float:
        """Return by how many seconds the file is newer than what a page read or wrote."""
        try:
            read_at = datetime.fromisoformat(claim.saved_at or "").timestamp()
            written_at = self._workspace.stat(claim.path).mtime_ns / 1e9
        except (ValueError, ShouldersError):
            return 0.0  # the page is the only one who knows
        lag = written_at - read_at
        return lag if abs(lag) > CLOCK_STEP_SECONDS else 0.0

    def _claim(self, client: ClientId, page_path: str) -> PageTextFile | None:
        """Return the claim a page means; what its path leads to may have changed since."""
        claims = self._claims.of_client(client)
        open_ = (claim for claim in claims if claim.present and claim.page_path == page_path)
        return next(open_, None)
