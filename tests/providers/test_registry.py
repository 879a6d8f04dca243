"""Which model answers, who says so, and what the settings show."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.wire.api.responses import Prices
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId
from tests.providers.registry_workspace import KEY, LAB, RegistryWorkspace


def test_without_any_key_the_demo_answers(place: RegistryWorkspace) -> None:
    registry = place.registry()
    assert registry.default_model() == "demo"
    assert registry.readiness() == "demo"
    assert registry.resolve(None).spec.label == "Demo (no AI model)"


def test_with_a_key_the_default_answers(place: RegistryWorkspace) -> None:
    place.environ["ANTHROPIC_API_KEY"] = KEY
    registry = place.registry()
    assert registry.default_model() == "claude-opus-5-5"
    assert registry.readiness() == "ready"
    assert registry.resolve(None).spec.id == "claude-opus-5-5"


def test_last_used_model_wins_while_it_can_answer(place: RegistryWorkspace) -> None:
    place.environ["ANTHROPIC_API_KEY"] = KEY
    registry = place.registry()
    place.last_used = ModelId("claude-haiku-5-5")
    assert registry.default_model() == "claude-haiku-5-5"
    place.last_used = ModelId("gone")
    assert registry.default_model() == "claude-opus-5-5"
    place.last_used = ModelId("demo")
    assert registry.default_model() == "claude-opus-5-5"


def test_users_default_is_taken_and_files_are_read_anew(place: RegistryWorkspace) -> None:
    registry = place.registry()
    assert registry.default_model() == "demo"
    place.configure({**LAB, "default": "tiny"})
    assert registry.default_model() == "tiny"
    place.environ["ANTHROPIC_API_KEY"] = KEY
    assert registry.default_model() == "tiny"
    place.configure(LAB)
    assert registry.default_model() == "claude-opus-5-5"


def test_model_that_needs_no_key_beats_the_demo(place: RegistryWorkspace) -> None:
    place.configure(LAB, user=True)
    assert place.registry().default_model() == "tiny"


def test_administrator_wins_over_workspace_and_workspace_over_home(
    place: RegistryWorkspace,
) -> None:
    names = [{"models": [{"id": "demo", "name": name}]} for name in ("Home", "Work", "Trait")]
    registry = place.registry()
    place.configure(names[0], user=True)
    assert registry.resolve(ModelId("demo")).spec.name == "Home"
    place.configure(names[1])
    assert registry.resolve(ModelId("demo")).spec.name == "Work"
    assert place.registry(trait=names[2]).resolve(ModelId("demo")).spec.name == "Trait"


def test_default_of_a_server_that_is_not_running_is_not_replaced_by_the_demo(
    place: RegistryWorkspace,
) -> None:
    place.configure({"default": "ollama/qwen3:8b"}, user=True)
    registry = place.registry()
    resolved = registry.resolve(None)
    assert (registry.default_model(), resolved.spec.model) == ("ollama/qwen3:8b", "qwen3:8b")
    assert not resolved.is_stand_in
    assert registry.problems() == ()


@pytest.mark.parametrize(
    ("model", "code"),
    [("gpt-0", "unknown_model"), ("claude-opus-5-5", "no_key")],
)
def test_model_that_cannot_answer_is_refused_with_what_to_do(
    place: RegistryWorkspace, model: str, code: ErrorCode
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        place.registry().resolve(ModelId(model))
    assert caught.value.info.code == code
    assert caught.value.info.hint


def test_own_provider_without_its_key_is_said(place: RegistryWorkspace) -> None:
    demo = {"kind": "google", "auth": "", "api_key_env": "X"}
    place.configure({"providers": {"demo": demo}}, user=True)
    registry = place.registry()
    assert registry.readiness() == "none"
    with pytest.raises(InvalidRequest) as caught:
        registry.resolve(None)
    assert caught.value.info.code == "no_key"


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"GEMINI_API_KEY": KEY, "GOOGLE_API_KEY": "other-key-0000"}, "kkkk"),
        ({"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "other-key-0000"}, "0000"),
        ({}, None),
    ],
)
def test_key_may_have_another_name(
    place: RegistryWorkspace, environ: dict[str, str], key: str | None
) -> None:
    place.environ.update(environ)
    registry = place.registry()
    health = {info.id: info for info in registry.providers.health()}[ProviderId("google")]
    assert (health.key_last4, health.key_set) == (key, key is not None)
    for value in filter(str.strip, environ.values()):
        assert value not in registry.redactor().redact(f"key: {value}")


@pytest.mark.parametrize(("day", "price"), [(21, 2_000_000), (31, 4_000_000)])
def test_prices_are_those_of_the_day(place: RegistryWorkspace, day: int, price: int) -> None:
    place.environ["GEMINI_API_KEY"] = KEY
    place.clock.today = datetime(2026, 12 if day == 31 else 11, day, tzinfo=UTC)
    registry = place.registry()
    model = ModelId("gemini-4-argon-low")
    resolved = registry.resolve(model).spec.prices
    listed = {info.id: info.prices for info in registry.listing().models}[model]
    assert resolved is not None
    assert listed is not None
    assert (resolved.input, listed.input) == (price, price)


def test_missing_variable_makes_a_provider_unavailable(place: RegistryWorkspace) -> None:
    lab = {"kind": "openai_chat", "url": "http://${LAB_HOST}/v1"}
    place.configure({**LAB, "providers": {"lab": lab}}, user=True)
    registry = place.registry()
    assert (registry.default_model(), registry.readiness()) == ("tiny", "none")
    with pytest.raises(InvalidRequest, match="LAB_HOST"):
        registry.resolve(None)
    infos = {info.id: info for info in registry.listing().models}
    assert "LAB_HOST" in (infos[ModelId("tiny")].unavailable_reason or "")
    place.environ["LAB_HOST"] = "lab.test"
    assert registry.readiness() == "ready"


def test_broken_file_is_a_problem_and_the_rest_works(place: RegistryWorkspace) -> None:
    place.configure('{\n  "models": [')
    place.configure({"default": "demo"}, user=True)
    registry = place.registry()
    assert [(problem.source, problem.line) for problem in registry.problems()] == [
        (".shoulders/models.json", 2)
    ]
    assert registry.default_model() == "demo"


@pytest.mark.parametrize("content", [b"\xff\xfe{}", b'{"default": "demo"}' + b" " * 5_000_000])
def test_file_that_cannot_be_used_is_a_problem(place: RegistryWorkspace, content: bytes) -> None:
    place.state.mkdir(parents=True)
    (place.state / "models.json").write_bytes(content)
    assert len(place.registry().problems()) == 1


def test_listing_shows_capabilities_prices_and_availability(place: RegistryWorkspace) -> None:
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


@pytest.mark.parametrize("url", ["http://[::1/v1", "https://[${LAB}]/v1"])
def test_an_address_that_is_none_is_named_and_spoils_no_other(
    place: RegistryWorkspace, url: str
) -> None:
    lab = {"kind": "openai_chat", "url": url}
    place.configure(json.dumps({"providers": {"lab": lab}}, indent=1))
    listing = place.registry().listing()
    assert "lab" not in {provider.id for provider in listing.providers}
    (problem,) = listing.problems
    assert (problem.line, "no address" in problem.message) == (5, True)
