"""An engine with fakes, and helpers to drive it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jupyter_ai_shoulders.changes.restore.restorer import DocumentRestorer
from jupyter_ai_shoulders.core.catalogue.prices import PriceTable
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.null_ports import NullBudgets
from jupyter_ai_shoulders.engine.ports import Budgets, RecoveryCounter, ResolvedModel, Summarizer
from jupyter_ai_shoulders.engine.request.compaction import NoSummarizer
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider, ScriptEntry
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.planning.step_runner import PlanLimits
from jupyter_ai_shoulders.tools.tool_factories import with_planning
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval, SendMessage
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.events import (
    ApprovalDecision,
    ApprovalRequest,
    ApprovalScope,
    Event,
    ToolResult,
    TurnEnd,
)
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, ProviderId, SessionId
from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.sessions import Mode, Session, SessionKind
from tests.engine.fake_tools import ToolProbe, registry

SESSION = SessionId("s1")
EventT = TypeVar("EventT", bound=Event)


class MemoryFile:
    """``PermissionsFile`` in a string."""

    def __init__(self, text: str | None = None) -> None:
        self.text = text
        self.lost = False

    def read(self) -> str | None:
        if self.lost:
            raise StateUnavailable("tools.json cannot be read.")
        return self.text

    def write(self, text: str) -> None:
        self.text = text


class FakeModels:
    """One model, and one unknown id."""

    def __init__(self, provider: ScriptedProvider, spec: ModelSpec) -> None:
        self.provider = provider
        self.specs = {spec.id: spec}
        self.default = spec.id

    async def refresh_default(self) -> None:
        """Do nothing: there are no servers."""

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        spec = self.specs.get(model_id or self.default)
        if spec is None:
            raise NotFound(f"There is no model {model_id}.", code="unknown_model")
        return ResolvedModel(spec, self.provider)


def model_spec(name: str = "m1", **changes: Any) -> ModelSpec:
    values: dict[str, Any] = {
        "id": name,
        "name": name.upper(),
        "provider": ProviderId("scripted"),
        "model": f"vendor-{name}",
        "context_window": 100_000,
        "prices": PriceTable(input=1_000_000, output=10_000_000),
    }
    return ModelSpec(**{**values, **changes})


@dataclass
class EngineHarness:
    """An engine with its fakes."""

    store: MemoryStore
    probe: ToolProbe
    provider: ScriptedProvider
    models: FakeModels
    file: MemoryFile
    engine: Engine
    ids: CountingIds
    loop: Sequence[Tool[Any]] = ()
    planning: bool = False
    numbers: list[int] = field(default_factory=list[int])

    @property
    def events(self) -> list[Event]:
        return self.store.events[SESSION]

    @property
    def session(self) -> Session:
        return self.store.get(SESSION)

    def of(self, kind: type[EventT]) -> list[EventT]:
        return [event for event in self.events if isinstance(event, kind)]

    def exits(self) -> list[str]:
        return [event.exit for event in self.of(TurnEnd)]

    def results(self) -> list[tuple[str, str]]:
        return [(event.call_id, event.status) for event in self.of(ToolResult)]

    def pending(self) -> CallId:
        return self.of(ApprovalRequest)[-1].call_id

    async def send(
        self, text: str = "Go", message: str | None = None, **more: Any
    ) -> MessageAccepted:
        self.numbers.append(1)
        message_id = MessageId(message or f"msg{len(self.numbers)}")
        return await self.engine.send(SESSION, SendMessage(id=message_id, text=text, **more))

    async def settle(self) -> None:
        await self.engine.settled(SESSION)

    async def say(self, text: str = "Go", **more: Any) -> None:
        await self.send(text, **more)
        await self.settle()

    async def reached(self, kind: type[Event]) -> None:
        """Wait until an event of this kind is logged; must be called before that."""
        arrived = asyncio.Event()

        def look(event: Event) -> None:
            if isinstance(event, kind):
                arrived.set()

        self.store.before_append = look
        await arrived.wait()
        self.store.before_append = None

    async def answer(
        self,
        decision: ApprovalDecision = "allow",
        scope: ApprovalScope = "once",
        feedback: str | None = None,
        call_id: str | None = None,
    ) -> None:
        command = AnswerApproval(decision=decision, scope=scope, feedback=feedback)
        chosen = CallId(call_id) if call_id else self.pending()
        await self.engine.responses.answer_approval(SESSION, chosen, command)
        await self.settle()


def make_session(kind: SessionKind = "chat", mode: Mode = "ask", **more: Any) -> Session:
    values: dict[str, Any] = {
        "id": SESSION,
        "kind": kind,
        "source": "chat",
        "title": "",
        "model": None,
        "mode": mode,
        "tools": "enabled",
        "toolset": "notebook",
        "interactive": kind not in {"run", "scheduled"},
        "status": "idle",
        "anchor": None,
        "owner": None,
        "message_count": 0,
        "last_seq": 0,
        "tokens_used": 0,
        "window": None,
        "cost_micro_usd": 0,
        "created_at": "2026-03-02T09:30:00.000Z",
        "updated_at": "2026-03-02T09:30:00.000Z",
    }
    return Session(**{**values, **more})


def make_engine(
    *script: ScriptEntry,
    given: Session | None = None,
    limits: EngineSettings | None = None,
    rules: str | None = None,
    model: ModelSpec | None = None,
    loop: Sequence[Tool[Any]] = (),
    budgets: Budgets | None = None,
    planning: bool = False,
) -> EngineHarness:
    """Return an engine with one session that plays this script; ``loop`` adds tools."""
    store = MemoryStore()
    store.add(given or make_session())
    provider = ScriptedProvider(*script)
    return make_engine_around(
        store,
        ToolProbe(),
        provider,
        limits=limits,
        rules=rules,
        model=model,
        loop=loop,
        budgets=budgets,
        planning=planning,
    )


def make_engine_around(
    store: MemoryStore,
    probe: ToolProbe,
    provider: ScriptedProvider,
    *,
    limits: EngineSettings | None = None,
    rules: str | None = None,
    model: ModelSpec | None = None,
    ids: CountingIds | None = None,
    loop: Sequence[Tool[Any]] = (),
    budgets: Budgets | None = None,
    recoveries: RecoveryCounter | None = None,
    summarizer: Summarizer | None = None,
    planning: bool = False,
    restorer: DocumentRestorer | None = None,
) -> EngineHarness:
    """Return an engine over a store, as after a server start."""
    limits = limits or make_settings()
    models = FakeModels(provider, model or model_spec())
    file = MemoryFile(rules)
    ids = ids or CountingIds()  # real ids are never reused, even after a crash
    rule_book, tools = PermissionStore(file), registry(probe, *loop)
    if planning:
        tools = with_planning(tools, rule_book, store.blobs, PlanLimits(timeout_s=0.2))
    engine = Engine(
        EngineServices(
            log=store,
            sessions=store,
            blobs=store.blobs,
            models=models,
            tools=tools,
            rules=rule_book,
            clock=store.clock,
            ids=ids,
            settings=limits,
            budgets=budgets or NullBudgets(),
            summarizer=summarizer or NoSummarizer(),
            background_tasks=BackgroundTasks(ids),
        ),
        recoveries=recoveries,
        restorer=restorer,
    )
    return EngineHarness(store, probe, provider, models, file, engine, ids, loop, planning)


async def restart_engine(
    before: EngineHarness, count: int | None = None, *script: ScriptEntry
) -> EngineHarness:
    """Return the harness after a crash that kept the first ``count`` events, with the engine
    started.
    """
    kept = len(before.events) if count is None else count
    store, provider = before.store.cut(SESSION, kept), ScriptedProvider(*script)
    after = make_engine_around(
        store, before.probe, provider, ids=before.ids, loop=before.loop, planning=before.planning
    )
    await after.engine.start()
    return after


CONTEXT = MessageContext(active_document="a.ipynb", open_documents=("a.ipynb", "b.ipynb"))


def types(events: Iterable[Event]) -> list[str]:
    """Return the event types without consecutive repetitions."""
    names: list[str] = []
    for event in events:
        if not names or names[-1] != event.type:
            names.append(event.type)
    return names


def make_settings(**changes: Any) -> EngineSettings:
    """Return the settings for tests, with changes."""
    values: dict[str, Any] = {"workspace": "/work/space", "delta_interval_s": 0.0}
    return EngineSettings(**{**values, **changes})
