"""The real engine, registry and adapters with the strict simulator as every provider.

Only store, clock and tools are fakes. Used by tests of model switches and provider failures.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from jupyter_ai_shoulders.assist.one_shot import OneShotCalls
from jupyter_ai_shoulders.assist.summaries import ConversationSummarizer
from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.request.compaction import NoSummarizer
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.providers.registry import ModelRegistry
from jupyter_ai_shoulders.providers.registry_builder import RegistryOptions, build_registry
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.tools.base import CallContext, Progress, Result
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.events import Event, ToolResult, TurnEnd
from jupyter_ai_shoulders.wire.ids import MessageId, ModelId
from jupyter_ai_shoulders.wire.parts import ImagePart, TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from tests.engine.engine_harness import SESSION, MemoryFile, make_session, make_settings
from tests.engine.fake_tools import FakeTool, PathArguments, ToolProbe, registry
from tests.engine.log_invariants import check_contexts, check_log
from tests.simulator import Simulator

EventT = TypeVar("EventT", bound=Event)

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Plot(FakeTool):
    """Reads, and answers with an image."""

    name = "plot"
    risk = "read"

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        await self.probe.work(f"plot:{args.path}{args.word}")
        image = ImagePart(media_type="image/png", data=PIXEL)
        yield Result(
            envelope=ToolEnvelope(ok=True, kind="text", data=None),
            content=(TextPart(text="The plot:"), image),
        )


KEYS = {
    "ANTHROPIC_API_KEY": "anthropic",
    "OPENAI_API_KEY": "openai",
    "GEMINI_API_KEY": "google",
    "LAB_API_KEY": "lab",
    "DEEPSEEK_API_KEY": "deepseek",
    "MISTRAL_API_KEY": "mistral",
    "OPENROUTER_API_KEY": "openrouter",
}
EFFORTS = {"mode": "effort", "off": "disabled", "efforts": ["low", "medium", "high"]}
MODELS: tuple[dict[str, Any], ...] = (
    {"id": "claude-opus-5-5", "provider": "anthropic"},
    {"id": "claude-haiku-5-5", "provider": "anthropic"},
    {"id": "claude-sonnet-4-5", "provider": "anthropic"},
    {"id": "gpt-6.1-sol", "provider": "openai"},
    {"id": "gpt-6-luna", "provider": "openai"},
    {"id": "gemini-3.8-flash", "provider": "google"},
    {"id": "gemini-2.5-flash", "provider": "google"},
    {
        "id": "qwen",
        "provider": "ollama",
        "model": "sim-qwen",
        "thinking_support": EFFORTS,
        "context_window": 131_072,
    },
    {"id": "llama", "provider": "ollama", "model": "sim-llama", "context_window": 131_072},
    {"id": "local", "provider": "lab", "model": "sim-local", "images": True},
    {"id": "deep", "provider": "deepseek", "model": "deepseek-v4-flash"},
    {"id": "small", "provider": "mistral", "model": "mistral-large-latest"},
    {
        "id": "router",
        "provider": "openrouter",
        "model": "openrouter/auto",
        "images": True,
        "thinking": "high",
        "thinking_support": EFFORTS,
    },
)
"""Two models of each provider with reasoning, which reason differently, and every chat profile."""


def configuration(simulator: Simulator, **limits: Any) -> dict[str, Any]:
    """The trait that configures the simulator as every provider."""
    places = {
        "anthropic": {"url": simulator.url},
        "openai": {"url": simulator.openai_url},
        "google": {"url": f"{simulator.url}/v1beta"},
        "ollama": {"url": simulator.url},
        "lab": _chat(simulator, "auto"),
        "deepseek": _chat(simulator, "deepseek"),
        "mistral": _chat(simulator, "mistral"),
        "openrouter": _chat(simulator, "openrouter"),
    }
    named = {
        name: place | limits | _key(name) | {"name": name.title()} for name, place in places.items()
    }
    return {"default": "claude-opus-5-5", "providers": named, "models": list(MODELS)}


def _chat(simulator: Simulator, profile: str) -> dict[str, Any]:
    return {"kind": "openai_chat", "url": simulator.openai_url, "profile": profile}


def _key(provider: str) -> dict[str, str]:
    names = [name for name, owner in KEYS.items() if owner == provider]
    return {"api_key_env": names[0]} if names else {}


@dataclass
class SimulatorHarness:
    """One conversation of a real engine, and its requests."""

    simulator: Simulator
    store: MemoryStore
    probe: ToolProbe
    models: ModelRegistry
    engine: Engine
    ids: CountingIds
    limits: EngineSettings
    summaries: bool = False
    sent: list[str] = field(default_factory=list[str])

    @property
    def events(self) -> list[Event]:
        return self.store.events[SESSION]

    def of(self, kind: type[EventT]) -> list[EventT]:
        return [event for event in self.events if isinstance(event, kind)]

    def end(self) -> TurnEnd:
        return self.of(TurnEnd)[-1]

    def results(self) -> list[tuple[str, str]]:
        return [(event.tool, event.status) for event in self.of(ToolResult)]

    async def send(self, text: str, model: str | None = None, **more: Any) -> None:
        self.sent.append(text)
        named = None if model is None else ModelId(model)
        message = MessageId(f"msg{len(self.sent)}")
        await self.engine.send(SESSION, SendMessage(id=message, text=text, model=named, **more))

    async def say(self, text: str, model: str | None = None, **more: Any) -> TurnEnd:
        """Send and wait for the end of the turn."""
        await self.send(text, model, **more)
        await self.engine.settled(SESSION)
        return self.end()

    async def cancel(self) -> None:
        await self.engine.cancel(SESSION)
        await self.engine.settled(SESSION)

    async def restart(self) -> None:
        """Crash the engine and start another one on the log."""
        await self.engine.stop()
        self.engine = _engine(
            self.store, self.probe, self.models, self.ids, self.limits, summaries=self.summaries
        )
        await self.engine.start()

    def bodies(self) -> list[str]:
        """All requests to models as JSON."""
        return [json.dumps(record.body) for record in self.simulator.requests]

    def refusals(self) -> list[str]:
        """The requests the simulator refused as malformed, without scripted failures."""
        return [record.refusal for record in self.simulator.requests if record.refusal]

    def check(self) -> None:
        """Check the invariants (docs/design/reliability.md#invariants)."""
        check_log(self.events)
        check_contexts(self.events, self.store.blobs)


@asynccontextmanager
async def wired(
    simulator: Simulator,
    tmp_path: Path,
    *,
    trait: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    limits: EngineSettings | None = None,
    summaries: bool = False,
    **of_providers: Any,
) -> AsyncGenerator[SimulatorHarness]:
    """An engine with one session in mode ``auto_edit`` that runs without asking.

    ``summaries``: whether models write those of compactions.
    """
    ids, store, probe = CountingIds(), MemoryStore(), ToolProbe()
    probe.open_in_page = {"a.ipynb", "b.ipynb"}
    keys = dict.fromkeys(KEYS, simulator.key)
    models = build_registry(
        tmp_path / "home",
        tmp_path / "state",
        SystemClock(),
        ids,
        RegistryOptions(
            environ=keys if environ is None else environ,
            trait=configuration(simulator, **of_providers) if trait is None else trait,
        ),
    )
    assert not models.problems()
    store.add(make_session(mode="auto_edit"))
    limits = limits or make_settings()
    engine = _engine(store, probe, models, ids, limits, summaries=summaries)
    made = SimulatorHarness(simulator, store, probe, models, engine, ids, limits, summaries)
    try:
        yield made
    finally:
        await made.engine.stop()
        await models.aclose()


def _engine(
    store: MemoryStore,
    probe: ToolProbe,
    models: ModelRegistry,
    ids: CountingIds,
    limits: EngineSettings,
    *,
    summaries: bool,
) -> Engine:
    calls = OneShotCalls(models, ModelPreferences)
    return Engine(
        EngineServices(
            log=store,
            sessions=store,
            blobs=store.blobs,
            models=models,
            tools=registry(probe, Plot(probe)),
            rules=PermissionStore(MemoryFile()),
            clock=store.clock,
            ids=ids,
            settings=limits,
            summarizer=ConversationSummarizer(calls, models) if summaries else NoSummarizer(),
            background_tasks=BackgroundTasks(ids),
        ),
    )
