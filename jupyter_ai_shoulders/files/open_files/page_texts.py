"""Changes of texts that are open in a page, each in the operation log before it is made.

Used by ``files.text_router``. A page that does not answer in time may have made the change all the
same: its next announcement, or the next start of the server, settles the row.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, ShouldersError
from jupyter_ai_shoulders.files.base import (
    ByteStore,
    ChangeObserver,
    ChangeOrigin,
    LoggedChange,
    OperationJournal,
    TextDocuments,
    TextEditApplied,
    TextEditConflict,
    TextSnapshot,
)
from jupyter_ai_shoulders.files.disk_texts import end_operation
from jupyter_ai_shoulders.files.encoding import DecodedText, decode_text, normalize_newlines
from jupyter_ai_shoulders.files.open_files.open_text_files import OpenTextFiles
from jupyter_ai_shoulders.files.open_files.text_claims import TextClaim
from jupyter_ai_shoulders.files.shielded_write import run_to_completion
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import OperationId, Version
from jupyter_ai_shoulders.wire.versions import text_version, well_formed

log = logging.getLogger(__name__)

CONFIRM_SECONDS = 5.0
"""Seconds after which a page refuses a change that it has not made yet."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file's encoding and line ends, and its permission bits if it exists."""

    content: DecodedText
    mode: int | None


@dataclass(frozen=True, slots=True)
class _UnconfirmedChange:
    """A change whose outcome the page has not reported."""

    operation_id: OperationId
    origin: ChangeOrigin
    before: str
    after: str
    until: float


class PageTexts:
    """Reads and changes of texts in their pages."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        live: OpenTextFiles,
        disk: TextDocuments,
        journal: OperationJournal,
        blobs: ByteStore,
        observer: ChangeObserver,
        clock: Clock,
    ) -> None:
        self._workspace = workspace
        self._live = live
        self._disk = disk
        self._journal = journal
        self._blobs = blobs
        self._observer = observer
        self._clock = clock
        self._unconfirmed: dict[WorkspacePath, list[_UnconfirmedChange]] = {}
        live.on_version = self._settle

    async def read(self, claim: TextClaim) -> TextSnapshot:
        """Return the text as its page has it.

        Raises ``Conflict`` (``page_not_responding``), and the errors of reading the file: a file
        that may not be read from disk may not be read from a page. An editor has the files that
        are on the disk; its text is unsaved where it differs from the file.
        """
        stored = await self._stored(claim)
        answer = await self._live.read(claim)
        if not claim.in_editor:
            return _snapshot(claim.path, answer.text, stored, dirty=answer.dirty)
        found = _snapshot(claim.path, answer.text, stored, dirty=False)
        found = replace(found, dirty=stored is None or found.version != stored.version)
        self._live.note_editor_text(claim, found.version, dirty=found.dirty)
        return found

    async def replace(
        self, claim: TextClaim, text: str, expected: Version, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        """Replace a text in its page.

        Raises like ``read``, ``PolicyRefusal`` (read-only), and ``StateUnavailable`` (then nothing
        was changed).
        """
        return await run_to_completion(self._replace(claim, text, expected, origin))

    async def _replace(
        self, claim: TextClaim, text: str, expected: Version, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        text = normalize_newlines(well_formed(text))
        before = await self.read(claim)
        if before.version != expected:
            return TextEditConflict(before)
        change = await asyncio.to_thread(self._change, claim.path, before.text, text, origin)
        operation_id = self._journal.begin(change)
        try:
            await self._journal.sync()
        except ShouldersError:
            end_operation(self._journal, operation_id, "failed")
            raise
        return await self._apply(claim, operation_id, before, text, origin)

    async def _apply(
        self,
        claim: TextClaim,
        operation_id: OperationId,
        before: TextSnapshot,
        text: str,
        origin: ChangeOrigin,
    ) -> TextEditApplied | TextEditConflict:
        try:
            answer = await self._live.apply(claim, text, before.version)
        except Conflict as error:
            if error.info.code == "page_not_responding":
                until = self._clock.monotonic() + CONFIRM_SECONDS
                change = _UnconfirmedChange(operation_id, origin, before.text, text, until)
                self._unconfirmed.setdefault(claim.path, []).append(change)
            else:
                end_operation(self._journal, operation_id, "failed")
            raise
        except ShouldersError:
            end_operation(self._journal, operation_id, "failed")
            raise
        if isinstance(answer, frames.TextConflict):
            end_operation(self._journal, operation_id, "failed")
            current = _snapshot(claim.path, answer.text, before, dirty=answer.dirty)
            return TextEditConflict(current)
        self._done(operation_id, claim.path, origin, before.text, text)
        dirty = before.dirty
        if claim.in_editor:
            dirty = await self._is_unsaved(claim, answer.version)
        return TextEditApplied(operation_id, before.version, text_version(text), dirty)

    async def _is_unsaved(self, claim: TextClaim, version: Version) -> bool:
        """Return whether an editor that made a change has not saved it."""
        try:
            dirty = (await self._disk.read(claim.path)).version != version
        except ShouldersError as error:
            log.info("%s cannot be read after a change in an editor: %s", claim.path, error)
            dirty = True
        self._live.note_editor_text(claim, version, dirty=dirty)
        return dirty

    def _done(
        self,
        operation_id: OperationId,
        name: WorkspacePath,
        origin: ChangeOrigin,
        before: str,
        text: str,
    ) -> None:
        end_operation(self._journal, operation_id, "done")
        self._observer.changed(origin, name, None, before, text)

    def _change(
        self, name: WorkspacePath, before: str, text: str, origin: ChangeOrigin
    ) -> LoggedChange:
        """Return the change for the log, with the bytes that a save would write. Blocks."""
        file = self._file(name)
        was, becomes = file.content.with_text(before), file.content.with_text(text)
        return LoggedChange(
            kind="edit",
            document=name,
            origin=origin,
            before_version=text_version(before),
            after_version=text_version(text),
            before=self._blobs.put(was.encoded()),
            after=self._blobs.put(becomes.encoded()),
            mode=file.mode,
        )

    def _settle(self, name: WorkspacePath, version: Version) -> None:
        """Settle changes in change by the version a page announced."""
        kept: list[_UnconfirmedChange] = []
        for change in self._unconfirmed.pop(name, []):
            if version == text_version(change.after):
                log.info("The page made the change to %s after its time was up", name)
                self._done(change.operation_id, name, change.origin, change.before, change.after)
            elif version == text_version(change.before) and self._clock.monotonic() > change.until:
                end_operation(self._journal, change.operation_id, "failed")
            else:
                kept.append(change)
        if kept:
            self._unconfirmed[name] = kept

    async def _stored(self, claim: TextClaim) -> TextSnapshot | None:
        """Return the file's text; None when the file was deleted while a page has it open."""
        try:
            return await self._disk.read(claim.path)
        except NotFound:
            if claim.in_editor:
                raise
            return None

    def _file(self, name: WorkspacePath) -> _File:
        """Return the file's form. Blocks."""
        try:
            found = self._workspace.read(name)
        except NotFound:
            return _File(DecodedText("", "utf-8"), None)
        return _File(decode_text(found.content, name), found.stat.mode)


def _snapshot(
    name: WorkspacePath, text: str, stored: TextSnapshot | None, *, dirty: bool
) -> TextSnapshot:
    """Return the page's text; a page opens UTF-8 only, and the file determines the line ends."""
    text = normalize_newlines(well_formed(text))
    return TextSnapshot(
        path=name,
        text=text,
        version=text_version(text),
        backend="live",
        dirty=dirty,
        encoding=stored.encoding if stored is not None else "utf-8",
        newline=stored.newline if stored is not None else "\n",
    )
