"""Services that say what they have: Ollama on this machine, and vendors with a key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.base import Stop
from jupyter_ai_shoulders.providers.catalogue import loader
from jupyter_ai_shoulders.providers.registry import ModelRegistry
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId
from tests.providers.adapter_fixtures import ask, collect
from tests.providers.registry_workspace import ANTHROPIC, KEY, LAB, RegistryWorkspace
from tests.simulator import Simulator


@asynccontextmanager
async def with_ollama(
    place: RegistryWorkspace, simulator: Simulator
) -> AsyncGenerator[ModelRegistry]:
    """The registry, the simulator being the local Ollama."""
    place.configure({"providers": {"ollama": {"url": simulator.url}}}, user=True)
    registry = place.registry()
    try:
        yield registry
    finally:
        await registry.aclose()


QWEN = ModelId("ollama/sim-qwen:latest")


async def test_local_ollama_is_found_and_answers_without_a_key(
    place: RegistryWorkspace, simulator: Simulator
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
        health = {item.id: item.state for item in registry.providers.health()}
    assert events[-1] == Stop("end_turn")
    assert len(listed) == 5
    qwen = listed[QWEN]
    assert (qwen.name, qwen.available, qwen.context_window) == ("sim-qwen", True, 32_768)
    assert (qwen.tools, qwen.images, qwen.reasoning) == (True, False, True)
    assert (qwen.prices.input, qwen.prices.output) == (0, 0)
    assert listed[ModelId("ollama/sim-llava:latest")].context_window == 4_096
    assert registry.problems() == ()
    assert health[ProviderId("ollama")] == "ok"


async def test_ollama_is_asked_once_a_minute(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    async with with_ollama(place, simulator) as registry:
        for _ in range(3):
            await registry.discover()
        place.clock.seconds += 61
        await registry.discover()
    assert [record.path for record in simulator.requests].count("/api/tags") == 2


async def test_missing_ollama_is_no_failure(place: RegistryWorkspace) -> None:
    place.configure({"providers": {"ollama": {"url": "http://127.0.0.1:9"}}})
    registry = place.registry()
    await registry.discover()
    assert registry.default_model() == "demo"
    assert {item.state for item in registry.providers.health() if item.id == "ollama"} == {
        "unknown"
    }
    await registry.aclose()


async def test_model_of_ollama_answers_before_it_was_listed(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    """As after a restart, when a conversation continues before the models are listed."""
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
    place: RegistryWorkspace, simulator: Simulator
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
    place: RegistryWorkspace, simulator: Simulator, named_by: str
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
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.environ["OLLAMA_HOST"] = "127.0.0.1:9"
    async with with_ollama(place, simulator) as registry:
        await registry.discover()
        assert registry.default_model() == "ollama/sim-llama:latest"


async def test_address_of_ollama_may_change_while_we_run(
    place: RegistryWorkspace, simulator: Simulator
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
    place: RegistryWorkspace, simulator: Simulator
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
    state = registry.providers.health()[0].state
    await registry.aclose()
    assert (before.context_window, after.context_window) == (1, 200_000)
    assert (after.max_output, after.images, after.structured_output) == (64_000, True, True)
    assert (after.thinking_support.mode, after.thinking_support.off) == ("budget", "disabled")
    assert (kept.context_window, kept.images, kept.max_output) == (9_000, False, 64_000)
    assert state == "ok"


async def test_what_a_service_says_agrees_with_the_shipped_table(
    place: RegistryWorkspace, simulator: Simulator
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
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    async with place.on(simulator) as registry:
        for seconds in (0, 61, 240):
            place.clock.seconds += seconds
            await registry.discover()
    assert [record.path for record in simulator.requests] == ["/v1/models"] * 2


async def test_key_that_is_refused_is_shown_without_being_used(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    async with place.on(simulator) as registry:
        place.environ["ANTHROPIC_API_KEY"] = KEY
        await registry.discover()
        health = registry.providers.health()[0]
        assert health.error is not None
        assert (health.state, health.error.code) == ("failing", "authentication")
        with pytest.raises(InvalidRequest) as caught:
            registry.by_strategy("cheapest")
    assert caught.value.info.code == "authentication"


async def test_new_key_is_tried_at_the_next_look(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.configure({"providers": {"anthropic": {"url": simulator.url}}}, user=True)
    registry = place.registry()
    await registry.providers.set_key(ANTHROPIC, KEY)
    await registry.discover()
    assert registry.providers.health()[0].state == "failing"
    await registry.providers.set_key(ANTHROPIC, simulator.key)
    await registry.discover()
    assert registry.providers.health()[0].state == "ok"
    await registry.aclose()


async def test_a_second_caller_waits_for_the_models_that_the_first_one_asked_for(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    async with with_ollama(place, simulator) as registry:
        first = asyncio.create_task(registry.discover())
        await asyncio.sleep(0)  # the first has claimed the request, and imports the adapter
        await registry.discover()
        listed = [info for info in registry.listing().models if info.provider == "ollama"]
        await first
    assert len(listed) == 5


async def test_slow_service_holds_nobody_up(place: RegistryWorkspace) -> None:
    """A listener that never answers: the look ends after a second, closing ends the rest."""

    closed = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        closed.set()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    place.environ["OLLAMA_HOST"] = f"127.0.0.1:{port}"
    registry = place.registry()
    await registry.discover()
    assert not closed.is_set()  # it still waits for the answer, and nobody waits for it
    assert registry.default_model() == "demo"
    await registry.aclose()
    server.close()
    await server.wait_closed()


def test_names_that_callers_make_up_do_not_fill_the_catalogue(
    place: RegistryWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "MAX_LISTED", 3)
    registry = place.registry()

    for number in range(5):
        registry.resolve(ModelId(f"ollama/made-up-{number}"))

    listed = [info.id for info in registry.listing().models if info.provider == "ollama"]
    assert listed == [f"ollama/made-up-{number}" for number in (2, 3, 4)]
    assert registry.resolve(ModelId("ollama/made-up-0")).spec.model == "made-up-0"


async def test_a_service_taken_out_of_the_configuration_while_it_is_asked_is_no_matter(
    place: RegistryWorkspace,
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
    assert "slow" not in {each.id for each in registry.providers.health()}


async def test_cheapest_that_may_read_a_conversation_summarises_it(
    place: RegistryWorkspace,
) -> None:
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
