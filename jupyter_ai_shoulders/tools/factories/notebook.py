"""The notebook tools together; called by ``host``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.notebook.analysis.staleness_tracker import StaleCells
from jupyter_ai_shoulders.notebook.base import CellRunner, KernelSpecs, NewNotebooks, Notebooks
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache
from jupyter_ai_shoulders.tools.notebook.access import (
    CellReadTracker,
    NotebookAccess,
    NotebookIndex,
)
from jupyter_ai_shoulders.tools.notebook.add_and_delete import AddCell, DeleteCell
from jupyter_ai_shoulders.tools.notebook.cell_output import ReadCellOutput
from jupyter_ai_shoulders.tools.notebook.create import CreateNotebook
from jupyter_ai_shoulders.tools.notebook.edit_cell import EditCell
from jupyter_ai_shoulders.tools.notebook.move_and_clear import ClearOutputs, MoveCell
from jupyter_ai_shoulders.tools.notebook.output_images import OutputImageExtractor
from jupyter_ai_shoulders.tools.notebook.read import ReadNotebook
from jupyter_ai_shoulders.tools.notebook.run import RunAllCells, RunCell
from jupyter_ai_shoulders.tools.notebook.run_durations import RunDurations
from jupyter_ai_shoulders.tools.notebook.search import SearchNotebook


def notebook_tools(
    notebooks: Notebooks,
    runner: CellRunner,
    ids: IdSource,
    names: NotebookIndex,
    *,
    pictures: OutputImageExtractor | None = None,
    times: RunDurations | None = None,
    stale: StaleCells | None = None,
    seen: ReadTextCache | None = None,
) -> list[Tool[Any]]:
    """Return the tools that read, change and run notebooks.

    ``pictures`` shows the model those of a run; without, those that need no browser.
    """
    times = times or RunDurations()
    access = NotebookAccess(notebooks, names)
    versions = CellReadTracker(seen or ReadTextCache())
    return [
        ReadNotebook(access, versions, stale),
        EditCell(access, versions, ids),
        AddCell(access, versions),
        DeleteCell(access, versions),
        MoveCell(access),
        ClearOutputs(access),
        SearchNotebook(access, names),
        RunCell(access, runner, pictures or OutputImageExtractor(), times),
        RunAllCells(access, runner, times),
    ]


def creation_and_output_tools(
    access: NotebookAccess, *, pictures: OutputImageExtractor, new: NewNotebooks, specs: KernelSpecs
) -> list[Tool[Any]]:
    """Return the tools that need more than the notebooks there are: kernels' names, a browser."""
    return [CreateNotebook(new, specs), ReadCellOutput(access, pictures)]
