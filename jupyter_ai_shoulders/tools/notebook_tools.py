"""The notebook tools together; called by ``host``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.notebook.base import CellRunner, Notebooks
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess, NotebookNames, Versions
from jupyter_ai_shoulders.tools.notebook_cells import AddCell, DeleteCell
from jupyter_ai_shoulders.tools.notebook_edit import EditCell
from jupyter_ai_shoulders.tools.notebook_read import ReadNotebook
from jupyter_ai_shoulders.tools.notebook_run import RunAllCells, RunCell
from jupyter_ai_shoulders.tools.seen_texts import SeenTexts


def notebook_tools(
    notebooks: Notebooks, runner: CellRunner, ids: IdSource, names: NotebookNames
) -> list[Tool[Any]]:
    """Return the tools that read, change and run notebooks."""
    access = NotebookAccess(notebooks, names)
    versions = Versions(SeenTexts())
    return [
        ReadNotebook(access, versions),
        EditCell(access, versions, ids),
        AddCell(access, versions, ids),
        DeleteCell(access, versions),
        RunCell(access, runner),
        RunAllCells(access, runner),
    ]
