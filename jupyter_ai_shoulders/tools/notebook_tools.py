"""The notebook tools together; called by ``host``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.notebook.base import CellRunner, KernelSpecs, NewNotebooks, Notebooks
from jupyter_ai_shoulders.notebook.stale_cells import StaleCells
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess, NotebookNames, Versions
from jupyter_ai_shoulders.tools.notebook_arrange import ClearOutputs, MoveCell
from jupyter_ai_shoulders.tools.notebook_cells import AddCell, DeleteCell
from jupyter_ai_shoulders.tools.notebook_create import CreateNotebook
from jupyter_ai_shoulders.tools.notebook_edit import EditCell
from jupyter_ai_shoulders.tools.notebook_output import ReadCellOutput
from jupyter_ai_shoulders.tools.notebook_read import ReadNotebook
from jupyter_ai_shoulders.tools.notebook_run import RunAllCells, RunCell
from jupyter_ai_shoulders.tools.notebook_search import SearchNotebook
from jupyter_ai_shoulders.tools.output_images import OutputPictures
from jupyter_ai_shoulders.tools.run_times import RunTimes
from jupyter_ai_shoulders.tools.seen_texts import SeenTexts


def notebook_tools(
    notebooks: Notebooks,
    runner: CellRunner,
    ids: IdSource,
    names: NotebookNames,
    *,
    pictures: OutputPictures | None = None,
    times: RunTimes | None = None,
    stale: StaleCells | None = None,
    seen: SeenTexts | None = None,
) -> list[Tool[Any]]:
    """Return the tools that read, change and run notebooks.

    ``pictures`` shows the model those of a run; without, those that need no browser.
    """
    times = times or RunTimes()
    access = NotebookAccess(notebooks, names)
    versions = Versions(seen or SeenTexts())
    return [
        ReadNotebook(access, versions, stale),
        EditCell(access, versions, ids),
        AddCell(access, versions),
        DeleteCell(access, versions),
        MoveCell(access),
        ClearOutputs(access),
        SearchNotebook(access, names),
        RunCell(access, runner, pictures or OutputPictures(), times),
        RunAllCells(access, runner, times),
    ]


def creation_and_output_tools(
    access: NotebookAccess, *, pictures: OutputPictures, new: NewNotebooks, specs: KernelSpecs
) -> list[Tool[Any]]:
    """Return the tools that need more than the notebooks there are: kernels' names, a browser."""
    return [CreateNotebook(new, specs), ReadCellOutput(access, pictures)]
