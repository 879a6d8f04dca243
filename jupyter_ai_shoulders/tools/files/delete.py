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
    """Deletes a file that is unchanged since the conversation last read it."""

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
        """Return how the call is shown. The file may be missing after a crash; this is no error."""
        existing = await self._access.inspect(args.path)
        if isinstance(existing, FolderAtPath):
            raise _is_folder(existing)
        return CallSubject(
            title="Delete file",
            target_label=file_name(existing.path),
            target=Target(path=existing.path),
            preview=f"{existing.path} goes to the trash; undo brings it back.",
            undoable=True,
            moves_or_removes=True,
            effect=Effect(before_version=existing.version, expected_version=ABSENT),
            always_ask_reason=path_hard_link_note(existing),
        )

    async def run(
        self, args: DeleteFileArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        existing = await self._access.inspect(args.path)
        match existing:
            case NothingAtPath():
                raise await no_such_file(self._access, existing.path)
            case FolderAtPath():
                raise _is_folder(existing)
            case TextFileAtPath() if is_notebook(existing.path):
                refused = await self._notebook_refused(existing, context)
            case TextFileAtPath():
                refused = self._text_refused(existing, context)
            case OtherFileAtPath():
                refused = _other_refused(existing, context)
        yield refused or await self._delete(existing, context)

    async def _delete(
        self, existing: TextFileAtPath | OtherFileAtPath, context: CallContext
    ) -> Result:
        await self._access.changes.delete(existing.path, origin_of(context))
        return Result(
            envelope=ToolEnvelope(ok=True, kind="text", data={"path": existing.path}),
            content=text_content(f"{existing.path} was deleted; it is in the trash."),
            seen=(SeenVersion(path=existing.path, cell_id=None, version=ABSENT),),
            after_version=ABSENT,
        )

    def _text_refused(self, existing: TextFileAtPath, context: CallContext) -> Result | None:
        """Return why a file is not deleted: it is unread, or changed since it was read."""
        refused = self._versions.unread_refusal(existing.snapshot, context, whole=False)
        if refused is not None or has_read(context, existing.path, existing.version):
            return refused
        return self._versions.stale_result(existing.snapshot, context)

    async def _notebook_refused(
        self, existing: TextFileAtPath, context: CallContext
    ) -> Result | None:
        """Return why a notebook is not deleted: it is unread, or has cells changed since."""
        try:
            notebook = await self._notebooks.open(existing.path)
            snapshot = await notebook.read()
        except InvalidNotebook:
            return self._text_refused(existing, context)
        known = {cell.id: context.seen.get((snapshot.path, cell.id)) for cell in snapshot.cells}
        changed = any(known[cell.id] not in {None, cell.version} for cell in snapshot.cells)
        if not snapshot.cells or (any(known.values()) and not changed):
            return None
        rendering, _ = render_within_limits(snapshot, None)
        cells = [cell for cell in snapshot.cells if cell.id in rendering.whole]
        seen = tuple(self._cells.note(snapshot.path, cell) for cell in cells)
        error = _changed(existing.path) if changed else unread_error(existing.path)
        return failure_result(error, rendering.text, seen=seen)


def _other_refused(existing: OtherFileAtPath, context: CallContext) -> Result | None:
    if has_read(context, existing.path, existing.version):
        return None
    seen = (opaque_file_seen(existing.path, existing.version),)
    described = (
        f"{existing.path}: {existing.problem.info.message} It has {existing.stat.size:,} bytes."
    )
    error = unread_error(existing.path)
    if (existing.path, None) in context.seen:
        error = _changed(existing.path)
    return failure_result(error, described, seen=seen)


def _changed(path: str) -> ErrorInfo:
    return ErrorInfo(
        code="stale",
        message=f"{path} was changed since you read it; it was not deleted.",
        hint="It is now as follows; call again to delete it anyway.",
    )


def _is_folder(existing: FolderAtPath) -> InvalidRequest:
    return InvalidRequest(
        f"{existing.path} is a folder; only files are deleted.", hint="Name its files one by one."
    )
