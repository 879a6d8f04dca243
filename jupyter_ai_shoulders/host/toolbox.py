"""Which tools a host has, and what each of them is given. Called by ``host.build``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.engine.restore.made_notebooks import MadeNotebooks
from jupyter_ai_shoulders.files.previews import DocumentPreviews
from jupyter_ai_shoulders.host.ground import Ground
from jupyter_ai_shoulders.host.history import Visibility
from jupyter_ai_shoulders.host.threads import HostThreads
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.files import StateFile
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.clarify import Clarify
from jupyter_ai_shoulders.tools.complete import Complete
from jupyter_ai_shoulders.tools.create_proposal import CreateProposal
from jupyter_ai_shoulders.tools.document_tools import document_tools
from jupyter_ai_shoulders.tools.file_access import FileAccess
from jupyter_ai_shoulders.tools.file_history import history_tools
from jupyter_ai_shoulders.tools.file_tools import file_tools
from jupyter_ai_shoulders.tools.installed import ToolPorts
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook_kernels import kernel_tools
from jupyter_ai_shoulders.tools.notebook_tools import creation_and_output_tools, notebook_tools
from jupyter_ai_shoulders.tools.output_images import OutputPictures
from jupyter_ai_shoulders.tools.propose_edit import ProposeEdit
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.run_times import RunTimes
from jupyter_ai_shoulders.tools.scratch_tools import scratch_tools
from jupyter_ai_shoulders.tools.share_artifact import ShareArtifact
from jupyter_ai_shoulders.tools.thread_tasks import AddTask, ReadTasks
from jupyter_ai_shoulders.tools.todo import Todo
from jupyter_ai_shoulders.tools.workspace_tools import looking_tools


def base_tools(ground: Ground, threads: HostThreads, artifacts: ArtifactFiles) -> ToolRegistry:
    """Return all tools but those that load and call others (``tools.planning_tools``)."""
    documents = ground.documents
    access = NotebookAccess(documents.notebooks, documents.names)
    files = FileAccess(documents.workspace, ground.files.texts, ground.files.changes)
    return ToolRegistry(
        [
            *(Todo(), Clarify(), Complete()),
            ShareArtifact(documents.workspace, artifacts),
            *_notebook_tools(ground, files),
            *_file_tools(ground, access),
            *_thread_tools(ground, access, files, threads),
            ground.commands.tool,
        ]
    )


def tool_ports(ground: Ground) -> ToolPorts:
    """Return what the tools of other packages may reach."""
    documents, files = ground.documents, ground.files
    notebooks = ground.recorder.notebooks(documents.notebooks)
    return ToolPorts(
        workspace=documents.workspace,
        texts=files.texts,
        changes=files.changes,
        notebooks=NotebookAccess(notebooks, documents.names),
    )


def _file_tools(ground: Ground, access: NotebookAccess) -> list[Tool[Any]]:
    workspace, files = ground.documents.workspace, ground.files
    seen = Visibility(ground.store.sessions, has_owners=ground.settings.has_owners)
    return [
        *looking_tools(workspace, access, files.texts),
        *file_tools(
            workspace=workspace,
            texts=files.texts,
            changes=files.changes,
            notebooks=access,
            previews=DocumentPreviews(),
            ids=ground.ports.ids,
            seen=ground.seen_texts,
        ),
        *history_tools(workspace, files.journal, files.undo, files.texts, seen.may_see),
    ]


def _thread_tools(
    ground: Ground, access: NotebookAccess, files: FileAccess, threads: HostThreads
) -> list[Tool[Any]]:
    ids = ground.ports.ids
    return [
        CreateProposal(access, files, ids, ground.seen_texts),
        ProposeEdit(access, files, ids, threads, ground.seen_texts),
        AddTask(access, files, threads),
        ReadTasks(threads),
    ]


def _notebook_tools(ground: Ground, files: FileAccess) -> list[Tool[Any]]:
    """Return them as the recorder has them: what they change can be restored."""
    documents, recorder, ids = ground.documents, ground.recorder, ground.ports.ids
    notebooks = recorder.notebooks(documents.notebooks)
    access = NotebookAccess(notebooks, documents.names)
    pictures = OutputPictures(documents.rasters)
    made = MadeNotebooks(documents.new, recorder, ground.store.operations, documents.workspace)
    tools: list[Tool[Any]] = [
        *notebook_tools(
            notebooks,
            recorder.runner(documents.runner, documents.notebooks),
            ids,
            documents.names,
            pictures=pictures,
            times=RunTimes(StateFile(ground.store.directory, "times.json")),
            stale=documents.stale,
            seen=ground.seen_texts,
        ),
        *creation_and_output_tools(access, pictures=pictures, new=made, specs=documents.specs),
        *scratch_tools(
            access,
            runner=documents.runner,
            scratch=recorder.scratch(documents.scratch),
            variables=documents.variables,
            verifier=documents.verifier,
            level=ground.preferences.data_values,
        ),
        *kernel_tools(access, documents.control),
        *document_tools(files, access, ids, ground.seen_texts),
    ]
    return recorder.tools(tools)
