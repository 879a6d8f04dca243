"""Reads the current texts of documents with pending edits, each document once.

Used by ``changes.review.service``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.files.base import TextSnapshot
from jupyter_ai_shoulders.notebook.base import Notebooks
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell


class TextReader(Protocol):
    """Reads text files; implemented by ``TextDocuments``."""

    async def read(self, path: str) -> TextSnapshot:
        """Return a file's text. Raises ``NotFound`` and other errors of reading."""
        ...


@dataclass(frozen=True, slots=True)
class CurrentDocument:
    """A document now: the text of a file, or the requested cells and the order of all."""

    text: str | None = None
    cells: dict[CellId, NotebookCell] = field(default_factory=dict[CellId, NotebookCell])
    order: tuple[CellId, ...] = ()
    exists: bool = True
    error: ErrorInfo | None = None
    """Why the document cannot be read."""

    def text_of(self, cell_id: CellId | None) -> str | None:
        """Return the text of a cell or of the file; None when it does not exist."""
        if cell_id is None:
            return self.text
        cell = self.cells.get(cell_id)
        return None if cell is None else cell.source


class CurrentDocumentReader:
    """Reads notebooks and files for review."""

    def __init__(self, notebooks: Notebooks, texts: TextReader) -> None:
        self._notebooks = notebooks
        self._texts = texts

    async def read(self, document: str, cells: Iterable[CellId | None]) -> CurrentDocument:
        """Return the document with these cells. Raises ``StateUnavailable``."""
        wanted = {cell_id for cell_id in cells if cell_id is not None}
        try:
            if wanted:
                return await self._notebook(document, wanted)
            return CurrentDocument(text=(await self._texts.read(document)).text)
        except NotFound:
            return CurrentDocument(exists=False)
        except StateUnavailable:
            raise
        except ShouldersError as error:
            return CurrentDocument(error=error.info)

    async def _notebook(self, document: str, wanted: set[CellId]) -> CurrentDocument:
        snapshot = await self._notebooks.open(document).read()
        order = tuple(cell.id for cell in snapshot.cells)
        found = {cell_id: snapshot.cell(cell_id) for cell_id in wanted}
        return CurrentDocument(
            cells={cell_id: cell for cell_id, cell in found.items() if cell is not None},
            order=order,
        )
