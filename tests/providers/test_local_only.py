"""The mode ``local``: which addresses are on this machine, and what is refused."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.http.loopback import is_loopback
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId
from tests.providers.adapter_fixtures import ask, collect, make_endpoint, provider_of
from tests.providers.conversation import connected
from tests.providers.faulty_servers import MODELS, failure_of, read_request, serving
from tests.providers.registry_workspace import KEY, RegistryWorkspace
from tests.simulator import Simulator

LOCAL = ModelPreferences(mode="local", fallback="remote")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://[::1]:11434", True),
        ("http://me:secret@127.0.0.1/v1", True),
        ("http://localhost.evil.example/v1", False),
        ("http://127.0.0.1.evil.example/v1", False),
        ("http://localhost@evil.example/v1", False),
        ("http://localhost:80@evil.example/v1", False),
        ("http://127.0.0.1\\@evil.example/v1", False),
        ("http://evil.example#@127.0.0.1/v1", False),
        ("http://evil.example?@127.0.0.1/v1", False),
        ("http://2130706433/v1", False),
        ("http://0.0.0.0/v1", False),
        ("http://gpu.lan:11434", False),
        ("http://192.168.0.7/v1", False),
        ("http://[::1/v1", False),
        ("", False),
    ],
)
def test_only_loopback_addresses_are_this_machine(url: str, *, expected: bool) -> None:
    assert is_loopback(url) == expected


async def test_local_call_bypasses_proxies(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    simulator.script("Hi")
    async with connected(simulator, "openai_chat", model=MODELS["openai_chat"]) as provider:
        await collect(provider, ask("Hi", model="gpt-4.1"))
    assert len(simulator.requests) == 1


async def test_local_server_cannot_redirect_a_call_elsewhere() -> None:
    visits: list[bytes] = []

    async def elsewhere(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(await reader.readline())
        writer.close()

    async with serving(elsewhere) as other:

        async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            head = f"HTTP/1.1 307 Moved\r\nlocation: {other}/v1\r\ncontent-length: 0\r\n\r\n"
            writer.write(head.encode())
            writer.close()

        async with serving(redirect) as url:
            made = make_endpoint("openai_chat", url=f"{url}/v1", model=MODELS["openai_chat"])
            error = await failure_of(provider_of(made), "gpt-4.1")
            await made.upstream.aclose()
    assert error.status == 307
    assert visits == []


async def test_local_name_that_resolves_to_another_machine_gets_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def resolve(*_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 80))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    made = make_endpoint("openai_chat", url="http://localhost:80/v1", model=MODELS["openai_chat"])
    error = await failure_of(provider_of(made), "gpt-4.1")
    await made.upstream.aclose()
    assert "localhost:80 resolves to another machine" in error.info.message
    assert "127.0.0.1" in (error.info.hint or "")


def elsewhere(kind: str, url: str) -> dict[str, Any]:
    """A provider without a key, with one model."""
    return {
        "providers": {"far": {"kind": kind, "url": url}},
        "models": [{"id": "far-model", "provider": "far", "model": "m"}],
    }


FAR = [
    pytest.param(elsewhere("ollama", "http://gpu.lan:11434"), "far-model", id="own Ollama"),
    pytest.param(elsewhere("openai_chat", "http://localhost.evil.example"), "far-model", id="name"),
    pytest.param(elsewhere("openai_chat", "http://${HOST}/v1"), "far-model", id="variable"),
    pytest.param(elsewhere("anthropic", "http://192.168.0.7"), "far-model", id="network"),
    pytest.param({}, "claude-haiku-5-5", id="vendor with a key"),
    pytest.param({}, "ollama/llama", id="OLLAMA_HOST"),
]


@pytest.fixture
def local_only(place: RegistryWorkspace) -> RegistryWorkspace:
    place.preferences = LOCAL
    place.environ |= {"ANTHROPIC_API_KEY": KEY, "OLLAMA_HOST": "gpu.lan", "HOST": "far.example"}
    return place


@pytest.mark.parametrize(("content", "model"), FAR)
async def test_mode_local_refuses_every_other_machine(
    local_only: RegistryWorkspace, content: dict[str, Any], model: str
) -> None:
    local_only.configure(content, user=True)
    registry = local_only.registry()
    with pytest.raises(PolicyRefusal) as caught:
        registry.resolve(ModelId(model))
    assert caught.value.info.code == "disabled"
    assert "models.mode" in (caught.value.info.hint or "")
    local_only.last_used = ModelId(model)
    assert registry.default_model() is None
    assert registry.readiness() == "none"
    provider = ProviderId({"far-model": "far"}.get(model) or "anthropic")
    tested = await registry.test(provider)
    assert tested.error is not None
    assert tested.error.code == "disabled"
    assert (await registry.providers.check(provider)).state == "unknown"
    infos = {info.id: info for info in registry.listing().models}
    assert "not on this machine" in (infos[ModelId("claude-haiku-5-5")].unavailable_reason or "")
    await registry.aclose()


async def test_model_that_was_resolved_before_the_mode_changed_sends_nothing_more(
    place: RegistryWorkspace, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", simulator.url)
    place.configure(elsewhere("anthropic", "http://far.invalid"), user=True)
    registry = place.registry()
    provider = registry.resolve(ModelId("far-model")).provider
    place.preferences = LOCAL
    with pytest.raises(PolicyRefusal):
        await collect(provider, ask("Hi", model="m"))
    with pytest.raises(PolicyRefusal):
        await provider.count_tokens(ask("Hi", model="m"))
    with pytest.raises(PolicyRefusal):
        await provider.list_models()
    await registry.aclose()
    assert simulator.requests == []


async def test_mode_local_asks_only_this_machine_for_models(
    local_only: RegistryWorkspace, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", simulator.url)
    far = {"kind": "openai_chat", "url": "http://far.invalid/v1", "list_models": True}
    here = {"kind": "ollama", "url": simulator.url}
    local_only.configure({"providers": {"far": far, "here": here}}, user=True)
    registry = local_only.registry()
    await registry.discover()
    await registry.aclose()
    assert {record.path for record in simulator.requests} == {"/api/tags", "/api/show"}
    assert registry.default_model() == "here/sim-llama:latest"


async def test_failed_call_of_a_local_model_leads_to_no_other(
    place: RegistryWorkspace,
) -> None:
    lab = {"kind": "openai_chat", "url": "http://127.0.0.1:9/v1"}
    place.configure(
        {"providers": {"lab": lab}, "models": [{"id": "tiny", "provider": "lab"}]}, user=True
    )
    registry = place.registry()
    for _ in range(2):
        resolved = registry.resolve(None)
        assert (resolved.spec.id, resolved.is_stand_in, resolved.notice) == ("tiny", False, "")
        with pytest.raises(ProviderError):
            await collect(resolved.provider, ask("Hi", model="tiny"))
    assert registry.readiness() == "ready"
    await registry.aclose()


async def test_ollama_that_was_used_last_is_tried_though_it_is_gone(
    place: RegistryWorkspace,
) -> None:
    place.environ["OLLAMA_HOST"] = "127.0.0.1:9"
    place.last_used = ModelId("ollama/llama")
    registry = place.registry()
    await registry.discover()
    resolved = registry.resolve(None)
    assert (resolved.spec.id, resolved.is_stand_in) == ("ollama/llama", False)
    place.environ["ANTHROPIC_API_KEY"] = KEY
    resolved = registry.resolve(None)
    assert (resolved.spec.id, resolved.is_stand_in) == ("claude-opus-5-5", True)
    assert "llama is not answering" in resolved.notice
    await registry.aclose()


async def test_server_on_this_machine_is_looked_for_before_the_demo_answers(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.environ["OLLAMA_HOST"] = simulator.url
    registry = place.registry()
    assert registry.resolve(None).is_stand_in
    await registry.refresh_default()
    assert registry.resolve(None).spec.id == "ollama/sim-llama:latest"
    await registry.aclose()
