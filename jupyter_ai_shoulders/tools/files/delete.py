"""The tool that moves a file into the trash."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidNotebook, InvalidRequest
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Effect,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.files.access import (
    FileAccess,
    FolderAtPath,
    NothingAtPath,
    OtherFileAtPath,
    TextFileAtPath,
    is_notebook,
    origin_of,
    path_hard_link_note,
)
from jupyter_ai_shoulders.tools.files.edit import no_such_file
from jupyter_ai_shoulders.tools.files.read_tracking import (
    FileReadTracker,
    has_read,
    opaque_file_seen,
    unread_error,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    CellReadTracker,
    NotebookAccess,
    failure_result,
    file_name,
)
from jupyter_ai_shoulders.tools.notebook.read import render_within_limits
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.results import SeenVersion, ToolEnvelope
from jupyter_ai_shoulders.wire.versions import ABSENT


class DeleteFileArguments(ToolArguments):
    """Arguments of ``delete_file``."""

    path: str = Field(min_length=1, description="Workspace-relative path of the file.")


class DeleteFile(BaseTool[DeleteFileArguments]):
    """Deletes a file that is as the conversation last read it."""

    name = "delete_file"
    category = "workspace"
    risk = "write"
    arguments = DeleteFileArguments

    def __init__(
        self,
        access: FileAccess,
        versions: FileReadTracker,
        notebooks: NotebookAccess,
        cells: CellReadTracker,
    ) -> None:
        self._access = access
        self._versions = versions
        self._notebooks = notebooks
        self._cells = cells

    async def subject(self, args: DeleteFileArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown. A file that is gone is no error: a crash may have been."""
        there = await self._access.inspect(args.path)
        if isinstance(there, FolderAtPath):
            raise _is_folder(there)
        return CallSubject(
            title="Delete file",
            target_label=file_name(there.path),
            target=Target(path=there.path),
            preview=f"{there.path} goes to the trash; undo brings it back.",
            undoable=True,
            moves_or_removes=True,
            effect=Effect(before_version=there.version, expected_version=ABSENT),
            always_ask_reason=path_hard_link_note(there),
        )

    async def run(
        self, args: DeleteFileArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        there = await self._access.inspect(args.path)
        match there:
            case NothingAtPath():
                raise await no_such_file(self._access, there.path)
            case FolderAtPath():
                raise _is_folder(there)
            case TextFileAtPath() if is_notebook(there.path):
                refused = await self._notebook_refused(there, context)
            case TextFileAtPath():
                refused = self._text_refused(there, context)
            case OtherFileAtPath():
                refused = _other_refused(there, context)
        yield refused or await self._delete(there, context)

    async def _delete(
        self, there: TextFileAtPath | OtherFileAtPath, context: CallContext
    ) -> Result:
        await self._access.changes.delete(there.path, origin_of(context))
        return Result(
            envelope=ToolEnvelope(ok=True, kind="text", data={"path": there.path}),
            content=text_content(f"{there.path} was deleted; it is in the trash."),
            seen=(SeenVersion(path=there.path, cell_id=None, version=ABSENT),),
            after_version=ABSENT,
        )

    def _text_refused(self, there: TextFileAtPath, context: CallContext) -> Result | None:
        """Return why a file must stay: none of it was read, or it was changed since."""
        refused = self._versions.unread_refusal(there.snapshot, context, whole=False)
        if refused is not None or has_read(context, there.path, there.version):
            return refused
        return self._versions.stale_result(there.snapshot, context)

    async def _notebook_refused(self, there: TextFileAtPath, context: CallContext) -> Result | None:
        """Return why a notebook must stay: none of it was read, or cells were changed since."""
        try:
            notebook = await self._notebooks.open(there.path)
            snapshot = await notebook.read()
        except InvalidNotebook:
            return self._text_refused(there, context)
        known = {cell.id: context.seen.get((snapshot.path, cell.id)) for cell in snapshot.cells}
        changed = any(known[cell.id] not in {None, cell.version} for cell in snapshot.cells)
        if not snapshot.cells or (any(known.values()) and not changed):
            return None
        rendering, _ = render_within_limits(snapshot, None)
        cells = [cell for cell in snapshot.cells if cell.id in rendering.whole]
        seen = tuple(self._cells.note(snapshot.path, cell) for cell in cells)
        error = _changed(there.path) if changed else unread_error(there.path)
        return failure_result(error, rendering.text, seen=seen)


def _other_refused(there: OtherFileAtPath, context: CallContext) -> Result | None:
    if has_read(context, there.path, there.version):
        return None
    seen = (opaque_file_seen(there.path, there.version),)
    described = f"{there.path}: {there.problem.info.message} It has {there.stat.size:,} bytes."
    error = unread_error(there.path)
    if (there.path, None) in context.seen:
        error = _changed(there.path)
    return failure_result(error, described, seen=seen)


def _changed(path: str) -> ErrorInfo:
    return ErrorInfo(
        code="stale",
        message=f"{path} was changed since you read it; it was not deleted.",
        hint="It is now as follows; call again to delete it anyway.",
    )


def _is_folder(there: FolderAtPath) -> InvalidRequest:
    return InvalidRequest(
        f"{there.path} is a folder; only files are deleted.", hint="Name its files one by one."
    )
