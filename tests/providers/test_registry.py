"""Which model answers, who says so, and what the settings show."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.clock import RandomIds
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, ProviderError
from jupyter_ai_shoulders.core.preferences import ModelPreferences
from jupyter_ai_shoulders.providers import catalogue_files
from jupyter_ai_shoulders.providers.base import Stop
from jupyter_ai_shoulders.providers.registry import ModelRegistry, build_registry
from jupyter_ai_shoulders.testing.simulator import Failure, Simulator, ToolUse, overloaded, reply
from jupyter_ai_shoulders.wire.api import Prices, ProviderHealth
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId
from tests.providers.support import FakeClock, ask, collect

ANTHROPIC = ProviderId("anthropic")
KEY = "sk-ant-api03-" + "k" * 20


@dataclass
class Place:
    """A home, a workspace, and the registry on them."""

    home: Path
    state: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])
    clock: FakeClock = field(default_factory=FakeClock)
    last_used: ModelId | None = None
    preferences: ModelPreferences = field(default_factory=ModelPreferences)

    def registry(self, trait: dict[str, Any] | None = None) -> ModelRegistry:
        return build_registry(
            self.home,
            self.state,
            self.clock,
            RandomIds(),
            environ=self.environ,
            trait=trait,
            last_used=lambda: self.last_used,
            preferences=lambda: self.preferences,
        )

    def configure(self, content: Any, *, user: bool = False) -> None:
        path = (self.home / ".shoulders" if user else self.state) / "models.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    @asynccontextmanager
    async def on(self, simulator: Simulator) -> AsyncGenerator[ModelRegistry]:
        """The registry with Anthropic pointed at the simulator, and a key."""
        self.environ["ANTHROPIC_API_KEY"] = simulator.key
        self.configure({"providers": {"anthropic": {"url": simulator.url}}})
        registry = self.registry()
        try:
            yield registry
        finally:
            await registry.aclose()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "home", tmp_path / "work" / ".shoulders")


LAB: dict[str, Any] = {
    "providers": {"lab": {"kind": "openai_chat", "url": "http://lab.test/v1"}},
    "models": [{"id": "tiny", "provider": "lab"}],
}


def test_without_any_key_the_demo_answers(place: Place) -> None:
    registry = place.registry()
    assert registry.default_model() == "demo"
    assert registry.readiness() == "demo"
    assert registry.resolve(None).spec.label == "Demo (no AI model)"


def test_with_a_key_the_default_answers(place: Place) -> None:
    place.environ["ANTHROPIC_API_KEY"] = KEY
    registry = place.registry()
    assert registry.default_model() == "claude-opus-5-5"
    assert registry.readiness() == "ready"
    assert registry.resolve(None).spec.id == "claude-opus-5-5"


def test_last_used_model_wins_while_it_can_answer(place: Place) -> None:
    place.environ["ANTHROPIC_API_KEY"] = KEY
    registry = place.registry()
    place.last_used = ModelId("claude-haiku-5-5")
    assert registry.default_model() == "claude-haiku-5-5"
    place.last_used = ModelId("gone")
    assert registry.default_model() == "claude-opus-5-5"
    place.last_used = ModelId("demo")
    assert registry.default_model() == "claude-opus-5-5"


def test_users_default_is_taken_and_files_are_read_anew(place: Place) -> None:
    registry = place.registry()
    assert registry.default_model() == "demo"
    place.configure({**LAB, "default": "tiny"})
    assert registry.default_model() == "tiny"
    place.environ["ANTHROPIC_API_KEY"] = KEY
    assert registry.default_model() == "tiny"
    place.configure(LAB)
    assert registry.default_model() == "claude-opus-5-5"


def test_model_that_needs_no_key_beats_the_demo(place: Place) -> None:
    place.configure(LAB, user=True)
    assert place.registry().default_model() == "tiny"


def test_workspace_wins_over_home_and_home_over_trait(place: Place) -> None:
    names = [{"models": [{"id": "demo", "name": name}]} for name in ("Trait", "Home", "Work")]
    registry = place.registry(trait=names[0])
    assert registry.resolve(ModelId("demo")).spec.name == "Trait"
    place.configure(names[1], user=True)
    assert registry.resolve(ModelId("demo")).spec.name == "Home"
    place.configure(names[2])
    assert registry.resolve(ModelId("demo")).spec.name == "Work"


@pytest.mark.parametrize(
    ("model", "code"),
    [("gpt-0", "unknown_model"), ("claude-opus-5-5", "no_key")],
)
def test_model_that_cannot_answer_is_refused_with_what_to_do(
    place: Place, model: str, code: ErrorCode
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        place.registry().resolve(ModelId(model))
    assert caught.value.info.code == code
    assert caught.value.info.hint


def test_no_model_at_all_is_said(place: Place) -> None:
    demo = {"kind": "google", "auth": "", "api_key_env": "X"}
    place.configure({"providers": {"demo": demo}}, user=True)
    registry = place.registry()
    assert registry.readiness() == "none"
    with pytest.raises(InvalidRequest) as caught:
        registry.resolve(None)
    assert caught.value.info.code == "no_model"


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"GEMINI_API_KEY": KEY, "GOOGLE_API_KEY": "other-key-0000"}, "kkkk"),
        ({"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "other-key-0000"}, "0000"),
        ({}, None),
    ],
)
def test_key_may_have_another_name(place: Place, environ: dict[str, str], key: str | None) -> None:
    place.environ.update(environ)
    registry = place.registry()
    health = {info.id: info for info in registry.health()}[ProviderId("google")]
    assert (health.key_last4, health.key_set) == (key, key is not None)
    for value in filter(str.strip, environ.values()):
        assert value not in registry.redactor().redact(f"key: {value}")


@pytest.mark.parametrize(("day", "price"), [(21, 2_000_000), (31, 4_000_000)])
def test_prices_are_those_of_the_day(place: Place, day: int, price: int) -> None:
    place.environ["GEMINI_API_KEY"] = KEY
    place.clock.today = datetime(2026, 12 if day == 31 else 11, day, tzinfo=UTC)
    registry = place.registry()
    model = ModelId("gemini-4-argon-low")
    resolved = registry.resolve(model).spec.prices
    listed = {info.id: info.prices for info in registry.listing().models}[model]
    assert resolved is not None
    assert listed is not None
    assert (resolved.input, listed.input) == (price, price)


def test_workspace_cannot_send_the_users_key_elsewhere(place: Place) -> None:
    place.environ["ANTHROPIC_API_KEY"] = KEY
    elsewhere = {"providers": {"anthropic": {"url": "https://elsewhere.example"}}}
    place.configure(elsewhere)
    (problem,) = place.registry().problems()
    assert "ANTHROPIC_API_KEY" in problem.message
    place.configure(elsewhere, user=True)
    assert place.registry().problems() == ()


def test_missing_variable_makes_a_provider_unavailable(place: Place) -> None:
    lab = {"kind": "openai_chat", "url": "http://${LAB_HOST}/v1"}
    place.configure({**LAB, "providers": {"lab": lab}}, user=True)
    registry = place.registry()
    assert registry.default_model() == "demo"
    infos = {info.id: info for info in registry.listing().models}
    assert "LAB_HOST" in (infos[ModelId("tiny")].unavailable_reason or "")
    place.environ["LAB_HOST"] = "lab.test"
    assert registry.default_model() == "tiny"


def test_broken_file_is_a_problem_and_the_rest_works(place: Place) -> None:
    place.configure('{\n  "models": [')
    place.configure({"default": "demo"}, user=True)
    registry = place.registry()
    assert [(problem.source, problem.line) for problem in registry.problems()] == [
        (".shoulders/models.json", 2)
    ]
    assert registry.default_model() == "demo"


@pytest.mark.parametrize("content", [b"\xff\xfe{}", b'{"default": "demo"}' + b" " * 5_000_000])
def test_file_that_cannot_be_used_is_a_problem(place: Place, content: bytes) -> None:
    place.state.mkdir(parents=True)
    (place.state / "models.json").write_bytes(content)
    assert len(place.registry().problems()) == 1


def test_listing_shows_capabilities_prices_and_availability(place: Place) -> None:
    listing = place.registry().listing()
    haiku = next(info for info in listing.models if info.id == "claude-haiku-5-5")
    assert listing.default == "demo"
    assert not haiku.available
    assert "ANTHROPIC_API_KEY" in (haiku.unavailable_reason or "")
    assert haiku.prices == Prices(
        input=100_000, output=500_000, cache_read=10_000, cache_write=125_000
    )
    assert (haiku.tools, haiku.images, haiku.reasoning) == (True, True, True)
    assert haiku.roles == ("ghost", "cheap")


async def test_key_is_stored_shown_by_its_end_and_removed(place: Place) -> None:
    registry = place.registry()
    stored = await registry.set_key(ANTHROPIC, KEY)
    assert stored == ProviderHealth(
        id=ANTHROPIC,
        name="Anthropic",
        kind="anthropic",
        key_set=True,
        key_last4="kkkk",
        key_source="file",
        needs_key=True,
        state="unknown",
        error=None,
    )
    assert registry.default_model() == "claude-opus-5-5"
    assert (place.home / ".shoulders" / "keys.env").read_text() == f"ANTHROPIC_API_KEY={KEY}\n"
    removed = await registry.remove_key(ANTHROPIC)
    assert (removed.key_set, removed.state) == (False, "no_key")
    assert registry.default_model() == "demo"


async def test_key_of_the_environment_cannot_be_changed(place: Place) -> None:
    place.environ["ANTHROPIC_API_KEY"] = KEY
    registry = place.registry()
    with pytest.raises(Conflict):
        await registry.set_key(ANTHROPIC, "another-key-0123")
    with pytest.raises(Conflict):
        await registry.remove_key(ANTHROPIC)
    assert registry.health()[0].key_source == "environment"


async def test_unknown_provider_is_not_found(place: Place) -> None:
    registry = place.registry()
    nobody = ProviderId("nobody")
    for attempt in (registry.set_key(nobody, KEY), registry.test(nobody), registry.check(nobody)):
        with pytest.raises(NotFound):
            await attempt


def test_redactor_knows_every_secret_in_use(place: Place) -> None:
    place.environ.update(ANTHROPIC_API_KEY="live-key-one-0123", TEAM_TOKEN="live-token-0123")
    headers = {"Authorization": "Bearer ${TEAM_TOKEN}"}
    lab = {"kind": "openai_chat", "url": "http://lab.test/v1", "headers": headers}
    place.configure({**LAB, "providers": {"lab": lab}}, user=True)
    registry = place.registry()
    text = "live-key-one-0123 live-token-0123"
    assert registry.redactor().redact(text) == "[redacted] [redacted]"
    assert registry.redactor() is registry.redactor()
    place.environ["ANTHROPIC_API_KEY"] = "live-key-two-0123"
    assert registry.redactor().redact("live-key-two-0123") == "[redacted]"


async def test_resolved_provider_speaks_for_its_model(place: Place, simulator: Simulator) -> None:
    simulator.script("Hello")
    async with place.on(simulator) as registry:
        resolved = registry.resolve(ModelId("claude-haiku-5-5"))
        events = await collect(resolved.provider, ask("Hi", model=resolved.spec.model))
        assert events[-1] == Stop("end_turn")
        assert registry.health()[0].state == "ok"


async def test_failing_provider_is_shown_until_its_state_is_old(
    place: Place, simulator: Simulator
) -> None:
    simulator.script(overloaded())
    async with place.on(simulator) as registry:
        resolved = registry.resolve(ModelId("claude-haiku-5-5"))
        with pytest.raises(ProviderError):
            await collect(resolved.provider, ask("Hi", model=resolved.spec.model))
        failing = registry.health()[0]
        assert failing.state == "failing"
        assert failing.error is not None
        assert failing.error.code == "overloaded"
        place.clock.seconds += 301
        assert registry.health()[0].state == "unknown"


async def test_check_asks_once_in_five_minutes(place: Place, simulator: Simulator) -> None:
    async with place.on(simulator) as registry:
        for _ in range(3):
            assert (await registry.check(ANTHROPIC)).state == "ok"
        place.clock.seconds += 301
        await registry.check(ANTHROPIC)
    assert [record.path for record in simulator.requests] == ["/v1/models"] * 2


async def test_check_without_a_key_asks_nobody(place: Place) -> None:
    assert (await place.registry().check(ANTHROPIC)).state == "no_key"


async def test_provider_test_makes_a_streamed_tool_call(place: Place, simulator: Simulator) -> None:
    simulator.script(reply(ToolUse(name="report_word", arguments={"word": "shoulders"})))
    async with place.on(simulator) as registry:
        outcome = await registry.test(ANTHROPIC)
    assert outcome.ok, outcome
    assert (outcome.model, outcome.stream_ok, outcome.tool_call_ok) == (
        "claude-haiku-5-5",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("answer", "stream_ok", "words"),
    [
        pytest.param(reply("shoulders"), True, "did not call the tool", id="no call"),
        pytest.param(
            reply(ToolUse(name="report_word", arguments='{"wor')),
            True,
            "did not arrive whole",
            id="broken call",
        ),
        pytest.param(reply(failure=Failure(status=401)), False, "not accepted", id="wrong key"),
    ],
)
async def test_provider_test_says_what_failed(
    place: Place, simulator: Simulator, answer: Any, stream_ok: bool, words: str
) -> None:
    simulator.script(answer)
    async with place.on(simulator) as registry:
        outcome = await registry.test(ANTHROPIC)
    assert (outcome.ok, outcome.stream_ok, outcome.tool_call_ok) == (False, stream_ok, False)
    assert outcome.error is not None
    assert words in outcome.error.message
    assert outcome.error.hint


async def test_provider_test_without_key_or_models(place: Place) -> None:
    place.configure({"providers": {"lab": LAB["providers"]["lab"]}})
    registry = place.registry()
    codes = [
        outcome.error and outcome.error.code
        for outcome in (await registry.test(ANTHROPIC), await registry.test(ProviderId("lab")))
    ]
    assert codes == ["no_key", "no_model"]


async def test_openai_alone_answers_and_passes_its_test(place: Place, simulator: Simulator) -> None:
    simulator.script(reply(ToolUse(name="report_word", arguments={"word": "shoulders"})))
    place.environ["OPENAI_API_KEY"] = simulator.key
    place.configure({"providers": {"openai": {"url": simulator.openai_url}}})
    registry = place.registry()
    outcome = await registry.test(ProviderId("openai"))
    await registry.aclose()
    assert outcome.ok, outcome
    assert (outcome.model, registry.default_model()) == ("gpt-6-luna", "gpt-6.1-sol")


async def test_demo_passes_its_test(place: Place) -> None:
    outcome = await place.registry().test(ProviderId("demo"))
    assert outcome.ok, outcome


@asynccontextmanager
async def with_ollama(place: Place, simulator: Simulator) -> AsyncGenerator[ModelRegistry]:
    """The registry, the simulator being the local Ollama."""
    place.configure({"providers": {"ollama": {"url": simulator.url}}}, user=True)
    registry = place.registry()
    try:
        yield registry
    finally:
        await registry.aclose()


QWEN = ModelId("ollama/sim-qwen:latest")


async def test_local_ollama_is_found_and_answers_without_a_key(
    place: Place, simulator: Simulator
) -> None:
    simulator.script("Hello")
    async with with_ollama(place, simulator) as registry:
        assert registry.readiness() == "demo"
        await registry.discover()
        listed = {info.id: info for info in registry.listing().models if info.provider == "ollama"}
        assert registry.readiness() == "ready"
        assert registry.default_model() == "ollama/sim-llama:latest"
        resolved = registry.resolve(QWEN)
        events = await collect(resolved.provider, ask("Hi", model=resolved.spec.model))
        health = {item.id: item.state for item in registry.health()}
    assert events[-1] == Stop("end_turn")
    assert len(listed) == 5
    qwen = listed[QWEN]
    assert (qwen.name, qwen.available, qwen.context_window) == ("sim-qwen", True, 32_768)
    assert (qwen.tools, qwen.images, qwen.reasoning) == (True, False, True)
    assert (qwen.prices.input, qwen.prices.output) == (0, 0)
    assert listed[ModelId("ollama/sim-llava:latest")].context_window == 4_096
    assert registry.problems() == ()
    assert health[ProviderId("ollama")] == "ok"


async def test_ollama_is_asked_once_a_minute(place: Place, simulator: Simulator) -> None:
    async with with_ollama(place, simulator) as registry:
        for _ in range(3):
            await registry.discover()
        place.clock.seconds += 61
        await registry.discover()
    assert [record.path for record in simulator.requests].count("/api/tags") == 2


async def test_missing_ollama_is_no_failure(place: Place) -> None:
    place.configure({"providers": {"ollama": {"url": "http://127.0.0.1:9"}}})
    registry = place.registry()
    await registry.discover()
    assert registry.default_model() == "demo"
    assert {item.state for item in registry.health() if item.id == "ollama"} == {"unknown"}
    await registry.aclose()


async def test_model_of_ollama_answers_before_it_was_listed(
    place: Place, simulator: Simulator
) -> None:
    """As after a restart, when a conversation goes on before anyone looks at the models."""
    simulator.script("Hello")
    async with with_ollama(place, simulator) as registry:
        resolved = registry.resolve(QWEN)
        await collect(resolved.provider, ask("Hi", model=resolved.spec.model))
        assert not resolved.spec.reasoning
        await registry.discover()
        assert registry.resolve(QWEN).spec.reasoning
        with pytest.raises(InvalidRequest):
            registry.resolve(ModelId("ollama/"))


async def test_configured_model_of_ollama_is_not_listed_twice(
    place: Place, simulator: Simulator
) -> None:
    mine = {"id": "mine", "provider": "ollama", "model": "sim-qwen:latest", "context_window": 9_000}
    also = {"id": "ollama/sim-llama:latest", "provider": "ollama", "name": "Llama"}
    place.configure({"models": [mine, {**also, "model": "sim-llama:latest"}]})
    async with with_ollama(place, simulator) as registry:
        await registry.discover()
        names = {info.id: info.name for info in registry.listing().models}
    assert QWEN not in names
    assert names[ModelId("mine")] == "mine"
    assert names[ModelId("ollama/sim-llama:latest")] == "Llama"


@pytest.mark.parametrize("named_by", ["environment", "preferences"])
async def test_ollama_is_where_the_user_says(
    place: Place, simulator: Simulator, named_by: str
) -> None:
    address = simulator.url.removeprefix("http://")
    if named_by == "environment":
        place.environ["OLLAMA_HOST"] = address
    else:
        place.environ["OLLAMA_HOST"] = "127.0.0.1:9"
        place.preferences = ModelPreferences(ollama_host=address)
    registry = place.registry()
    await registry.discover()
    assert registry.default_model() == "ollama/sim-llama:latest"
    assert registry.by_strategy("ghost") == "ollama/sim-llama:latest"
    await registry.aclose()


async def test_users_own_address_of_ollama_wins_over_the_environment(
    place: Place, simulator: Simulator
) -> None:
    place.environ["OLLAMA_HOST"] = "127.0.0.1:9"
    async with with_ollama(place, simulator) as registry:
        await registry.discover()
        assert registry.default_model() == "ollama/sim-llama:latest"


async def test_address_of_ollama_may_change_while_we_run(
    place: Place, simulator: Simulator
) -> None:
    place.environ["OLLAMA_HOST"] = "127.0.0.1:9"
    registry = place.registry()
    await registry.discover()
    assert registry.default_model() == "demo"
    place.preferences = ModelPreferences(ollama_host=simulator.url)
    await registry.discover()
    assert registry.default_model() == "ollama/sim-llama:latest"
    await registry.aclose()


async def test_service_with_a_key_refines_the_catalogue_but_not_the_users_settings(
    place: Place, simulator: Simulator
) -> None:
    mine = {"id": "mine", "provider": "anthropic", "model": "claude-haiku-4-5"}
    limited = {**mine, "id": "limited", "context_window": 9_000, "images": False}
    place.environ["ANTHROPIC_API_KEY"] = simulator.key
    wrong = {"kind": "anthropic", "match": "claude-haiku-4-5", "set": {"context_window": 1}}
    here = {"anthropic": {"url": simulator.url}}
    place.configure({"providers": here, "models": [mine, limited], "families": [wrong]}, user=True)
    registry = place.registry()
    before = registry.resolve(ModelId("mine")).spec
    await registry.discover()
    after = registry.resolve(ModelId("mine")).spec
    kept = registry.resolve(ModelId("limited")).spec
    state = registry.health()[0].state
    await registry.aclose()
    assert (before.context_window, after.context_window) == (1, 200_000)
    assert (after.max_output, after.images, after.structured_output) == (64_000, True, True)
    assert (after.thinking_support.mode, after.thinking_support.off) == ("budget", "disabled")
    assert (kept.context_window, kept.images, kept.max_output) == (9_000, False, 64_000)
    assert state == "ok"


async def test_what_a_service_says_agrees_with_the_shipped_table(
    place: Place, simulator: Simulator
) -> None:
    async with place.on(simulator) as registry:
        before = {info.id: info for info in registry.listing().models}
        await registry.discover()
        after = {info.id: info for info in registry.listing().models}
        haiku = registry.resolve(ModelId("claude-haiku-5-5")).spec
    changed = {name for name, info in before.items() if after[name] != info}
    assert {name for name in changed if not name.startswith("ollama/")} == set()
    assert haiku.thinking_support.bound


async def test_services_with_a_key_are_asked_once_in_five_minutes(
    place: Place, simulator: Simulator
) -> None:
    async with place.on(simulator) as registry:
        for seconds in (0, 61, 240):
            place.clock.seconds += seconds
            await registry.discover()
    assert [record.path for record in simulator.requests] == ["/v1/models"] * 2


async def test_key_that_is_refused_is_shown_without_being_used(
    place: Place, simulator: Simulator
) -> None:
    async with place.on(simulator) as registry:
        place.environ["ANTHROPIC_API_KEY"] = KEY
        await registry.discover()
        health = registry.health()[0]
        assert health.error is not None
        assert (health.state, health.error.code) == ("failing", "authentication")
        with pytest.raises(InvalidRequest) as caught:
            registry.by_strategy("cheapest")
    assert caught.value.info.code == "authentication"


async def test_new_key_is_tried_at_the_next_look(place: Place, simulator: Simulator) -> None:
    place.configure({"providers": {"anthropic": {"url": simulator.url}}}, user=True)
    registry = place.registry()
    await registry.set_key(ANTHROPIC, KEY)
    await registry.discover()
    assert registry.health()[0].state == "failing"
    await registry.set_key(ANTHROPIC, simulator.key)
    await registry.discover()
    assert registry.health()[0].state == "ok"
    await registry.aclose()


async def test_slow_service_holds_nobody_up(place: Place) -> None:
    """A listener that never answers: the look ends after a second, closing ends the rest."""

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    place.environ["OLLAMA_HOST"] = f"127.0.0.1:{port}"
    registry = place.registry()
    started = time.monotonic()
    await registry.discover()
    assert time.monotonic() - started < 2.5
    assert registry.default_model() == "demo"
    await registry.aclose()
    server.close()
    await server.wait_closed()


def test_names_that_callers_make_up_do_not_fill_the_catalogue(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_files, "MOST_LISTED", 3)
    registry = place.registry()

    for number in range(5):
        registry.resolve(ModelId(f"ollama/made-up-{number}"))

    listed = [info.id for info in registry.listing().models if info.provider == "ollama"]
    assert listed == [f"ollama/made-up-{number}" for number in (2, 3, 4)]
    assert registry.resolve(ModelId("ollama/made-up-0")).spec.model == "made-up-0"


async def test_a_service_taken_out_of_the_configuration_while_it_is_asked_is_no_matter(
    place: Place,
) -> None:
    asked, never = asyncio.Event(), asyncio.Event()

    async def hang(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await never.wait()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    place.configure({"providers": {"slow": {**LAB["providers"]["lab"], "url": url}}})
    registry = place.registry()
    try:
        first = asyncio.create_task(registry.discover())
        await asked.wait()
        place.configure({})
        await registry.discover(remote=False)
        await first
    finally:
        never.set()
        await registry.aclose()
        server.close()
    assert "slow" not in {each.id for each in registry.health()}


async def test_cheapest_that_may_read_a_conversation_summarises_it(place: Place) -> None:
    registry = place.registry()
    opus = ModelId("claude-opus-5-5")
    assert registry.for_summary(ModelId("demo")) is None
    assert registry.for_summary(opus) == opus  # no cheap one has a key, so it does it itself
    place.environ["ANTHROPIC_API_KEY"] = KEY
    assert registry.for_summary(opus) == registry.by_strategy("cheapest") != opus
    local = {"kind": "openai_chat", "url": "http://127.0.0.1:9/v1", "auth": "none"}
    model = {"id": "mine", "provider": "lab", "model": "mine"}
    place.configure({"providers": {"lab": local}, "models": [model]}, user=True)
    assert registry.for_summary(ModelId("mine")) == "mine"  # what it was told stays with it
    await registry.aclose()
