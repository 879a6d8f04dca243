"""Wires adapters to ports into one host, for any surface: the server extension, tests, the CLI.

Called once per process; whoever called it closes it. The one place to import a host from: what
goes in stands in ``host.ports``, what comes out in ``host.host``. What all of it stands on is made
by ``host.ground``, the tools by ``host.toolbox``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.assist.ghost.engine import Ghosts
from jupyter_ai_shoulders.assist.ghost.sent import SentLog
from jupyter_ai_shoulders.assist.single import SingleCalls
from jupyter_ai_shoulders.assist.summaries import Summaries
from jupyter_ai_shoulders.assist.titles import Titler
from jupyter_ai_shoulders.core.settings import EngineSettings
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.long_calls import LongCalls
from jupyter_ai_shoulders.engine.proposals import Proposals
from jupyter_ai_shoulders.engine.restore.restorer import Restorer
from jupyter_ai_shoulders.engine.review.cell_answers import CellAnswers
from jupyter_ai_shoulders.engine.undone_proposals import UndoneProposals
from jupyter_ai_shoulders.host.adoption import Adoption
from jupyter_ai_shoulders.host.conversations import Conversations, SessionDefaults
from jupyter_ai_shoulders.host.forks import Forks
from jupyter_ai_shoulders.host.ghost_scenes import GhostScenes
from jupyter_ai_shoulders.host.ghost_variables import GhostVariables
from jupyter_ai_shoulders.host.ground import Ground
from jupyter_ai_shoulders.host.host import Host
from jupyter_ai_shoulders.host.installed_tools import InstalledTools, Place
from jupyter_ai_shoulders.host.mentions import Mentions
from jupyter_ai_shoulders.host.ports import HostPorts, HostSettings, PagePort
from jupyter_ai_shoulders.host.presence import Presence
from jupyter_ai_shoulders.host.review import review_desk
from jupyter_ai_shoulders.host.run_news import RunNews
from jupyter_ai_shoulders.host.runs import Runs
from jupyter_ai_shoulders.host.threads import HostThreads
from jupyter_ai_shoulders.host.toolbox import base_tools, tool_ports
from jupyter_ai_shoulders.host.usage import OwnerUsage
from jupyter_ai_shoulders.host.workspace_trust import TrustReview
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.files import StateFile
from jupyter_ai_shoulders.storage.recoveries import RecoveryCounts
from jupyter_ai_shoulders.tools.permissions import RuleBook
from jupyter_ai_shoulders.tools.permissions_file import locked_rules
from jupyter_ai_shoulders.tools.planning_tools import with_planning
from jupyter_ai_shoulders.tools.registry import ToolRegistry

__all__ = ["Host", "HostPorts", "HostSettings", "PagePort", "build_host"]


def build_host(settings: HostSettings, ports: HostPorts) -> Host:
    """Return a host; nothing is read, written or started before it is asked for."""
    ground = Ground(settings, ports)
    store, documents, ids = ground.store, ground.documents, ports.ids
    artifacts = ArtifactFiles(store.directory)
    rules = RuleBook(
        StateFile(store.directory, "tools.json"),
        locked=locked_rules(settings.rules),
        external=lambda: tools.external,
        off=ground.commands.off,
        trust=ground.trust.of_state,
        programs=ground.commands.programs,
    )
    threads = HostThreads(
        store.sessions,
        store.log,
        ids,
        conversations=lambda: conversations,
        engine=lambda: engine,
        has_owners=settings.has_owners,
    )
    long_calls = LongCalls(ids)
    base = base_tools(ground, threads, artifacts)
    tools = with_planning(base, rules, store.blobs, runs=long_calls)
    calls = SingleCalls(ground.models, ground.preferences.models)
    installed = InstalledTools(
        tool_ports(ground),
        Place(base, tools, ground.recorder.tools),
        allowed=settings.tool_packages,
        changed=ports.pages.tools_changed,
        redact=ground.redact,
    )
    engine = _engine(ground, tools, rules, long_calls, Summaries(calls, ground.models))
    trust = _trust_review(ground, tools, rules)
    store.hub.add(trust)
    titler = Titler(calls, ground.models, store.sessions)
    if settings.titles:
        store.hub.add(titler)
    store.tell_of_full_disk(lambda: ports.pages.settings_changed("state"))
    undone = UndoneProposals(store.log)
    store.hub.add(undone)
    conversations = _conversations(ground, engine)
    run_news = RunNews(store.sessions, store.log, documents.notebooks, engine)
    forks = _forks(ground, engine, artifacts)
    return Host(
        ground=ground,
        tools=tools,
        installed=installed,
        rules=rules,
        trust=trust,
        engine=engine,
        conversations=conversations,
        review=review_desk(ground.book, store, documents, ground.files, ground.recorder),
        cell_answers=CellAnswers(store.log, documents.notebooks, ground.recorder),
        usage=OwnerUsage(ground.budgets, store.directory.database, ports.clock),
        proposals=_proposals(ground, run_news),
        titler=titler,
        mentions=Mentions(
            documents.workspace, documents.variables, ground.surroundings, ports.clock
        ),
        ghosts=_ghosts(ground),
        runs=Runs(conversations, store.sessions, engine, ids),
        forks=forks,
        threads=threads,
        run_news=run_news,
        undone=undone,
        adoption=Adoption(
            sessions=store.sessions,
            copies=store.forks,
            forks=forks,
            workspace=documents.workspace,
        ),
        presence=Presence(StateFile(store.directory, "presence.json"), ports.clock),
        artifacts=artifacts,
    )


def _trust_review(ground: Ground, tools: ToolRegistry, rules: RuleBook) -> TrustReview:
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
    ground: Ground,
    tools: ToolRegistry,
    rules: RuleBook,
    long_calls: LongCalls,
    summaries: Summaries,
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
        recoveries=RecoveryCounts(StateFile(store.directory, "recoveries.json")),
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


def _conversations(ground: Ground, engine: Engine) -> Conversations:
    settings, ports = ground.settings, ground.ports
    return Conversations(
        sessions=ground.store.sessions,
        turns=engine,
        models=ground.models,
        pages=ports.pages,
        ids=ports.ids,
        defaults=SessionDefaults(mode=settings.default_mode, allow_bypass=settings.allow_bypass),
    )


def _forks(ground: Ground, engine: Engine, artifacts: ArtifactFiles) -> Forks:
    store = ground.store
    return Forks(
        log=store.log,
        sessions=store.sessions,
        copies=store.forks,
        artifacts=artifacts,
        engine=engine,
        ids=ground.ports.ids,
    )


def _proposals(ground: Ground, run_news: RunNews) -> Proposals:
    return Proposals(
        ground.store.log,
        ground.documents.notebooks,
        ground.documents.runner,
        ground.ports.ids,
        ground.recorder,
        texts=ground.files.texts,
        listener=run_news,
        path_now=ground.path_now,
    )


def _ghosts(ground: Ground) -> Ghosts:
    documents, ports = ground.documents, ground.ports
    scenes = GhostScenes(
        documents.workspace,
        documents.notebooks,
        GhostVariables(ports.kernels, documents.variables, ports.clock),
        ground.surroundings.standing,
        ground.redact,
    )
    preferences = ground.preferences
    return Ghosts(
        ground.models, scenes, preferences.models, preferences.ghost, SentLog(ports.clock)
    )
