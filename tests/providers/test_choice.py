"""Which model answers when nobody named one: modes, fallback, strategies, and why none does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue import Catalogue, ProviderSpec
from jupyter_ai_shoulders.core.catalogue_merge import Source, merge_catalogue
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.preferences import AccessMode, Fallback, ModelPreferences
from jupyter_ai_shoulders.providers.catalogue_files import shipped_text
from jupyter_ai_shoulders.providers.choice import (
    Prospects,
    Strategy,
    by_strategy,
    default_model,
    side_of,
)
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
VENDORS = ("anthropic", "google", "openai")


def catalogue(*models: dict[str, Any], **providers: dict[str, Any]) -> Catalogue:
    """The shipped catalogue with these, models of Ollama as when it runs."""
    mine = Source("mine", {"models": list(models), "providers": providers})
    merged = merge_catalogue([Source("shipped", shipped_text()), mine], {})
    assert merged.problems == ()
    return merged


def prospects(*, keys: Iterable[str] = (), failing: Iterable[str] = ()) -> Prospects:
    """Only providers with these keys may answer, and those that need none."""

    def refusal(provider: ProviderSpec) -> ErrorInfo | None:
        missing = provider.needs_key and provider.id not in set(keys)
        return problem("no_key", f"There is no key for {provider.name}.") if missing else None

    def failure(provider: ProviderSpec) -> ErrorInfo | None:
        down = provider.id in set(failing)
        return problem("provider_unreachable", "Nobody answers.") if down else None

    return Prospects(refusal, failure)


def problem(code: ErrorCode, message: str) -> ErrorInfo:
    return InvalidRequest(message, code=code).info


def picked(
    strategy: Strategy,
    found: Catalogue,
    ways: Prospects,
    mode: AccessMode = "auto",
    fallback: Fallback = "local",
) -> str:
    preferences = ModelPreferences(mode=mode, fallback=fallback)
    return by_strategy(found, strategy, preferences, ways).id


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
    assert picked(strategy, catalogue(), prospects(keys=keys)) == model


@pytest.mark.parametrize("strategy", ["ghost", "cheapest"])
def test_strategy_ends_at_ollama(strategy: Strategy) -> None:
    found = catalogue(THINKER, LLAMA)
    assert picked(strategy, found, prospects(), "remote") == "ollama/llama"


def test_failing_provider_gives_way_to_the_next() -> None:
    ways = prospects(keys=VENDORS, failing=["anthropic"])
    assert picked("ghost", catalogue(), ways) == "gemini-3.5-flash-lite"


def test_role_the_user_gave_comes_before_the_vendors() -> None:
    fast = {"id": "fast", "provider": "far", "roles": ["ghost"]}
    found = catalogue(fast, far=FAR)
    assert picked("ghost", found, prospects(keys=VENDORS)) == "fast"
    assert picked("cheapest", found, prospects(keys=VENDORS)) == "gemini-3.5-flash-lite"


@pytest.mark.parametrize(
    ("mode", "fallback", "failing", "model"),
    [
        ("auto", "local", [], "ollama/llama"),
        ("auto", "local", ["ollama"], "claude-haiku-5-5"),
        ("remote", "local", [], "claude-haiku-5-5"),
        ("remote", "local", VENDORS, "ollama/llama"),
        ("local", "local", [], "ollama/llama"),
        ("local", "remote", ["ollama"], "claude-haiku-5-5"),
    ],
)
def test_mode_and_fallback_say_where_to_look(
    mode: AccessMode, fallback: Fallback, failing: list[str], model: str
) -> None:
    ways = prospects(keys=VENDORS, failing=failing)
    assert picked("ghost", catalogue(LLAMA), ways, mode, fallback) == model


NOBODY = prospects()
ALL = prospects(keys=VENDORS)
DOWN = prospects(keys=VENDORS, failing=VENDORS)


@pytest.mark.parametrize(
    ("where", "ways", "code", "words"),
    [
        pytest.param(("auto", "local"), NOBODY, "no_key", "no key for Anthropic", id="no key"),
        pytest.param(("local", "none"), ALL, "no_model", "No model", id="nothing local"),
        pytest.param(("local", "local"), ALL, "no_model", "No model", id="local only"),
        pytest.param(("remote", "none"), DOWN, "provider_unreachable", "Google: Nobody", id="down"),
    ],
)
def test_no_model_is_said_with_the_reason(
    where: tuple[AccessMode, Fallback], ways: Prospects, code: ErrorCode, words: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        picked("ghost", catalogue(), ways, *where)
    assert caught.value.info.code == code
    assert words in caught.value.info.message
    assert caught.value.info.hint


def chosen(
    found: Catalogue,
    ways: Prospects,
    mode: AccessMode = "auto",
    fallback: Fallback = "local",
    last: str | None = None,
) -> str | None:
    last_used = None if last is None else ModelId(last)
    return default_model(found, last_used, ModelPreferences(mode=mode, fallback=fallback), ways)


@pytest.mark.parametrize(
    ("where", "keys", "last", "model"),
    [
        pytest.param(("auto", "local"), (), None, "ollama/llama", id="local, not the demo"),
        pytest.param(("auto", "local"), VENDORS, None, "claude-opus-5-5", id="default"),
        pytest.param(("auto", "local"), ("openai",), None, "ollama/llama", id="by mode"),
        pytest.param(("remote", "local"), ("openai",), None, "gpt-6.1-sol", id="remote"),
        pytest.param(("remote", "local"), (), None, "ollama/llama", id="remote falls back"),
        pytest.param(("remote", "none"), (), None, "demo", id="remote, no fallback"),
        pytest.param(("local", "local"), VENDORS, None, "ollama/llama", id="local"),
        pytest.param(("auto", "local"), VENDORS, "gpt-6-luna", "gpt-6-luna", id="last used"),
        pytest.param(("local", "local"), VENDORS, "gpt-6-luna", "ollama/llama", id="mode wins"),
        pytest.param(("remote", "local"), VENDORS, "ollama/llama", "claude-opus-5-5", id="again"),
        pytest.param(("auto", "local"), VENDORS, "gone", "claude-opus-5-5", id="gone"),
        pytest.param(("auto", "local"), VENDORS, "demo", "claude-opus-5-5", id="never the demo"),
    ],
)
def test_new_conversation_takes(
    where: tuple[AccessMode, Fallback], keys: tuple[str, ...], last: str | None, model: str
) -> None:
    found = catalogue(SPEECHLESS, LLAMA)
    assert chosen(found, prospects(keys=keys), *where, last=last) == model


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
    preferences = ModelPreferences(mode=mode, default=named)
    last = ModelId("claude-opus-5-5")
    found = catalogue(SPEECHLESS, LLAMA)
    assert default_model(found, last, preferences, prospects(keys=VENDORS)) == model


def test_local_default_that_fails_gives_way() -> None:
    ways = prospects(keys=["openai"], failing=["ollama"])
    assert chosen(catalogue(LLAMA), ways) == "gpt-6.1-sol"
    assert chosen(catalogue(LLAMA), prospects(failing=["ollama"])) == "demo"


def test_remote_default_stays_though_its_last_call_failed() -> None:
    """A conversation must not change its vendor for an overload."""
    ways = prospects(keys=VENDORS, failing=["anthropic"])
    assert chosen(catalogue(), ways) == "claude-opus-5-5"


def test_no_model_is_no_default() -> None:
    without = replace(catalogue(), models={}, default=None)
    assert chosen(without, prospects()) is None


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
