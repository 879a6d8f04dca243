"""Wires adapters to ports into one host, for any surface: the server extension, tests, the CLI.

Called once per process; whoever called it closes it. The one place to import a host from: what
goes in stands in ``host.ports``, what comes out in ``host.host``. What all of it stands on is made
by ``host.shared_services``, the tools by ``host.tool_wiring``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.assist.inline_completion.request_log import CompletionRequestLog
from jupyter_ai_shoulders.assist.inline_completion.service import CompletionService
from jupyter_ai_shoulders.assist.one_shot import OneShotCalls
from jupyter_ai_shoulders.assist.summaries import ConversationSummarizer
from jupyter_ai_shoulders.assist.titles import Titler
from jupyter_ai_shoulders.changes.proposals.service import ProposalService
from jupyter_ai_shoulders.changes.proposals.undone import UndoneProposalTracker
from jupyter_ai_shoulders.changes.restore.restorer import Restorer
from jupyter_ai_shoulders.changes.review.inline_answers import InlineAnswerWriter
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.host.context.mentions import Mentions
from jupyter_ai_shoulders.host.documents.review import build_review_service
from jupyter_ai_shoulders.host.host import Host
from jupyter_ai_shoulders.host.inline_completion.context import CompletionContextSource
from jupyter_ai_shoulders.host.inline_completion.variables import CompletionVariables
from jupyter_ai_shoulders.host.ports import HostPorts, HostSettings, PagePort
from jupyter_ai_shoulders.host.presence.page_presence import PagePresence
from jupyter_ai_shoulders.host.sessions.background_runs import BackgroundRuns
from jupyter_ai_shoulders.host.sessions.forks import Forks
from jupyter_ai_shoulders.host.sessions.service import SessionDefaults, SessionService
from jupyter_ai_shoulders.host.settings.workspace_trust import TrustReview
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.host.threads.run_notifications import RunNotifications
from jupyter_ai_shoulders.host.threads.service import ThreadService
from jupyter_ai_shoulders.host.threads.thread_import import ThreadImport
from jupyter_ai_shoulders.host.tool_wiring import base_tools, tool_ports
from jupyter_ai_shoulders.host.tools.installed_packages import InstalledTools, ToolInstallTarget
from jupyter_ai_shoulders.host.usage.service import OwnerUsage
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.recovery_attempts import RecoveryAttempts
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.tools.permissions.file_format import locked_rules
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.tool_factories import with_planning

__all__ = ["Host", "HostPorts", "HostSettings", "PagePort", "build_host"]


def build_host(settings: HostSettings, ports: HostPorts) -> Host:
    """Return a host; nothing is read, written or started before it is asked for."""
    ground = SharedServices(settings, ports)
    store, documents, ids = ground.store, ground.documents, ports.ids
    artifacts = ArtifactFiles(store.directory)
    rules = PermissionStore(
        StateFile(store.directory, "tools.json"),
        locked=locked_rules(settings.rules),
        external=lambda: tools.external,
        off=ground.commands.disabled_tools,
        trust=ground.trust.of_state,
        programs=ground.commands.programs,
    )
    threads = ThreadService(
        store.sessions,
        store.log,
        ids,
        conversations=lambda: conversations,
        engine=lambda: engine,
        has_owners=settings.has_owners,
    )
    long_calls = BackgroundTasks(ids)
    base = base_tools(ground, threads, artifacts)
    tools = with_planning(base, rules, store.blobs, runs=long_calls)
    calls = OneShotCalls(ground.models, ground.preferences.models)
    installed = InstalledTools(
        tool_ports(ground),
        ToolInstallTarget(base, tools, ground.recorder.tools),
        allowed=settings.tool_packages,
        changed=ports.pages.tools_changed,
        redact=ground.redact,
    )
    engine = _engine(ground, tools, rules, long_calls, ConversationSummarizer(calls, ground.models))
    trust = _trust_review(ground, tools, rules)
    store.hub.add(trust)
    titler = Titler(calls, ground.models, store.sessions)
    if settings.titles:
        store.hub.add(titler)
    store.on_disk_full(lambda: ports.pages.settings_changed("state"))
    undone = UndoneProposalTracker(store.log)
    store.hub.add(undone)
    conversations = _conversations(ground, engine)
    run_news = RunNotifications(store.sessions, store.log, documents.notebooks, engine)
    forks = _forks(ground, engine, artifacts)
    return Host(
        services=ground,
        tools=tools,
        installed=installed,
        rules=rules,
        trust=trust,
        engine=engine,
        session_service=conversations,
        review=build_review_service(ground.book, store, documents, ground.files, ground.recorder),
        cell_answers=InlineAnswerWriter(store.log, documents.notebooks, ground.recorder),
        usage=OwnerUsage(ground.budgets, store.directory.database, ports.clock),
        proposals=_proposals(ground, run_news),
        titler=titler,
        mentions=Mentions(
            documents.workspace, documents.variables, ground.surroundings, ports.clock
        ),
        inline_completion=_ghosts(ground),
        runs=BackgroundRuns(conversations, store.sessions, engine, ids),
        forks=forks,
        threads=threads,
        run_notifications=run_news,
        undone_proposals=undone,
        thread_import=ThreadImport(
            sessions=store.sessions,
            copies=store.forks,
            forks=forks,
            workspace=documents.workspace,
        ),
        presence=PagePresence(StateFile(store.directory, "presence.json"), ports.clock),
        artifacts=artifacts,
    )


def _trust_review(
    ground: SharedServices, tools: ToolRegistry, rules: PermissionStore
) -> TrustReview:
    def writes(name: str) -> bool:
        tool = tools.get(name)
        return tool is not None and tool.risk == "write"

    return TrustReview(
        ground.trust,
        ground.places,
        (
            lambda: rules.permissions.items,
            ground.models.folder_items,
            ground.preferences.items,
        ),
        writes,
    )


def _engine(
    ground: SharedServices,
    tools: ToolRegistry,
    rules: PermissionStore,
    long_calls: BackgroundTasks,
    summaries: ConversationSummarizer,
) -> Engine:
    store, documents, ports = ground.store, ground.documents, ground.ports
    return Engine(
        log=store.log,
        sessions=store.sessions,
        blobs=store.blobs,
        models=ground.models,
        tools=tools,
        rules=rules,
        clock=ports.clock,
        ids=ports.ids,
        settings=_engine_settings(ground.settings),
        surroundings=ground.surroundings,
        budgets=ground.budgets,
        summarizer=summaries,
        long_calls=long_calls,
        inputs=documents.runner.inputs,
        recoveries=RecoveryAttempts(StateFile(store.directory, "recoveries.json")),
        restorer=Restorer(
            store.log,
            store.blobs,
            documents.notebooks,
            ground.recorder,
            ports.ids,
            files=ground.files.undo,
        ),
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


def _conversations(ground: SharedServices, engine: Engine) -> SessionService:
    settings, ports = ground.settings, ground.ports
    return SessionService(
        sessions=ground.store.sessions,
        turns=engine,
        models=ground.models,
        pages=ports.pages,
        ids=ports.ids,
        defaults=SessionDefaults(mode=settings.default_mode, allow_bypass=settings.allow_bypass),
    )


def _forks(ground: SharedServices, engine: Engine, artifacts: ArtifactFiles) -> Forks:
    store = ground.store
    return Forks(
        log=store.log,
        sessions=store.sessions,
        copies=store.forks,
        artifacts=artifacts,
        engine=engine,
        ids=ground.ports.ids,
    )


def _proposals(ground: SharedServices, run_news: RunNotifications) -> ProposalService:
    return ProposalService(
        ground.store.log,
        ground.documents.notebooks,
        ground.documents.runner,
        ground.ports.ids,
        ground.recorder,
        texts=ground.files.texts,
        listener=run_news,
        path_now=ground.path_now,
    )


def _ghosts(ground: SharedServices) -> CompletionService:
    documents, ports = ground.documents, ground.ports
    scenes = CompletionContextSource(
        documents.workspace,
        documents.notebooks,
        CompletionVariables(ports.kernels, documents.variables, ports.clock),
        ground.surroundings.standing,
        ground.redact,
    )
    preferences = ground.preferences
    return CompletionService(
        ground.models,
        scenes,
        preferences.models,
        preferences.ghost,
        CompletionRequestLog(ports.clock),
    )
