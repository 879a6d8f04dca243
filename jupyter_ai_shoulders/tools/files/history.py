"""The tools that list changes of documents and undo changes of files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.core.operation_journal import OperationJournal
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextDocuments
from jupyter_ai_shoulders.files.undo.file_undo import CannotUndo, UndoneChange, UndoReport
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff, change_data
from jupyter_ai_shoulders.tools.files.access import origin_of
from jupyter_ai_shoulders.tools.notebook.access import failure_result, file_name
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import OperationId, SessionId
from jupyter_ai_shoulders.wire.operations import Operation
from jupyter_ai_shoulders.wire.results import ResultMeta, SeenVersion, ToolEnvelope

LISTED = 50
"""Most changes that are listed."""

MaySee = Callable[[SessionId, SessionId | None], bool]
"""Returns whether a conversation may see another one's changes; on a hub, only its owner's."""


class UndoService(Protocol):
    """Undoes changes of files; implemented by ``files.undo.file_undo``."""

    def latest(self, session_id: SessionId | None, path: str | None = None) -> Operation | None:
        """Return the latest change that can be undone."""
        ...

    async def undo(self, operation_id: OperationId, origin: ChangeOrigin) -> UndoReport:
        """Undo a change and its batch. Raises ``CannotUndo``."""
        ...


class FileHistoryArguments(ToolArguments):
    """Arguments of ``file_history``."""

    path: str | None = Field(
        default=None, description="Workspace-relative path; none: changes of all documents."
    )


class FileHistory(BaseTool[FileHistoryArguments]):
    """Lists changes, latest first."""

    name = "file_history"
    category = "workspace"
    risk = "read"
    arguments = FileHistoryArguments

    def __init__(self, workspace: Workspace, journal: OperationJournal, may_see: MaySee) -> None:
        self._workspace = workspace
        self._journal = journal
        self._may_see = may_see

    async def subject(self, args: FileHistoryArguments, context: CallContext) -> CallSubject:
        path = self._workspace.path(args.path) if args.path else None
        label = file_name(path) if path else None
        return CallSubject(title="List changes", target_label=label, target=Target(path=path))

    async def run(
        self, args: FileHistoryArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        path = self._workspace.path(args.path) if args.path else None
        rows = [
            row
            for row in self._journal.recent(path=path, limit=10 * LISTED)
            if self._may_see(context.session_id, row.session_id)
        ]
        shown = rows[:LISTED]
        lines = [_line(row, context.session_id) for row in shown]
        about = f" of {path}" if path else ""
        counted = f"{len(rows)} change{'' if len(rows) == 1 else 's'}"
        head = f"{counted}{about}, the latest first:" if rows else ""
        text = "\n".join([head, *lines]) if rows else f"No changes{about} are in the log."
        if len(rows) > LISTED:
            text += f"\n… and {len(rows) - LISTED} older ones."
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="listing",
                data=[row.model_dump(mode="json") for row in shown],
                meta=ResultMeta(total=len(rows), truncated=len(rows) > LISTED),
            ),
            content=text_content(text),
        )


class UndoFileChangeArguments(ToolArguments):
    """Arguments of ``undo_file_change``; with none of them, the latest change is meant."""

    operation_id: str | None = Field(
        default=None, description="The change, as file_history names it."
    )
    path: str | None = Field(
        default=None, description="Instead: the latest change of this file in this conversation."
    )


class UndoFileChange(BaseTool[UndoFileChangeArguments]):
    """Undoes one change of files, with all changes of its batch."""

    name = "undo_file_change"
    category = "workspace"
    risk = "write"
    arguments = UndoFileChangeArguments

    def __init__(
        self,
        workspace: Workspace,
        journal: OperationJournal,
        undo: UndoService,
        texts: TextDocuments,
        may_see: MaySee,
    ) -> None:
        self._workspace = workspace
        self._journal = journal
        self._undo = undo
        self._texts = texts
        self._may_see = may_see

    async def subject(self, args: UndoFileChangeArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown. Raises ``NotFound`` if there is no such change."""
        row = self._wanted(args, context)
        rows = [row] if row.batch is None else self._journal.of_batch(row.batch)
        preview = "\n".join(f"Take back: {_change_text(each)}" for each in reversed(rows))
        return CallSubject(
            title="Undo change",
            target_label=file_name(row.document.rstrip("/")),
            target=Target(path=row.document.rstrip("/")),
            preview=preview,
            undoable=True,
            in_page=row.kind == "edit" and self._texts.in_page(row.document),
            moves_or_removes=any(each.kind not in {"edit", "database"} for each in rows),
        )

    async def run(
        self, args: UndoFileChangeArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        row = self._wanted(args, context)
        before = await self._text(row)
        try:
            report = await self._undo.undo(row.id, replace(origin_of(context), by="agent"))
        except CannotUndo as error:
            yield _refused(row, error)
            return
        yield await self._done(row, report, before, context)

    def _wanted(self, args: UndoFileChangeArguments, context: CallContext) -> Operation:
        if args.operation_id:
            row = self._journal.get(OperationId(args.operation_id))
            if self._may_see(context.session_id, row.session_id):
                return row
            raise NotFound(f"There is no change {args.operation_id} in the log.")
        path = self._workspace.path(args.path) if args.path else None
        found = self._undo.latest(context.session_id, path)
        if found is None:
            about = f" of {path}" if path else ""
            raise NotFound(
                f"This conversation has made no change{about} that can be undone.",
                hint="List changes with file_history and give an operation_id.",
            )
        return found

    async def _text(self, row: Operation) -> str | None:
        if row.kind != "edit" or row.cell_id is not None:
            return None
        try:
            return (await self._texts.read(row.document)).text
        except ShouldersError:
            return None

    async def _done(
        self, row: Operation, report: UndoReport, before: str | None, context: CallContext
    ) -> Result:
        said = [_said(undone) for undone in report.undone]
        said += [f"Left: {_change_text(kept.operation)} ({kept.reason})" for kept in report.kept]
        after = await self._text(row)
        data: JsonObject = {"operations": [str(undone.operation.id) for undone in report.undone]}
        if before is None or after is None:
            envelope = ToolEnvelope(ok=True, kind="text", data=data)
            return Result(envelope=envelope, content=text_content("\n".join(said)))
        diff = bounded_diff(before, after)
        seen: tuple[SeenVersion, ...] = ()
        version = (await self._texts.read(row.document)).version
        exact = not any(undone.merged for undone in report.undone)
        if exact and row.session_id == context.session_id and version == row.before_version:
            seen = (SeenVersion(path=row.document, cell_id=None, version=version),)
        return Result(
            envelope=ToolEnvelope(
                ok=True, kind="diff", data=change_data(row.document, before, after, diff)
            ),
            content=text_content("\n".join([*said, diff])),
            seen=seen,
            after_version=version,
        )


def _refused(row: Operation, error: CannotUndo) -> Result:
    clash = error.clash
    if clash is None:
        return failure_result(error.info)
    wanted = bounded_diff(clash.current.text, clash.before)
    return failure_result(
        error.info, f"Without the change, {row.document} would differ so:\n{wanted}"
    )


def _said(undone: UndoneChange) -> str:
    what = _change_text(undone.operation)
    if undone.by is None:
        return f"Nothing was left to take back of: {what}"
    merged = "; what was changed since stays" if undone.merged else ""
    return f"Taken back: {what}{merged} (this undo is {undone.by})"


def _change_text(row: Operation) -> str:
    cell = f" cell {row.cell_id}" if row.cell_id else ""
    to = f" → {row.new_document}" if row.new_document else ""
    return f"{row.kind} {row.document}{cell}{to}"


def _line(row: Operation, session_id: SessionId) -> str:
    who = "you" if row.session_id == session_id and row.by == "agent" else row.by
    undone = f"; undoes {row.undoes}" if row.undoes else ""
    how = "can be undone with its turn" if row.cell_id else "can be undone"
    state = how if row.can_undo else (row.reason or row.state)
    return f"{row.id}  {row.at}  {who}: {_change_text(row)}{undone}. {state}"


def history_tools(
    workspace: Workspace,
    journal: OperationJournal,
    undo: UndoService,
    texts: TextDocuments,
    may_see: MaySee,
) -> Sequence[FileHistory | UndoFileChange]:
    return [
        FileHistory(workspace, journal, may_see),
        UndoFileChange(workspace, journal, undo, texts, may_see),
    ]
