"""The tools that write whole files: ``write_file`` and ``create_file``."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import AsyncIterator
from dataclasses import replace

from pydantic import Field

from jupyter_ai_shoulders.core.redaction.redactor import MASK
from jupyter_ai_shoulders.files.base import TextEditConflict, TextSnapshot
from jupyter_ai_shoulders.files.encoding import normalize_newlines
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
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff, change_data, write_warnings
from jupyter_ai_shoulders.tools.editing.text_replacement import Replacement
from jupyter_ai_shoulders.tools.editing.three_way_merge import (
    ATTEMPTS,
    ConflictingEdit,
    MergedText,
    RequestedEdit,
)
from jupyter_ai_shoulders.tools.files.access import (
    FileAccess,
    NothingAtPath,
    TextFileAtPath,
    origin_of,
    path_hard_link_note,
)
from jupyter_ai_shoulders.tools.files.numbered_lines import split_lines
from jupyter_ai_shoulders.tools.files.read_tracking import HIDDEN_SECRET, FileReadTracker
from jupyter_ai_shoulders.tools.notebook.access import failure_result, file_name
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.versions import text_version, well_formed

LANGUAGES = {
    ".py": "python",
    ".md": "markdown",
    ".json": "json",
    ".r": "r",
    ".jl": "julia",
    ".js": "javascript",
    ".ts": "typescript",
    ".sql": "sql",
    ".sh": "shell",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".html": "html",
    ".css": "css",
}


class WriteFileArguments(ToolArguments):
    """Arguments of ``write_file`` and ``create_file``."""

    path: str = Field(min_length=1, description="Workspace-relative path of the file.")
    content: str = Field(description="The whole text of the file.")
    dry_run: bool = Field(
        default=False, description="Only tell what would change, and what is risky about it."
    )


class _WriteTool(BaseTool[WriteFileArguments]):
    """Base of both tools: create a file, or replace the text of an existing one."""

    category = "workspace"
    risk = "write"
    arguments = WriteFileArguments

    def __init__(self, access: FileAccess, versions: FileReadTracker) -> None:
        self._access = access
        self._versions = versions

    async def subject(self, args: WriteFileArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown: the new text, or its diff to the existing one."""
        existing = await self._access.writable(args.path)
        after = normalized_text(args.content)
        if isinstance(existing, NothingAtPath):
            return change_subject(
                existing,
                "Create file",
                after,
                args.content,
                language_of(existing.path),
                dry=args.dry_run,
            )
        edit = await asyncio.to_thread(
            self._versions.merge, _whole(args), existing.snapshot, context
        )
        after = edit.text if isinstance(edit, MergedText) else after
        diff = await asyncio.to_thread(bounded_diff, existing.snapshot.text, after)
        return change_subject(
            existing,
            "Write file",
            after,
            diff,
            "diff",
            dry=args.dry_run,
            in_page=self._access.in_page(existing.path),
        )

    async def _create(self, args: WriteFileArguments, path: str, context: CallContext) -> Result:
        after = normalized_text(args.content)
        if args.dry_run:
            diff = await asyncio.to_thread(bounded_diff, "", after)
            warned = await asyncio.to_thread(write_warnings, path, None, after)
            return _dry_run_result(path, None, after, diff, warned)
        applied = await self._access.changes.create(
            path, well_formed(args.content), origin_of(context)
        )
        version = applied.after or text_version(after)
        seen = self._versions.note_text(path, version, after)
        warning = f"The text has {MASK} in it; the file has that, and no secret." * (MASK in after)
        count = len(split_lines(after))
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="diff",
                data=change_data(path, "", after, ""),
                warning=warning or None,
            ),
            content=text_content(
                " ".join(filter(None, [f"{path} was made ({count} lines).", warning]))
            ),
            seen=(seen,),
            after_version=version,
        )


class WriteFile(_WriteTool):
    """Creates a file, or replaces the text of a file that was read whole."""

    name = "write_file"

    async def run(
        self, args: WriteFileArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        existing = await self._access.writable(args.path)
        if isinstance(existing, NothingAtPath):
            yield await self._create(args, existing.path, context)
            return
        refused = self._versions.unread_refusal(existing.snapshot, context, whole=True)
        yield refused or await self._replace(args, existing, context)

    async def write(self, args: WriteFileArguments, context: CallContext) -> Result:
        """Create the file, or replace its text whether or not the conversation has read it."""
        existing = await self._access.writable(args.path)
        if isinstance(existing, NothingAtPath):
            return await self._create(args, existing.path, context)
        return await self._replace(args, existing, context)

    async def _replace(
        self, args: WriteFileArguments, existing: TextFileAtPath, context: CallContext
    ) -> Result:
        return await write_change(
            self._access, self._versions, existing, _whole(args), context, dry=args.dry_run
        )


class CreateFile(_WriteTool):
    """Creates a file that does not exist yet."""

    name = "create_file"

    async def run(
        self, args: WriteFileArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        existing = await self._access.writable(args.path)
        if isinstance(existing, NothingAtPath):
            yield await self._create(args, existing.path, context)
            return
        yield failure_result(
            ErrorInfo(
                code="conflict",
                message=f"{existing.path} already exists; it was not changed.",
                hint="Read it and use edit_file or write_file, or choose another name.",
            )
        )


async def write_change(
    access: FileAccess,
    versions: FileReadTracker,
    existing: TextFileAtPath,
    change: RequestedEdit,
    context: CallContext,
    *,
    dry: bool,
) -> Result:
    """Change a file, or only report the change (``dry``).

    Changes of the user since it was read are kept; the edit is merged again if the user types at
    the same moment.
    """
    for _ in range(ATTEMPTS):
        edit = await asyncio.to_thread(versions.merge, change, existing.snapshot, context)
        if not isinstance(edit, MergedText):
            return versions.unmerged_result(edit, existing.snapshot, context)
        if edit.hides_secret:
            return failure_result(HIDDEN_SECRET)
        outcome = await _try_write(access, versions, existing, edit, context, dry=dry)
        if isinstance(outcome, Result):
            return outcome
        existing = replace(existing, snapshot=outcome)
    edit = await asyncio.to_thread(versions.merge, change, existing.snapshot, context)
    if isinstance(edit, MergedText):  # the user types too fast
        edit = ConflictingEdit(existing.snapshot.text, edit.text)
    return versions.unmerged_result(edit, existing.snapshot, context)


async def _try_write(
    access: FileAccess,
    versions: FileReadTracker,
    existing: TextFileAtPath,
    edit: MergedText,
    context: CallContext,
    *,
    dry: bool,
) -> Result | TextSnapshot:
    """Write a text; return the current file if the user changed it first."""
    before, path, after = existing.snapshot.text, existing.path, edit.text
    diff = await asyncio.to_thread(bounded_diff, before, after)
    if dry and after != before:
        warned = await asyncio.to_thread(write_warnings, path, before, after)
        return _dry_run_result(path, before, after, diff, _more_risks(existing, warned))
    now = existing.snapshot
    if after != before:
        outcome = await access.texts.replace(path, after, existing.version, origin_of(context))
        if isinstance(outcome, TextEditConflict):
            return (
                failure_result(deleted_error(path)) if outcome.current is None else outcome.current
            )
        version = outcome.after or text_version(after)
        now = replace(now, text=after, version=version, dirty=outcome.dirty)
    others, seen = versions.describe_user_changes(edit, existing.snapshot, now, context)
    unsaved = " It has unsaved changes in the page; it is not saved yet." * now.dirty
    done = f"was changed.{unsaved}\n{diff}"
    what = "already reads so; nothing was changed." if after == before else done
    return Result(
        envelope=ToolEnvelope(ok=True, kind="diff", data=change_data(path, before, after, diff)),
        content=text_content("\n".join(filter(None, [f"{path} {what}", others]))),
        seen=() if dry else (seen,),
        after_version=None if after == before else now.version,
    )


def change_subject(
    existing: NothingAtPath | TextFileAtPath,
    title: str,
    after: str | None,
    preview: str | None,
    language: str | None,
    *,
    dry: bool,
    in_page: bool = False,
) -> CallSubject:
    """Return how a call that writes a text is shown; ``after`` is None if it will fail."""
    return CallSubject(
        title=f"{title} (dry run)" if dry else title,
        target_label=file_name(existing.path),
        target=Target(path=existing.path),
        preview=preview,
        language=language,
        undoable=True,
        in_page=in_page,
        dry_run=dry,
        effect=Effect(
            before_version=existing.version,
            expected_version=None if after is None or dry else text_version(after),
        ),
        always_ask_reason=None if dry else path_hard_link_note(existing),
    )


def _dry_run_result(
    path: str, before: str | None, after: str, diff: str, warned: list[str]
) -> Result:
    """Return the result of a dry run; ``before`` is None if the file would be created."""
    data = change_data(path, before or "", after, diff)
    what = "would be made" if before is None else "would be changed"
    warning = " ".join(warned) or None
    said = [f"{path} {what}; nothing was changed.", *(f"Risk: {risk}" for risk in warned), diff]
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="diff",
            data={**data, "dry_run": True, "risks": [*warned]},
            warning=warning,
        ),
        content=text_content("\n".join(said)),
    )


def normalized_text(content: str) -> str:
    r"""Return a text as it is written: line breaks ``\n``, no unpaired surrogates."""
    return normalize_newlines(well_formed(content))


def language_of(path: str) -> str | None:
    """Return the language for highlighting a new file."""
    return LANGUAGES.get(posixpath.splitext(path)[1].lower())


def deleted_error(path: str) -> ErrorInfo:
    """Return why a file deleted in the meantime is not changed."""
    return ErrorInfo(
        code="not_found",
        message=f"{path} was deleted, or is no longer text; nothing was changed.",
        hint="Check it again.",
    )


def _whole(args: WriteFileArguments) -> RequestedEdit:
    after = normalized_text(args.content)
    return RequestedEdit(lambda _before: Replacement(after), whole=True)


def _more_risks(existing: TextFileAtPath, warned: list[str]) -> list[str]:
    found = list(warned)
    if existing.snapshot.dirty:
        found.append("The file is open with unsaved changes; they stay, and are not saved by it.")
    if existing.links > 1:
        found.append(f"The file has {existing.links} names (hard links).")
    return found
