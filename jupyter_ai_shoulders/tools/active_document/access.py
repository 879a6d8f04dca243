"""Access to the user's active document, for the document tools.

A notebook is read as the rendering a model sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.files.base import TextDocuments, TextSnapshot
from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.notebook.render import render_notebook
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Target
from jupyter_ai_shoulders.tools.files.access import FileAccess, is_notebook
from jupyter_ai_shoulders.tools.files.numbered_lines import split_lines
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess, file_name
from jupyter_ai_shoulders.wire.ids import CellId


@dataclass(frozen=True, slots=True)
class OpenTextDocument:
    """The active document, as a text file."""

    snapshot: TextSnapshot

    @property
    def path(self) -> str:
        return self.snapshot.path

    @property
    def text(self) -> str:
        """Return the text for edits and searches."""
        return self.snapshot.text

    @property
    def dirty(self) -> bool:
        """Return whether it has unsaved changes."""
        return self.snapshot.dirty


@dataclass(frozen=True, slots=True)
class OpenNotebookDocument:
    """The active document, as a notebook; ``text`` is its rendering, ``whole`` the cells shown in
    full.
    """

    snapshot: NotebookSnapshot
    text: str
    whole: frozenset[CellId]

    @property
    def path(self) -> str:
        return self.snapshot.path

    @property
    def dirty(self) -> bool:
        """Return whether it has unsaved changes."""
        return self.snapshot.dirty


OpenDocument = OpenTextDocument | OpenNotebookDocument


class DocumentAccess:
    """Finds the active document."""

    def __init__(self, files: FileAccess, notebooks: NotebookAccess) -> None:
        self.files = files
        self.notebooks = notebooks

    @property
    def texts(self) -> TextDocuments:
        return self.files.texts

    async def open(self, context: CallContext) -> OpenDocument:
        """Return the document.

        Raises ``NotFound`` if there is no active document or it no longer exists, and the errors of
        reading a file or a notebook.
        """
        path = context.active_document
        if path is None:
            raise NotFound(
                "The user has no document in front of them.",
                hint="Ask them to open the one they mean.",
            )
        if not is_notebook(path):
            return OpenTextDocument(await self.texts.read(path))
        snapshot = await (await self.notebooks.open(path)).read()
        rendering = render_notebook(snapshot)
        return OpenNotebookDocument(snapshot, rendering.text, rendering.whole)

    def subject(self, title: str, context: CallContext) -> CallSubject:
        """Return the subject of a read-only call."""
        path = context.active_document
        return CallSubject(
            title=title,
            target_label=None if path is None else file_name(path),
            target=Target(path=path),
        )

    def in_page(self, path: str) -> bool:
        """Return whether a page has the document open."""
        return self.notebooks.in_page(path) if is_notebook(path) else self.texts.in_page(path)


def count_text(number: int, what: str) -> str:
    """Return a count with its noun."""
    return f"{number} {what}{'s' * (number != 1)}"


def document_heading(document: OpenDocument) -> str:
    """Return the line that introduces a document to the model."""
    lines, words = len(split_lines(document.text)), len(document.text.split())
    unsaved = ", with unsaved changes" if document.dirty else ""
    size = f"{count_text(lines, 'line')}, {count_text(words, 'word')}"
    return f'Document: "{document.path}" ({size}{unsaved})'


def cells_within(document: OpenNotebookDocument, text: str) -> Iterable[CellId]:
    """Return the cells whose full source is contained in a part of the rendering."""
    for cell in document.snapshot.cells:
        if cell.id in document.whole and f"id={cell.id}" in text and cell.source in text:
            yield cell.id
