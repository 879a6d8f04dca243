"""Wires adapters to ports into one host, for any surface: the server extension, tests, the CLI.

Called once per process; whoever called it closes it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from jupyter_ai_shoulders.assist.single import SingleCalls
from jupyter_ai_shoulders.assist.summaries import Summaries
from jupyter_ai_shoulders.assist.titles import Titler
from jupyter_ai_shoulders.core.budget import Limits
from jupyter_ai_shoulders.core.clock import Clock, IdSource, RandomIds, SystemClock
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.core.settings import EngineSettings
from jupyter_ai_shoulders.core.summaries import CompactionMode
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.long_calls import LongCalls
from jupyter_ai_shoulders.engine.proposals import Proposals
from jupyter_ai_shoulders.engine.restore.recorder import Recorder
from jupyter_ai_shoulders.engine.restore.restorer import Restorer
from jupyter_ai_shoulders.host.budgets import Budgets
from jupyter_ai_shoulders.host.captures import Captures
from jupyter_ai_shoulders.host.conversations import Conversations, SessionDefaults
from jupyter_ai_shoulders.host.documents import Documents
from jupyter_ai_shoulders.host.export.exporter import Exporter
from jupyter_ai_shoulders.host.forks import Forks
from jupyter_ai_shoulders.host.preferences import Preferences
from jupyter_ai_shoulders.host.runs import Runs
from jupyter_ai_shoulders.host.secrets import Secrets
from jupyter_ai_shoulders.host.store import Store
from jupyter_ai_shoulders.host.surroundings import Places, WorkspaceSurroundings
from jupyter_ai_shoulders.host.usage import UsageDesk
from jupyter_ai_shoulders.notebook.base import KernelDirectory
from jupyter_ai_shoulders.notebook.contents import Contents
from jupyter_ai_shoulders.notebook.incarnation import KernelIncarnations
from jupyter_ai_shoulders.notebook.live import LiveTimes
from jupyter_ai_shoulders.notebook.rooms import NoRooms, Rooms
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.providers.factory import make_provider
from jupyter_ai_shoulders.providers.keys import KeyStore, system_keyring
from jupyter_ai_shoulders.providers.metered import Metering
from jupyter_ai_shoulders.providers.registry import KEY_FILE, ModelRegistry, build_registry
from jupyter_ai_shoulders.providers.target import Target
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.storage.files import StateFile
from jupyter_ai_shoulders.storage.recoveries import RecoveryCounts
from jupyter_ai_shoulders.storage.recovery import RecoveryFiles
from jupyter_ai_shoulders.storage.sessions import SqliteSessions
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.clarify import Clarify
from jupyter_ai_shoulders.tools.complete import Complete
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook_kernels import kernel_tools
from jupyter_ai_shoulders.tools.notebook_tools import creation_and_output_tools, notebook_tools
from jupyter_ai_shoulders.tools.output_images import OutputPictures
from jupyter_ai_shoulders.tools.permissions import RuleBook, locked_rules
from jupyter_ai_shoulders.tools.planning_tools import with_planning
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.run_times import RunTimes
from jupyter_ai_shoulders.tools.scratch_tools import scratch_tools
from jupyter_ai_shoulders.tools.share_artifact import ShareArtifact
from jupyter_ai_shoulders.tools.todo import Todo
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.frames import ServerFrame
from jupyter_ai_shoulders.wire.ids import ClientId, ModelId
from jupyter_ai_shoulders.wire.sessions import Mode, Session

_log = logging.getLogger(__name__)

STATE_DIR = ".shoulders"
"""In the user's home directory."""
SETTINGS = "settings.json"


class PagePort(Protocol):
    """The browser pages of this surface; one without pages lets every call pass unheard."""

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """Send a frame to one page."""
        ...

    def deleted(self, session: Session) -> None:
        """Tell every page that may see the session that it is gone."""
        ...

    def tools_changed(self) -> None:
        """Tell every page that the permissions are others now."""
        ...


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Plain values from traits, files and the environment."""

    workspace: Path
    state_dir: Path
    home: Path = field(default_factory=Path.home)
    models: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The trait, in the form of ``models.json``."""
    preferences: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The trait, in the form of ``settings.json``; the user cannot change what is in it."""
    budget: Limits = field(default_factory=Limits)
    """The administrator's limits, which the user's cannot exceed."""
    default_mode: Mode = "ask"
    step_limit: int = 25
    nudges: bool = True
    """Whether the model is told when it reads twice, wanders or answers with nothing."""
    titles: bool = False
    """Whether a small model names new conversations."""
    turn_time_limit: float | None = None
    """Seconds a turn may work; None is no limit."""
    run_patience: float | None = 60.0
    """Seconds a step waits for a cell that runs; then the turn goes on beside it. None: always."""
    refuses_busy: bool = False
    """Whether nothing is queued in a kernel that runs something of the user's."""
    allow_bypass: bool = True
    rules: Sequence[Json] = ()
    """The administrator's permission rules, which deny or ask."""
    compaction: CompactionMode = "auto"
    """What happens when a conversation outgrows its model."""
    page_grace: float = 600.0
    """Seconds a page with unsaved changes may be away before its agent's edits are written."""
    has_owners: bool = False
    """Whether several users may meet on this server, as on a hub; sessions then have owners."""
    collaboration: bool = False
    """Whether pages open notebooks in rooms."""
    document_server: str | None = None
    """What to know of an extension that keeps open notebooks in a way of its own."""


@dataclass(frozen=True, slots=True)
class HostPorts:
    """What a surface brings along."""

    kernels: KernelDirectory
    pages: PagePort
    rooms: Rooms = field(default_factory=NoRooms)
    contents: Contents | None = None
    """The server's contents manager; without one, notebooks are the files of the workspace."""
    clock: Clock = field(default_factory=SystemClock)
    ids: IdSource = field(default_factory=RandomIds)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    adapter: Callable[[Target], Provider] = make_provider
    """Makes the provider of a model; the evaluation puts scripts in their place."""


class Host:
    """Everything one process shares between its conversations."""

    def __init__(
        self,
        *,
        settings: HostSettings,
        store: Store,
        models: ModelRegistry,
        tools: ToolRegistry,
        rules: RuleBook,
        pages: PagePort,
        engine: Engine,
        conversations: Conversations,
        documents: Documents,
        budgets: Budgets,
        preferences: Preferences,
        usage: UsageDesk,
        proposals: Proposals,
        titler: Titler,
        surroundings: WorkspaceSurroundings,
        redact: Callable[[str], str],
        runs: Runs,
        forks: Forks,
        artifacts: ArtifactFiles,
    ) -> None:
        self.settings = settings
        self.hub = store.hub
        self.log = store.log
        self.sessions = store.sessions
        self.models = models
        self.tools = tools
        self.rules = rules
        self.pages = pages
        self.engine = engine
        self.conversations = conversations
        self.live = documents.live
        self.frames = documents.frames
        self.budgets = budgets
        self.preferences = preferences
        self.usage = usage
        self.proposals = proposals
        self.redact = redact
        """Takes the keys in use out of what is shown."""
        self.runs = runs
        self.forks = forks
        self.exporter = Exporter(store.log)
        self.database = store.directory.database
        """For readers in threads."""
        self.artifacts = artifacts
        self._store = store
        self._documents = documents
        self._surroundings = surroundings
        self._titler = titler
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
        return self._store.problem()

    async def aclose(self) -> None:
        """Stop running turns and bring everything to the disk, in less than five seconds."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._store.aclose)
            stack.push_async_callback(self.budgets.aclose)
            stack.push_async_callback(self.models.aclose)
            stack.push_async_callback(self._documents.aclose)
            stack.push_async_callback(self._surroundings.aclose)
            stack.push_async_callback(self.proposals.aclose)
            stack.push_async_callback(self._titler.aclose)
            await self.engine.stop()

    async def _recover(self) -> None:
        try:
            await self._store.open()
            crash_point("host.store.opened")
            await self.engine.start()
            crash_point("host.engine.started")
            await self._documents.start()
            await self.engine.restores.take_up()
        except StateUnavailable as error:
            if str(error) != self._reported:
                _log.warning("Conversations are not available: %s %s", error, error.info.hint)
            self._reported = str(error)
        else:
            self._recovered = True


def build_host(settings: HostSettings, ports: HostPorts) -> Host:
    """Return a host; nothing is read, written or started before it is asked for."""
    clock, ids = ports.clock, ports.ids
    secrets = Secrets(clock)
    store = Store(settings.state_dir, clock, secrets.redact)
    documents = _documents(settings, ports, store)
    preferences = _preferences(settings, store)
    budgets = Budgets(settings.home / STATE_DIR, clock, settings.budget)
    models = _models(settings, ports, store.sessions, preferences, budgets)
    secrets.know(models.redactor)
    rules = RuleBook(
        StateFile(store.directory, "tools.json"),
        locked=locked_rules(settings.rules),
        external=lambda: tools.external,
    )
    artifacts = ArtifactFiles(store.directory)
    share = ShareArtifact(documents.workspace, artifacts)
    surroundings = _surroundings(
        settings, ports, store, documents, redact=secrets.redact, preferences=preferences
    )
    recorder = Recorder(store.log, store.blobs, KernelIncarnations(ports.kernels))
    notebook = _notebook_tools(
        documents, ids, preferences, recorder, RunTimes(StateFile(store.directory, "times.json"))
    )
    base = ToolRegistry([Todo(), Clarify(), Complete(), share, *notebook])
    long_calls = LongCalls(ids)
    tools = with_planning(base, rules, store.blobs, runs=long_calls)
    calls = SingleCalls(models, preferences.models)
    engine = Engine(
        log=store.log,
        sessions=store.sessions,
        blobs=store.blobs,
        models=models,
        tools=tools,
        rules=rules,
        clock=clock,
        ids=ids,
        settings=_engine_settings(settings),
        surroundings=surroundings,
        budgets=budgets,
        summarizer=Summaries(calls, models),
        long_calls=long_calls,
        inputs=documents.runner.inputs,
        recoveries=RecoveryCounts(StateFile(store.directory, "recoveries.json")),
        restorer=Restorer(store.log, store.blobs, documents.notebooks, recorder, ids),
    )
    titler = Titler(calls, models, store.sessions)
    if settings.titles:
        store.hub.add(titler)
    conversations = Conversations(
        sessions=store.sessions,
        turns=engine,
        models=models,
        pages=ports.pages,
        ids=ids,
        defaults=SessionDefaults(mode=settings.default_mode, allow_bypass=settings.allow_bypass),
    )
    return Host(
        settings=settings,
        store=store,
        models=models,
        tools=tools,
        rules=rules,
        pages=ports.pages,
        engine=engine,
        conversations=conversations,
        documents=documents,
        budgets=budgets,
        preferences=preferences,
        usage=UsageDesk(budgets, store.directory.database, clock),
        proposals=Proposals(store.log, documents.notebooks, documents.runner, ids, recorder),
        titler=titler,
        surroundings=surroundings,
        redact=secrets.redact,
        runs=Runs(conversations, store.sessions, engine, ids),
        forks=Forks(
            log=store.log,
            sessions=store.sessions,
            copies=store.forks,
            artifacts=artifacts,
            engine=engine,
            ids=ids,
        ),
        artifacts=artifacts,
    )


def _documents(settings: HostSettings, ports: HostPorts, store: Store) -> Documents:
    return Documents(
        root=settings.workspace,
        recovery=RecoveryFiles(store.directory),
        times=LiveTimes(grace=settings.page_grace),
        refuses_busy=settings.refuses_busy,
        kernels=ports.kernels,
        pages=ports.pages,
        rooms=ports.rooms,
        contents=ports.contents,
        clock=ports.clock,
        ids=ports.ids,
    )


def _engine_settings(settings: HostSettings) -> EngineSettings:
    return EngineSettings(
        workspace=str(settings.workspace),
        step_limit=settings.step_limit,
        nudges=settings.nudges,
        turn_time_limit_s=settings.turn_time_limit,
        run_patience_s=settings.run_patience,
        allow_bypass=settings.allow_bypass,
        compaction=settings.compaction,
    )


def _surroundings(
    settings: HostSettings,
    ports: HostPorts,
    store: Store,
    documents: Documents,
    *,
    redact: Callable[[str], str],
    preferences: Preferences,
) -> WorkspaceSurroundings:
    captures = Captures(
        workspace=documents.workspace,
        notebooks=documents.notebooks,
        blobs=store.blobs,
        log=store.log,
        sessions=store.sessions,
        redact=redact,
        variables=documents.variables,
        level=preferences.data_values,
    )
    places = Places(documents.workspace, settings.state_dir, ports.environ)
    return WorkspaceSurroundings(
        places,
        ports.kernels,
        captures,
        redact,
        ports.clock,
        looks=documents.variables,
        stale=documents.stale.latest,
    )


def _preferences(settings: HostSettings, store: Store) -> Preferences:
    user = StateFile(StateDirectory(settings.home / STATE_DIR), SETTINGS)
    return Preferences(
        StateFile(store.directory, SETTINGS), user, settings.preferences, str(settings.workspace)
    )


def _models(
    settings: HostSettings,
    ports: HostPorts,
    sessions: SqliteSessions,
    preferences: Preferences,
    budgets: Budgets,
) -> ModelRegistry:
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
        preferences=preferences.models,
        metered=Metering(budgets),
        adapter=ports.adapter,
    )


def _notebook_tools(
    documents: Documents,
    ids: IdSource,
    preferences: Preferences,
    recorder: Recorder,
    times: RunTimes,
) -> list[Tool[Any]]:
    notebooks = recorder.notebooks(documents.notebooks)
    runner = recorder.runner(documents.runner, documents.notebooks)
    access = NotebookAccess(notebooks, documents.names)
    beside = scratch_tools(
        access,
        runner=documents.runner,
        scratch=recorder.scratch(documents.scratch),
        variables=documents.variables,
        verifier=documents.verifier,
        level=preferences.data_values,
    )
    pictures = OutputPictures(documents.rasters)
    tools: list[Tool[Any]] = [
        *notebook_tools(
            notebooks,
            runner,
            ids,
            documents.names,
            pictures=pictures,
            times=times,
            stale=documents.stale,
        ),
        *creation_and_output_tools(
            access, pictures=pictures, new=documents.new, specs=documents.specs
        ),
        *beside,
        *kernel_tools(access, documents.control),
    ]
    return recorder.tools(tools)
