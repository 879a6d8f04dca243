"""Services that all parts of a host share: documents, storage, budgets, preferences and models.

Made first by ``host.build``; the tools (``host.tool_wiring``) and the engine get parts of it.
Reads, writes and starts nothing until it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.review.pending_edits import PendingEdits
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.files.open_files.open_text_files import PageTimeouts
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
from jupyter_ai_shoulders.host.agent_database.service import AgentDatabaseService
from jupyter_ai_shoulders.host.automation.limits import LimitSource
from jupyter_ai_shoulders.host.automation.next_runs import AgentNextRuns
from jupyter_ai_shoulders.host.automation.notifications.records import NotificationRecords
from jupyter_ai_shoulders.host.automation.notifications.service import (
    NotificationPorts,
    NotificationService,
    signed_posts,
)
from jupyter_ai_shoulders.host.automation.service import ScheduleService
from jupyter_ai_shoulders.host.context.attachment_content import AttachmentReader
from jupyter_ai_shoulders.host.context.environment import InstructionSources, WorkspaceEnvironment
from jupyter_ai_shoulders.host.delegation.sub_agent_ids import parent_of_sub_agent
from jupyter_ai_shoulders.host.documents.files import FileServices
from jupyter_ai_shoulders.host.documents.notebooks import NotebookServices
from jupyter_ai_shoulders.host.mcp_client.resource_slot import LateServerResources
from jupyter_ai_shoulders.host.memory.memory_places import memory_places
from jupyter_ai_shoulders.host.memory.service import MemoryService
from jupyter_ai_shoulders.host.ports import HostPorts, HostSettings
from jupyter_ai_shoulders.host.references.citations import CitationService
from jupyter_ai_shoulders.host.references.service import ReferenceService
from jupyter_ai_shoulders.host.search.workspace_search import WorkspaceSearch
from jupyter_ai_shoulders.host.settings.preferences import Preferences
from jupyter_ai_shoulders.host.settings.workspace_trust import WorkspaceTrust
from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.host.threads.anchor_context import AnchorContext
from jupyter_ai_shoulders.host.threads.anchors import ThreadAnchorService
from jupyter_ai_shoulders.host.tools.command_execution import CommandExecution
from jupyter_ai_shoulders.host.usage.owner_budgets import OwnerBudgets
from jupyter_ai_shoulders.host.web.services import SERVICES, WebServices
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import LiveTimeouts
from jupyter_ai_shoulders.notebook.kernels.generation import KernelGenerations
from jupyter_ai_shoulders.providers.credentials.key_store import KeyStore, system_keyring
from jupyter_ai_shoulders.providers.metering import Metering
from jupyter_ai_shoulders.providers.registry import ModelRegistry
from jupyter_ai_shoulders.providers.registry_builder import (
    KEY_FILE,
    RegistryOptions,
    build_registry,
)
from jupyter_ai_shoulders.storage.blob_access import is_blob_referenced
from jupyter_ai_shoulders.storage.recovery_copies import RecoveryCopyFiles
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache
from jupyter_ai_shoulders.tools.external_agents.requests import AgentRequests
from jupyter_ai_shoulders.wire.ids import ModelId

STATE_DIR = ".shoulders"
"""In the user's home directory."""
SETTINGS = "settings.json"
NOTIFICATIONS = "notifications.json"


class SharedServices:
    """The services, in the order of their dependencies."""

    def __init__(self, settings: HostSettings, ports: HostPorts) -> None:
        self.settings = settings
        self.ports = ports
        secrets = EventRedactor(ports.clock)
        self.redact = secrets.redact
        """Removes provider keys from text that is shown."""
        self.trust = WorkspaceTrust(settings, settings.home / STATE_DIR, ports.clock)
        """Which of the workspace's own settings apply."""
        self.seen_texts = ReadTextCache()
        """Texts that conversations read recently, to merge edits with the user's changes."""
        self.agent_requests = AgentRequests()
        """Open requests of agents of others, which the internal tools carry out."""
        self.store = StateStore(
            settings.state_dir,
            ports.clock,
            ports.ids,
            secrets.redact,
            settings.home / STATE_DIR,
            redact_streamed=secrets.keep,
        )
        self.current_page = CurrentPage()
        """The page in which a document that several pages have open is changed."""
        self.documents = self._documents()
        self.path_index = PathIndex(self.documents.workspace)
        """Names of the workspace's files, for mentions and listings."""
        self.pending_edits = PendingEdits(self.store.log, self.store.blobs, ports.ids)
        self.anchors = ThreadAnchorService(self.store.sessions, self.current_path)
        self.preferences = self._preferences()
        self.agent_database = self._agent_database()
        self.memory = self._memory()
        self.files = self._files()
        self.search = WorkspaceSearch(self)
        self.budgets = self._budgets()
        self.keys = KeyStore(settings.home / KEY_FILE, self._key_environ, system_keyring())
        """The keys of models and of web services."""
        self.notifications = self._notifications()
        self.schedules = self._schedules()
        self.next_runs = AgentNextRuns(self.schedules, self.store.sessions, ports.clock)
        self.web = self._web()
        self.references = ReferenceService(self)
        self.citations = CitationService(self, self.references)
        self.models = self._models()
        secrets.set_sources(self.models.redactor, self.models.cached_redactor)
        self.commands = self._commands()
        self.recorder = self._recorder()
        self.instruction_sources = self._instruction_sources()
        """Where instructions and skills are."""
        self.environment = self._environment()

    def current_path(self, path: str) -> str:
        """Return the current path of a document that had this path."""
        return self.documents.live.current(self.documents.workspace.path(path))

    def _documents(self) -> NotebookServices:
        settings, ports = self.settings, self.ports
        return NotebookServices(
            root=settings.workspace,
            closed=(settings.runtime_dir,),
            recovery=RecoveryCopyFiles(self.store.directory),
            current_page=self.current_page,
            times=LiveTimeouts(absence=settings.page_timeout),
            refuses_busy=settings.refuses_busy,
            kernels=ports.kernels,
            pages=ports.pages,
            rooms=ports.rooms,
            contents=ports.contents,
            clock=ports.clock,
            ids=ports.ids,
        )

    def _agent_database(self) -> AgentDatabaseService:
        store, settings = self.store, self.preferences.agent_database
        return AgentDatabaseService(store.directory, store.operations, settings)

    def _files(self) -> FileServices:
        ports = self.ports
        return FileServices(
            workspace=self.documents.workspace,
            store=self.store,
            notebooks=self.documents.live,
            pages=ports.pages,
            observer=self.pending_edits,
            renamed=self._renamed,
            current_page=self.current_page,
            clock=ports.clock,
            ids=ports.ids,
            times=PageTimeouts(absence=self.settings.page_timeout),
            tracked_changes=lambda: self.preferences.word().tracked_changes,
            others={"database": self.agent_database, "memory": self.memory},
        )

    async def _renamed(self, old: str, new: str) -> None:
        self.pending_edits.renamed(old, new)
        await self.anchors.renamed(old, new)

    def _preferences(self) -> Preferences:
        settings = self.settings
        user = StateFile(StateDirectory(settings.home / STATE_DIR), SETTINGS)
        return Preferences(
            StateFile(self.store.directory, SETTINGS),
            user,
            settings.preferences,
            str(settings.workspace),
            settings.lock_reasons,
            trust=self.trust.of_state,
        )

    def _memory(self) -> MemoryService:
        store, ports = self.store, self.ports
        return MemoryService(
            memory_places(self.settings, store.directory, self.trust.of_state),
            store.operations,
            store.blobs,
            ports.clock,
            ports.ids,
            enabled=lambda: self.preferences.memory().enabled,
            redact=self.redact,
            changed=lambda: ports.pages.settings_changed("memory"),
            owner_of=lambda session_id: store.sessions.header(session_id)[0],
        )

    def _budgets(self) -> OwnerBudgets:
        settings, sessions = self.settings, self.store.sessions
        folder, clock = settings.home / STATE_DIR, self.ports.clock
        parent_of = partial(parent_of_sub_agent, sessions)
        if not settings.has_owners:
            return OwnerBudgets(folder, clock, settings.budget, parent_of=parent_of)
        return OwnerBudgets(
            folder,
            clock,
            settings.budget,
            session_owner=lambda session_id: sessions.header(session_id)[0],
            parent_of=parent_of,
            home_owner=settings.home_owner,
        )

    def _last_used(self) -> ModelId | None:
        try:
            return self.store.sessions.last_model()
        except StateUnavailable:
            return None  # ``status`` reports it; models can still be listed

    def _web(self) -> WebServices:
        settings = self.settings
        own = StateFile(StateDirectory(settings.home / STATE_DIR), SERVICES)
        return WebServices(settings.services, own, self.keys, self.ports.clock)

    def _schedules(self) -> ScheduleService:
        store, ports = self.store, self.ports
        limits = LimitSource(self.preferences)
        return ScheduleService(store.schedules, limits, store.sessions, ports.clock, ports.ids)

    def _notifications(self) -> NotificationService:
        ports = self.ports
        return NotificationService(
            NotificationRecords(
                StateFile(self.store.directory, NOTIFICATIONS), self.store.origin.is_known
            ),
            NotificationPorts(
                keys=self.keys,
                webhook_url=lambda: self.preferences.notifications().webhook,
                changed=lambda: ports.pages.settings_changed("notifications"),
                redact=self.redact,
                sender=signed_posts,
                clock=ports.clock,
                ids=ports.ids,
            ),
        )

    @property
    def _key_environ(self) -> Mapping[str, str]:
        keys = self.ports.keys
        return self.ports.environ if keys is None else keys.complete

    def _models(self) -> ModelRegistry:
        settings, ports = self.settings, self.ports
        keys = ports.keys
        metering = Metering(self.budgets)
        registry = build_registry(
            settings.home,
            settings.state_dir,
            ports.clock,
            ports.ids,
            RegistryOptions(
                environ=self._key_environ,
                trait=settings.models,
                keys=self.keys,
                withdraw=None if keys is None else keys.withdraw,
                last_used=self._last_used,
                preferences=self.preferences.models,
                metered=metering,
                metered_embedding=metering.embedding,
                adapter=ports.adapter,
                trust=self.trust.of_state,
            ),
        )
        registry.add_secret_source(self.notifications.secrets)
        return registry

    def _commands(self) -> CommandExecution:
        settings, ports = self.settings, self.ports
        return CommandExecution(
            workspace=settings.workspace,
            state_dir=settings.state_dir,
            runtime_dir=settings.runtime_dir,
            environ=ports.environ,
            redact=self.redact,
            preferences=self.preferences,
            undo=self.files.commands,
            detected=ports.sandbox,
            own_ports=ports.own_ports,
        )

    def _recorder(self) -> ChangeRecorder:
        return ChangeRecorder(
            self.store.log,
            self.store.blobs,
            KernelGenerations(self.ports.kernels),
            self.pending_edits,
            self.store.operations,
            current_page=self.current_page,
        )

    def _instruction_sources(self) -> InstructionSources:
        settings, trust = self.settings, self.trust
        return InstructionSources(
            self.documents.workspace,
            settings.state_dir,
            self.ports.environ,
            trust.of_folder,
            trust.of_state,
        )

    def _environment(self) -> WorkspaceEnvironment:
        documents, ports, store = self.documents, self.ports, self.store
        self.server_resources = LateServerResources()
        """Resources of MCP servers, for attachments."""
        captures = AttachmentReader(
            workspace=documents.workspace,
            notebooks=documents.notebooks,
            blobs=store.blobs,
            log=store.log,
            sessions=store.sessions,
            redact=self.redact,
            seen_texts=self.seen_texts,
            variables=documents.variables,
            level=self.preferences.data_values,
            is_named=lambda blob, owner: is_blob_referenced(store.directory.database, blob, owner),
            resources=self.server_resources,
            texts=self.files.texts,
        )
        return WorkspaceEnvironment(
            self.instruction_sources,
            ports.kernels,
            captures,
            self.redact,
            ports.clock,
            variables=documents.variables,
            stale=documents.staleness.last_marks,
            threads=AnchorContext(documents.notebooks, self.files.texts),
            memory=self.memory,
        )


RENEWED_SECONDS = 1.0
"""Finding the keys reads several files: too slow for each event."""


class EventRedactor:
    """Redacts the provider keys in use, for the event log and for shown text."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._renew: Callable[[], Redactor] = Redactor
        self._current: Callable[[], Redactor] = Redactor
        self._renew_at = 0.0

    def set_sources(self, renew: Callable[[], Redactor], current: Callable[[], Redactor]) -> None:
        """Use the redactors of ``renew``, which looks for keys again, from now on.

        ``current`` returns the newest one: a new key is found on its first call, and the results of
        that call must be redacted at once.
        """
        self._renew, self._current = renew, current
        self._renew_at = 0.0

    def redact(self, text: str) -> str:
        """Return ``text`` without secrets."""
        return self._newest().redact(text)

    def keep(self, text: str) -> str:
        """Return ``text`` as it is, because the newest redactor masked it as it was streamed.

        Looks for new keys in time, as ``redact`` does.
        """
        self._newest()
        return text

    def _newest(self) -> Redactor:
        now = self._clock.monotonic()
        if now >= self._renew_at:
            self._renew_at = now + RENEWED_SECONDS  # first: the source may log, which redacts
            self._renew()
        return self._current()
