"""The shipped catalogue, and what users add to it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue import Catalogue, Problem, ThinkingSupport
from jupyter_ai_shoulders.core.catalogue_merge import Source, merge_catalogue
from jupyter_ai_shoulders.core.prices import PriceTable
from jupyter_ai_shoulders.providers.catalogue_files import shipped_text
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

SHIPPED = Source("models.json (shipped)", shipped_text())


def merged(*contents: Any, environ: dict[str, str] | None = None) -> Catalogue:
    sources = [
        Source(f"file{number}.json", text if isinstance(text, str) else json.dumps(text))
        for number, text in enumerate(contents, 1)
    ]
    return merge_catalogue([SHIPPED, *sources], environ or {})


LAB: dict[str, Any] = {
    "default": "fast",
    "providers": {
        "lab": {
            "kind": "openai_chat",
            "url": "http://127.0.0.1:8000/v1",
            "api_key_env": "LAB_KEY",
            "headers": {},
            "auth": "bearer",
            "query": {},
        }
    },
    "models": [
        {
            "id": "fast",
            "name": "Fast",
            "provider": "lab",
            "model": "vendor-model-name",
            "thinking": "low",
            "roles": ["ghost"],
            "context_window": 32768,
        }
    ],
}


def test_shipped_catalogue_is_clean_and_offers_what_can_be_spoken() -> None:
    found = merged()
    assert found.problems == ()
    assert found.default == "claude-opus-5-5"
    assert list(found.models) == [
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-fable-5-2",
        "claude-haiku-5-5",
        "gpt-6.1-sol",
        "gpt-6.1-terra",
        "gpt-6-astra",
        "gpt-6-luna",
        "gpt-5.6-luna",
        "gemini-3.8-flash-low",
        "gemini-3.8-flash-high",
        "gemini-4-argon-low",
        "gemini-4-argon-high",
        "gemini-3.5-flash-lite",
        "demo",
    ]
    kinds = {name: spec.kind for name, spec in found.providers.items()}
    assert kinds == {
        "anthropic": "anthropic",
        "openai": "openai_responses",
        "google": "google",
        "ollama": "ollama",
        "lmstudio": "openai_chat",
        "mistral": "openai_chat",
        "deepseek": "openai_chat",
        "openrouter": "openai_chat",
        "demo": "demo",
    }
    assert found.models[ModelId("demo")].label == "Demo (no AI model)"


@pytest.mark.parametrize("name", [name for name in merged().models if name != "demo"])
def test_shipped_prices_have_source_and_date(name: ModelId) -> None:
    spec = merged().models[name]
    assert spec.prices is not None
    assert spec.prices.source
    assert spec.prices.checked == "2026-11-21"
    assert None not in (spec.prices.input, spec.prices.output, spec.context_window, spec.max_output)
    assert spec.family == spec.provider


def test_documented_example_is_taken_whole() -> None:
    found = merged(LAB)
    assert found.problems == ()
    assert found.default == "fast"
    fast, lab = found.models[ModelId("fast")], found.providers[ProviderId("lab")]
    assert (fast.name, fast.model, fast.window) == ("Fast", "vendor-model-name", 32_768)
    assert fast.thinking_support == ThinkingSupport(
        mode="effort", efforts=("low", "medium", "high")
    )
    assert (lab.key_name, lab.needs_key, lab.auth) == ("LAB_KEY", True, "bearer")


def test_camel_case_key_name_is_accepted() -> None:
    found = merged({"providers": {"lab": {"kind": "openai_chat", "apiKeyEnv": "LAB_KEY"}}})
    assert found.problems == ()
    assert found.providers[ProviderId("lab")].api_key_env == "LAB_KEY"


def test_entries_are_merged_field_by_field_and_later_files_win() -> None:
    found = merged(
        {
            "providers": {"anthropic": {"url": "https://gateway.test", "auth": "bearer"}},
            "models": [{"id": "claude-opus-5-5", "thinking": "high", "name": "Big"}],
        },
        {"models": [{"id": "claude-opus-5-5", "name": "Bigger"}]},
    )
    assert found.problems == ()
    anthropic, opus = (
        found.providers[ProviderId("anthropic")],
        found.models[ModelId("claude-opus-5-5")],
    )
    assert (anthropic.url, anthropic.auth) == ("https://gateway.test", "bearer")
    assert anthropic.api_key_env == "ANTHROPIC_API_KEY"
    assert (opus.name, opus.thinking) == ("Bigger", "high")
    assert opus.prices == merged().models[ModelId("claude-opus-5-5")].prices


def test_users_claude_model_gets_its_family() -> None:
    found = merged({"models": [{"id": "old", "provider": "anthropic", "model": "claude-opus-4-8"}]})
    old = found.models[ModelId("old")]
    assert (old.name, old.forced_tool, old.context_window) == ("old", "without_thinking", 1_000_000)
    assert old.thinking_support.off == "omit"
    assert old.prices is None


def test_longest_family_wins() -> None:
    found = merged({"models": [{"id": "claude-opus-5-5-20261001", "provider": "anthropic"}]})
    assert found.models[ModelId("claude-opus-5-5-20261001")].thinking_support.off == "impossible"


@pytest.mark.parametrize(
    ("provider", "window"), [("anthropic", 200_000), ("lab", 128_000), ("demo", 200_000)]
)
def test_unknown_window_is_assumed(provider: str, window: int) -> None:
    found = merged(LAB, {"models": [{"id": "x", "provider": provider, "context_window": None}]})
    expected = 128_000 if provider == "demo" else window
    assert found.models[ModelId("x")].window == expected


def test_variables_in_models_are_replaced() -> None:
    found = merged(
        LAB,
        {"models": [{"id": "fast", "model": "${LAB_MODEL}"}]},
        environ={"LAB_MODEL": "tiny"},
    )
    assert found.models[ModelId("fast")].model == "tiny"


def test_trait_is_a_source_without_lines() -> None:
    source = Source("Shoulders.models", {"models": [{"id": "x", "provider": "nobody"}]})
    found = merge_catalogue([SHIPPED, source], {})
    assert found.problems == (
        Problem("Shoulders.models", None, 'There is no provider "nobody". The entry is not used.'),
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        pytest.param('{\n "models": [}', 2, "Not valid JSON: Expecting value.", id="syntax"),
        pytest.param("[1]", 1, "A catalogue is an object with providers and models.", id="list"),
        pytest.param("[" * 100_000, None, "Nested too deeply.", id="nesting"),
        pytest.param(
            '{\n"modles": []}', 2, '"modles" is not a key of a catalogue; it is ignored.', id="key"
        ),
        pytest.param(
            '{"models": [\n{"id": "demo",\n "colour": 1}]}',
            3,
            'There is no setting "colour"; it is ignored.',
            id="setting",
        ),
        pytest.param(
            '{"models": [\n{"id": "demo",\n "max_output": -1}]}',
            3,
            "max_output: Input should be greater than 0. The entry is not used.",
            id="value",
        ),
        pytest.param(
            '{"models": [\n{"id": "x", "provider": "nobody"}]}',
            2,
            'There is no provider "nobody". The entry is not used.',
            id="provider",
        ),
        pytest.param(
            '{"models": [\n\n{"id": "x", "provider": "demo", "model": "${NOT_SET}"}]}',
            3,
            "The environment variable NOT_SET is not set. The entry is not used.",
            id="variable",
        ),
        pytest.param(
            '{"providers": {\n"x": {"url": "http://x"}}}',
            2,
            "kind: Field required. The entry is not used.",
            id="kind missing",
        ),
        pytest.param(
            '{\n"default": "gpt-0"}',
            2,
            "\"default\" names no model of the catalogue: 'gpt-0'.",
            id="default",
        ),
        pytest.param('{"models": [3]}', 1, None, id="entry of another type"),
        pytest.param('{"providers": [3]}', None, None, id="providers of another type"),
    ],
)
def test_bad_file_is_named_with_its_line_and_the_rest_is_used(
    text: str, line: int | None, message: str | None
) -> None:
    found = merged(text)
    good = merged()
    assert found.default == good.default
    assert found.models == good.models
    if message is not None:
        assert found.problems == (Problem("file1.json", line, message),)


def test_bad_entry_leaves_the_good_ones_of_its_file() -> None:
    found = merged(
        LAB, {"models": [{"id": "fast", "context_window": "big"}, {"id": "two", "provider": "lab"}]}
    )
    assert found.models[ModelId("fast")].context_window == 32_768
    assert ModelId("two") in found.models


def test_prices_may_be_given() -> None:
    found = merged(LAB, {"models": [{"id": "fast", "prices": {"input": 0, "output": 0}}]})
    assert found.models[ModelId("fast")].prices == PriceTable(input=0, output=0)


def from_workspace(*, own: dict[str, Any] | None = None, **provider: Any) -> Catalogue:
    entry = {"kind": "openai_chat", "api_key_env": "SECRET_KEY", **provider}
    sources = [SHIPPED, Source("own", {"providers": {"lab": own}})] if own else [SHIPPED]
    cloned = Source("cloned", json.dumps({"providers": {"lab": entry}}), trusted=False)
    return merge_catalogue([*sources, cloned], {})


@pytest.mark.parametrize(
    "provider",
    [
        {"url": "https://elsewhere.example/v1"},
        {"url": "https://127.0.0.1.elsewhere.example/v1"},
        {"url": "https://${HOST}/v1"},
        {"url": "https://e.example/v1", "api_key_env": None, "headers": {"x": "${SECRET_KEY}"}},
        {"url": "https://e.example/v1", "api_key_env": None, "query": {"x": "${SECRET_KEY}"}},
        {"url": "https://e.example/${SECRET_KEY}", "api_key_env": None},
    ],
)
def test_workspace_cannot_send_a_secret_to_another_machine(provider: dict[str, Any]):
    catalogue = from_workspace(**provider)
    assert ProviderId("lab") not in catalogue.providers
    (problem,) = catalogue.problems
    assert "~/.shoulders/models.json" in problem.message


@pytest.mark.parametrize(
    "provider",
    [
        {"url": "http://127.0.0.1:8000/v1"},
        {"url": "http://localhost:8000/v1"},
        {"url": "http://[::1]:8000/v1"},
        {"url": "https://gateway.example/v1", "api_key_env": None},
        {"url": "https://gateway.example/v1", "auth": "none"},
    ],
)
def test_workspace_may_point_to_this_machine_or_without_a_secret(provider: dict[str, Any]):
    assert from_workspace(**provider).problems == ()


def test_workspace_may_use_what_the_user_configured():
    own = {"kind": "openai_chat", "url": "https://gateway.example/v1", "api_key_env": "SECRET_KEY"}
    assert from_workspace(own=own, url=own["url"], idle_timeout=30).problems == ()
    assert from_workspace(own=own, url="https://elsewhere.example/v1").problems != ()


def test_workspace_cannot_redirect_a_shipped_provider():
    cloned = json.dumps({"providers": {"anthropic": {"url": "https://elsewhere.example"}}})
    catalogue = merge_catalogue([SHIPPED, Source("cloned", cloned, trusted=False)], {})
    assert catalogue.providers[ProviderId("anthropic")].url == "https://api.anthropic.com"
    assert len(catalogue.problems) == 1
