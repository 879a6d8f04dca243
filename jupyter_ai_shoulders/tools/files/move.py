"""The tools that rename, move and copy files.

They also handle notebooks. A page that has the file open follows it.
"""

from __future__ import annotations

import posixpath
from collections.abc import AsyncIterator
from typing import ClassVar

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
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
    PathContent,
    is_notebook,
    origin_of,
    path_hard_link_note,
)
from jupyter_ai_shoulders.tools.files.edit import no_such_file
from jupyter_ai_shoulders.tools.files.read_tracking import renamed_versions
from jupyter_ai_shoulders.tools.notebook.access import file_name
from jupyter_ai_shoulders.wire.ids import Version
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.versions import ABSENT


class MoveArguments(ToolArguments):
    """Arguments of ``rename_file``, ``move_file`` and ``duplicate_file``."""

    path: str = Field(min_length=1, description="Workspace-relative path of the file.")
    new_path: str = Field(
        min_length=1,
        description="Workspace-relative path it gets, or a folder to put it into under its name.",
    )


class _MoveTool(BaseTool[MoveArguments]):
    """Base of ``rename_file`` and ``move_file``."""

    category = "workspace"
    risk = "write"
    arguments = MoveArguments
    title: ClassVar[str]
    done: ClassVar[str]

    def __init__(self, access: FileAccess) -> None:
        self._access = access

    async def subject(self, args: MoveArguments, context: CallContext) -> CallSubject:
        existing = await self._access.inspect(args.path)
        new_path = await self._new_path(args, existing)
        target = await self._access.inspect(new_path)
        if isinstance(existing, NothingAtPath) and isinstance(target, NothingAtPath):
            raise await no_such_file(self._access, existing.path)
        return CallSubject(
            title=self.title,
            target_label=_label(existing.path, new_path),
            target=Target(path=existing.path, new_path=new_path),
            preview=f"{existing.path} → {new_path}",
            undoable=True,
            moves_or_removes=True,
            effect=Effect(before_version=_version(existing), expected_version=ABSENT),
            always_ask_reason=path_hard_link_note(existing),
        )

    async def run(
        self, args: MoveArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        existing = await self._access.inspect(args.path)
        if isinstance(existing, NothingAtPath):
            raise await no_such_file(self._access, existing.path)
        new_path = await self._new_path(args, existing)
        await self._access.changes.move(existing.path, new_path, origin_of(context))
        yield Result(
            envelope=ToolEnvelope(
                ok=True, kind="text", data={"path": existing.path, "new_path": new_path}
            ),
            content=text_content(f"{existing.path} {self.done} {new_path}."),
            seen=renamed_versions(context, existing.path, new_path),
            after_version=ABSENT,
        )

    async def _new_path(self, args: MoveArguments, existing: PathContent) -> WorkspacePath:
        return await resolve_destination(self._access, args, existing)


class RenameFile(_MoveTool):
    """Renames a file."""

    name = "rename_file"
    title = "Rename file"
    done = "is now called"


class MoveFile(_MoveTool):
    """Moves a file to another folder."""

    name = "move_file"
    title = "Move file"
    done = "is now at"


class DuplicateFile(BaseTool[MoveArguments]):
    """Copies a file."""

    name = "duplicate_file"
    category = "workspace"
    risk = "write"
    arguments = MoveArguments

    def __init__(self, access: FileAccess) -> None:
        self._access = access

    async def subject(self, args: MoveArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown; its target is the new file."""
        existing = await self._source(args)
        new_path = await resolve_destination(self._access, args, existing)
        target = await self._access.inspect(new_path)
        return CallSubject(
            title="Duplicate file",
            target_label=_label(existing.path, new_path),
            target=Target(path=existing.path, new_path=new_path),
            preview=f"{existing.path} → {new_path}",
            undoable=True,
            effect=Effect(before_version=_version(target), expected_version=_version(existing)),
        )

    async def run(
        self, args: MoveArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        existing = await self._source(args)
        new_path = await resolve_destination(self._access, args, existing)
        applied = await self._access.changes.copy(existing.path, new_path, origin_of(context))
        yield Result(
            envelope=ToolEnvelope(
                ok=True, kind="text", data={"path": existing.path, "new_path": new_path}
            ),
            content=text_content(f"{existing.path} was copied to {new_path}."),
            seen=renamed_versions(context, existing.path, new_path),
            after_version=applied.after,
        )

    async def _source(self, args: MoveArguments) -> PathContent:
        existing = await self._access.inspect(args.path)
        match existing:
            case NothingAtPath():
                raise await no_such_file(self._access, existing.path)
            case FolderAtPath():
                raise InvalidRequest(
                    f"{existing.path} is a folder; only files are copied.", hint="Name its files."
                )
            case _:
                return existing


async def resolve_destination(
    access: FileAccess, args: MoveArguments, existing: PathContent
) -> WorkspacePath:
    """Return the destination of a file.

    Raises ``InvalidRequest`` if a notebook would become another file or the reverse, because only
    the notebook tools change notebooks.
    """
    new_path = await access.destination(args.new_path, existing.path)
    if is_notebook(existing.path) != is_notebook(new_path) and not isinstance(
        existing, FolderAtPath
    ):
        ending = posixpath.splitext(existing.path)[1] or "(none)"
        raise InvalidRequest(
            f"{existing.path} cannot become {new_path}: a notebook stays one, and nothing else "
            "becomes one by its name.",
            code="invalid_arguments",
            hint=f"Keep the ending {ending}; create_notebook makes notebooks.",
        )
    return new_path


def _version(existing: PathContent) -> Version | None:
    return existing.version


def _label(path: str, new_path: str) -> str:
    """Return both names in the shortest form that shows the change."""
    same_folder = posixpath.dirname(path) == posixpath.dirname(new_path)
    return f"{file_name(path)} → {file_name(new_path) if same_folder else new_path}"
