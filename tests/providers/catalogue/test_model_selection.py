"""Tests of model selection without a named model: modes, fallback, strategies and errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.merge import CatalogueSource, merge_catalogue
from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, ProviderSpec
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.model_preferences import AccessMode, Fallback, ModelPreferences
from jupyter_ai_shoulders.providers.catalogue.loader import shipped_text
from jupyter_ai_shoulders.providers.catalogue.model_selection import (
    ModelChoice,
    ProviderAvailability,
    Strategy,
    choose_by_strategy,
    choose_default,
    side_of,
)
from jupyter_ai_shoulders.providers.catalogue.shipped_entries import ShippedCatalogue
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.ids import ModelId

LLAMA = {"id": "ollama/llama", "provider": "ollama", "model": "llama"}
THINKER = {
    "id": "ollama/thinker",
    "provider": "ollama",
    "model": "thinker",
    "thinking_support": {"mode": "effort", "off": "disabled"},
}
SPEECHLESS = {"id": "ollama/old", "provider": "ollama", "model": "old", "tools": False}
LAB = {"kind": "openai_chat", "url": "http://127.0.0.1:8000/v1"}
FAR = {"kind": "openai_chat", "url": "https://far.test/v1"}
OWN = {"id": "lab-model", "provider": "lab", "model": "m"}
VENDORS = ("anthropic", "google", "openai")
SHIPPED = ShippedCatalogue.read(shipped_text())


def catalogue(*models: dict[str, Any], **providers: dict[str, Any]) -> Catalogue:
    """The shipped catalogue with these models, including those of a running Ollama."""
    mine = CatalogueSource("mine", {"models": list(models), "providers": providers})
    merged = merge_catalogue([CatalogueSource("shipped", shipped_text()), mine], {})
    assert merged.problems == ()
    return merged


def availability(*, keys: Iterable[str] = (), failing: Iterable[str] = ()) -> ProviderAvailability:
    """Only providers with these keys, or without need of one, can answer."""

    def refusal(provider: ProviderSpec) -> ErrorInfo | None:
        missing = provider.needs_key and provider.id not in set(keys)
        return problem("no_key", f"There is no key for {provider.name}.") if missing else None

    def failure(provider: ProviderSpec) -> ErrorInfo | None:
        down = provider.id in set(failing)
        return problem("provider_unreachable", "Nobody answers.") if down else None

    return ProviderAvailability(refusal, failure)


def problem(code: ErrorCode, message: str) -> ErrorInfo:
    return InvalidRequest(message, code=code).info


def picked(
    strategy: Strategy,
    found: Catalogue,
    available: ProviderAvailability,
    mode: AccessMode = "auto",
    fallback: Fallback = "local",
) -> str:
    preferences = ModelPreferences(mode=mode, fallback=fallback)
    return choose_by_strategy(found, strategy, preferences, available).id


@pytest.mark.parametrize(
    ("strategy", "keys", "model"),
    [
        ("ghost", VENDORS, "claude-haiku-5-5"),
        ("ghost", ("google", "openai"), "gemini-3.5-flash-lite"),
        ("ghost", ("openai",), "gpt-6-luna"),
        ("cheapest", VENDORS, "gemini-3.5-flash-lite"),
        ("cheapest", ("anthropic", "openai"), "claude-haiku-5-5"),
        ("cheapest", ("openai",), "gpt-6-luna"),
    ],
)
def test_strategy_takes_the_first_vendor_with_a_key(
    strategy: Strategy, keys: tuple[str, ...], model: str
) -> None:
    assert picked(strategy, catalogue(), availability(keys=keys)) == model


@pytest.mark.parametrize("strategy", ["ghost", "cheapest"])
def test_strategy_ends_at_ollama(strategy: Strategy) -> None:
    found = catalogue(THINKER, LLAMA)
    assert picked(strategy, found, availability(), "remote") == "ollama/llama"


def test_failing_provider_gives_way_to_the_next() -> None:
    available = availability(keys=VENDORS, failing=["anthropic"])
    assert picked("ghost", catalogue(), available) == "gemini-3.5-flash-lite"


def test_role_the_user_gave_comes_before_the_vendors() -> None:
    fast = {"id": "fast", "provider": "far", "roles": ["ghost"]}
    found = catalogue(fast, far=FAR)
    assert picked("ghost", found, availability(keys=VENDORS)) == "fast"
    assert picked("cheapest", found, availability(keys=VENDORS)) == "gemini-3.5-flash-lite"


@pytest.mark.parametrize(
    ("mode", "fallback", "failing", "model"),
    [
        ("auto", "local", [], "ollama/llama"),
        ("auto", "local", ["ollama"], "claude-haiku-5-5"),
        ("remote", "local", [], "claude-haiku-5-5"),
        ("remote", "local", VENDORS, "ollama/llama"),
        ("local", "local", [], "ollama/llama"),
        ("local", "remote", [], "ollama/llama"),
    ],
)
def test_mode_and_fallback_say_where_to_look(
    mode: AccessMode, fallback: Fallback, failing: list[str], model: str
) -> None:
    available = availability(keys=VENDORS, failing=failing)
    assert picked("ghost", catalogue(LLAMA), available, mode, fallback) == model


NOBODY = availability()
ALL = availability(keys=VENDORS)
DOWN = availability(keys=VENDORS, failing=VENDORS)


@pytest.mark.parametrize(
    ("where", "available", "code", "words"),
    [
        pytest.param(("auto", "local"), NOBODY, "no_key", "no key for Anthropic", id="no key"),
        pytest.param(("local", "none"), ALL, "no_model", "No model", id="nothing local"),
        pytest.param(("local", "local"), ALL, "no_model", "No model", id="local only"),
        pytest.param(("local", "remote"), ALL, "no_model", "No model", id="local is a lock"),
        pytest.param(("remote", "none"), DOWN, "provider_unreachable", "Google: Nobody", id="down"),
    ],
)
def test_no_model_is_said_with_the_reason(
    where: tuple[AccessMode, Fallback], available: ProviderAvailability, code: ErrorCode, words: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        picked("ghost", catalogue(), available, *where)
    assert caught.value.info.code == code
    assert words in caught.value.info.message
    assert caught.value.info.hint


def choice(
    found: Catalogue,
    available: ProviderAvailability,
    mode: AccessMode = "auto",
    fallback: Fallback = "local",
    *,
    last: str | None = None,
    named: str = "",
) -> ModelChoice | None:
    last_used = None if last is None else ModelId(last)
    preferences = ModelPreferences(mode=mode, fallback=fallback, default=named)
    return choose_default(found, last_used, preferences, available, SHIPPED)


def chosen(
    found: Catalogue,
    available: ProviderAvailability,
    mode: AccessMode = "auto",
    fallback: Fallback = "local",
    last: str | None = None,
) -> str | None:
    made = choice(found, available, mode, fallback, last=last)
    return made and made.model.id


@pytest.mark.parametrize(
    ("where", "keys", "last", "model"),
    [
        pytest.param(("auto", "local"), (), None, "ollama/llama", id="local, not the demo"),
        pytest.param(("auto", "local"), VENDORS, None, "claude-opus-5-5", id="default"),
        pytest.param(("auto", "local"), ("openai",), None, "ollama/llama", id="by mode"),
        pytest.param(("remote", "local"), ("openai",), None, "gpt-6.1-sol", id="remote"),
        pytest.param(("remote", "local"), (), None, "ollama/llama", id="remote falls back"),
        pytest.param(("remote", "none"), (), None, None, id="remote, no fallback"),
        pytest.param(("local", "local"), VENDORS, None, "ollama/llama", id="local"),
        pytest.param(("auto", "local"), VENDORS, "gpt-6-luna", "gpt-6-luna", id="last used"),
        pytest.param(("local", "local"), VENDORS, "gpt-6-luna", "ollama/llama", id="mode wins"),
        pytest.param(("remote", "local"), VENDORS, "ollama/llama", "claude-opus-5-5", id="again"),
        pytest.param(("auto", "local"), VENDORS, "gone", "claude-opus-5-5", id="gone"),
        pytest.param(("auto", "local"), VENDORS, "demo", "claude-opus-5-5", id="never the demo"),
    ],
)
def test_new_conversation_takes(
    where: tuple[AccessMode, Fallback], keys: tuple[str, ...], last: str | None, model: str | None
) -> None:
    found = catalogue(SPEECHLESS, LLAMA)
    assert chosen(found, availability(keys=keys), *where, last=last) == model


@pytest.mark.parametrize(
    ("mode", "named", "model"),
    [
        pytest.param("auto", "gpt-6-luna", "gpt-6-luna", id="before the one used last"),
        pytest.param("local", "gpt-6-luna", "ollama/llama", id="mode wins"),
        pytest.param("auto", "gone", "claude-opus-5-5", id="gone"),
    ],
)
def test_new_conversation_takes_the_model_of_the_settings(
    mode: AccessMode, named: str, model: str
) -> None:
    found = catalogue(SPEECHLESS, LLAMA)
    made = choice(found, availability(keys=VENDORS), mode, last="claude-opus-5-5", named=named)
    assert made is not None
    assert made.model.id == model


@pytest.mark.parametrize(
    ("models", "available", "last", "named", "expected"),
    [
        pytest.param([], NOBODY, None, "", ("demo", True), id="nothing set up"),
        pytest.param([], NOBODY, "demo", "", ("demo", True), id="the demo used last"),
        pytest.param([], ALL, "demo", "", ("claude-opus-5-5", False), id="a key came"),
        pytest.param([LLAMA], NOBODY, "demo", "", ("ollama/llama", False), id="a server came"),
        pytest.param([], ALL, None, "demo", ("demo", False), id="chosen in the settings"),
        pytest.param([], DOWN, None, "", ("claude-opus-5-5", False), id="remote failed"),
        pytest.param(
            [OWN], availability(failing=["lab"]), None, "", ("lab-model", False), id="local failed"
        ),
        pytest.param(
            [OWN],
            availability(failing=["lab"]),
            "demo",
            "",
            ("lab-model", False),
            id="local failed, the demo used last",
        ),
        pytest.param(
            [], NOBODY, None, "gpt-6-luna", ("gpt-6-luna", False), id="named without its key"
        ),
        pytest.param(
            [{"id": "mine", "provider": "openai", "model": "gpt"}],
            NOBODY,
            None,
            "",
            ("mine", False),
            id="own entry without its key",
        ),
        pytest.param(
            [], NOBODY, "gpt-6-luna", "", ("gpt-6-luna", False), id="used last, key removed"
        ),
    ],
)
def test_demo_answers_only_where_nothing_is_set_up_or_it_was_named(
    models: list[dict[str, Any]],
    available: ProviderAvailability,
    last: str | None,
    named: str,
    expected: tuple[str, bool],
) -> None:
    made = choice(catalogue(*models, lab=LAB), available, last=last, named=named)
    assert made is not None
    assert (made.model.id, made.is_stand_in, made.instead_of) == (*expected, None)


def test_default_that_somebody_set_needs_its_key_though_it_is_the_first_of_all() -> None:
    """The same model as a shipped default is replaced by the demo."""
    mine = CatalogueSource("mine", {"default": "claude-opus-5-5"})
    merged = merge_catalogue([CatalogueSource("shipped", shipped_text()), mine], {})
    assert chosen(merged, NOBODY) == "claude-opus-5-5"
    assert chosen(catalogue(), NOBODY) == "demo"


@pytest.mark.parametrize(
    ("where", "keys", "named", "last", "expected"),
    [
        pytest.param(("auto", "none"), ["openai"], "", None, "gpt-6.1-sol", id="auto"),
        pytest.param(("auto", "local"), ["openai"], "", "lab-model", "gpt-6.1-sol", id="last"),
        pytest.param(("auto", "local"), ["openai"], "lab-model", None, None, id="named local"),
        pytest.param(("auto", "remote"), ["openai"], "lab-model", None, "gpt-6.1-sol", id="said"),
        pytest.param(("local", "remote"), ["openai"], "", None, None, id="local is a lock"),
        pytest.param(("local", "none"), ["openai"], "", None, None, id="local, no fallback"),
        pytest.param(("auto", "none"), [], "", None, None, id="nothing else"),
    ],
)
def test_local_model_that_fails_is_replaced_only_where_settings_say_so(
    where: tuple[AccessMode, Fallback],
    keys: list[str],
    named: str,
    last: str | None,
    expected: str | None,
) -> None:
    available = availability(keys=keys, failing=["lab"])
    made = choice(catalogue(OWN, lab=LAB), available, *where, last=last, named=named)
    assert made is not None
    if expected is None:
        assert made == ModelChoice(made.model)
        assert made.model.id == "lab-model"
    else:
        assert (made.model.id, made.is_stand_in) == (expected, True)
        assert made.notice == "lab-model is not answering (Nobody answers); using GPT-6.1 Sol."


@pytest.mark.parametrize(
    ("fallback", "expected"),
    [("local", "ollama/llama"), ("remote", "gpt-6-luna"), ("none", "gpt-6-luna")],
)
def test_named_model_without_its_key_is_replaced_only_where_settings_say_so(
    fallback: Fallback, expected: str
) -> None:
    made = choice(catalogue(LLAMA), NOBODY, "auto", fallback, named="gpt-6-luna")
    assert made is not None
    assert made.model.id == expected
    assert ("no key for OpenAI" in made.notice) == (expected == "ollama/llama")


def test_ollama_of_another_machine_is_remote_in_the_mode_local() -> None:
    found = catalogue(LLAMA, ollama={"url": "http://gpu.lan:11434"})
    assert chosen(found, NOBODY) == "ollama/llama"
    assert chosen(found, NOBODY, "local") is None
    with pytest.raises(InvalidRequest):
        picked("ghost", found, NOBODY, "local", "remote")


def test_remote_default_stays_though_its_last_call_failed() -> None:
    """A conversation must not change its vendor because of an overload."""
    available = availability(keys=VENDORS, failing=["anthropic"])
    assert chosen(catalogue(), available) == "claude-opus-5-5"


def test_no_model_is_no_default() -> None:
    without = replace(catalogue(), models={}, default=None)
    assert chosen(without, availability()) is None


@pytest.mark.parametrize(
    ("values", "side"),
    [
        ({"kind": "ollama", "url": "http://gpu.lan:11434"}, "local"),
        ({"kind": "ollama", "url": "https://ollama.com", "api_key_env": "K"}, "remote"),
        ({"kind": "openai_chat", "url": "http://localhost:8080"}, "local"),
        ({"kind": "openai_chat", "url": "http://[::1]:8080/v1"}, "local"),
        ({"kind": "openai_chat", "url": "https://api.mistral.ai/v1"}, "remote"),
        ({"kind": "anthropic", "url": "https://127.0.0.1.example.com"}, "remote"),
    ],
)
def test_local_is_what_runs_here(values: dict[str, Any], side: str) -> None:
    assert side_of(ProviderSpec(id="p", name="P", **values)) == side  # pyright: ignore[reportArgumentType] - an id of a test
