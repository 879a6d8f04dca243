"""The disk back end of text files: read whole, replaced whole, logged before they are changed.

Used by ``files.text_router``, and by ``files.undo.file_undo`` to restore bytes. Files are read and
written in threads; the operation log is written on the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.files.base import (
    ByteStore,
    ChangeObserver,
    ChangeOrigin,
    ChangeOutcome,
    LoggedChange,
    OperationJournal,
    TextEditApplied,
    TextEditConflict,
    TextSnapshot,
)
from jupyter_ai_shoulders.files.earlier_contents import earlier_changes, earlier_contents
from jupyter_ai_shoulders.files.encoding import Decoder, TextForm, decode_text
from jupyter_ai_shoulders.files.path_permissions import permitted_path
from jupyter_ai_shoulders.files.shielded_write import run_to_completion
from jupyter_ai_shoulders.files.word.file_names import is_word
from jupyter_ai_shoulders.guard.filesystem.workspace import (
    FileChanged,
    FileContent,
    Workspace,
    WorkspacePath,
)
from jupyter_ai_shoulders.wire.ids import BlobHash, OperationId, Version
from jupyter_ai_shoulders.wire.operations import OperationState
from jupyter_ai_shoulders.wire.versions import file_version, text_version

SIZE_LIMIT = 32 << 20
"""Largest file, in bytes, that is read or edited as text."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedText:
    """A text file as read from disk."""

    path: WorkspacePath
    file: FileContent
    content: TextForm

    @property
    def blob(self) -> BlobHash:
        """The hash of the file's bytes."""
        return BlobHash(file_version(self.file.content))

    def snapshot(self) -> TextSnapshot:
        """Return the snapshot for tools."""
        text = self.content.text
        return TextSnapshot(
            path=self.path,
            text=text,
            version=text_version(text),
            backend="disk",
            dirty=False,
            encoding=self.content.encoding_name,
            newline=self.content.newline,
        )


class PathLocks:
    """A lock per path, kept while it is held or awaited."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, *paths: str) -> AsyncGenerator[None]:
        """Hold the locks of all these paths."""
        locks = [self._locks.setdefault(path, asyncio.Lock()) for path in sorted(set(paths))]
        held: list[asyncio.Lock] = []
        try:
            for lock in locks:
                await lock.acquire()
                held.append(lock)
            yield
        finally:
            for lock in reversed(held):
                lock.release()


class DiskTexts:
    """``TextDocuments`` on the files of the workspace."""

    def __init__(
        self,
        workspace: Workspace,
        journal: OperationJournal,
        store: ByteStore,
        observer: ChangeObserver,
        locks: PathLocks | None = None,
        *,
        decode: Decoder = decode_text,
    ) -> None:
        """``decode`` returns the text of a file; that of hosts also reads Word documents."""
        self.decode = decode
        self._workspace = workspace
        self._journal = journal
        self._store = store
        self._observer = observer
        self._locks = locks or PathLocks()

    def in_page(self, path: str) -> bool:
        """Return False: this back end has only files that no page has open."""
        del path
        return False

    async def read(self, path: str) -> TextSnapshot:
        """Return a file's text.

        Raises ``NotFound``, ``InvalidRequest`` (outside, a directory, binary, too large),
        ``PolicyRefusal`` (secret).
        """
        return (await asyncio.to_thread(self._load, path)).snapshot()

    async def replace(
        self, path: str, text: str, expected: Version, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        """Replace a file's text; line ends, encoding and mode stay.

        A Word document gets its earlier bytes where the log has some with this text. Raises like
        ``read``, ``InvalidRequest`` for a character that the file's encoding lacks, and
        ``StateUnavailable`` (then nothing was changed).
        """
        place = await asyncio.to_thread(permitted_path, self._workspace, path)
        known = earlier_changes(self._journal, place) if is_word(place) else ()

        def change(loaded: LoadedText) -> bytes | None:
            if text_version(loaded.content.text) != expected:
                return None
            for content in earlier_contents(known, self._store, loaded.blob):
                if self.decode(content, loaded.path).text == text:
                    return content
            return loaded.content.with_text(text).encoded()

        return await run_to_completion(self._changed(path, change, origin))

    async def change_bytes(
        self,
        path: str,
        change: Callable[[bytes], bytes],
        expected: Version,
        origin: ChangeOrigin,
    ) -> TextEditApplied | TextEditConflict:
        """Replace a file's bytes by those that ``change``, called in a thread, makes of them.

        For edits that are more than text. Raises like ``read``, and what ``change`` raises.
        """

        def changed(loaded: LoadedText) -> bytes | None:
            if text_version(loaded.content.text) != expected:
                return None
            return change(loaded.file.content)

        return await run_to_completion(self._changed(path, changed, origin))

    async def restore_bytes(
        self, path: str, content: bytes, expected: BlobHash, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        """Replace a file's bytes if their hash is ``expected``. Raises like ``read``.

        For undo: restores mixed line ends and other oddities exactly.
        """

        def change(loaded: LoadedText) -> bytes | None:
            return content if loaded.blob == expected else None

        return await run_to_completion(self._changed(path, change, origin))

    async def _changed(
        self, path: str, change: Callable[[LoadedText], bytes | None], origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        place = await asyncio.to_thread(permitted_path, self._workspace, path)
        async with self._locks.hold(place):
            loaded = await asyncio.to_thread(self._load, place)
            content = await asyncio.to_thread(change, loaded)
            if content is not None:
                applied = await self._written(loaded, content, origin)
                if applied is not None:
                    return applied
            return TextEditConflict(await self._current(place))

    async def _current(self, path: WorkspacePath) -> TextSnapshot | None:
        try:
            return await self.read(path)
        except StateUnavailable:
            raise
        except ShouldersError:
            return None  # deleted, or no longer a text file

    async def _written(
        self, loaded: LoadedText, content: bytes, origin: ChangeOrigin
    ) -> TextEditApplied | None:
        """Log the change and make it; None when the file changed in between."""
        new = await asyncio.to_thread(self.decode, content, loaded.path)
        before = loaded.snapshot()
        after = text_version(new.text)
        change = LoggedChange(
            kind="edit",
            document=loaded.path,
            origin=origin,
            before_version=before.version,
            after_version=after,
            before=await asyncio.to_thread(self._store.put, loaded.file.content),
            after=await asyncio.to_thread(self._store.put, content),
            mode=loaded.file.stat.mode,
        )
        crash_point("files.edit.kept")
        operation = self._journal.begin(change)
        crash_point("files.edit.begun")
        try:
            await self._journal.sync()
            crash_point("files.edit.synced")
            await asyncio.to_thread(self._workspace.replace, loaded.path, content, loaded.file.stat)
        except BaseException as error:
            done = await self._is_done(loaded.path, change)
            end_operation(self._journal, operation, "done" if done else "failed")
            if done:
                self._notify_despite_failure(change, before.text, new.text)
            elif isinstance(error, FileChanged):
                return None
            raise
        end_operation(self._journal, operation, "done")
        crash_point("files.edit.ended")
        self._observer.changed(origin, loaded.path, None, before.text, new.text)
        return TextEditApplied(operation, before.version, after)

    def _notify_despite_failure(self, change: LoggedChange, before: str, after: str) -> None:
        """Notify the review of a change that remains although something failed."""
        try:
            self._observer.changed(change.origin, change.document, None, before, after)
        except ShouldersError as error:  # the caller gets the first failure
            _log.warning("%s is not up for review: %s", change.document, error)

    async def _is_done(self, path: WorkspacePath, change: LoggedChange) -> bool:
        """Return whether a failed write left the new bytes all the same."""
        try:
            digest = await asyncio.to_thread(self._workspace.digest, path)
        except ShouldersError:
            return False
        return digest.sha256 == change.after != change.before

    def _load(self, path: str) -> LoadedText:
        place = permitted_path(self._workspace, path)
        size = self._workspace.stat(place).size
        if size > SIZE_LIMIT:
            raise InvalidRequest(
                f"{place} has {size >> 20} MB; files up to {SIZE_LIMIT >> 20} MB can be read and "
                "edited as text.",
                code="too_large",
                hint="Work on it with code, or read a part of it with a command.",
            )
        file = self._workspace.read(place)
        return LoadedText(place, file, self.decode(file.content, place))


def end_operation(
    journal: OperationJournal,
    operation_id: OperationId,
    state: OperationState,
    outcome: ChangeOutcome | None = None,
) -> None:
    """End a row; if that cannot be written, the next start determines the outcome."""
    try:
        journal.end(operation_id, state, outcome)
    except StateUnavailable as error:
        _log.warning(
            "The end of change %s will be found out at the next start: %s", operation_id, error
        )
