"""The document tools together; called by ``host``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.tools.active_document.access import DocumentAccess
from jupyter_ai_shoulders.tools.active_document.edit import EditDocument
from jupyter_ai_shoulders.tools.active_document.read import GetDocumentInfo, ReadDocument
from jupyter_ai_shoulders.tools.active_document.search import SearchDocument
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache
from jupyter_ai_shoulders.tools.files.access import FileAccess
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.notebook.access import CellReadTracker, NotebookAccess
from jupyter_ai_shoulders.tools.notebook.edit_cell import EditCell


def document_tools(
    files: FileAccess, notebooks: NotebookAccess, ids: IdSource, seen: ReadTextCache | None = None
) -> list[Tool[Any]]:
    """Return the tools on the document in front of the user."""
    access = DocumentAccess(files, notebooks)
    seen = seen or ReadTextCache()
    cells, texts = CellReadTracker(seen), FileReadTracker(seen, ids)
    return [
        ReadDocument(access, cells, texts),
        SearchDocument(access),
        EditDocument(access, texts, EditCell(notebooks, cells, ids)),
        GetDocumentInfo(access),
    ]
