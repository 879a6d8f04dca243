"""The document tools together; called by ``host``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.document_access import DocumentAccess
from jupyter_ai_shoulders.tools.document_edit import EditDocument
from jupyter_ai_shoulders.tools.document_read import GetDocumentInfo, ReadDocument
from jupyter_ai_shoulders.tools.document_search import SearchDocument
from jupyter_ai_shoulders.tools.file_access import FileAccess
from jupyter_ai_shoulders.tools.file_versions import FileVersions
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess, Versions
from jupyter_ai_shoulders.tools.notebook_edit import EditCell
from jupyter_ai_shoulders.tools.seen_texts import SeenTexts


def document_tools(
    files: FileAccess, notebooks: NotebookAccess, ids: IdSource, seen: SeenTexts | None = None
) -> list[Tool[Any]]:
    """Return the tools on the document in front of the user."""
    access = DocumentAccess(files, notebooks)
    seen = seen or SeenTexts()
    cells, texts = Versions(seen), FileVersions(seen, ids)
    return [
        ReadDocument(access, cells, texts),
        SearchDocument(access),
        EditDocument(access, texts, EditCell(notebooks, cells, ids)),
        GetDocumentInfo(access),
    ]
