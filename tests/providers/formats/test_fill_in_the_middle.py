"""Tests of which models support fill-in-the-middle."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.merge import CatalogueSource, merge_catalogue
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ProviderSpec
from jupyter_ai_shoulders.providers.base import ListedModel
from jupyter_ai_shoulders.providers.catalogue.listed_models import catalogue_entries
from jupyter_ai_shoulders.providers.catalogue.loader import shipped_text
from jupyter_ai_shoulders.providers.formats.fill_in_the_middle import supports_fill_in
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId


def provider(**fields: Any) -> ProviderSpec:
    given = {"id": ProviderId("p"), "name": "P", "kind": "openai_chat", **fields}
    return ProviderSpec.model_validate(given)


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (provider(url="https://api.mistral.ai/v1"), True),
        (provider(url="https://api.deepseek.com/v1"), True),
        (provider(profile="llamacpp"), True),
        (provider(profile="vllm"), False),
        (provider(kind="ollama"), True),
        (provider(kind="anthropic"), False),
    ],
)
def test_model_and_server_must_both_be_able(server: ProviderSpec, expected: bool) -> None:
    able = ModelSpec(id=ModelId("m"), name="M", provider=server.id, model="m", fill_in=True)

    assert supports_fill_in(able, server) is expected
    assert not supports_fill_in(able.model_copy(update={"fill_in": False}), server)


def test_a_service_that_says_so_of_a_model_is_believed() -> None:
    models = [
        ListedModel("coder", capabilities=frozenset({"completion", "insert"})),
        ListedModel("talker", capabilities=frozenset({"completion"})),
    ]

    found = [entry.get("fill_in", False) for entry in catalogue_entries(provider(), models)]

    assert found == [True, False]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("codestral-latest", True), ("deepseek-v4-flash", True), ("mistral-large-latest", False)],
)
def test_the_shipped_catalogue_knows_those_of_mistral_and_deepseek(
    name: str, expected: bool
) -> None:
    entry = {"id": "m", "provider": "mistral", "model": name}
    sources = [
        CatalogueSource("shipped", shipped_text()),
        CatalogueSource("user", {"models": [entry]}),
    ]

    assert merge_catalogue(sources, {}).models[ModelId("m")].fill_in is expected
