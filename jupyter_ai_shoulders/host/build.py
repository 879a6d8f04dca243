"""Wires adapters to ports into one host, for any surface: the server extension, tests, the CLI.

Called once per process; whoever called it closes it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from jupyter_ai_shoulders.core.clock import Clock, IdSource, RandomIds, SystemClock
from jupyter_ai_shoulders.core.errors import ShouldersError, StateUnavailable
from jupyter_ai_shoulders.core.settings import EngineSettings
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.host.conversations import Conversations, SessionDefaults
from jupyter_ai_shoulders.host.hub import EventHub
from jupyter_ai_shoulders.notebook.base import KernelDirectory
from jupyter_ai_shoulders.providers.keys import KeyStore, system_keyring
from jupyter_ai_shoulders.providers.registry import KEY_FILE, ModelRegistry, build_registry
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.storage.files import StateFile
from jupyter_ai_shoulders.storage.log import SqliteEventLog
from jupyter_ai_shoulders.storage.sessions import SqliteSessions
from jupyter_ai_shoulders.tools.complete import Complete
from jupyter_ai_shoulders.tools.permissions import RuleBook
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.frames import PageFrame, ServerFrame
from jupyter_ai_shoulders.wire.ids import ClientId, ModelId, SessionId
from jupyter_ai_shoulders.wire.sessions import Mode

_log = logging.getLogger(__name__)


class PagePort(Protocol):
    """The browser pages of this surface; one without pages lets every call pass unheard."""

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """Send a frame to one page."""
        ...

    def deleted(self, session_id: SessionId) -> None:
        """Tell the pages that show a session that it is gone."""
        ...


class PageDocuments(Protocol):
    """The notebooks open in pages, as the page socket reports them."""

    def connected(self, client_id: ClientId) -> None:
        """Take note of a page that said hello."""
        ...

    async def handle(self, client_id: ClientId, frame: PageFrame) -> None:
        """Take a document frame of a page."""
        ...

    def disconnected(self, client_id: ClientId) -> None:
        """Take note that a page is gone."""
        ...


class _NoDocuments:
    def connected(self, client_id: ClientId) -> None: ...

    async def handle(self, client_id: ClientId, frame: PageFrame) -> None: ...

    def disconnected(self, client_id: ClientId) -> None: ...


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Plain values from traits, files and the environment."""

    workspace: Path
    state_dir: Path
    home: Path = field(default_factory=Path.home)
    models: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The trait, in the form of ``models.json``."""
    default_mode: Mode = "ask"
    step_limit: int = 25
    has_owners: bool = False
    """Whether several users may meet on this server, as on a hub; sessions then have owners."""
    collaboration: bool = False


@dataclass(frozen=True, slots=True)
class HostPorts:
    """What a surface brings along."""

    kernels: KernelDirectory
    pages: PagePort
    clock: Clock = field(default_factory=SystemClock)
    ids: IdSource = field(default_factory=RandomIds)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)


class Host:
    """Everything one process shares between its conversations."""

    def __init__(
        self,
        *,
        settings: HostSettings,
        directory: StateDirectory,
        database: Database,
        hub: EventHub,
        log: SqliteEventLog,
        sessions: SqliteSessions,
        blobs: FileBlobs,
        models: ModelRegistry,
        tools: ToolRegistry,
        rules: RuleBook,
        engine: Engine,
        conversations: Conversations,
        live: PageDocuments,
    ) -> None:
        self.settings = settings
        self.hub = hub
        self.log = log
        self.sessions = sessions
        self.blobs = blobs
        self.models = models
        self.tools = tools
        self.rules = rules
        self.engine = engine
        self.conversations = conversations
        self.live = live
        self._directory = directory
        self._database = database
        self._recovery = asyncio.Lock()
        self._recovered = False
        self._reported: str | None = None

    async def ready(self) -> None:
        """Take up what the last process left, once.

        When the state directory cannot be used, each request tries again and those that need it
        fail with the reason; everything else works.
        """
        if self._recovered:
            return
        async with self._recovery:
            if not self._recovered:
                await self._recover()

    def state_error(self) -> ErrorInfo | None:
        """Return why conversations cannot be kept now, None when they can."""
        try:
            self._directory.check()
            self._database.existing()
        except StateUnavailable as error:
            return error.info
        return None

    async def aclose(self) -> None:
        """Stop running turns and bring everything to the disk, in less than five seconds."""
        try:
            await self.engine.stop()
        except ShouldersError:
            _log.exception("The engine did not stop in order")
        await self.models.aclose()
        await self.log.aclose()
        self._database.close()

    async def _recover(self) -> None:
        try:
            await asyncio.to_thread(self._database.existing)
            self.sessions.purge()
            await self.engine.start()
        except StateUnavailable as error:
            if str(error) != self._reported:
                _log.warning("Conversations are not available: %s %s", error, error.info.hint)
            self._reported = str(error)
        else:
            self._recovered = True


def build_host(settings: HostSettings, ports: HostPorts) -> Host:
    """Return a host; nothing is read, written or started before it is asked for."""
    directory = StateDirectory(settings.state_dir)
    database = Database(directory, ports.clock)
    blobs = FileBlobs(directory)
    hub = EventHub()
    log = SqliteEventLog(database, hub, ports.clock, blobs.flush)
    sessions = SqliteSessions(database, log, ports.clock)
    models = _models(settings, ports, sessions)
    rules = RuleBook(StateFile(directory, "tools.json"))
    tools = ToolRegistry([Complete()])
    engine = Engine(
        log=log,
        sessions=sessions,
        blobs=blobs,
        models=models,
        tools=tools,
        rules=rules,
        clock=ports.clock,
        ids=ports.ids,
        settings=EngineSettings(workspace=str(settings.workspace), step_limit=settings.step_limit),
    )
    conversations = Conversations(
        sessions=sessions,
        turns=engine,
        models=models,
        pages=ports.pages,
        ids=ports.ids,
        defaults=SessionDefaults(mode=settings.default_mode),
    )
    return Host(
        settings=settings,
        directory=directory,
        database=database,
        hub=hub,
        log=log,
        sessions=sessions,
        blobs=blobs,
        models=models,
        tools=tools,
        rules=rules,
        engine=engine,
        conversations=conversations,
        live=_NoDocuments(),
    )


def _models(settings: HostSettings, ports: HostPorts, sessions: SqliteSessions) -> ModelRegistry:
    def last_used() -> ModelId | None:
        try:
            return sessions.last_model()
        except StateUnavailable:
            return None  # said by ``status``; models can be listed all the same

    return build_registry(
        settings.home,
        settings.state_dir,
        ports.clock,
        ports.ids,
        environ=ports.environ,
        trait=settings.models,
        keys=KeyStore(settings.home / KEY_FILE, ports.environ, system_keyring()),
        last_used=last_used,
    )
