"""The tools that show the active document and facts about it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.tools.active_document.access import (
    DocumentAccess,
    OpenDocument,
    OpenTextDocument,
    cells_within,
    count_text,
    document_heading,
)
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.files.numbered_lines import (
    NumberedLines,
    numbered_lines,
    split_lines,
)
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.notebook.access import CellReadTracker, file_name
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.messages import Selection
from jupyter_ai_shoulders.wire.results import ResultMeta, SeenVersion, ToolEnvelope

SHOWN_CHARACTERS = 8_000
SELECTED_CHARACTERS = 500


class ReadDocumentArguments(ToolArguments):
    """Arguments of ``read_document``."""

    start_line: int | None = Field(default=None, ge=1, description="First line, from 1.")
    end_line: int | None = Field(default=None, ge=1, description="Last line, included.")


class ReadDocument(BaseTool[ReadDocumentArguments]):
    """Shows the document, or some lines of it, with line numbers."""

    name = "read_document"
    category = "document"
    risk = "read"
    arguments = ReadDocumentArguments

    def __init__(
        self, access: DocumentAccess, cells: CellReadTracker, files: FileReadTracker
    ) -> None:
        self._access = access
        self._cells = cells
        self._files = files

    async def subject(self, args: ReadDocumentArguments, context: CallContext) -> CallSubject:
        return self._access.subject("Read document", context)

    async def run(
        self, args: ReadDocumentArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        document = await self._access.open(context)
        start = args.start_line or 1
        lines = numbered_lines(document.text, start, args.end_line, SHOWN_CHARACTERS)
        parts = [document_heading(document), lines.text or "(no lines)", _read_on(lines)]
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="file",
                data={"path": document.path, "first": lines.first, "last": lines.last},
                meta=ResultMeta(total=lines.total, truncated=None if lines.whole else True),
            ),
            content=text_content("\n".join(filter(None, parts))),
            seen=self._seen(document, lines, context),
        )

    def _seen(
        self, document: OpenDocument, lines: NumberedLines, context: CallContext
    ) -> tuple[SeenVersion, ...]:
        if isinstance(document, OpenTextDocument):
            before = context.seen.get((document.path, None))
            return (self._files.note(document.snapshot, whole=lines.whole, before=before),)
        if lines.cut:
            return ()
        shown = "\n".join(split_lines(document.text)[lines.first - 1 : lines.last])
        ids = set(cells_within(document, shown))
        cells = (cell for cell in document.snapshot.cells if cell.id in ids)
        return tuple(self._cells.note(document.path, cell) for cell in cells)


class DocumentInfoArguments(ToolArguments):
    """``get_document_info`` takes none."""


class GetDocumentInfo(BaseTool[DocumentInfoArguments]):
    """Returns the size of the document and the selection."""

    name = "get_document_info"
    category = "document"
    risk = "read"
    arguments = DocumentInfoArguments

    def __init__(self, access: DocumentAccess) -> None:
        self._access = access

    async def subject(self, args: DocumentInfoArguments, context: CallContext) -> CallSubject:
        return self._access.subject("Look at the document", context)

    async def run(
        self, args: DocumentInfoArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        document = await self._access.open(context)
        selected = _selected(context.selection)
        data: JsonObject = {
            "filename": file_name(document.path),
            "path": document.path,
            "lines": len(split_lines(document.text)),
            "words": len(document.text.split()),
            "characters": len(document.text),
            "has_selection": selected is not None,
            "selected_text": selected,
        }
        said = [document_heading(document), count_text(len(document.text), "character")]
        if selected is None:
            said.append("Nothing is selected.")
        else:
            said.append(f"Selected: {selected}")
        yield Result(
            envelope=ToolEnvelope(ok=True, kind="text", data=data),
            content=text_content("\n".join(said)),
        )


def _selected(selection: Selection | None) -> str | None:
    if selection is None or not selection.text:
        return None
    text = selection.text
    if len(text) <= SELECTED_CHARACTERS:
        return text
    return f"{text[:SELECTED_CHARACTERS]} … ({len(text)} characters)"


def _read_on(lines: NumberedLines) -> str:
    """Return the hint on how to read the remaining lines."""
    if lines.last < lines.first:
        return f"[no such lines; the last is line {lines.total}]" if lines.total else ""
    if lines.last < lines.total:
        return (
            f"[lines {lines.first}-{lines.last} of {lines.total}; "
            f"use start_line and end_line to read on]"
        )
    return ""
