"""Makes the tools of references. Called by ``host.tool_wiring``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.changes.recording.recording_wrappers import (
    RecordedNotebooks,
    record_tools,
)
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.notebook.access import CellReadTracker, NotebookAccess
from jupyter_ai_shoulders.tools.notebook.edit_cell import EditCell
from jupyter_ai_shoulders.tools.references.add import AddReference
from jupyter_ai_shoulders.tools.references.cite import CiteReference
from jupyter_ai_shoulders.tools.references.edit import EditReference
from jupyter_ai_shoulders.tools.references.read import GetReference, SearchReferences


def reference_tools(services: SharedServices) -> list[Tool[Any]]:
    """Return the tools; citations in notebooks are recorded, so that they can be restored."""
    documents, references, ids = services.documents, services.references, services.ports.ids
    versions = FileReadTracker(services.seen_texts, ids)
    notebooks = NotebookAccess(
        RecordedNotebooks(documents.notebooks, services.recorder), documents.names
    )
    cells = EditCell(notebooks, CellReadTracker(services.seen_texts), ids)
    library = references.library
    return [
        SearchReferences(library, references),
        GetReference(library, versions),
        AddReference(references.adder, versions),
        EditReference(library, versions),
        *record_tools([CiteReference(library, notebooks, cells, versions)], services.recorder),
    ]
