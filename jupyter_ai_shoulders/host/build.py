"""Wires adapters to ports into one host, for any surface: the server extension, tests, the CLI.

Called once per process; whoever called it closes it. The one place to import a host from: what
goes in stands in ``host.ports``, what comes out in ``host.host``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_ai_shoulders.assist.ghost.engine import Ghosts
from jupyter_ai_shoulders.assist.single import SingleCalls
from jupyter_ai_shoulders.assist.summaries import Summaries
from jupyter_ai_shoulders.assist.titles import Titler
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.core.operations import OperationJournal
from jupyter_ai_shoulders.core.settings import EngineSettings
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.long_calls import LongCalls
from jupyter_ai_shoulders.engine.proposals import Proposals
from jupyter_ai_shoulders.engine.restore.made_notebooks import MadeNotebooks
from jupyter_ai_shoulders.engine.restore.recorder import Recorder
from jupyter_ai_shoulders.engine.restore.restorer import Restorer
from jupyter_ai_shoulders.engine.review.book import EditBook
from jupyter_ai_shoulders.engine.undone_proposals import UndoneProposals
from jupyter_ai_shoulders.files.live import TextTimes
from jupyter_ai_shoulders.files.previews import DocumentPreviews
from jupyter_ai_shoulders.host.adoption import Adoption
from jupyter_ai_shoulders.host.anchors import Anchors
from jupyter_ai_shoulders.host.budgets import Budgets
from jupyter_ai_shoulders.host.captures import Captures
from jupyter_ai_shoulders.host.commands import Commands
from jupyter_ai_shoulders.host.conversations import Conversations, SessionDefaults
from jupyter_ai_shoulders.host.documents import Documents
from jupyter_ai_shoulders.host.files import Files
from jupyter_ai_shoulders.host.forks import Forks
from jupyter_ai_shoulders.host.ghost_scenes import GhostScenes
from jupyter_ai_shoulders.host.ghost_variables import GhostVariables
from jupyter_ai_shoulders.host.history import Visibility
from jupyter_ai_shoulders.host.host import Host
from jupyter_ai_shoulders.host.mentions import Mentions
from jupyter_ai_shoulders.host.ports import HostPorts, HostSettings, PagePort
from jupyter_ai_shoulders.host.preferences import Preferences
from jupyter_ai_shoulders.host.review import review_desk
from jupyter_ai_shoulders.host.run_news import RunNews
from jupyter_ai_shoulders.host.runs import Runs
from jupyter_ai_shoulders.host.secrets import Secrets
from jupyter_ai_shoulders.host.store import Store
from jupyter_ai_shoulders.host.surroundings import Places, WorkspaceSurroundings
from jupyter_ai_shoulders.host.thread_places import ThreadPlaces
from jupyter_ai_shoulders.host.threads import HostThreads
from jupyter_ai_shoulders.host.usage import UsageDesk
from jupyter_ai_shoulders.notebook.incarnation import KernelIncarnations
from jupyter_ai_shoulders.notebook.live import LiveTimes
from jupyter_ai_shoulders.providers.keys import KeyStore, system_keyring
from jupyter_ai_shoulders.providers.metered import Metering
from jupyter_ai_shoulders.providers.registry import KEY_FILE, ModelRegistry, build_registry
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.storage.files import StateFile
from jupyter_ai_shoulders.storage.recoveries import RecoveryCounts
from jupyter_ai_shoulders.storage.recovery import RecoveryFiles
from jupyter_ai_shoulders.storage.sessions import SqliteSessions
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.clarify import Clarify
from jupyter_ai_shoulders.tools.complete import Complete
from jupyter_ai_shoulders.tools.create_proposal import CreateProposal
from jupyter_ai_shoulders.tools.document_tools import document_tools
from jupyter_ai_shoulders.tools.file_access import FileAccess
from jupyter_ai_shoulders.tools.file_history import history_tools
from jupyter_ai_shoulders.tools.file_tools import file_tools
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook_kernels import kernel_tools
from jupyter_ai_shoulders.tools.notebook_tools import creation_and_output_tools, notebook_tools
from jupyter_ai_shoulders.tools.output_images import OutputPictures
from jupyter_ai_shoulders.tools.permissions import RuleBook
from jupyter_ai_shoulders.tools.permissions_file import locked_rules
from jupyter_ai_shoulders.tools.planning_tools import with_planning
from jupyter_ai_shoulders.tools.propose_edit import ProposeEdit
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.run_times import RunTimes
from jupyter_ai_shoulders.tools.scratch_tools import scratch_tools
from jupyter_ai_shoulders.tools.share_artifact import ShareArtifact
from jupyter_ai_shoulders.tools.thread_tasks import AddTask, ReadTasks
from jupyter_ai_shoulders.tools.todo import Todo
from jupyter_ai_shoulders.tools.workspace_tools import looking_tools
from jupyter_ai_shoulders.wire.ids import ModelId

__all__ = ["Host", "HostPorts", "HostSettings", "PagePort", "build_host"]

STATE_DIR = ".shoulders"
"""In the user's home directory."""
SETTINGS = "settings.json"


def build_host(settings: HostSettings, ports: HostPorts) -> Host:
    """Return a host; nothing is read, written or started before it is asked for."""
    clock, ids = ports.clock, ports.ids
    secrets = Secrets(clock)
    store = Store(settings.state_dir, clock, ids, secrets.redact)
    documents = _documents(settings, ports, store)
    book = EditBook(store.log, store.blobs, ids)

    def path_now(path: str) -> str:
        return documents.live.current(documents.workspace.path(path))

    anchors = Anchors(store.sessions, path_now)
    files = _files(settings, ports, store, documents, book, anchors=anchors)
    preferences = _preferences(settings, store)
    budgets = Budgets(settings.home / STATE_DIR, clock, settings.budget)
    models = _models(settings, ports, store.sessions, preferences, budgets)
    secrets.know(models.redactor)
    commands = _commands(settings, ports, secrets.redact, preferences, files)
    rules = RuleBook(
        StateFile(store.directory, "tools.json"),
        locked=locked_rules(settings.rules),
        external=lambda: tools.external,
        off=commands.off,
    )
    artifacts = ArtifactFiles(store.directory)
    share = ShareArtifact(documents.workspace, artifacts)
    surroundings = _surroundings(
        settings,
        ports,
        store,
        documents,
        ThreadPlaces(documents.notebooks, files.texts),
        redact=secrets.redact,
        preferences=preferences,
    )
    recorder = Recorder(
        store.log, store.blobs, KernelIncarnations(ports.kernels), book, store.operations
    )
    reached = FileAccess(documents.workspace, files.texts, files.changes)
    notebook = _notebook_tools(
        documents,
        ids,
        preferences,
        recorder,
        RunTimes(StateFile(store.directory, "times.json")),
        files=reached,
        journal=store.operations,
    )
    access = NotebookAccess(documents.notebooks, documents.names)
    threads = HostThreads(
        store.sessions,
        store.log,
        ids,
        conversations=lambda: conversations,
        engine=lambda: engine,
        has_owners=settings.has_owners,
    )
    beside = [
        *looking_tools(documents.workspace, access, files.texts),
        *file_tools(
            workspace=documents.workspace,
            texts=files.texts,
            changes=files.changes,
            notebooks=access,
            previews=DocumentPreviews(),
            ids=ids,
        ),
        *history_tools(
            documents.workspace,
            files.journal,
            files.undo,
            files.texts,
            Visibility(store.sessions, has_owners=settings.has_owners).may_see,
        ),
        CreateProposal(access, reached, ids),
        ProposeEdit(access, reached, ids, threads),
        AddTask(access, reached, threads),
        ReadTasks(threads),
    ]
    base = ToolRegistry([Todo(), Clarify(), Complete(), share, *notebook, *beside, commands.tool])
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
        restorer=Restorer(
            store.log, store.blobs, documents.notebooks, recorder, ids, files=files.undo
        ),
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
    undone = UndoneProposals(store.log)
    store.hub.add(undone)
    run_news = RunNews(store.sessions, store.log, documents.notebooks, engine)
    forks = Forks(
        log=store.log,
        sessions=store.sessions,
        copies=store.forks,
        artifacts=artifacts,
        engine=engine,
        ids=ids,
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
        commands=commands,
        files=files,
        book=book,
        review=review_desk(book, store, documents.notebooks, files, recorder),
        budgets=budgets,
        preferences=preferences,
        usage=UsageDesk(budgets, store.directory.database, clock),
        proposals=Proposals(
            store.log,
            documents.notebooks,
            documents.runner,
            ids,
            recorder,
            texts=files.texts,
            listener=run_news,
            path_now=path_now,
        ),
        titler=titler,
        surroundings=surroundings,
        mentions=Mentions(documents.workspace, documents.variables, surroundings, clock),
        redact=secrets.redact,
        ghosts=_ghosts(
            ports,
            documents,
            surroundings,
            models=models,
            preferences=preferences,
            redact=secrets.redact,
        ),
        runs=Runs(conversations, store.sessions, engine, ids),
        forks=forks,
        anchors=anchors,
        threads=threads,
        run_news=run_news,
        undone=undone,
        adoption=Adoption(
            sessions=store.sessions,
            copies=store.forks,
            forks=forks,
            workspace=documents.workspace,
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


def _files(
    settings: HostSettings,
    ports: HostPorts,
    store: Store,
    documents: Documents,
    book: EditBook,
    *,
    anchors: Anchors,
) -> Files:
    return Files(
        workspace=documents.workspace,
        store=store,
        notebooks=documents.live,
        pages=ports.pages,
        witness=book,
        renamed=(book.renamed, anchors.renamed),
        clock=ports.clock,
        ids=ports.ids,
        times=TextTimes(grace=settings.page_grace),
    )


def _commands(
    settings: HostSettings,
    ports: HostPorts,
    redact: Callable[[str], str],
    preferences: Preferences,
    files: Files,
) -> Commands:
    return Commands(
        workspace=settings.workspace,
        state_dir=settings.state_dir,
        environ=ports.environ,
        redact=redact,
        preferences=preferences,
        undo=files.commands,
        detected=ports.sandbox,
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
    threads: ThreadPlaces,
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
        threads=threads,
    )


def _ghosts(
    ports: HostPorts,
    documents: Documents,
    surroundings: WorkspaceSurroundings,
    *,
    models: ModelRegistry,
    preferences: Preferences,
    redact: Callable[[str], str],
) -> Ghosts:
    scenes = GhostScenes(
        documents.workspace,
        documents.notebooks,
        GhostVariables(ports.kernels, documents.variables, ports.clock),
        surroundings.standing,
        redact,
    )
    return Ghosts(models, scenes, preferences.models, preferences.ghost)


def _preferences(settings: HostSettings, store: Store) -> Preferences:
    user = StateFile(StateDirectory(settings.home / STATE_DIR), SETTINGS)
    return Preferences(
        StateFile(store.directory, SETTINGS),
        user,
        settings.preferences,
        str(settings.workspace),
        settings.lock_reasons,
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
    *,
    files: FileAccess,
    journal: OperationJournal,
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
            access,
            pictures=pictures,
            new=MadeNotebooks(documents.new, recorder, journal, documents.workspace),
            specs=documents.specs,
        ),
        *beside,
        *kernel_tools(access, documents.control),
        *document_tools(files, access, ids),
    ]
    return recorder.tools(tools)
