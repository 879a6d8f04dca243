"""A page with text files in its editors, and a workspace of texts."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.files.base import TextEditApplied, TextEditConflict, TextSnapshot
from jupyter_ai_shoulders.files.open_files.open_text_files import OpenTextFiles, PageTimeouts
from jupyter_ai_shoulders.files.open_files.page_texts import PageTexts
from jupyter_ai_shoulders.files.text_router import TextRouter
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import ClientId, Version
from jupyter_ai_shoulders.wire.versions import text_version
from tests.files.file_workspace import FileWorkspace, file_workspace, origin
from tests.notebook.fake_page import CountingIds, StillClock


@dataclass(slots=True)
class TextPage:
    """A page that has one text file open; it answers as the page's own code does."""

    live: OpenTextFiles
    file: Path
    client: ClientId
    path: str
    text: str = ""
    dirty: bool = False
    writable: bool = True
    saved_at: str = ""
    epoch: int = 0
    silent: bool = False
    """It receives frames and does not answer."""
    ignores_changes: bool = False
    """It answers reads only."""
    breaks_off: bool = False
    """It disconnects when it gets a change."""
    slow_to_save: bool = False
    heard: list[frames.ServerFrame] = field(default_factory=list[frames.ServerFrame])

    def open(self) -> TextPage:
        """Load the file and announce it."""
        self.live.connected(self.client)
        self.text = self.file.read_text(encoding="utf-8") if self.file.exists() else ""
        self._stamp()
        return self.announce()

    def announce(self) -> TextPage:
        """Announce it, as at each connection."""
        self.epoch += 1
        self.say(
            frames.TextOpen(
                path=self.path,
                claim_epoch=self.epoch,
                version=text_version(self.text),
                dirty=self.dirty,
                writable=self.writable,
                saved_at=self.saved_at,
            )
        )
        return self

    def type(self, text: str) -> None:
        """Let the user type another text."""
        self.text, self.dirty = text, True
        self.tell()

    def tell(self) -> None:
        """Announce the change."""
        self.say(
            frames.TextChange(
                path=self.path,
                claim_epoch=self.epoch,
                version=text_version(self.text),
                dirty=self.dirty,
                writable=self.writable,
                saved_at=self.saved_at,
            )
        )

    def save(self) -> None:
        """Save, as the lab does."""
        self.file.write_text(self.text, encoding="utf-8")
        self.dirty = False
        self._stamp()
        self.tell()

    def say(self, frame: frames.PageFrame) -> None:
        """Send a frame to the server."""
        self.live.handle(self.client, frame)

    def leave(self) -> None:
        """Lose the connection."""
        self.live.disconnected(self.client)

    def hear(self, frame: frames.ServerFrame) -> None:
        """Receive a frame of the server; the answer is sent later, as over a socket."""
        self.heard.append(frame)
        if self.breaks_off and isinstance(frame, frames.TextApply):
            self.leave()
        elif self.ignores_changes and isinstance(frame, frames.TextApply):
            pass
        elif not self.silent and isinstance(frame, frames.TextRead | frames.TextApply):
            asyncio.get_running_loop().call_soon(self._answer, frame)

    def back(self) -> TextPage:
        """Connect again, with its typed text."""
        self.breaks_off = False
        self.live.connected(self.client)
        return self.announce()

    def told_to_take_up(self) -> int:
        """Return how often it was notified that others had written the file."""
        return sum(isinstance(frame, frames.TextSaved) for frame in self.heard)

    def _answer(self, frame: frames.TextRead | frames.TextApply) -> None:
        refusal = self._refusal(frame)
        if refusal is not None:
            self.say(refusal)
        elif isinstance(frame, frames.TextRead):
            self.say(
                frames.TextContent(
                    operation_id=frame.operation_id,
                    path=self.path,
                    text=self.text,
                    dirty=self.dirty,
                )
            )
        else:
            self.apply(frame)

    def apply(self, frame: frames.TextApply) -> None:
        """Change the text, and save it if nothing was unsaved."""
        if text_version(self.text) != frame.expected:
            self.say(
                frames.TextConflict(
                    operation_id=frame.operation_id, text=self.text, dirty=self.dirty
                )
            )
            return
        saves = not self.dirty
        self.text, self.dirty = frame.text, True
        self.say(
            frames.TextApplied(
                operation_id=frame.operation_id, version=text_version(self.text), saves=saves
            )
        )
        self.tell()
        if saves and not self.slow_to_save:
            asyncio.get_running_loop().call_soon(self.save)

    def _refusal(self, frame: frames.TextRead | frames.TextApply) -> frames.TextRefused | None:
        if frame.claim_epoch != self.epoch:
            reason = "epoch"
        elif isinstance(frame, frames.TextApply) and not self.writable:
            reason = "read_only"
        else:
            return None
        return frames.TextRefused(
            operation_id=frame.operation_id, reason=reason, message="not done"
        )

    def _stamp(self) -> None:
        if self.file.exists():
            modified = datetime.fromtimestamp(self.file.stat().st_mtime, UTC)
            self.saved_at = modified.isoformat()


@dataclass(slots=True)
class TextWorkspace:
    """The texts of a workspace, with pages."""

    here: FileWorkspace
    clock: StillClock
    live: OpenTextFiles
    texts: TextRouter
    acting: CurrentPage
    pages: dict[ClientId, TextPage]

    def page(self, path: str = "a.py", client: str = "page_1", text: str | None = None) -> TextPage:
        """Open a file in a page, after writing ``text`` to it."""
        file = self.here.root / path
        if text is not None:
            self.here.write(path, text)
        page = TextPage(self.live, file, ClientId(client), path)
        self.pages[page.client] = page
        return page.open()

    async def read(self, path: str = "a.py") -> TextSnapshot:
        """Read a text."""
        return await self.texts.read(path)

    async def edit(
        self, text: str, *, before: str, path: str = "a.py"
    ) -> TextEditApplied | TextEditConflict:
        """Replace a text that was ``before``."""
        return await self.texts.replace(path, text, Version(text_version(before)), origin())


class _Transport:
    def __init__(self) -> None:
        self.pages: dict[ClientId, TextPage] = {}

    def send(self, client_id: ClientId, frame: frames.ServerFrame) -> None:
        page = self.pages.get(client_id)
        if page is not None:
            page.hear(frame)


@contextmanager
def text_workspace(folder: Path, times: PageTimeouts) -> Generator[TextWorkspace]:
    """Make a text workspace below ``folder``."""
    with file_workspace(folder) as here:
        clock, transport, acting = StillClock(), _Transport(), CurrentPage()
        live = OpenTextFiles(
            workspace=here.workspace,
            transport=transport,
            clock=clock,
            ids=CountingIds(),
            acting=acting,
            times=times,
        )
        edits = PageTexts(
            workspace=here.workspace,
            live=live,
            disk=here.texts,
            journal=here.journal,
            blobs=here.blobs,
            observer=here.witness,
            clock=clock,
        )
        texts = TextRouter(here.workspace, live, edits, here.texts)
        yield TextWorkspace(here, clock, live, texts, acting, transport.pages)
