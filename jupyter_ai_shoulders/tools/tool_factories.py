"""Functions that build the tools of one topic; called by ``host`` and by tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.files.base import FileChanges, TextDocuments
from jupyter_ai_shoulders.files.word.word_editor import WordEditor
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
from jupyter_ai_shoulders.notebook.analysis.staleness_tracker import StaleCells
from jupyter_ai_shoulders.notebook.base import CellRunner, KernelSpecs, NewNotebooks, Notebooks
from jupyter_ai_shoulders.notebook.execution.scratch_runner import ScratchRunner
from jupyter_ai_shoulders.notebook.execution.verification import Verifier
from jupyter_ai_shoulders.notebook.kernels.variables import Variables
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.tools.active_document.access import DocumentAccess
from jupyter_ai_shoulders.tools.active_document.edit import EditDocument
from jupyter_ai_shoulders.tools.active_document.read import GetDocumentInfo, ReadDocument
from jupyter_ai_shoulders.tools.active_document.search import SearchDocument
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache
from jupyter_ai_shoulders.tools.files.access import FileAccess
from jupyter_ai_shoulders.tools.files.delete import DeleteFile
from jupyter_ai_shoulders.tools.files.edit import EditFile
from jupyter_ai_shoulders.tools.files.list_files import ListFiles
from jupyter_ai_shoulders.tools.files.move import DuplicateFile, MoveFile, RenameFile
from jupyter_ai_shoulders.tools.files.read import PreviewReader, ReadFile
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.files.search_content import SearchContent, UnsavedTexts
from jupyter_ai_shoulders.tools.files.semantic_search import SemanticSearch, WorkspaceSearcher
from jupyter_ai_shoulders.tools.files.write import CreateFile, WriteFile
from jupyter_ai_shoulders.tools.git.commit import GitCommit
from jupyter_ai_shoulders.tools.git.diff import GitDiff
from jupyter_ai_shoulders.tools.git.status import GitStatus
from jupyter_ai_shoulders.tools.load_tools import CallTool, LoadTools
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
from jupyter_ai_shoulders.tools.notebook.run_code import RunCode
from jupyter_ai_shoulders.tools.notebook.run_durations import RunDurations
from jupyter_ai_shoulders.tools.notebook.search import SearchNotebook
from jupyter_ai_shoulders.tools.notebook.variables import InspectVariables
from jupyter_ai_shoulders.tools.notebook.verify import VerifyNotebook
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.planning.run_plan import RunPlan
from jupyter_ai_shoulders.tools.planning.step_runner import PlanLimits
from jupyter_ai_shoulders.tools.read_output import BackgroundCallReader, ReadOutput
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.word.edit_document import EditDocumentFile
from jupyter_ai_shoulders.wire.api.settings import DataValues


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

    ``pictures`` renders a run's images for the model; the default skips those that need a browser.
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
    """Return the tools that need kernel specifications or a browser."""
    return [CreateNotebook(new, specs), ReadCellOutput(access, pictures)]


def kernel_code_tools(
    access: NotebookAccess,
    *,
    runner: CellRunner,
    scratch: ScratchRunner,
    variables: Variables,
    verifier: Verifier,
    level: Callable[[], DataValues],
) -> list[Tool[Any]]:
    """Return the tools that read kernels or run code outside of the notebook's cells.

    ``level`` returns how much of the data in kernels a model may see.
    """
    return [
        RunCode(access, scratch, runner),
        InspectVariables(access, variables, level),
        VerifyNotebook(access, verifier),
    ]


def file_tools(
    *,
    workspace: Workspace,
    texts: TextDocuments,
    changes: FileChanges,
    notebooks: NotebookAccess,
    previews: PreviewReader,
    ids: IdSource,
    seen: ReadTextCache | None = None,
    documents: WordEditor | None = None,
) -> list[Tool[Any]]:
    """Return the tools that read, write, move and delete files.

    ``documents`` adds the tool for Word documents.
    """
    seen = seen or ReadTextCache()
    access = FileAccess(workspace, texts, changes)
    versions, cells = FileReadTracker(seen, ids), CellReadTracker(seen)
    words = [] if documents is None else [EditDocumentFile(access, versions, documents)]
    return [
        *words,
        ReadFile(access, versions, notebooks, cells, previews, documents=documents),
        WriteFile(access, versions),
        CreateFile(access, versions),
        EditFile(access, versions),
        RenameFile(access),
        MoveFile(access),
        DuplicateFile(access),
        DeleteFile(access, versions, notebooks, cells),
    ]


def document_tools(
    files: FileAccess, notebooks: NotebookAccess, ids: IdSource, seen: ReadTextCache | None = None
) -> list[Tool[Any]]:
    """Return the tools on the user's active document."""
    access = DocumentAccess(files, notebooks)
    seen = seen or ReadTextCache()
    cells, texts = CellReadTracker(seen), FileReadTracker(seen, ids)
    return [
        ReadDocument(access, cells, texts),
        SearchDocument(access),
        EditDocument(access, texts, EditCell(notebooks, cells, ids)),
        GetDocumentInfo(access),
    ]


def workspace_tools(
    workspace: Workspace,
    access: NotebookAccess,
    unsaved: UnsavedTexts | None = None,
    index: PathIndex | None = None,
    searcher: WorkspaceSearcher | None = None,
) -> list[Tool[Any]]:
    """Return the tools that list and search files, and those for git."""
    search: list[Tool[Any]] = [SearchContent(workspace, access, unsaved)]
    if searcher is not None:
        search.append(SemanticSearch(searcher))
    return [ListFiles(workspace, index), *search, *git_tools(workspace)]


def git_tools(workspace: Workspace) -> list[Tool[Any]]:
    """Return the tools for git."""
    return [GitStatus(workspace), GitDiff(workspace), GitCommit(workspace)]


def with_planning(
    tools: ToolRegistry,
    rules: PermissionStore,
    blobs: Blobs,
    limits: PlanLimits | None = None,
    runs: BackgroundCallReader | None = None,
) -> ToolRegistry:
    """Return a registry with the output reader, the loaders and ``run_plan`` added.

    Plans and loaders reach ``tools`` and ``read_output``, not each other.
    """
    callable_tools = tools.extended([ReadOutput(blobs, runs)])
    planning = [
        LoadTools(callable_tools, rules),
        CallTool(),
        RunPlan(callable_tools, rules, limits),
    ]
    return callable_tools.extended(planning)
