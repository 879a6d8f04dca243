"""What all of a host stands on: documents, what is kept, what may be spent, said and sent.

Made first by ``host.build``; the tools (``host.toolbox``) and the engine get parts of it. Nothing
is read, written or started before it is asked for.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.acting_page import ActingPage
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.engine.restore.recorder import Recorder
from jupyter_ai_shoulders.engine.review.book import EditBook
from jupyter_ai_shoulders.files.live import TextTimes
from jupyter_ai_shoulders.host.anchors import Anchors
from jupyter_ai_shoulders.host.captures import Captures
from jupyter_ai_shoulders.host.commands import Commands
from jupyter_ai_shoulders.host.documents import Documents
from jupyter_ai_shoulders.host.files import Files
from jupyter_ai_shoulders.host.owner_budgets import OwnerBudgets
from jupyter_ai_shoulders.host.ports import HostPorts, HostSettings
from jupyter_ai_shoulders.host.preferences import Preferences
from jupyter_ai_shoulders.host.secrets import Secrets
from jupyter_ai_shoulders.host.store import Store
from jupyter_ai_shoulders.host.surroundings import Places, WorkspaceSurroundings
from jupyter_ai_shoulders.host.thread_places import ThreadPlaces
from jupyter_ai_shoulders.host.workspace_trust import WorkspaceTrust
from jupyter_ai_shoulders.notebook.incarnation import KernelIncarnations
from jupyter_ai_shoulders.notebook.live import LiveTimes
from jupyter_ai_shoulders.providers.keys import KeyStore, system_keyring
from jupyter_ai_shoulders.providers.metered import Metering
from jupyter_ai_shoulders.providers.registry import KEY_FILE, ModelRegistry, build_registry
from jupyter_ai_shoulders.storage.blob_names import is_named
from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.storage.files import StateFile
from jupyter_ai_shoulders.storage.recovery import RecoveryFiles
from jupyter_ai_shoulders.tools.seen_texts import SeenTexts
from jupyter_ai_shoulders.wire.ids import ModelId

STATE_DIR = ".shoulders"
"""In the user's home directory."""
SETTINGS = "settings.json"


class Ground:
    """The parts, in the order in which they need each other."""

    def __init__(self, settings: HostSettings, ports: HostPorts) -> None:
        self.settings = settings
        self.ports = ports
        secrets = Secrets(ports.clock)
        self.redact = secrets.redact
        """Takes the keys in use out of what is shown."""
        self.trust = WorkspaceTrust(settings, settings.home / STATE_DIR, ports.clock)
        """Which of the workspace's own settings apply."""
        self.seen_texts = SeenTexts()
        """What conversations have read lately, for edits to be merged with what users changed."""
        self.store = Store(
            settings.state_dir,
            ports.clock,
            ports.ids,
            secrets.redact,
            settings.home / STATE_DIR,
        )
        self.acting = ActingPage()
        """Where documents that several pages have open are changed."""
        self.documents = self._documents()
        self.book = EditBook(self.store.log, self.store.blobs, ports.ids)
        self.anchors = Anchors(self.store.sessions, self.path_now)
        self.files = self._files()
        self.preferences = self._preferences()
        self.budgets = self._budgets()
        self.models = self._models()
        secrets.know(self.models.redactor, self.models.latest_redactor)
        self.commands = self._commands()
        self.recorder = Recorder(
            self.store.log,
            self.store.blobs,
            KernelIncarnations(ports.kernels),
            self.book,
            self.store.operations,
            acting=self.acting,
        )
        self.places = Places(
            self.documents.workspace,
            settings.state_dir,
            ports.environ,
            self.trust.of_folder,
            self.trust.of_state,
        )
        """Where instructions and skills are."""
        self.surroundings = self._surroundings()

    def path_now(self, path: str) -> str:
        """Return where a document is now that had this path."""
        return self.documents.live.current(self.documents.workspace.path(path))

    def _documents(self) -> Documents:
        settings, ports = self.settings, self.ports
        return Documents(
            root=settings.workspace,
            closed=(settings.runtime_dir,),
            recovery=RecoveryFiles(self.store.directory),
            acting=self.acting,
            times=LiveTimes(grace=settings.page_grace),
            refuses_busy=settings.refuses_busy,
            kernels=ports.kernels,
            pages=ports.pages,
            rooms=ports.rooms,
            contents=ports.contents,
            clock=ports.clock,
            ids=ports.ids,
        )

    def _files(self) -> Files:
        ports = self.ports
        return Files(
            workspace=self.documents.workspace,
            store=self.store,
            notebooks=self.documents.live,
            pages=ports.pages,
            witness=self.book,
            renamed=self._renamed,
            acting=self.acting,
            clock=ports.clock,
            ids=ports.ids,
            times=TextTimes(grace=self.settings.page_grace),
        )

    async def _renamed(self, old: str, new: str) -> None:
        self.book.renamed(old, new)
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

    def _budgets(self) -> OwnerBudgets:
        settings, sessions = self.settings, self.store.sessions
        folder, clock = settings.home / STATE_DIR, self.ports.clock
        if not settings.has_owners:
            return OwnerBudgets(folder, clock, settings.budget)
        return OwnerBudgets(
            folder,
            clock,
            settings.budget,
            session_owner=lambda session_id: sessions.header(session_id)[0],
            home_owner=settings.home_owner,
        )

    def _last_used(self) -> ModelId | None:
        try:
            return self.store.sessions.last_model()
        except StateUnavailable:
            return None  # said by ``status``; models can be listed all the same

    def _models(self) -> ModelRegistry:
        settings, ports = self.settings, self.ports
        keys = ports.keys
        environ = ports.environ if keys is None else keys.complete
        return build_registry(
            settings.home,
            settings.state_dir,
            ports.clock,
            ports.ids,
            environ=environ,
            trait=settings.models,
            keys=KeyStore(settings.home / KEY_FILE, environ, system_keyring()),
            withdraw=None if keys is None else keys.withdraw,
            last_used=self._last_used,
            preferences=self.preferences.models,
            metered=Metering(self.budgets),
            adapter=ports.adapter,
            trust=self.trust.of_state,
        )

    def _commands(self) -> Commands:
        settings, ports = self.settings, self.ports
        return Commands(
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

    def _surroundings(self) -> WorkspaceSurroundings:
        documents, ports, store = self.documents, self.ports, self.store
        captures = Captures(
            workspace=documents.workspace,
            notebooks=documents.notebooks,
            blobs=store.blobs,
            log=store.log,
            sessions=store.sessions,
            redact=self.redact,
            seen_texts=self.seen_texts,
            variables=documents.variables,
            level=self.preferences.data_values,
            is_named=lambda blob, owner: is_named(store.directory.database, blob, owner),
        )
        return WorkspaceSurroundings(
            self.places,
            ports.kernels,
            captures,
            self.redact,
            ports.clock,
            looks=documents.variables,
            stale=documents.stale.latest,
            threads=ThreadPlaces(documents.notebooks, self.files.texts),
        )
