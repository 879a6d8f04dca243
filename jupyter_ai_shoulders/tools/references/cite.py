"""The tool that cites works in a notebook's cell or in a text."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.references.citation_syntax import detect_syntax, insert_citation
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    ToolArguments,
)
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff
from jupyter_ai_shoulders.tools.editing.text_replacement import Replacement
from jupyter_ai_shoulders.tools.editing.three_way_merge import MergedText, RequestedEdit
from jupyter_ai_shoulders.tools.files.access import TextFileAtPath, is_notebook
from jupyter_ai_shoulders.tools.files.edit import no_such_file
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.files.write import change_subject, write_change
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook.edit_cell import EditCell, EditCellArguments
from jupyter_ai_shoulders.tools.references.library import Library
from jupyter_ai_shoulders.tools.references.read import no_such_key
from jupyter_ai_shoulders.wire.ids import CellId

MARKDOWN = frozenset({".md", ".markdown", ".qmd", ".rmd", ".txt"})
LATEX = frozenset({".tex", ".latex"})


class CiteReferenceArguments(ToolArguments):
    """Arguments of ``cite_reference``."""

    key: str = Field(
        min_length=1, max_length=2_000, description="A citation key, or several with commas."
    )
    path: str = Field(min_length=1, description="A notebook, Markdown, Quarto or LaTeX file.")
    cell_id: CellId | None = Field(
        default=None, description="In a notebook: the Markdown cell to cite in."
    )
    after: str | None = Field(
        default=None,
        min_length=1,
        max_length=10_000,
        description="Text that occurs once, after which it is cited; none: at the end.",
    )

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, each once."""
        parts = (part.strip().removeprefix("@") for part in self.key.split(","))
        return tuple(dict.fromkeys(part for part in parts if part))


class CiteReference(BaseTool[CiteReferenceArguments]):
    """Writes a citation in the syntax of the document."""

    name = "cite_reference"
    category = "references"
    risk = "write"
    arguments = CiteReferenceArguments

    def __init__(
        self, library: Library, notebooks: NotebookAccess, cells: EditCell, texts: FileReadTracker
    ) -> None:
        self._library = library
        self._notebooks = notebooks
        self._cells = cells
        self._texts = texts

    async def subject(self, args: CiteReferenceArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with its diff. Raises like ``run``."""
        keys = await self._known_keys(args)
        shown = ", ".join(keys)
        if is_notebook(args.path):
            cell_id, insert = await self._in_cell(args, keys)
            place = await self._notebooks.find_cell(args.path, cell_id)
            edit = EditCellArguments(
                path=args.path, cell_id=cell_id, source=insert(place.cell.source)
            )
            subject = await self._cells.subject(edit, context)
            return replace(subject, title=f"Cite {shown} in cell {place.number}")
        existing, insert = await self._in_file(args, keys)
        edit = await asyncio.to_thread(
            self._texts.merge, _change(insert), existing.snapshot, context
        )
        after = edit.text if isinstance(edit, MergedText) else None
        diff = None
        if after is not None:
            diff = await asyncio.to_thread(bounded_diff, existing.snapshot.text, after)
        in_page = self._library.in_page(existing.path)
        return change_subject(
            existing, f"Cite {shown}", after, diff, "diff", dry=False, in_page=in_page
        )

    async def run(
        self, args: CiteReferenceArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Cite. Raises ``NotFound`` (key, document, cell) and ``InvalidRequest`` (place, kind)."""
        keys = await self._known_keys(args)
        if is_notebook(args.path):
            cell_id, insert = await self._in_cell(args, keys)
            yield await self._cells.edit(args.path, cell_id, _change(insert), context)
            return
        existing, insert = await self._in_file(args, keys)
        refused = self._texts.unread_refusal(existing.snapshot, context, whole=False)
        yield refused or await write_change(
            self._library.access, self._texts, existing, _change(insert), context, dry=False
        )

    async def _known_keys(self, args: CiteReferenceArguments) -> tuple[str, ...]:
        """Return the keys as the bibliographies write them. Raises ``NotFound``."""
        if not args.keys:
            raise InvalidRequest("There is no key.", hint="Give a citation key.")
        content = await self._library.content()
        known: list[str] = []
        for key in args.keys:
            try:
                known.append(content.find(key)[1].key)
            except NotFound as error:
                raise no_such_key(content, key) from error
        return tuple(dict.fromkeys(known))

    async def _in_cell(
        self, args: CiteReferenceArguments, keys: tuple[str, ...]
    ) -> tuple[CellId, Callable[[str], str]]:
        """Return the cell, and the insertion into its text in the notebook's syntax."""
        if args.cell_id is None:
            raise InvalidRequest(
                "In a notebook a citation needs its cell.",
                code="invalid_arguments",
                hint="Give the cell_id of a Markdown cell, as read_notebook shows it.",
            )
        place = await self._notebooks.find_cell(args.path, args.cell_id)
        if place.cell.cell_type != "markdown":
            raise InvalidRequest(
                f"{place.label} is a {place.cell.cell_type} cell; only Markdown cells cite.",
                hint="Choose a Markdown cell, or add one.",
            )
        texts = (c.source for c in place.snapshot.cells if c.cell_type == "markdown")
        syntax = await asyncio.to_thread(detect_syntax, "\n\n".join(texts))
        default = syntax or self._library.settings().citation_syntax
        return place.cell.id, lambda text: insert_citation(text, keys, args.after, default)

    async def _in_file(
        self, args: CiteReferenceArguments, keys: tuple[str, ...]
    ) -> tuple[TextFileAtPath, Callable[[str], str]]:
        """Return the file, and the insertion into its text."""
        suffix = posixpath.splitext(args.path)[1].lower()
        if args.cell_id is not None or suffix not in MARKDOWN | LATEX:
            raise InvalidRequest(
                f"{args.path} is not a text that cites"
                if args.cell_id is None
                else f"{args.path} is not a notebook, so it has no cells.",
                code="invalid_arguments",
                hint="Cite in notebooks, Markdown, Quarto and LaTeX files.",
            )
        existing = await self._library.access.writable(args.path)
        if not isinstance(existing, TextFileAtPath):
            raise await no_such_file(self._library.access, existing.path)
        default, latex = self._library.settings().citation_syntax, suffix in LATEX
        return existing, lambda text: insert_citation(text, keys, args.after, default, latex=latex)


def _change(insert: Callable[[str], str]) -> RequestedEdit:
    return RequestedEdit(lambda text: Replacement(insert(text)))
