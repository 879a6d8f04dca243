"""Wires adapters to ports into one host, for any surface: the server extension, tests, the CLI.

Called once per process; the caller closes the host. Other packages import the host from here: its
inputs are in ``host.ports``, its parts in ``host.host``. ``host.shared_services`` makes the
services that the parts share, ``host.tool_wiring`` the tools.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from jupyter_ai_shoulders.assist.inline_completion.request_log import CompletionRequestLog
from jupyter_ai_shoulders.assist.inline_completion.service import CompletionService
from jupyter_ai_shoulders.assist.one_shot import OneShotCalls
from jupyter_ai_shoulders.assist.summaries import ConversationSummarizer
from jupyter_ai_shoulders.assist.titles import Titler
from jupyter_ai_shoulders.changes.proposals.service import ProposalService
from jupyter_ai_shoulders.changes.proposals.undone import UndoneProposalTracker
from jupyter_ai_shoulders.changes.recording.recording_wrappers import record_tools
from jupyter_ai_shoulders.changes.restore.restorer import Restorer
from jupyter_ai_shoulders.changes.review.inline_answers import InlineAnswerWriter
from jupyter_ai_shoulders.changes.review.service import ReviewService
from jupyter_ai_shoulders.core.catalogue.external_agents import SCHEDULE_PREFIX
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.host.automation.automation import Automation
from jupyter_ai_shoulders.host.automation.notebook_plans import NotebookPlans
from jupyter_ai_shoulders.host.context.file_search import FileSearch
from jupyter_ai_shoulders.host.context.mentions import Mentions
from jupyter_ai_shoulders.host.delegation.build import with_sub_agents
from jupyter_ai_shoulders.host.documents.review import build_review_service
from jupyter_ai_shoulders.host.external_agents.protocol_services import ProtocolServices
from jupyter_ai_shoulders.host.external_agents.routed_models import RoutedModels
from jupyter_ai_shoulders.host.host import Host
from jupyter_ai_shoulders.host.inline_completion.context import CompletionContextBuilder
from jupyter_ai_shoulders.host.inline_completion.variables import CompletionVariables
from jupyter_ai_shoulders.host.mcp_client.build import mcp_configuration
from jupyter_ai_shoulders.host.ports import HostPorts, HostSettings, PagePort
from jupyter_ai_shoulders.host.presence.page_presence import PagePresence
from jupyter_ai_shoulders.host.sessions.background_runs import BackgroundRuns
from jupyter_ai_shoulders.host.sessions.forks import Forks
from jupyter_ai_shoulders.host.sessions.service import SessionDefaults, SessionService
from jupyter_ai_shoulders.host.settings.workspace_trust import TrustReview
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.host.state.event_bus import EventListener
from jupyter_ai_shoulders.host.threads.run_notifications import RunNotifications
from jupyter_ai_shoulders.host.threads.service import ThreadService
from jupyter_ai_shoulders.host.threads.thread_import import ThreadImport
from jupyter_ai_shoulders.host.tool_wiring import base_tools, tool_ports
from jupyter_ai_shoulders.host.tools.installed_packages import InstalledTools, ToolInstallTarget
from jupyter_ai_shoulders.host.usage.service import OwnerUsage
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.recovery_attempts import RecoveryAttempts
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.tools.agent.notify import NOTIFY
from jupyter_ai_shoulders.tools.permissions.file_format import locked_rules
from jupyter_ai_shoulders.tools.permissions.grants import PlannedGrants
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.tool_factories import with_planning

__all__ = ["Host", "HostPorts", "HostSettings", "PagePort", "build_host"]


def build_host(settings: HostSettings, ports: HostPorts) -> Host:
    """Return a host. Reads, writes and starts nothing until it is used."""
    services = SharedServices(settings, ports)
    store, documents, ids = services.store, services.documents, ports.ids
    artifacts = ArtifactFiles(store.directory)
    rules = _permission_store(services, external=lambda: tools.external)
    services.web.set_permissions(rules)
    threads = _thread_service(services, lambda: conversations, lambda: engine)
    background = BackgroundTasks(ids)
    base = base_tools(services, threads, artifacts)
    tools = _all_tools(services, base, rules, background, lambda: (conversations, engine))
    routed, plans = _routed_models(services)
    engine = _engine(services, routed, tools, rules, background, planned_grants=plans.grants)
    trust = _trust_review(services, tools, rules)
    titler = Titler(_one_shot_calls(services), services.models, store.sessions)
    undone = UndoneProposalTracker(store.log)
    _add_listeners(services, trust, *([titler] if settings.titles else []), undone)
    conversations = _session_service(services, engine, routed)
    notifications = RunNotifications(store.sessions, store.log, documents.notebooks, engine)
    forks = _forks(services, engine, artifacts)
    return Host(
        services=services,
        tools=tools,
        installed=_installed_tools(services, base, tools),
        rules=rules,
        trust=trust,
        engine=engine,
        session_service=conversations,
        review=_review_service(services),
        cell_answers=InlineAnswerWriter(store.log, documents.notebooks, services.recorder),
        usage=OwnerUsage(services.budgets, store.directory.database, ports.clock),
        proposals=_proposals(services, notifications),
        titler=titler,
        mentions=_mentions(services),
        inline_completion=_completion_service(services),
        runs=BackgroundRuns(conversations, store.sessions, engine, ids),
        forks=forks,
        threads=threads,
        run_notifications=notifications,
        undone_proposals=undone,
        thread_import=_thread_import(services, forks),
        presence=PagePresence(StateFile(store.directory, "presence.json"), ports.clock),
        artifacts=artifacts,
        protocols=ProtocolServices(
            services, base, tools, engine, conversations, routed, background
        ),
        automation=Automation(services, conversations, engine, routed),
    )


def _all_tools(
    services: SharedServices,
    base: ToolRegistry,
    rules: PermissionStore,
    background: BackgroundTasks,
    late: Callable[[], tuple[SessionService, Engine]],
) -> ToolRegistry:
    tools = with_planning(base, rules, services.store.blobs, runs=background)
    return with_sub_agents(tools, services, rules, lambda: late()[0], lambda: late()[1])


def _routed_models(services: SharedServices) -> tuple[RoutedModels, NotebookPlans]:
    """Return the engine's models, with the plans of scheduled runs of notebooks among them."""
    routed = RoutedModels(services.models)
    plans = NotebookPlans(services.store.schedules, services.store.log)
    routed.add(SCHEDULE_PREFIX, plans)
    return routed, plans


def _add_listeners(services: SharedServices, *listeners: EventListener) -> None:
    for listener in listeners:
        services.store.hub.add(listener)
    services.store.on_disk_full(lambda: services.ports.pages.settings_changed("state"))


def _review_service(services: SharedServices) -> ReviewService:
    return build_review_service(
        services.pending_edits,
        services.store,
        services.documents,
        services.files,
        services.recorder,
    )


def _one_shot_calls(services: SharedServices) -> OneShotCalls:
    return OneShotCalls(services.models, services.preferences.models)


def _permission_store(
    services: SharedServices, external: Callable[[], frozenset[str]]
) -> PermissionStore:
    return PermissionStore(
        StateFile(services.store.directory, "tools.json"),
        locked=locked_rules(services.settings.rules),
        external=external,
        off=lambda: _switched_off_tools(services),
        trust=services.trust.of_state,
        programs=services.commands.programs,
    )


def _switched_off_tools(services: SharedServices) -> Collection[str]:
    """Return the tools that the settings switch off."""
    off = {*services.commands.disabled_tools(), *services.agent_database.disabled_tools()}
    off |= services.next_runs.disabled_tools()
    if not services.preferences.notifications().agent:
        off.add(NOTIFY)
    return off.union(services.memory.disabled_tools())


def _thread_service(
    services: SharedServices,
    conversations: Callable[[], SessionService],
    engine: Callable[[], Engine],
) -> ThreadService:
    return ThreadService(
        services.store.sessions,
        services.store.log,
        services.ports.ids,
        conversations=conversations,
        engine=engine,
        has_owners=services.settings.has_owners,
    )


def _installed_tools(
    services: SharedServices, base: ToolRegistry, tools: ToolRegistry
) -> InstalledTools:
    return InstalledTools(
        tool_ports(services),
        ToolInstallTarget(base, tools, partial(record_tools, recorder=services.recorder)),
        allowed=services.settings.tool_packages,
        changed=services.ports.pages.tools_changed,
        redact=services.redact,
    )


def _mentions(services: SharedServices) -> Mentions:
    documents = services.documents
    files = FileSearch(documents.workspace, services.path_index)
    return Mentions(files, documents.variables, services.environment)


def _thread_import(services: SharedServices, forks: Forks) -> ThreadImport:
    return ThreadImport(
        sessions=services.store.sessions,
        copies=services.store.forks,
        forks=forks,
        workspace=services.documents.workspace,
    )


def _trust_review(
    services: SharedServices, tools: ToolRegistry, rules: PermissionStore
) -> TrustReview:
    def writes(name: str) -> bool:
        tool = tools.get(name)
        return tool is not None and tool.risk == "write"

    return TrustReview(
        services.trust,
        services.instruction_sources,
        (
            lambda: rules.permissions.items,
            services.models.folder_items,
            services.preferences.items,
            mcp_configuration(services).folder_items,
            services.memory.places.folder_items,
        ),
        writes,
    )


def _engine(
    services: SharedServices,
    models: RoutedModels,
    tools: ToolRegistry,
    rules: PermissionStore,
    background: BackgroundTasks,
    *,
    planned_grants: PlannedGrants,
) -> Engine:
    store, documents, ports = services.store, services.documents, services.ports
    return Engine(
        EngineServices(
            log=store.log,
            sessions=store.sessions,
            blobs=store.blobs,
            models=models,
            tools=tools,
            rules=rules,
            clock=ports.clock,
            ids=ports.ids,
            settings=_engine_settings(services.settings),
            environment=services.environment,
            budgets=services.budgets,
            summarizer=ConversationSummarizer(_one_shot_calls(services), services.models),
            background_tasks=background,
            planned_grants=planned_grants,
            inputs=documents.runner.inputs,
        ),
        recoveries=RecoveryAttempts(StateFile(store.directory, "recoveries.json")),
        restorer=Restorer(
            store.log,
            store.blobs,
            documents.notebooks,
            services.recorder,
            ports.ids,
            files=services.files.undo,
        ),
    )


def _engine_settings(settings: HostSettings) -> EngineSettings:
    return EngineSettings(
        workspace=str(settings.workspace),
        step_limit=settings.step_limit,
        nudges=settings.nudges,
        turn_time_limit_s=settings.turn_time_limit,
        run_wait_s=settings.run_timeout,
        allow_bypass=settings.allow_bypass,
        compaction=settings.compaction,
    )


def _session_service(
    services: SharedServices, engine: Engine, models: RoutedModels
) -> SessionService:
    settings, ports = services.settings, services.ports
    return SessionService(
        sessions=services.store.sessions,
        turns=engine,
        models=models,
        pages=ports.pages,
        ids=ports.ids,
        defaults=SessionDefaults(mode=settings.default_mode, allow_bypass=settings.allow_bypass),
    )


def _forks(services: SharedServices, engine: Engine, artifacts: ArtifactFiles) -> Forks:
    store = services.store
    return Forks(
        log=store.log,
        sessions=store.sessions,
        copies=store.forks,
        artifacts=artifacts,
        engine=engine,
        ids=services.ports.ids,
    )


def _proposals(services: SharedServices, notifications: RunNotifications) -> ProposalService:
    return ProposalService(
        services.store.log,
        services.documents.notebooks,
        services.documents.runner,
        services.ports.ids,
        services.recorder,
        texts=services.files.texts,
        listener=notifications,
        current_path=services.current_path,
    )


def _completion_service(services: SharedServices) -> CompletionService:
    documents, ports = services.documents, services.ports
    contexts = CompletionContextBuilder(
        documents.workspace,
        documents.notebooks,
        CompletionVariables(ports.kernels, documents.variables, ports.clock),
        services.environment.load_instructions,
        services.redact,
    )
    preferences = services.preferences
    return CompletionService(
        services.models,
        contexts,
        preferences.models,
        preferences.inline_completion,
        CompletionRequestLog(ports.clock),
    )
