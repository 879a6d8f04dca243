"""The tool that replaces exact text in a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    ToolArguments,
)
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff
from jupyter_ai_shoulders.tools.editing.text_replacement import (
    AmbiguousMatch,
    NoMatch,
    Replacement,
    near_matches,
    replace_once,
)
from jupyter_ai_shoulders.tools.editing.three_way_merge import MergedText, RequestedEdit
from jupyter_ai_shoulders.tools.files.access import FileAccess, TextFileAtPath
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.files.write import change_subject, normalized_text, write_change


class EditFileArguments(ToolArguments):
    """Arguments of ``edit_file``."""

    path: str = Field(min_length=1, description="Workspace-relative path of the file.")
    old_string: str = Field(
        min_length=1, description="The exact text to replace; must occur once, but see replace_all."
    )
    new_string: str = Field(description="What takes its place.")
    replace_all: bool = Field(default=False, description="Replace every occurrence.")
    dry_run: bool = Field(
        default=False, description="Only tell what would change, and what is risky about it."
    )

    def change(self) -> RequestedEdit:
        """Return the requested edit."""
        return RequestedEdit(self._applied_to)

    def _applied_to(self, text: str) -> Replacement | NoMatch | AmbiguousMatch:
        old, new = normalized_text(self.old_string), normalized_text(self.new_string)
        if not self.replace_all:
            return replace_once(text, old, new)
        if old not in text:
            return NoMatch(near_matches(text, old))
        return Replacement(text.replace(old, new))


class EditFile(BaseTool[EditFileArguments]):
    """Replaces text of a file and keeps the user's changes since it was read."""

    name = "edit_file"
    category = "workspace"
    risk = "write"
    arguments = EditFileArguments

    def __init__(self, access: FileAccess, versions: FileReadTracker) -> None:
        self._access = access
        self._versions = versions

    async def subject(self, args: EditFileArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with its diff to the current file."""
        existing = await self._file(args)
        edit = await asyncio.to_thread(
            self._versions.merge, args.change(), existing.snapshot, context
        )
        after = edit.text if isinstance(edit, MergedText) else None
        diff = None
        if after is not None:
            diff = await asyncio.to_thread(bounded_diff, existing.snapshot.text, after)
        in_page = self._access.in_page(existing.path)
        return change_subject(
            existing, "Edit file", after, diff, "diff", dry=args.dry_run, in_page=in_page
        )

    async def run(
        self, args: EditFileArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        existing = await self._file(args)
        refused = self._versions.unread_refusal(existing.snapshot, context, whole=False)
        yield refused or await write_change(
            self._access, self._versions, existing, args.change(), context, dry=args.dry_run
        )

    async def _file(self, args: EditFileArguments) -> TextFileAtPath:
        """Return the file. Raises ``NotFound`` with similar paths, and refusals."""
        existing = await self._access.writable(args.path)
        if isinstance(existing, TextFileAtPath):
            return existing
        raise await no_such_file(self._access, existing.path)


async def no_such_file(access: FileAccess, path: str) -> NotFound:
    """Return the error for a missing file, with similar paths."""
    near = await access.similar_paths(path)
    hint = f"Did you mean {', '.join(near)}?" if near else "List the files to find its name."
    return NotFound(f"There is no file {path}.", hint=hint)
