"""Undoes changes of files: one, a batch, a turn, or those of a session since a moment.

Used by the tool ``undo_file_change``, by undo of a turn and by restore. A file that nobody changed
since gets its old bytes; otherwise a three-way merge is made. If that conflicts nothing is changed,
and ``CannotUndo`` carries a proposal. An undo is itself a change, which can be undone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.core.text_merge import merge_texts
from jupyter_ai_shoulders.files.base import (
    ByteStore,
    ChangeOrigin,
    LoggedChange,
    OperationJournal,
    TextDocuments,
    TextEditApplied,
    TextEditConflict,
    TextSnapshot,
)
from jupyter_ai_shoulders.files.disk_texts import DiskTexts
from jupyter_ai_shoulders.files.file_changes import DiskChanges
from jupyter_ai_shoulders.files.shielded_write import run_to_completion
from jupyter_ai_shoulders.wire.ids import OperationId, SessionId, TurnId
from jupyter_ai_shoulders.wire.operations import Operation, OperationKind

_log = logging.getLogger(__name__)

Chosen = Callable[[Sequence[Operation]], Sequence[Operation]]
"""Selects some of a session's changes; takes and returns them in order."""
_TRIES = 3
"""Attempts to merge a text that keeps changing."""


@dataclass(frozen=True, slots=True)
class UndoConflict:
    """A text whose lines were changed both by the operation and later."""

    document: str
    ours: str
    """The text after the change."""
    before: str
    """The text before the change, which undo would have restored."""
    current: TextSnapshot


class CannotUndo(Conflict):
    """The change cannot be undone, for the reason given; nothing was changed."""

    def __init__(self, message: str, clash: UndoConflict | None = None) -> None:
        super().__init__(message, hint="The file was not changed; edit it by hand where needed.")
        self.clash = clash


@dataclass(frozen=True, slots=True)
class UndoneChange:
    """A change that was undone."""

    operation: Operation
    by: OperationId | None
    """The change that undid it; None when there was nothing to do."""
    merged: bool = False
    """Whether later changes were kept by a merge."""


@dataclass(frozen=True, slots=True)
class KeptChange:
    """A change that was not undone."""

    operation: Operation
    reason: str
    clash: UndoConflict | None = None


@dataclass(frozen=True, slots=True)
class UndoReport:
    """The outcome of undoing several changes."""

    undone: tuple[UndoneChange, ...] = ()
    kept: tuple[KeptChange, ...] = ()


class RecordedUndo(Protocol):
    """Takes back changes that are no files of the workspace.

    Implemented by ``host.agent_database`` and ``host.memory.service``.
    """

    async def undo(self, operation_id: OperationId, origin: ChangeOrigin) -> OperationId:
        """Undo a change, and return the change that did it.

        Raises ``Conflict`` if what it changed has changed since.
        """
        ...


class FileUndo:
    """Undo over the operation log."""

    def __init__(
        self,
        *,
        journal: OperationJournal,
        texts: TextDocuments,
        disk: DiskTexts,
        changes: DiskChanges,
        store: ByteStore,
        ids: IdSource,
        others: Mapping[OperationKind, RecordedUndo] | None = None,
    ) -> None:
        self._others = others or {}
        self._journal = journal
        self._texts = texts
        self._disk = disk
        self._changes = changes
        self._store = store
        self._ids = ids

    def latest(self, session_id: SessionId | None, path: str | None = None) -> Operation | None:
        """Return the latest change of a file that can be undone, undos left out."""
        for row in self._journal.recent(session_id=session_id, path=path, limit=1000):
            of_file = row.cell_id is None and row.kind != "memory"
            if row.can_undo and row.undoes is None and of_file:
                return row
        return None

    async def undo(self, operation_id: OperationId, origin: ChangeOrigin) -> UndoReport:
        """Undo a change and all of its batch: all or nothing, also when cancelled.

        Raises ``NotFound``, ``CannotUndo``, and the errors of reading and changing files.
        """
        row = self._first(self._journal.get(operation_id))
        if not row.can_undo:
            raise CannotUndo(f"{row.document}: {row.reason}")
        rows = [row] if row.batch is None else list(self._journal.of_batch(row.batch))
        return await run_to_completion(self._all_or_nothing(rows[::-1], origin))

    async def undo_turn(
        self, session_id: SessionId, turn_id: TurnId, origin: ChangeOrigin
    ) -> UndoReport:
        """Undo the changes of a turn; each file completely, or not at all.

        Raises ``StateUnavailable``; changes that cannot be undone are in the report.
        """
        return await self._many(self._journal.of_turn(session_id, turn_id), origin)

    async def undo_those(
        self, session_id: SessionId, chosen: Chosen, origin: ChangeOrigin
    ) -> UndoReport:
        """Undo the selected changes of a session, like ``undo_turn``."""
        return await self._many(chosen(self._journal.of_session(session_id)), origin)

    # several changes

    async def _many(self, rows: Sequence[Operation], origin: ChangeOrigin) -> UndoReport:
        files = [row for row in rows if row.cell_id is None and row.kind != "outputs"]
        undone: list[UndoneChange] = []
        kept: list[KeptChange] = []
        for group in group_by_file(without_undone_pairs(files)):
            try:
                report = await run_to_completion(self._all_or_nothing(group[::-1], origin))
            except StateUnavailable:
                raise
            except ShouldersError as error:
                kept += await self._kept(group, error)
            else:
                undone += report.undone
                kept += report.kept
        return UndoReport(tuple(undone), tuple(kept))

    async def _kept(self, group: Sequence[Operation], error: ShouldersError) -> list[KeptChange]:
        """Return why a group stays; with a proposal if it is about one text."""
        first, *_ = group
        clash = error.clash if isinstance(error, CannotUndo) else None
        only_edits = all(row.kind == "edit" for row in group)
        if clash is not None and only_edits:
            last = self._journal.change(group[-1].id)
            clash = UndoConflict(
                document=clash.document,
                ours=await asyncio.to_thread(self._text, last, "after"),
                before=await asyncio.to_thread(self._text, self._journal.change(first.id)),
                current=await self._texts.read(clash.document),
            )
        elif not only_edits:
            clash = None
        present = [row for row in group if self._journal.get(row.id).state == "done"]
        return [KeptChange(row, str(error), clash if row is first else None) for row in present]

    async def _all_or_nothing(self, rows: Iterable[Operation], origin: ChangeOrigin) -> UndoReport:
        """Undo rows, the latest first; when one fails, redo those undone before it."""
        wanted = list(rows)
        if len(wanted) > 1:
            origin = replace(origin, batch=self._ids.new("batch"))
        undone: list[UndoneChange] = []
        kept: list[KeptChange] = []
        try:
            for row in wanted:
                now = self._journal.get(row.id)  # its undo may have been undone since
                if now.state != "done":
                    continue
                try:
                    undone.append(await self._possible(now, origin))
                except Conflict as error:
                    if now.kind != "mkdir" or len(wanted) == 1:
                        raise
                    kept.append(KeptChange(now, str(error)))  # others use the folder now
                crash_point("files.undo.one_done")
        except ShouldersError:
            await self._redo(undone, origin)
            raise
        return UndoReport(tuple(undone), tuple(kept))

    async def _redo(self, undone: Sequence[UndoneChange], origin: ChangeOrigin) -> None:
        for done in reversed(undone):
            if done.by is None:
                self._journal.end(done.operation.id, "done")
                continue
            try:
                await self._single(self._journal.get(done.by), origin)
            except ShouldersError as error:
                _log.warning("Undo of %s stays half done: %s", done.operation.document, error)

    # one change

    async def _possible(self, row: Operation, origin: ChangeOrigin) -> UndoneChange:
        if not row.can_undo:
            raise CannotUndo(f"{row.document}: {row.reason}")
        return await self._single(row, origin)

    async def _single(self, row: Operation, origin: ChangeOrigin) -> UndoneChange:
        change = self._journal.change(row.id)
        origin = replace(origin, undoes=row.id)
        folder = change.document.endswith("/")
        match change.kind:
            case "edit" if change.cell_id is None:
                return await self._edit_back(row, change, origin)
            case "create" | "copy" if change.cell_id is None:
                return await self._remove_created(row, change, origin)
            case "delete" if change.cell_id is None and not folder:
                applied = await self._changes.restore_deleted(row.id, change.document, origin)
                return UndoneChange(row, applied.operation_id)
            case "delete" | "mkdir" if change.cell_id is None:
                made = change.kind == "delete"
                undo = self._changes.make_folder if made else self._changes.remove_folder
                return await self._folder(row, undo, origin)
            case "move" if change.cell_id is None:
                new_path = change.new_document or ""
                applied = await self._changes.move(new_path, change.document, origin)
                return UndoneChange(row, applied.operation_id)
            case "database" | "memory" if change.kind in self._others:
                by = await self._others[change.kind].undo(row.id, origin)
                return UndoneChange(row, by)
            case _:
                raise CannotUndo(
                    f"{change.document}: changes by commands and to cells cannot be undone one "
                    "by one; undo the turn, or restore the notebook."
                )

    async def _folder(
        self,
        row: Operation,
        change: Callable[[str, ChangeOrigin], Awaitable[OperationId]],
        origin: ChangeOrigin,
    ) -> UndoneChange:
        made = row.kind == "delete"
        stands = await asyncio.to_thread(self._changes.exists, row.document)
        if stands == made:
            return self._nothing_to_do(row)
        return UndoneChange(row, await change(row.document, origin))

    def _first(self, row: Operation) -> Operation:
        """Return the change that a row redoes, if it is the undo of an undo."""
        while row.undoes is not None:
            original = self._journal.get(row.undoes).undoes
            if original is None:
                break
            row = self._journal.get(original)
        return row

    async def _remove_created(
        self, row: Operation, change: LoggedChange, origin: ChangeOrigin
    ) -> UndoneChange:
        path = change.new_document or change.document
        if not await asyncio.to_thread(self._changes.exists, path):
            return self._nothing_to_do(row)
        redone = None if row.undoes is None else self._journal.get(row.undoes)
        applied = await self._changes.delete(
            path,
            origin,
            only=change.after,
            redone=redone.id if redone is not None and redone.kind == "delete" else None,
        )
        return UndoneChange(row, applied.operation_id)

    async def _edit_back(
        self, row: Operation, change: LoggedChange, origin: ChangeOrigin
    ) -> UndoneChange:
        if change.before is None or change.after is None:
            raise CannotUndo(f"The earlier text of {change.document} is not known.")
        if (await self._texts.read(change.document)).backend == "disk":
            self._changes.check_saved(change.document)  # unsaved in an absent page
            content = await asyncio.to_thread(self._store.get, change.before)
            outcome = await self._disk.restore_bytes(change.document, content, change.after, origin)
            if isinstance(outcome, TextEditApplied):
                return UndoneChange(row, outcome.operation_id)
        before, ours = await asyncio.to_thread(self._both, change)
        for _ in range(_TRIES):
            current = await self._texts.read(change.document)
            if current.text == before:
                return self._nothing_to_do(row)
            text = await asyncio.to_thread(merge_texts, ours, current.text, before)
            if text is None:
                raise CannotUndo(
                    f"{change.document} has since changed on the same lines.",
                    UndoConflict(change.document, ours, before, current),
                )
            outcome = await self._texts.replace(change.document, text, current.version, origin)
            if not isinstance(outcome, TextEditConflict):
                return UndoneChange(row, outcome.operation_id, merged=current.text != ours)
        raise CannotUndo(
            f"{change.document} keeps changing; try again when nothing else is changing it."
        )

    def _nothing_to_do(self, row: Operation) -> UndoneChange:
        self._journal.end(row.id, "undone")
        return UndoneChange(row, None)

    def _both(self, change: LoggedChange) -> tuple[str, str]:
        return self._text(change), self._text(change, "after")

    def _text(self, change: LoggedChange, which: str = "before") -> str:
        blob = change.before if which == "before" else change.after
        if blob is None:
            raise NotFound(f"The earlier text of {change.document} is no longer stored.")
        return self._disk.decode(self._store.get(blob), change.document).text


def group_by_file(rows: Sequence[Operation]) -> list[list[Operation]]:
    """Return the changes grouped by the files they affect, each group in order.

    A move or a copy joins two names; a move of a folder joins everything below it. Folders that
    were made or removed come last, the latest first, after their contents. So do commands, which
    belong to no name.
    """
    groups: list[tuple[set[str], list[Operation]]] = []
    alone = [row for row in rows if row.document.endswith("/") or row.kind == "command"]
    single = {row.id for row in alone}
    for row in rows:
        if row.id in single:
            continue
        names = {row.document, *filter(None, (row.new_document,))}
        touched = [group for group in groups if _meet(group[0], names)]
        merged = [each for group in touched for each in group[1]]
        groups = [group for group in groups if group not in touched]
        groups.append((names.union(*(group[0] for group in touched)), [*merged, row]))
    position = {row.id: number for number, row in enumerate(rows)}
    files = [sorted(group, key=lambda row: position[row.id]) for _, group in groups]
    files.sort(key=lambda group: -position[group[-1].id])
    return [*files, *([each] for each in reversed(alone))]


def without_undone_pairs(rows: Sequence[Operation]) -> list[Operation]:
    """Return the changes without pairs of a change and its undo."""
    left = {row.id: row for row in rows}
    for row in reversed(rows):
        undone = row.undoes
        if row.id in left and row.state == "done" and undone is not None and undone in left:
            del left[undone], left[row.id]
    return list(left.values())


def _meet(some: set[str], others: set[str]) -> bool:
    """Return whether a name is in both, or lies below a name of the other."""
    return any(
        f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
        for one in some
        for other in others
    )
