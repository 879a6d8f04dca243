"""Recognising, testing, storing and removing keys and servers, and which host gets which key."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from jupyter_ai_shoulders.core.clock import RandomIds
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, PolicyRefusal
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.http.upstream import Upstream
from jupyter_ai_shoulders.providers.registry import ModelRegistry
from jupyter_ai_shoulders.providers.registry_builder import RegistryOptions, build_registry
from jupyter_ai_shoulders.wire.api.provider_setup import ApiKind, DetectProvider, PutProvider
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId
from tests.providers.adapter_fixtures import ScriptedTransport
from tests.providers.registry_workspace import ANTHROPIC, RegistryWorkspace
from tests.simulator import Simulator, ToolUse, reply

CALL = reply(ToolUse(name="report_word", arguments={"word": "shoulders"}))
LAB = ProviderId("lab")
PATHS: dict[ApiKind, tuple[str, ...]] = {
    "ollama": ("/api/",),
    "google": ("/v1beta/",),
    "anthropic": ("/v1/models", "/v1/messages"),
    "openai_chat": ("/v1/models", "/v1/chat/"),
}

OFFERED: dict[ApiKind, str] = {
    "ollama": "sim-llama",
    "openai_chat": "gpt-4.1",
    "anthropic": "claude-haiku-5-5",
    "google": "gemini-3.8-flash",
}


class OneApi(httpx.AsyncBaseTransport):
    """A network where any host is the simulator, with one API."""

    def __init__(self, simulator: Simulator, kind: ApiKind | None, status: int = 404) -> None:
        self.sent: list[httpx.Request] = []
        self._simulator = simulator
        self._kind: ApiKind | None = kind
        self._status = status
        self._inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        if not self._serves(request):
            return httpx.Response(self._status, text="<html>Not here</html>", request=request)
        at = httpx.URL(self._simulator.url)
        path = request.url.path.removeprefix("/openai")
        url = request.url.copy_with(scheme="http", host=at.host, port=at.port, path=path)
        others = {b"anthropic-version"} if self._kind != "anthropic" else set[bytes]()
        others |= {b"x-goog-api-key"} if self._kind != "google" else set()
        headers = [each for each in request.headers.raw if each[0].lower() not in others]
        passed = httpx.Request(request.method, url, headers=headers, content=await request.aread())
        answer = await self._inner.handle_async_request(passed)
        return httpx.Response(
            answer.status_code, headers=answer.headers, content=await answer.aread()
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _serves(self, request: httpx.Request) -> bool:
        if self._kind is None:
            return False
        return request.url.path.removeprefix("/openai").startswith(PATHS[self._kind])

    @property
    def hosts(self) -> set[str]:
        return {request.url.host for request in self.sent}

    def hosts_with(self, secret: str) -> set[str]:
        return {
            request.url.host
            for request in self.sent
            if secret in str(request.url) or secret in str(request.headers.raw)
        }


@asynccontextmanager
async def registry_on(
    place: RegistryWorkspace, network: OneApi, trait: dict[str, Any] | None = None
) -> AsyncGenerator[ModelRegistry]:
    made = build_registry(
        place.home,
        place.state,
        place.clock,
        RandomIds(),
        RegistryOptions(
            environ=place.environ,
            trait=trait,
            last_used=lambda: place.last_used,
            preferences=lambda: place.preferences,
            new_upstream=lambda: Upstream(ScriptedTransport(network)),
        ),
    )
    try:
        yield made
    finally:
        await made.aclose()
        await network.aclose()


def user_file(place: RegistryWorkspace) -> Any:
    return json.loads((place.home / ".shoulders" / "models.json").read_text())


# Detection


@pytest.mark.parametrize(
    ("kind", "typed", "url"),
    [
        ("ollama", "127.0.0.1:11500", "http://127.0.0.1:11500"),
        ("ollama", "http://box.test:11434/api/tags", "http://box.test:11434"),
        ("openai_chat", "models.test", "https://models.test/v1"),
        ("openai_chat", "https://models.test/v1/chat/completions", "https://models.test/v1"),
        ("anthropic", "https://gate.test", "https://gate.test"),
        ("google", "https://gate.test", "https://gate.test/v1beta"),
    ],
)
async def test_a_server_says_which_api_it_speaks(
    place: RegistryWorkspace, simulator: Simulator, kind: ApiKind, typed: str, url: str
) -> None:
    network = OneApi(simulator, kind)
    async with registry_on(place, network) as registry:
        found = await registry.setup.detector.detect(
            DetectProvider(address=typed, key=simulator.key)
        )
    assert (found.kind, found.url, found.needs_key) == (kind, url, False)
    assert any(OFFERED[kind] in each.name for each in found.models)
    assert len(network.hosts) == 1


@pytest.mark.parametrize("kind", ["openai_chat", "anthropic", "google"])
async def test_a_server_that_wants_a_key_says_so(
    place: RegistryWorkspace, simulator: Simulator, kind: ApiKind
) -> None:
    async with registry_on(place, OneApi(simulator, kind)) as registry:
        detect = registry.setup.detector.detect
        found = await detect(DetectProvider(address="https://gate.test"))
        assert (found.kind, found.needs_key, found.models) == (kind, True, ())
        with pytest.raises(InvalidRequest) as wrong:
            await detect(DetectProvider(address="https://gate.test", key="a-wrong-key-0123"))
    assert wrong.value.info.code == "authentication"
    assert "gate.test did not accept the key" in wrong.value.info.message
    assert "a-wrong-key" not in str(wrong.value.info)


async def test_what_is_no_api_is_said_with_what_was_tried(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    async with registry_on(place, OneApi(simulator, None)) as registry:
        with pytest.raises(InvalidRequest) as error:
            await registry.setup.detector.detect(DetectProvider(address="https://page.test"))
    assert error.value.info.code == "provider_protocol"
    assert "https://page.test/v1/models (404)" in (error.value.info.hint or "")


async def test_an_address_where_nothing_listens_is_said(place: RegistryWorkspace) -> None:
    registry = place.registry()
    with pytest.raises(InvalidRequest) as error:
        await registry.setup.detector.detect(DetectProvider(address="127.0.0.1:9"))
    await registry.aclose()
    assert error.value.info.code == "provider_unreachable"
    assert "nothing answers at 127.0.0.1:9" in error.value.info.message


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("http://ada:secret@host.test", "more than a place"),
        ("https://host.test/v1?key=secret", "more than a place"),
        ("ftp://host.test", "not the address"),
        ("http://[::1", "not an address"),
        ("http://169.254.169.254/latest", "link-local"),
        ("two words", "no spaces"),
    ],
)
async def test_an_address_that_cannot_be_used_is_refused_unasked(
    place: RegistryWorkspace, simulator: Simulator, typed: str, words: str
) -> None:
    network = OneApi(simulator, "openai_chat")
    async with registry_on(place, network) as registry:
        with pytest.raises(InvalidRequest, match=words):
            await registry.setup.detector.detect(DetectProvider(address=typed))
    assert network.sent == []


async def test_the_mode_local_asks_no_other_machine(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.preferences = ModelPreferences(mode="local")
    network = OneApi(simulator, "openai_chat")
    async with registry_on(place, network) as registry:
        detect = registry.setup.detector.detect
        for asked in (
            DetectProvider(address="https://models.test/v1"),
            DetectProvider(key="sk-ant-api03-" + "k" * 20),
        ):
            with pytest.raises(PolicyRefusal, match="allow only local models"):
                await detect(asked)
        assert network.sent == []
        here = await detect(DetectProvider(address="127.0.0.1:8000", key=simulator.key))
    assert here.kind == "openai_chat"


# Keys and their vendors


@pytest.mark.parametrize(
    ("key", "kind", "provider", "host"),
    [
        ("sk-ant-api03-" + "k" * 24, "anthropic", "anthropic", "api.anthropic.com"),
        ("AIza" + "k" * 35, "google", "google", "generativelanguage.googleapis.com"),
        ("gsk_" + "k" * 40, "openai_chat", "groq", "api.groq.com"),
    ],
)
async def test_a_key_is_sent_to_the_vendor_its_form_names(
    place: RegistryWorkspace, key: str, kind: ApiKind, provider: str, host: str
) -> None:
    async with Simulator(key=key) as simulator:
        network = OneApi(simulator, kind)
        async with registry_on(place, network) as registry:
            found = await registry.setup.detector.detect(DetectProvider(key=key))
        assert (found.id, found.known, bool(found.models)) == (provider, provider != "groq", True)
        assert network.hosts_with(key) == {host}


async def test_a_key_of_unknown_form_goes_nowhere_until_its_provider_is_named(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    network = OneApi(simulator, "openai_chat")
    async with registry_on(place, network) as registry:
        detect = registry.setup.detector.detect
        with pytest.raises(InvalidRequest) as error:
            await detect(DetectProvider(key=simulator.key))
        assert (error.value.info.code, network.sent) == ("ambiguous", [])
        found = await detect(DetectProvider(key=simulator.key, provider=ProviderId("mistral")))
    assert (found.id, network.hosts_with(simulator.key)) == ("mistral", {"api.mistral.ai"})


async def test_a_vendors_key_is_not_sent_elsewhere(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    key = "sk-ant-api03-" + "k" * 24
    network = OneApi(simulator, "anthropic")
    place.configure({"providers": {"anthropic": {"url": "https://gate.test"}}}, user=True)
    async with registry_on(place, network) as registry:
        detector = registry.setup.detector
        for asked in (
            DetectProvider(key=key, address="https://gate.test"),
            DetectProvider(key=key, provider=ProviderId("openai")),
            DetectProvider(key=key),  # Anthropic is configured at a gateway here
        ):
            with pytest.raises(InvalidRequest):
                await detector.detect(asked)
        saved = await registry.setup.save_key(ProviderId("openai"), key)
    assert (saved.stored, network.sent) == (False, [])
    assert saved.test is not None
    assert saved.test.error is not None
    assert "This is a key of Anthropic" in saved.test.error.message


# Saving a key


async def test_a_wrong_key_leaves_the_one_that_works(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.configure({"providers": {"anthropic": {"url": simulator.url}}})
    registry = place.registry()
    simulator.script(CALL, CALL)
    first = await registry.setup.save_key(ANTHROPIC, simulator.key)
    wrong = await registry.setup.save_key(ANTHROPIC, "sk-ant-api03-" + "w" * 24)
    again = await registry.test(ANTHROPIC)
    await registry.aclose()
    assert (first.stored, wrong.stored) == (True, False)
    assert first.provider is not None
    assert (first.provider.state, first.provider.key_last4) == ("ok", simulator.key[-4:])
    assert wrong.provider == first.provider
    assert wrong.test is not None
    assert wrong.test.error is not None
    assert wrong.test.error.code == "authentication"
    assert "wwww" not in wrong.model_dump_json()
    assert again.ok


async def test_a_key_is_tried_with_the_model_the_user_would_get(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.configure({"providers": {"anthropic": {"url": simulator.url}}})
    registry = place.registry()
    tried: list[str | None] = []
    for last, named in ((None, ""), ("claude-sonnet-5-5", ""), ("x", "claude-haiku-5-5")):
        simulator.script(CALL)
        place.last_used = None if last is None else ModelId(last)
        place.preferences = ModelPreferences(default=named)
        saved = await registry.setup.save_key(ANTHROPIC, simulator.key)
        assert saved.test is not None
        tried.append(saved.test.model)
        assert registry.default_model() == saved.test.model
    await registry.aclose()
    assert tried == ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"]


async def test_a_key_of_a_provider_without_models_is_stored_untried(
    place: RegistryWorkspace,
) -> None:
    registry = place.registry()
    saved = await registry.setup.save_key(ProviderId("openrouter"), "sk-or-v1-" + "k" * 24)
    await registry.aclose()
    assert (saved.stored, saved.test) == (True, None)


# The user's models.json

WRITTEN = """{
    "version": 1,
    "mine": {"note": "keep"},
    "models": [
        {"id": "b", "provider": "other", "odd": 1},
        {"id": "lab/old", "provider": "lab", "model": "old", "context_window": 9000},
        {"id": "a", "provider": "other"}
    ],
    "providers": {
        "other": {"kind": "openai_chat", "url": "http://other.test/v1", "idle_timeout": 9},
        "lab": {"profile": "vllm", "kind": "openai_chat", "url": "http://127.0.0.1:1/v1", "x": 2}
    }
}
"""


def put(simulator: Simulator, **changes: Any) -> PutProvider:
    values = {
        "name": "The lab",
        "kind": "openai_chat",
        "url": simulator.openai_url,
        "key": simulator.key,
        "models": ["old", "gpt-4.1"],
        "model": "gpt-4.1",
        **changes,
    }
    return PutProvider.model_validate(values)


async def test_what_the_user_wrote_stays_in_its_order(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.configure(WRITTEN, user=True)
    registry = place.registry()
    simulator.script(CALL)
    saved = await registry.setup.save(LAB, put(simulator))
    listing = registry.listing()
    await registry.aclose()
    assert saved.stored, saved
    text = (place.home / ".shoulders" / "models.json").read_text()
    content = json.loads(text)
    assert list(content) == ["version", "mine", "models", "providers"]
    assert [each["id"] for each in content["models"]] == ["b", "lab/old", "a", "lab/gpt-4.1"]
    assert content["models"][1]["context_window"] == 9000
    assert content["providers"]["other"] == json.loads(WRITTEN)["providers"]["other"]
    assert content["providers"]["lab"] == {
        "profile": "vllm",
        "kind": "openai_chat",
        "url": simulator.openai_url,
        "x": 2,
        "name": "The lab",
        "api_key_env": "LAB_API_KEY",
    }
    assert simulator.key not in text
    assert text.startswith('{\n    "version"')
    assert "lab/gpt-4.1" in [model.id for model in listing.models if model.available]
    (own,) = [each for each in listing.providers if each.id == "lab"]
    assert (own.custom, own.key_last4) == (True, simulator.key[-4:])


async def test_a_refused_provider_is_written_only_when_the_user_insists(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    registry = place.registry()
    wrong = put(simulator, key="a-wrong-key-0123", models=["gpt-4.1"], new=True)
    refused = await registry.setup.save(LAB, wrong)
    assert (refused.stored, refused.provider) == (False, None)
    assert not (place.home / ".shoulders" / "models.json").exists()
    forced = await registry.setup.save(LAB, wrong.model_copy(update={"untested": True}))
    await registry.aclose()
    assert forced.stored
    assert list(user_file(place)["providers"]) == ["lab"]


async def test_a_removed_provider_leaves_nothing_of_its_own(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.configure(WRITTEN, user=True)
    registry = place.registry()
    simulator.script(CALL)
    await registry.setup.save(LAB, put(simulator))
    await registry.setup.remove(LAB)
    with pytest.raises(NotFound):
        await registry.setup.remove(LAB)
    await registry.aclose()
    content = user_file(place)
    assert [each["id"] for each in content["models"]] == ["b", "a"]
    assert list(content["providers"]) == ["other"]
    assert simulator.key not in (place.home / ".shoulders" / "keys.env").read_text()


async def test_a_file_that_cannot_be_read_is_left_as_it_is(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    place.configure('{"providers": {,}}', user=True)
    registry = place.registry()
    with pytest.raises(Conflict, match="not valid JSON"):
        await registry.setup.save(LAB, put(simulator))
    await registry.aclose()
    assert (place.home / ".shoulders" / "models.json").read_text() == '{"providers": {,}}'


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"headers": {"Authorization": "Bearer abc"}}, "plain text"),
        ({"headers": {"X-Own": "sk-ant-api03-" + "k" * 24}}, "plain text"),
        ({"headers": {"a b": "c"}}, "not the name of a header"),
        ({"url": "https://ada:pw@host.test/v1"}, "more than a place"),
        ({"auth": "basic"}, "could not use"),
        ({"key": "sk-ant-api03-" + "k" * 24}, "key of Anthropic"),
        ({"key": "two words"}, "no spaces"),
    ],
)
async def test_what_must_not_be_in_the_file_is_refused(
    place: RegistryWorkspace, simulator: Simulator, changes: dict[str, Any], words: str
) -> None:
    registry = place.registry()
    with pytest.raises(InvalidRequest, match=words):
        await registry.setup.save(LAB, put(simulator, **changes))
    await registry.aclose()
    assert simulator.requests == []
    assert not (place.home / ".shoulders" / "models.json").exists()


async def test_a_stored_key_is_not_sent_to_a_new_address(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    registry = place.registry()
    simulator.script(CALL)
    await registry.setup.save(LAB, put(simulator, models=["gpt-4.1"]))
    moved = put(simulator, url="https://elsewhere.test/v1", key="", untested=True)
    with pytest.raises(InvalidRequest, match="The stored key was given for"):
        await registry.setup.save(LAB, moved)
    for url in ("https://two.test", simulator.openai_url):
        with pytest.raises(Conflict, match="The provider lab already exists"):
            await registry.setup.save(LAB, put(simulator, url=url, new=True))
    await registry.aclose()


async def test_a_server_that_is_set_up_is_found_as_such(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    registry = place.registry()
    body = put(simulator, kind="ollama", url=simulator.url, key="", models=[], list_models=True)
    simulator.script(CALL)
    saved = await registry.setup.save(LAB, body.model_copy(update={"model": ""}))
    listed = [model.id for model in registry.listing().models if model.provider == LAB]
    again = await registry.setup.detector.detect(DetectProvider(address=simulator.url))
    other = await registry.setup.detector.detect(
        DetectProvider(address=simulator.url, kind="openai_chat", key=simulator.key)
    )
    await registry.setup.remove(LAB)
    left = registry.listing()
    await registry.aclose()
    assert (saved.stored, "lab/sim-llama:latest" in listed) == (True, True)
    assert (again.id, again.known, other.known) == ("lab", True, False)
    assert other.id != "lab"
    assert ([model for model in left.models if model.provider == LAB], left.problems) == ([], ())


async def test_a_provider_is_shown_for_editing_without_keys_in_its_headers(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    secret = "sk-ant-api03-" + "k" * 24
    headers = {"X-Team": "physics", "X-Pass": secret}
    entry = {"kind": "openai_chat", "url": simulator.openai_url, "headers": headers}
    place.configure({"providers": {"lab": entry}}, user=True)
    registry = place.registry()
    own = await registry.setup.own_provider(LAB)
    assert own.headers == {"X-Team": "physics", "X-Pass": "[redacted]"}
    same = put(simulator, headers={**own.headers, "X-Team": "biology"}, untested=True)
    await registry.setup.save(LAB, same)
    await registry.aclose()
    assert user_file(place)["providers"]["lab"]["headers"] == {
        "X-Team": "biology",
        "X-Pass": secret,
    }
