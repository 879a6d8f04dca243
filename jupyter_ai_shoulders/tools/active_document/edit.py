"""The tool that replaces exact text in the active document.

Intended for small models: one replacement of the first occurrence, as one undo step. The file need
not have been read, because the text to find protects the user's changes. A notebook cell must have
been read; ``edit_cell`` edits it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from pydantic import Field, field_validator

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.core.redaction.redactor import MASK
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextEditConflict, TextSnapshot
from jupyter_ai_shoulders.tools.active_document.access import (
    DocumentAccess,
    OpenDocument,
    OpenNotebookDocument,
    OpenTextDocument,
)
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
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff, change_data
from jupyter_ai_shoulders.tools.editing.text_replacement import NoMatch, Replacement, near_matches
from jupyter_ai_shoulders.tools.editing.three_way_merge import ATTEMPTS, MergedText, RequestedEdit
from jupyter_ai_shoulders.tools.files.access import check_text_name, path_hard_link_note
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.files.write import normalized_text
from jupyter_ai_shoulders.tools.notebook.access import failure_result, file_name
from jupyter_ai_shoulders.tools.notebook.edit_cell import (
    HIDDEN_SECRET,
    EditCell,
)
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.versions import cell_version, text_version

SHOWN_CHARACTERS = 60


class EditDocumentArguments(ToolArguments):
    """Arguments of ``edit_document``."""

    find: str = Field(min_length=1, description="The exact text to replace, case and all.")
    replace: str = Field(description="What takes its place.")

    @field_validator("find", "replace")
    @classmethod
    def _as_documents_have_it(cls, text: str) -> str:
        return normalized_text(text)


class EditDocument(BaseTool[EditDocumentArguments]):
    """Replaces the first occurrence of a text."""

    name = "edit_document"
    category = "document"
    risk = "write"
    arguments = EditDocumentArguments

    def __init__(self, access: DocumentAccess, files: FileReadTracker, cells: EditCell) -> None:
        self._access = access
        self._files = files
        self._cells = cells

    async def subject(self, args: EditDocumentArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the diff to the current document."""
        if context.active_document is None:
            return self._access.subject("Edit document", context)
        document = await self._access.open(context)
        cell = _cell(document, args, context)
        before = _text(document) if cell is None else cell.source
        after = _replaced(before, args)
        diff = None if after is None else await asyncio.to_thread(bounded_diff, before, after)
        version = text_version if cell is None else cell_version
        return CallSubject(
            title="Edit document",
            target_label=file_name(document.path),
            target=Target(path=document.path, cell_id=None if cell is None else cell.id),
            preview=diff,
            language="diff",
            undoable=True,
            in_page=self._access.in_page(document.path),
            effect=Effect(
                before_version=version(before),
                expected_version=None if after is None else version(after),
            ),
            always_ask_reason=await self._always_ask_reason(document),
        )

    async def run(
        self, args: EditDocumentArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        document = await self._access.open(context)
        if args.replace.count(MASK) > args.find.count(MASK):
            yield failure_result(HIDDEN_SECRET)
        elif isinstance(document, OpenTextDocument):
            yield await self._edit_text(args, document.snapshot, context)
        else:
            yield await self._edit_cell(args, document, context)

    async def _always_ask_reason(self, document: OpenDocument) -> str | None:
        """Return why a change always needs approval: the file has another hard link."""
        if isinstance(document, OpenNotebookDocument):
            return None
        return path_hard_link_note(await self._access.files.inspect(document.path))

    async def _edit_text(
        self, args: EditDocumentArguments, before: TextSnapshot, context: CallContext
    ) -> Result:
        """Edit the file, read or not; concurrent typing of the user is kept."""
        check_text_name(before.path)
        origin = ChangeOrigin(context.session_id, context.turn_id, context.call_id)
        for _ in range(ATTEMPTS):
            edit = await asyncio.to_thread(self._files.merge, _change(args), before, context)
            if isinstance(edit, NoMatch):
                return _not_found(args, before.path, before.text)
            if not isinstance(edit, MergedText):
                return self._files.unmerged_result(edit, before, context)
            outcome = await self._access.texts.replace(
                before.path, edit.text, before.version, origin
            )
            if not isinstance(outcome, TextEditConflict):
                return self._done(args, edit, before, context)
            if outcome.current is None:
                raise NotFound(f"{before.path} no longer exists; nothing was changed.")
            before = outcome.current
        return failure_result(
            ErrorInfo(
                code="conflict",
                message=f"{before.path} changed while it was edited; nothing was overwritten.",
                hint="Read or search the document again.",
                retryable=True,
            )
        )

    def _done(
        self,
        args: EditDocumentArguments,
        edit: MergedText,
        before: TextSnapshot,
        context: CallContext,
    ) -> Result:
        after, version = edit.text, text_version(edit.text)
        others, seen = self._files.describe_user_changes(
            edit, before, replace(before, text=after, version=version), context
        )
        unsaved = "The document has unsaved changes, as before." if before.dirty else ""
        said = "\n".join(filter(None, [_said(args, before.text), unsaved, others]))
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="diff",
                data=change_data(before.path, before.text, after, bounded_diff(before.text, after)),
            ),
            content=text_content(said),
            seen=(seen,),
            after_version=version,
        )

    async def _edit_cell(
        self, args: EditDocumentArguments, document: OpenNotebookDocument, context: CallContext
    ) -> Result:
        """Edit the active cell, else the first cell with the text, as ``edit_cell`` does."""
        cell = _cell(document, args, context)
        if cell is None:
            sources = "\n".join(cell.source for cell in document.snapshot.cells)
            return _not_found(args, document.path, sources)
        result = await self._cells.edit(document.path, cell.id, _change(args), context)
        if not result.ok:
            return result
        place = f"In cell {document.snapshot.cells.index(cell) + 1} (id={cell.id}): "
        whole = "".join(part.text for part in result.content if isinstance(part, TextPart))
        others = whole.partition("\n")[2]
        said = "\n".join(filter(None, [f"{place}{_said(args, cell.source)}", others]))
        return replace(result, content=text_content(said))


def _text(document: OpenDocument) -> str:
    """Return the editable text of a document in which no cell contains the text."""
    return document.text if isinstance(document, OpenTextDocument) else ""


def _cell(
    document: OpenDocument, args: EditDocumentArguments, context: CallContext
) -> NotebookCell | None:
    """Return the target cell: the active one, or the first with the text."""
    if isinstance(document, OpenTextDocument):
        return None
    found = [cell for cell in document.snapshot.cells if args.find in cell.source]
    active = (cell for cell in found if cell.id == context.active_cell_id)
    return next(active, found[0] if found else None)


def _replaced(text: str, args: EditDocumentArguments) -> str | None:
    """Return the text after the edit; None if it does not contain the text to replace."""
    return text.replace(args.find, args.replace, 1) if args.find in text else None


def _change(args: EditDocumentArguments) -> RequestedEdit:
    def applied_to(text: str) -> Replacement | NoMatch:
        after = _replaced(text, args)
        return NoMatch(()) if after is None else Replacement(after)

    return RequestedEdit(applied_to)


def _said(args: EditDocumentArguments, before: str) -> str:
    line = before.count("\n", 0, max(0, before.find(args.find))) + 1
    return f"Line {line}: {_short(args.find)} → {_short(args.replace)}"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _not_found(args: EditDocumentArguments, path: str, text: str) -> Result:
    near = "".join(f"\n{match}" for match in near_matches(text, args.find))
    return failure_result(
        ErrorInfo(
            code="not_found",
            message=f"{_short(args.find)!r} does not occur in {path}; nothing was changed.",
            hint="It must match exactly, with case, spaces and line ends. Use search_document.",
        ),
        f"The most similar lines:{near}" if near else None,
        kind="not_found",
    )
