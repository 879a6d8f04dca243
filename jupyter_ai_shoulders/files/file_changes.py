"""Creates, moves, copies and deletes files, each change logged before it is made.

Nothing is overwritten. Used by the file tools and by ``files.undo.file_undo``. Missing folders are
made, as separate changes in the same batch, so that undo removes them again.
"""

from __future__ import annotations

import asyncio
import posixpath
from dataclasses import replace

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.files.atomic_batch import BatchStep, perform_all
from jupyter_ai_shoulders.files.base import (
    ByteStore,
    ChangeObserver,
    ChangeOrigin,
    ChangeOutcome,
    LoggedChange,
    OpenFiles,
    OperationJournal,
    TextEditApplied,
)
from jupyter_ai_shoulders.files.crash_recovery import CrashRecovery
from jupyter_ai_shoulders.files.disk_texts import SIZE_LIMIT, PathLocks
from jupyter_ai_shoulders.files.encoding import decode_text, normalize_newlines
from jupyter_ai_shoulders.files.path_permissions import permitted_path
from jupyter_ai_shoulders.files.shielded_write import run_to_completion
from jupyter_ai_shoulders.files.trash import Trash
from jupyter_ai_shoulders.guard.filesystem.workspace import FileStat, Workspace, WorkspacePath
from jupyter_ai_shoulders.wire.ids import BlobHash, OperationId, Version
from jupyter_ai_shoulders.wire.versions import file_version, text_version, well_formed


class DiskChanges:
    """``FileChanges`` on the workspace."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        trash: Trash,
        journal: OperationJournal,
        store: ByteStore,
        observer: ChangeObserver,
        open_files: OpenFiles,
        ids: IdSource,
        locks: PathLocks,
        recovery: CrashRecovery,
    ) -> None:
        self._workspace = workspace
        self._trash = trash
        self._journal = journal
        self._store = store
        self._observer = observer
        self._open = open_files
        self._ids = ids
        self._locks = locks
        self._recovery = recovery

    async def create(self, path: str, text: str, origin: ChangeOrigin) -> TextEditApplied:
        """Create a file in UTF-8 and its missing folders."""
        place = await self._permitted(path)
        content = well_formed(text).encode()
        blob = await asyncio.to_thread(self._store.put, content)
        version = text_version(normalize_newlines(text))
        change = LoggedChange("create", place, origin, after_version=version, after=blob)

        async def notify() -> None:
            self._observer.changed(origin, place, None, None, normalize_newlines(text))

        step = BatchStep(
            change,
            do=lambda _: _nothing(self._workspace.create(place, content)),
            revert=lambda _: self._workspace.remove(place, self._workspace.stat(place)),
            notify=notify,
        )

        async def perform() -> OperationId:
            made = await self._in_new_folders(place, step)
            await notify()
            return made

        return TextEditApplied(await run_to_completion(perform()), None, version)

    async def move(self, path: str, new_path: str, origin: ChangeOrigin) -> TextEditApplied:
        """Move a file or a folder; pages that have it open follow."""
        place, new_place = await self._permitted(path), await self._permitted(new_path)
        self.check_saved(place)
        version = await asyncio.to_thread(self._version_of, place)
        change = LoggedChange(
            "move",
            place,
            origin,
            new_document=new_place,
            before_version=version,
            after_version=version,
        )
        step = BatchStep(
            change,
            do=lambda _: self._workspace.move(place, new_place),
            revert=lambda _: self._workspace.move(new_place, place),
        )

        async def followed() -> OperationId:
            made = await self._in_new_folders(new_place, step, place)
            await self._open.moved(place, new_place)
            return made

        return TextEditApplied(await run_to_completion(followed()), version, version)

    async def copy(self, path: str, new_path: str, origin: ChangeOrigin) -> TextEditApplied:
        """Copy a file."""
        place, new_place = await self._permitted(path), await self._permitted(new_path)
        self.check_saved(place)
        version = await asyncio.to_thread(self._version_of, place)
        change = LoggedChange("copy", place, origin, new_document=new_place, after_version=version)

        def copied(_: OperationId) -> ChangeOutcome:
            sha256 = self._workspace.copy(place, new_place).sha256
            return ChangeOutcome(after_version=version or Version(sha256), after=BlobHash(sha256))

        step = BatchStep(
            change,
            do=copied,
            revert=lambda _: self._workspace.remove(new_place, self._workspace.stat(new_place)),
        )
        applied = await run_to_completion(self._in_new_folders(new_place, step, place))
        return TextEditApplied(applied, None, self._journal.change(applied).after_version)

    async def delete(
        self,
        path: str,
        origin: ChangeOrigin,
        *,
        only: BlobHash | None = None,
        redone: OperationId | None = None,
    ) -> TextEditApplied:
        """Move a file into the trash of the state directory.

        ``only`` if its bytes have this hash, else ``Conflict``; ``redone`` is the change that this
        one redoes, under whose id the trash stores the file.
        """
        place = await self._permitted(path)
        self.check_saved(place)
        facts, version, text = await asyncio.to_thread(self._before_deletion, place, only)
        change = LoggedChange(
            "delete", place, origin, before_version=version, mode=facts.mode, kept_as=redone
        )

        async def notify() -> None:
            if text is not None:
                self._observer.changed(origin, place, None, text, None)

        step = BatchStep(
            change,
            do=lambda own: self._trash.add(self._workspace, place, facts, redone or own),
            revert=lambda own: self._trash.restore(self._workspace, place, redone or own),
            notify=notify,
        )

        async def perform() -> OperationId:
            made = await self._held([step], place)
            await self._open.removed(place)
            await notify()
            return made

        return TextEditApplied(await run_to_completion(perform()), version, None)

    # for undo only

    async def restore_deleted(
        self, deleted: OperationId, path: str, origin: ChangeOrigin
    ) -> TextEditApplied:
        """Restore the file that an operation deleted.

        Raises ``Conflict`` when another file exists there now, ``NotFound`` when the trash no
        longer has it.
        """
        place = await self._permitted(path)
        sha256 = await asyncio.to_thread(self._trash.sha256, deleted)
        version = self._journal.change(deleted).before_version
        change = LoggedChange(
            "create", place, origin, after_version=version, after=BlobHash(sha256)
        )

        async def notify() -> None:
            text = await asyncio.to_thread(self._text_of, place)
            if text is not None:
                self._observer.changed(origin, place, None, None, text)

        step = BatchStep(
            change,
            do=lambda _: self._trash.restore(self._workspace, place, deleted),
            revert=lambda _: self._trash.add(
                self._workspace, place, self._workspace.stat(place), deleted
            ),
            notify=notify,
        )

        async def perform() -> OperationId:
            made = await self._in_new_folders(place, step)
            await notify()
            return made

        return TextEditApplied(await run_to_completion(perform()), None, version)

    async def make_folder(self, path: str, origin: ChangeOrigin) -> OperationId:
        """Make a folder and its missing parents. Raises ``Conflict`` when it exists."""
        place = await self._permitted(path)
        return await run_to_completion(
            self._in_new_folders(place, self._folder_step(place, origin))
        )

    async def remove_folder(self, path: str, origin: ChangeOrigin) -> OperationId:
        """Remove an empty folder. Raises ``Conflict`` when it is not empty."""
        place = await self._permitted(path)
        step = BatchStep(
            LoggedChange("delete", f"{place}/", origin),
            do=lambda _: self._workspace.remove_folder(place),
            revert=lambda _: self._workspace.make_folder(place),
        )
        return await run_to_completion(self._held([step], place))

    def exists(self, path: str) -> bool:
        """Return whether anything exists at this path. Blocks."""
        return self._kind(permitted_path(self._workspace, path)) is not None

    # shared

    async def _permitted(self, path: str) -> WorkspacePath:
        return await asyncio.to_thread(permitted_path, self._workspace, path)

    def check_saved(self, path: str) -> None:
        """Raise ``Conflict`` when unsaved text would be lost."""
        unsaved = self._open.unsaved(path)
        if unsaved:
            raise Conflict(
                f"{', '.join(unsaved)} has unsaved changes in an open page; nothing was done.",
                hint="Ask the user to save or close it first.",
                retryable=True,
            )

    async def _in_new_folders(
        self, target: WorkspacePath, step: BatchStep, *others: WorkspacePath
    ) -> OperationId:
        """Make the missing folders above the target, then perform the step."""
        missing = await asyncio.to_thread(self._missing_above, target)
        origin = step.change.origin
        if missing and origin.batch is None:
            origin = replace(origin, batch=self._ids.new("batch"))
            step = replace(step, change=replace(step.change, origin=origin))
        steps = [self._folder_step(folder, origin) for folder in missing]
        return await self._held([*steps, step], target, *others)

    async def _held(self, steps: list[BatchStep], *paths: WorkspacePath) -> OperationId:
        async with self._locks.hold(*paths):
            operations = await perform_all(self._journal, steps, self._recovery.verdict)
        return operations[-1]

    def _folder_step(self, folder: WorkspacePath, origin: ChangeOrigin) -> BatchStep:
        made = False

        def make(_: OperationId) -> ChangeOutcome | None:
            nonlocal made
            try:
                self._workspace.make_folder(folder)
            except Conflict:
                if self._kind(folder) != "folder":
                    raise
                return ChangeOutcome(cannot_undo="Somebody else made the folder at the same time.")
            made = True
            return None

        def remove(_: OperationId) -> None:
            if made:
                self._workspace.remove_folder(folder)

        return BatchStep(LoggedChange("mkdir", f"{folder}/", origin), make, remove)

    def _missing_above(self, target: WorkspacePath) -> list[WorkspacePath]:
        """Return the folders to make, outermost first. Raises ``Conflict`` for a taken name."""
        if self._kind(target) is not None:
            raise Conflict(
                f"{target} already exists; nothing was changed.",
                hint="Use another name.",
            )
        missing: list[WorkspacePath] = []
        folder = posixpath.dirname(target)
        while folder and (kind := self._kind(WorkspacePath(folder))) != "folder":
            if kind is not None:
                raise Conflict(f"{folder} is a file, so nothing can be put into it.")
            missing.append(WorkspacePath(folder))
            folder = posixpath.dirname(folder)
        return missing[::-1]

    def _kind(self, path: WorkspacePath) -> str | None:
        try:
            return self._workspace.kind(path)
        except NotFound:
            return None

    def _version_of(self, path: WorkspacePath) -> Version | None:
        """Return a file's version, None for a folder or a large file. Raises ``NotFound``."""
        if self._workspace.kind(path) == "folder":
            return None
        if self._workspace.stat(path).size > SIZE_LIMIT:
            return None
        content = self._workspace.read(path).content
        text = _text(content, path)
        return file_version(content) if text is None else text_version(text)

    def _text_of(self, path: WorkspacePath) -> str | None:
        if self._workspace.stat(path).size > SIZE_LIMIT:
            return None
        return _text(self._workspace.read(path).content, path)

    def _before_deletion(
        self, path: WorkspacePath, only: BlobHash | None
    ) -> tuple[FileStat, Version | None, str | None]:
        """Return the file's facts, version and text. Raises ``InvalidRequest`` for a folder."""
        if self._workspace.kind(path) == "folder":
            raise InvalidRequest(
                f"{path} is a folder; only files can be deleted.", hint="Name its files."
            )
        facts = self._workspace.stat(path)
        if only is not None:
            digest = self._workspace.digest(path)
            facts = digest.stat
            if digest.sha256 != only:
                raise Conflict(f"{path} was changed since it was made; it was not deleted.")
        if facts.size > SIZE_LIMIT:
            return facts, None, None
        file = self._workspace.read(path)
        text = _text(file.content, path)
        version = file_version(file.content) if text is None else text_version(text)
        if only is not None and file.stat != facts:
            raise Conflict(f"{path} was changed since it was made; it was not deleted.")
        return file.stat, version, text


def _nothing(_: object) -> None:
    """Discard a value."""


def _text(content: bytes, path: str) -> str | None:
    """Return a file's text, None for binary content."""
    try:
        return decode_text(content, path).text
    except InvalidRequest:
        return None
