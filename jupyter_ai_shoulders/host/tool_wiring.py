"""Makes the tools of a host with their dependencies. Called by ``host.build``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.changes.recording.recording_wrappers import (
    RecordedNewNotebooks,
    RecordedNotebooks,
    RecordedRunner,
    RecordedScratch,
    record_tools,
)
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.files.previews.document_previews import DocumentPreviews
from jupyter_ai_shoulders.host.automation.agent_notices import AgentNotices
from jupyter_ai_shoulders.host.references.reference_tools import reference_tools
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.host.threads.service import ThreadService
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.tools.agent.database import database_tools
from jupyter_ai_shoulders.tools.agent.memory import Forget, Remember
from jupyter_ai_shoulders.tools.agent.notify import Notify
from jupyter_ai_shoulders.tools.agent.schedule_next_run import CancelNextRun, ScheduleNextRun
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.conversation.clarify import Clarify
from jupyter_ai_shoulders.tools.conversation.complete import Complete
from jupyter_ai_shoulders.tools.conversation.share_artifact import ShareArtifact
from jupyter_ai_shoulders.tools.conversation.task_threads import AddTask, ReadTasks
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.tools.external_agents.tools import agent_tools
from jupyter_ai_shoulders.tools.files.access import FileAccess
from jupyter_ai_shoulders.tools.files.history import history_tools
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.installed import ToolPorts
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook.kernels import kernel_tools
from jupyter_ai_shoulders.tools.notebook.output_images import OutputImageExtractor
from jupyter_ai_shoulders.tools.notebook.run_durations import RunDurations
from jupyter_ai_shoulders.tools.proposals.create_proposal import CreateProposal
from jupyter_ai_shoulders.tools.proposals.propose_edit import ProposeEdit
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.tool_factories import (
    creation_and_output_tools,
    document_tools,
    file_tools,
    kernel_code_tools,
    notebook_tools,
    workspace_tools,
)
from jupyter_ai_shoulders.tools.web.fetch_url import FetchUrl
from jupyter_ai_shoulders.tools.web.search_papers import SearchPapers
from jupyter_ai_shoulders.tools.web.web_search import WebSearch
from jupyter_ai_shoulders.wire.ids import SessionId


def base_tools(
    services: SharedServices, threads: ThreadService, artifacts: ArtifactFiles
) -> ToolRegistry:
    """Return all tools except those that load and call others (``tools.tool_factories``)."""
    documents = services.documents
    access = NotebookAccess(documents.notebooks, documents.names)
    files = FileAccess(documents.workspace, services.files.texts, services.files.changes)
    return ToolRegistry(
        [
            *(Todo(), Clarify(), Complete()),
            ShareArtifact(documents.workspace, artifacts),
            *_notebook_tools(services, files),
            *_file_tools(services, access),
            *_thread_tools(services, access, files, threads),
            *reference_tools(services),
            services.commands.tool,
            *agent_tools(
                services.agent_requests,
                files,
                FileReadTracker(services.seen_texts, services.ports.ids),
                services.commands.tool,
                services.redact,
            ),
            *_web_tools(services),
            *(Remember(services.memory), Forget(services.memory)),
            Notify(_agent_notices(services), services.ports.clock),
            ScheduleNextRun(services.next_runs),
            CancelNextRun(services.next_runs),
            *database_tools(services.agent_database),
        ]
    )


def tool_ports(services: SharedServices) -> ToolPorts:
    """Return the ports available to tools of other packages."""
    documents, files = services.documents, services.files
    notebooks = RecordedNotebooks(documents.notebooks, services.recorder)
    return ToolPorts(
        workspace=documents.workspace,
        texts=files.texts,
        changes=files.changes,
        notebooks=NotebookAccess(notebooks, documents.names),
    )


def _file_tools(services: SharedServices, access: NotebookAccess) -> list[Tool[Any]]:
    workspace, files = services.documents.workspace, services.files
    seen = OperationVisibility(services.store.sessions, has_owners=services.settings.has_owners)
    return [
        *workspace_tools(workspace, access, files.texts, services.path_index, services.search),
        *file_tools(
            workspace=workspace,
            texts=files.texts,
            changes=files.changes,
            notebooks=access,
            previews=DocumentPreviews(),
            ids=services.ports.ids,
            seen=services.seen_texts,
            documents=files.word_editor,
        ),
        *history_tools(workspace, files.journal, files.undo, files.texts, seen.may_see),
    ]


def _agent_notices(services: SharedServices) -> AgentNotices:
    sessions = services.store.sessions
    return AgentNotices(services.notifications, lambda session_id: sessions.header(session_id)[0])


def _web_tools(services: SharedServices) -> list[Tool[Any]]:
    web = services.web
    return [FetchUrl(web.pages), WebSearch(web.search), SearchPapers(web.papers)]


def _thread_tools(
    services: SharedServices, access: NotebookAccess, files: FileAccess, threads: ThreadService
) -> list[Tool[Any]]:
    ids = services.ports.ids
    return [
        CreateProposal(access, files, ids, services.seen_texts),
        ProposeEdit(access, files, ids, threads, services.seen_texts),
        AddTask(access, files, threads),
        ReadTasks(threads),
    ]


def _notebook_tools(services: SharedServices, files: FileAccess) -> list[Tool[Any]]:
    """Return notebook tools whose changes are recorded, so that they can be restored."""
    documents, recorder, ids = services.documents, services.recorder, services.ports.ids
    notebooks = RecordedNotebooks(documents.notebooks, recorder)
    access = NotebookAccess(notebooks, documents.names)
    pictures = OutputImageExtractor(documents.rasters)
    made = RecordedNewNotebooks(
        documents.new, recorder, services.store.operations, documents.workspace
    )
    tools: list[Tool[Any]] = [
        *notebook_tools(
            notebooks,
            RecordedRunner(documents.runner, documents.notebooks, recorder),
            ids,
            documents.names,
            pictures=pictures,
            times=RunDurations(StateFile(services.store.directory, "times.json")),
            stale=documents.staleness,
            seen=services.seen_texts,
        ),
        *creation_and_output_tools(access, pictures=pictures, new=made, specs=documents.specs),
        *kernel_code_tools(
            access,
            runner=documents.runner,
            scratch=RecordedScratch(documents.scratch, recorder),
            variables=documents.variables,
            verifier=documents.verifier,
            level=services.preferences.data_values,
        ),
        *kernel_tools(access, documents.control),
        *document_tools(files, access, ids, services.seen_texts),
    ]
    return record_tools(tools, recorder)


class OperationVisibility:
    """On a hub a conversation sees its owner's operations and shared ones; elsewhere all."""

    def __init__(self, sessions: SqliteSessions, *, has_owners: bool) -> None:
        self._sessions = sessions
        self._has_owners = has_owners

    def may_see(self, session_id: SessionId, other: SessionId | None) -> bool:
        """Return whether a conversation may see another's operations; None: the user's own."""
        if other == session_id or not self._has_owners:
            return True
        if other is None:
            return False
        try:
            owner, _ = self._sessions.header(other)
        except NotFound:
            return False
        return owner is None or owner == self._sessions.header(session_id)[0]
