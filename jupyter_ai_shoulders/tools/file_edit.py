"""The tool that replaces exact text in a file (chapters 05 and 07)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import ClassVar

from pydantic import Field

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.core.redaction import MASK
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Progress,
    Result,
    ToolArguments,
)
from jupyter_ai_shoulders.tools.file_access import FileAccess, FileTool, TextThere
from jupyter_ai_shoulders.tools.file_diff import bounded_diff
from jupyter_ai_shoulders.tools.file_versions import FileVersions
from jupyter_ai_shoulders.tools.file_write import (
    HIDDEN_SECRET,
    change_subject,
    replaced,
    written_text,
)
from jupyter_ai_shoulders.tools.notebook_access import failed
from jupyter_ai_shoulders.tools.text_replace import (
    Ambiguous,
    Missing,
    Replaced,
    near_matches,
    replace_once,
)
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Risk

_LISTED_LINES = 20


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

    def applied_to(self, text: str) -> Replaced | Missing | Ambiguous:
        """Return the file's text after this edit."""
        old, new = written_text(self.old_string), written_text(self.new_string)
        if not self.replace_all:
            return replace_once(text, old, new)
        if old not in text:
            return Missing(near_matches(text, old))
        return Replaced(text.replace(old, new))


class EditFile(FileTool):
    """Replaces text of a file, if it is as the conversation last read it."""

    name: ClassVar[str] = "edit_file"
    risk: ClassVar[Risk] = "write"
    idempotent: ClassVar[bool] = False
    arguments = EditFileArguments

    def __init__(self, access: FileAccess, versions: FileVersions) -> None:
        self._access = access
        self._versions = versions

    async def subject(self, args: EditFileArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with its diff against the file as it is now."""
        del context
        there = await self._file(args)
        edited = await asyncio.to_thread(args.applied_to, there.snapshot.text)
        after = edited.text if isinstance(edited, Replaced) else None
        diff = None
        if after is not None:
            diff = await asyncio.to_thread(bounded_diff, there.snapshot.text, after)
        in_page = self._access.in_page(there.path)
        return change_subject(
            there, "Edit file", after, diff, "diff", dry=args.dry_run, in_page=in_page
        )

    async def run(
        self, args: EditFileArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Edit, or say why not."""
        there = await self._file(args)
        wanted = await self._wanted(args, there, context)
        refused = self._versions.refusal(there.snapshot, context, whole=False, wanted=wanted)
        yield refused or await self._edit(args, there, context)

    async def _edit(
        self, args: EditFileArguments, there: TextThere, context: CallContext
    ) -> Result:
        before = there.snapshot.text
        edited = await asyncio.to_thread(args.applied_to, before)
        if not isinstance(edited, Replaced):
            return no_replacement(there.path, edited)
        if edited.text.count(MASK) > before.count(MASK):
            return failed(HIDDEN_SECRET)
        return await replaced(
            self._access, self._versions, there, edited.text, context, dry=args.dry_run
        )

    async def _wanted(
        self, args: EditFileArguments, there: TextThere, context: CallContext
    ) -> str | None:
        """Return what the edit makes of the text that was read, for a proposal."""
        read = self._versions.read_text(there.path, context)
        if read is None or read == there.snapshot.text or args.dry_run:
            return None
        edited = await asyncio.to_thread(args.applied_to, read)
        return edited.text if isinstance(edited, Replaced) else None

    async def _file(self, args: EditFileArguments) -> TextThere:
        """Return the file. Raises ``NotFound`` with names that may be meant, and refusals."""
        there = await self._access.writable(args.path)
        if isinstance(there, TextThere):
            return there
        raise await no_such_file(self._access, there.path)


async def no_such_file(access: FileAccess, path: str) -> NotFound:
    """Say that a file is not there, and which are."""
    near = await access.near(path)
    hint = f"Did you mean {', '.join(near)}?" if near else "List the files to find its name."
    return NotFound(f"There is no file {path}.", hint=hint)


def no_replacement(path: str, outcome: Missing | Ambiguous) -> Result:
    """Refuse a replacement whose text does not occur exactly once."""
    if isinstance(outcome, Ambiguous):
        lines = ", ".join(map(str, outcome.lines[:_LISTED_LINES]))
        more = ", …" if len(outcome.lines) > _LISTED_LINES else ""
        return failed(
            ErrorInfo(
                code="ambiguous",
                message=f"old_string occurs {len(outcome.lines)} times in {path}, beginning on "
                f"lines {lines}{more}; nothing was changed.",
                hint="Give more of the text around the place you mean, or set replace_all.",
            )
        )
    near = "".join(f"\n{match}" for match in outcome.near)
    return failed(
        ErrorInfo(
            code="not_found",
            message=f"old_string does not occur in {path}; nothing was changed.",
            hint="It must match exactly, with spaces and line ends, without line numbers.",
        ),
        f"The most similar lines:{near}" if near else None,
        kind="not_found",
    )
