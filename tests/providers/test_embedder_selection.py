"""Which embedding model is used, and that none is offered for conversations."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.core.embedding import EmbedderInfo
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.model_preferences import AccessMode, ModelPreferences
from jupyter_ai_shoulders.providers.base import ListedModel
from jupyter_ai_shoulders.providers.catalogue.listed_models import (
    catalogue_entries,
    embedder_entries,
)
from jupyter_ai_shoulders.providers.registry import ModelRegistry
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId
from tests.providers.adapter_fixtures import shipped
from tests.providers.registry_workspace import RegistryWorkspace
from tests.simulator import Simulator

NOMIC = "ollama/nomic-embed-text:latest"
SMALL, LARGE, GEMINI = "text-embedding-3-small", "text-embedding-3-large", "gemini-embedding-001"
OWN: dict[str, Any] = {
    "providers": {"lab": {"kind": "openai_chat", "url": "https://lab.example:8443/v1"}},
    "models": [{"id": "ours", "provider": "lab", "model": "bge-m3", "context_window": 1_024}],
}


def ids(registry: ModelRegistry) -> list[str]:
    return [info.id for info in registry.embedders()]


async def with_ollama(place: RegistryWorkspace, simulator: Simulator) -> ModelRegistry:
    """The registry with the simulator as Ollama, whose models are listed."""
    place.configure({"providers": {"ollama": {"url": simulator.url}}}, user=True)
    registry = place.registry()
    await registry.discover()
    return registry


def test_without_a_key_and_a_server_there_is_no_embedder(place: RegistryWorkspace) -> None:
    registry = place.registry()
    assert registry.embedder(None) is None
    assert registry.embedders() == ()


def test_embedders_of_vendors_need_a_key(place: RegistryWorkspace) -> None:
    place.environ["OPENAI_API_KEY"] = "sk-" + "o" * 20
    registry = place.registry()
    found = registry.embedder(None)
    assert found is not None
    assert found.info == EmbedderInfo(
        id="openai/text-embedding-3-small",
        model=SMALL,
        provider=ProviderId("openai"),
        host="api.openai.com",
        is_local=False,
        price_micro_usd_per_mtok=20_000,
        max_batch=32,
        max_input_tokens=8_192,
    )
    assert ids(registry) == [f"openai/{SMALL}", f"openai/{LARGE}"]
    again = registry.embedder(found.info.id)
    assert again is not None
    assert again.info == found.info
    with pytest.raises(InvalidRequest, match="no key for Google") as caught:
        registry.embedder(GEMINI)
    assert caught.value.info.code == "no_key"


MODES: dict[AccessMode, list[str]] = {
    "local": ["ollama/nomic-embed-text"],
    "remote": [f"openai/{SMALL}", f"openai/{LARGE}", "ollama/nomic-embed-text"],
    "auto": ["ollama/nomic-embed-text", f"openai/{SMALL}", f"openai/{LARGE}"],
}


@pytest.mark.parametrize("mode", MODES)
async def test_the_mode_decides_where_texts_go(
    mode: AccessMode, place: RegistryWorkspace, simulator: Simulator
) -> None:
    registry = await with_ollama(place, simulator)
    place.environ["OPENAI_API_KEY"] = "sk-" + "o" * 20
    place.preferences = ModelPreferences(mode=mode)
    assert ids(registry) == MODES[mode]
    local = next(info for info in registry.embedders() if info.provider == "ollama")
    assert (local.is_local, local.price_micro_usd_per_mtok) == (True, 0)
    assert (local.host, local.max_input_tokens) == (simulator.url.removeprefix("http://"), 2_048)
    await registry.aclose()


async def test_a_local_server_that_does_not_answer_is_passed_over(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    registry = await with_ollama(place, simulator)
    place.environ["OPENAI_API_KEY"] = "sk-" + "o" * 20
    await simulator.stop()
    embedder = registry.embedder(None)
    assert embedder is not None
    with pytest.raises(ShouldersError):
        await embedder.embed(["cat"], "query")
    assert ids(registry) == [f"openai/{SMALL}", f"openai/{LARGE}"]
    await registry.aclose()


async def test_the_private_mode_sends_nothing_to_another_machine(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.environ |= {"OPENAI_API_KEY": simulator.key, "GEMINI_API_KEY": simulator.key}
    place.configure(
        {
            "providers": {
                "openai": {"url": "http://localhost.evil.example/v1"},
                "ollama": {"url": "http://gpu.lan:11434"},
            }
        },
        user=True,
    )
    place.preferences = ModelPreferences(mode="local", fallback="remote")
    registry = place.registry()
    assert registry.embedder(None) is None
    for preferred in (SMALL, GEMINI, NOMIC):
        with pytest.raises(PolicyRefusal, match="Nothing was sent"):
            registry.embedder(preferred)
    await registry.aclose()


async def test_ones_own_ollama_on_another_machine_needs_consent(
    place: RegistryWorkspace,
) -> None:
    place.configure({"providers": {"ollama": {"url": "http://gpu.lan:11434"}}}, user=True)
    embedder = place.registry().embedder("ollama/nomic-embed-text")
    assert embedder is not None
    assert (embedder.info.is_local, embedder.info.host) == (False, "gpu.lan:11434")


def test_a_configured_embedder_comes_before_the_shipped_ones(place: RegistryWorkspace) -> None:
    place.environ["OPENAI_API_KEY"] = "sk-" + "o" * 20
    place.configure(OWN, user=True)
    registry = place.registry()
    found = registry.embedders()[0]
    assert (found.id, found.host, found.is_local) == ("lab/bge-m3", "lab.example:8443", False)
    assert (found.price_micro_usd_per_mtok, found.max_input_tokens) == (None, 1_024)
    chosen = registry.embedder("ours")
    assert chosen is not None
    assert chosen.info == found


REFUSED = {
    "unknown": ("nothing", "There is no embedding model 'nothing'", "unknown_model"),
    "chat model": ("gpt-6.1-sol", "gpt-6.1-sol is not an embedding model", "invalid_request"),
    "of Anthropic": ("odd", "Anthropic has no embedding models", "invalid_request"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_preferred_model_that_cannot_embed_is_refused(
    name: str, place: RegistryWorkspace
) -> None:
    model, words, code = REFUSED[name]
    place.environ["ANTHROPIC_API_KEY"] = "sk-ant-" + "k" * 20
    entry = {"id": "odd", "provider": "anthropic", "model": "odd", "roles": ["embedding"]}
    place.configure({"models": [entry]}, user=True)
    registry = place.registry()
    assert registry.embedders() == ()
    with pytest.raises(InvalidRequest, match=words) as caught:
        registry.embedder(model)
    assert caught.value.info.code == code


@pytest.mark.parametrize("name", [NOMIC, "ollama/nomic-embed-text"])
@pytest.mark.parametrize("listed", [True, False])
async def test_ollama_models_are_found_by_name(
    name: str, *, listed: bool, place: RegistryWorkspace, simulator: Simulator
) -> None:
    registry = await with_ollama(place, simulator)
    if not listed:
        await registry.aclose()
        registry = place.registry()
    embedder = registry.embedder(name)
    assert embedder is not None
    assert embedder.info.id == "ollama/nomic-embed-text"
    assert len(await embedder.embed(["cat"], "query")) == 1
    await registry.aclose()


async def test_embedding_models_are_not_offered_for_conversations(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.configure({**OWN, "default": NOMIC})
    place.last_used = ModelId(NOMIC)
    registry = await with_ollama(place, simulator)
    place.preferences = ModelPreferences(default="ours", mode="local")
    offered = {info.id for info in registry.listing().models}
    assert not offered & {SMALL, LARGE, GEMINI, NOMIC, "ours"}
    assert registry.default_model() == "ollama/sim-llama:latest"
    assert registry.by_strategy("cheapest") == "ollama/sim-llama:latest"
    assert [problem.message.partition(":")[0] for problem in registry.problems()] == [
        '"default" names no model of the catalogue'
    ]
    for name in (SMALL, NOMIC, "ours"):
        with pytest.raises(InvalidRequest, match="is an embedding model") as caught:
            registry.resolve(ModelId(name))
        assert caught.value.info.code == "unknown_model"
    await registry.aclose()


def test_an_embedding_model_that_is_not_listed_yet_is_not_the_default(
    place: RegistryWorkspace,
) -> None:
    place.last_used = ModelId("ollama/nomic-embed-text")
    assert place.registry().default_model() == "demo"


LISTED = {
    "by its capability": (ListedModel("sim", capabilities=frozenset({"embedding"})), True),
    "by its name": (ListedModel("text-embedding-nomic-embed-text-v1.5"), True),
    "of a family": (ListedModel("BAAI/bge-m3"), True),
    "that chats": (ListedModel("embed-chat", capabilities=frozenset({"completion"})), False),
    "of which nothing is known": (ListedModel("llama"), False),
}


@pytest.mark.parametrize("name", LISTED)
def test_listed_models_are_told_apart(name: str) -> None:
    model, embeds = LISTED[name]
    lab = shipped().providers[ProviderId("lmstudio")]
    assert [entry["model"] for entry in embedder_entries(lab, [model])] == [model.name] * embeds
    assert len(catalogue_entries(lab, [model])) == (not embeds)
