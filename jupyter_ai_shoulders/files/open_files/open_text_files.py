"""Text files open in the editors of browser pages.

The server's socket passes frames in, ``files.text_router`` requests reads and changes. An open file
is changed in its page. While a page with unsaved text is absent, nothing is written to the file
until the grace period ends; a page that returns later merges the file. Made by
``host.documents.files``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.core.errors import Conflict, ShouldersError
from jupyter_ai_shoulders.files.open_files.text_claims import TextClaim, TextClaims
from jupyter_ai_shoulders.files.open_files.text_editors import TextEditors
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.live_documents.file_watch import file_lag
from jupyter_ai_shoulders.live_documents.page_claims import path_after_move
from jupyter_ai_shoulders.live_documents.page_requests import (
    PageAnswer,
    PageRequests,
    PageTransport,
    PendingRequest,
)
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import ClientId, Version

log = logging.getLogger(__name__)

MAX_MOVES = 1_000
"""Moves that are remembered for pages that return, the newest."""


@dataclass(frozen=True, slots=True)
class PageTimeouts:
    """Timeouts in seconds.

    ``answer``: for a page's answer; ``editor``: for an editor's, which may load the file, or format
    and save it, first; ``saved``: for its save of a text that was clean before a
    change; ``absence``: how long a page with unsaved text may be absent.
    """

    answer: float = 2.0
    editor: float = 10.0
    saved: float = 5.0
    absence: float = 600.0


class OpenTextFiles:
    """The text files open in pages."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        transport: PageTransport,
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
        self._requests = PageRequests(
            transport,
            clock,
            ids,
            document_kind="file",
            answer_seconds=self._times.answer,
            on_answer=self._answered,
        )
        self._editors = TextEditors()
        self._claims = TextClaims()
        self._clients: set[ClientId] = set()
        self._moves: deque[tuple[WorkspacePath, WorkspacePath]] = deque(maxlen=MAX_MOVES)
        self._waiters: set[asyncio.Event] = set()
        self.on_version: Callable[[WorkspacePath, Version], None] | None = None
        """Called with every version that a page announces or reports."""

    # frames of pages

    def connected(self, client_id: ClientId) -> None:
        """Register a page that said hello; it announces its texts again."""
        self.disconnected(client_id)
        self._clients.add(client_id)

    def disconnected(self, client_id: ClientId) -> None:
        """Handle a closed socket of a page: by reload, crash, network or for good."""
        self._clients.discard(client_id)
        self._editors.remove(client_id)
        self._requests.lost(client_id)
        self._claims = self._claims.mark_disconnected(client_id, self._clock.monotonic())
        self._wake_waiters()

    def handle(self, client_id: ClientId, frame: frames.PageFrame) -> None:
        """Handle a frame of a page; frames about other things are ignored.

        Raises ``InvalidRequest`` for a path that leads out of the workspace.
        """
        match frame:
            case frames.TextOpen():
                self._opened(client_id, frame)
            case frames.TextEditor():
                folder = self._workspace.path(frame.folder)
                self._editors.add(client_id, folder, answering=frame.answering)
            case (
                frames.TextChange() | frames.TextFocus() | frames.TextClose() | frames.TextRename()
            ):
                claim = self._claims.named(client_id, frame.path)
                if claim is not None:
                    self._handle_change(claim, frame)
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

    # claims

    def owner(self, name: WorkspacePath) -> TextClaim | None:
        """Return the claim of the connected page that the current task's edits go to.

        That is the task's own page if it has the file open or is an editor, else the page focused
        last, else, if the task has no page, an editor that is being answered.
        """
        acting = self._acting.client
        editor, claim = self._editors.claim(name, acting), self._claims.owner(name, acting)
        if editor is not None and (claim is None or acting is not None):
            return editor
        return claim

    def absent(self, name: WorkspacePath) -> TextClaim | None:
        """Return an absent page's claim with unsaved text, if no other page has the file open."""
        if self._claims.present(name):
            return None
        now = self._clock.monotonic()
        for claim in self._claims.of_path(name):
            if now - claim.left_at < self._times.absence:
                return claim
        return None

    def unsaved(self, path: str) -> Sequence[str]:
        """Return the files at or below a path with unsaved text in a connected or absent page."""
        names = self._below(self._workspace.path(path))
        return [name for name in names if self._is_unsaved(name)]

    def open_paths(self) -> frozenset[WorkspacePath]:
        """Return the files that connected pages have open."""
        return self._claims.open_paths

    def is_behind(self, path: str) -> bool:
        """Return whether a page has read or written another version than the file's."""
        name = self._workspace.path(path)
        return any(file_lag(self._workspace, claim) != 0.0 for claim in self._claims.present(name))

    # requests to pages

    async def read(self, claim: TextClaim) -> frames.TextContent:
        """Return the text as its page has it. Raises ``Conflict`` (``page_not_responding``)."""
        frame = frames.TextRead(
            operation_id=self._requests.new_id(), claim_epoch=claim.epoch, path=claim.page_path
        )
        answer = await self._requests.ask(claim, frame, self._seconds(claim))
        if not isinstance(answer, frames.TextContent):
            raise self._requests.unexpected(claim, answer)
        known = self._claims.get(claim.path, claim.client)
        if known is not None and answer.dirty and not known.dirty:  # before it was announced
            self._claims = self._claims.with_claim(replace(known, dirty=True))
        return answer

    async def apply(
        self, claim: TextClaim, text: str, expected: Version
    ) -> frames.TextApplied | frames.TextConflict:
        """Change the text in its page; the page saves it unless it had other unsaved changes.

        Raises ``Conflict`` (``page_not_responding``), ``PolicyRefusal`` (read-only). Never tried
        twice. A save that fails or takes long is left to the page, which shows it.
        """
        frame = frames.TextApply(
            operation_id=self._requests.new_id(),
            claim_epoch=claim.epoch,
            deadline_ms=self._requests.deadline_ms(self._seconds(claim)),
            path=claim.page_path,
            expected=expected,
            text=text,
        )
        answer = await self._requests.ask(claim, frame, self._seconds(claim))
        if not isinstance(answer, frames.TextApplied | frames.TextConflict):
            raise self._requests.unexpected(claim, answer)
        if isinstance(answer, frames.TextApplied) and answer.saves:
            await self._wait_for_save(claim, answer.version)
        return answer

    def note_editor_text(self, claim: TextClaim, version: Version, *, dirty: bool) -> None:
        """Remember that an editor has unsaved text of a file, or that it has none.

        While it does, the file is an open document for everyone's work.
        """
        absent = [other for other in self._claims.of_path(claim.path) if not other.present]
        claims = self._claims.without([*absent, claim])
        noted = replace(claim, version=version, dirty=dirty)
        self._claims = claims.with_claim(noted) if dirty else claims
        self._announced(noted)

    def check_absent(self, name: WorkspacePath) -> None:
        """Raise ``Conflict`` while a page with unsaved text of the file is absent."""
        if self.absent(name) is not None:
            raise Conflict(
                f"{name} has unsaved changes in a page that is not connected now; "
                "nothing was written below them.",
                code="page_not_responding",
                hint="Wait for the page to come back, or ask the user to save or close the file.",
                retryable=True,
            )

    def wrote(self, path: str) -> None:
        """Notify the pages that have a file open that it was written elsewhere."""
        self._notify_saved(self._claims.present(self._workspace.path(path)))

    def renamed(self, old: str, new: str) -> None:
        """Follow a moved file or folder; absent pages learn of the move when they return."""
        before, after = self._workspace.path(old), self._workspace.path(new)
        self._moves.append((before, after))
        self._claims = self._claims.renamed(before, after)

    async def moved(self, path: str, new_path: str) -> None:
        """Tell every page that a file or folder was moved."""
        self.renamed(path, new_path)
        for client in self._clients:
            self._transport.send(client, frames.FileMoved(path=path, new_path=new_path))

    async def removed(self, path: str) -> None:
        """Tell every page to close a removed file."""
        for client in self._clients:
            self._transport.send(client, frames.FileRemoved(path=path))

    # frame handling

    def _seconds(self, claim: TextClaim) -> float | None:
        return self._times.editor if claim.in_editor else None

    def _answered(self, request: PendingRequest, answer: PageAnswer) -> None:
        """Pass on the version of a changed text, also when the change came too late."""
        if isinstance(answer, frames.TextApplied) and self.on_version is not None:
            self.on_version(request.claim.path, answer.version)

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
        self._announce_move(client, name, frame.path)
        claim = self._claims.items[name, client]
        if file_lag(self._workspace, claim) > 0.0:  # written after the page read it
            self._notify_saved([claim])
        self._announced(claim)

    def _announce_move(self, client: ClientId, name: WorkspacePath, page_path: str) -> None:
        """Tell a page that returned where a file is that was moved in its absence."""
        now = name
        for old, new in self._moves:
            now = path_after_move(now, old, new) or now
        if now != name and not self._exists(name) and self._exists(now):
            self._transport.send(client, frames.FileMoved(path=page_path, new_path=now))

    def _exists(self, name: WorkspacePath) -> bool:
        try:
            self._workspace.stat(name)
        except ShouldersError:
            return False
        return True

    def _handle_change(
        self,
        claim: TextClaim,
        frame: frames.TextChange | frames.TextFocus | frames.TextClose | frames.TextRename,
    ) -> None:
        match frame:
            case frames.TextChange():
                self._changed(claim, frame)
            case frames.TextFocus():
                self._claims = self._claims.focused(claim)
            case frames.TextClose():
                self._claims = self._claims.without([claim])
                self._wake_waiters()
            case frames.TextRename():
                name = self._workspace.path(frame.new_path)
                away = [other for other in self._claims.of_path(claim.path) if not other.present]
                self._claims = self._claims.without(away).moved(claim, name, frame.new_path)

    def _changed(self, claim: TextClaim, frame: frames.TextChange) -> None:
        if frame.claim_epoch != claim.epoch:
            log.debug("A change to %s that was announced before was ignored", frame.path)
            return
        self._claims = self._claims.changed(claim, frame)
        if frame.saved_at != claim.saved_at:
            self._notify_saved(self._claims.others(claim))
        self._announced(self._claims.items[claim.path, claim.client])

    def _announced(self, claim: TextClaim) -> None:
        if self.on_version is not None:
            self.on_version(claim.path, claim.version)
        self._wake_waiters()

    async def _wait_for_save(self, claim: TextClaim, after: Version) -> None:
        """Wait, within a timeout, until the page has saved the change or closed the file."""

        def is_over() -> bool:
            now = self._claims.get(claim.path, claim.client)
            if now is None or not now.present:
                return True
            return not now.dirty and (now.version == after or now.saved_at != claim.saved_at)

        waiter = asyncio.Event()
        self._waiters.add(waiter)
        try:
            async with asyncio.timeout(self._times.saved):
                while not is_over():
                    await waiter.wait()
                    waiter.clear()
        except TimeoutError:
            log.info("A page has not saved %s yet", claim.path)
        finally:
            self._waiters.discard(waiter)

    def _wake_waiters(self) -> None:
        for waiter in self._waiters:
            waiter.set()

    def _notify_saved(self, claims: Iterable[TextClaim]) -> None:
        for claim in claims:
            self._transport.send(claim.client, frames.TextSaved(path=claim.page_path))
