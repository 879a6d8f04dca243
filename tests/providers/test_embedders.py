"""Embedders of the three formats: the same expectations, over a real socket or scripted bytes."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.embedding import Embedder
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.core.token_estimates import estimate_text
from jupyter_ai_shoulders.providers.formats.embedding import cut_to_tokens
from jupyter_ai_shoulders.providers.http.upstream import Upstream
from jupyter_ai_shoulders.providers.metering import Metering
from tests.providers.adapter_fixtures import ScriptedTransport, Sent, answering
from tests.providers.registry_workspace import RegistryWorkspace
from tests.providers.test_metering import RecordingMeter
from tests.simulator import Failure, Simulator
from tests.simulator.embeddings.vectors import vector_of

Route = Literal["openai", "compatible", "google", "ollama"]
MODELS: dict[Route, str] = {
    "openai": "text-embedding-3-small",
    "compatible": "lab-embedder",
    "google": "gemini-embedding-001",
    "ollama": "ollama/nomic-embed-text:latest",
}
KEYED: list[Route] = ["openai", "google"]
TEXTS = ["the cat sat on the mat", "value_counts of a column", "Größe und Länge"]
every_route = pytest.mark.parametrize("route", MODELS)


@dataclass
class Setting:
    """A workspace whose providers are the simulator."""

    place: RegistryWorkspace
    simulator: Simulator
    meter: RecordingMeter = field(default_factory=RecordingMeter)

    def configure(self, url: str, openai_url: str, key: str) -> None:
        self.place.environ |= {"OPENAI_API_KEY": key, "GEMINI_API_KEY": key}
        lab = {"kind": "openai_chat", "url": openai_url}
        self.place.configure(
            {
                "providers": {
                    "openai": {"url": openai_url},
                    "google": {"url": url},
                    "ollama": {"url": url},
                    "lab": lab,
                },
                "models": [
                    {"id": "lab-embedder", "provider": "lab", "model": "sim-embed"},
                    {"id": "lab-chat", "provider": "lab", "model": "gpt-4.1"},
                ],
            }
        )

    @asynccontextmanager
    async def embedder(self, route: Route, **options: Any) -> AsyncGenerator[Embedder]:
        registry = self.place.registry(
            metered_embedding=Metering(self.meter, lambda: 0.0).embedding, **options
        )
        try:
            found = registry.embedder(MODELS[route])
            assert found is not None
            yield found
        finally:
            await registry.aclose()

    async def scripted(self, route: Route, body: Any, purpose: Any = "document") -> Any:
        """Embed two texts where the service answers with this body; return the vectors."""
        answer = answering(json.dumps(body).encode(), headers={"content-type": "application/json"})
        upstream = Upstream(ScriptedTransport(answer))
        async with self.embedder(route, new_upstream=lambda: upstream) as embedder:
            return await embedder.embed(["a", "b"], purpose)


@pytest.fixture
def setting(place: RegistryWorkspace, simulator: Simulator) -> Setting:
    made = Setting(place, simulator)
    made.configure(simulator.url, simulator.openai_url, simulator.key)
    return made


async def failure(embedder: Embedder) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await embedder.embed(TEXTS, "document")
    return caught.value


def near(vector: Sequence[float]) -> Any:
    return pytest.approx(vector, abs=1e-9)


def sent_texts(route: Route, body: Any) -> list[str]:
    if route == "google":
        return [asked["content"]["parts"][0]["text"] for asked in body["requests"]]
    return list(body["input"])


@every_route
async def test_each_text_gets_its_vector(route: Route, setting: Setting) -> None:
    async with setting.embedder(route) as embedder:
        vectors = await embedder.embed(TEXTS, "document")
    (request,) = setting.simulator.requests
    sent = sent_texts(route, request.body)
    assert [text.removeprefix("search_document: ") for text in sent] == TEXTS
    assert list(vectors) == [near(vector_of(text)) for text in sent]
    assert [math.hypot(*vector) for vector in vectors] == [pytest.approx(1)] * 3
    assert request.headers["accept"] == "application/json"


QUERIES: dict[Route, Callable[[Any], Any]] = {
    "google": lambda body: body["requests"][0]["taskType"],
    "ollama": lambda body: body["input"],
}
SAID: dict[Route, dict[str, Any]] = {
    "google": {"document": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"},
    "ollama": {"document": ["search_document: cat"], "query": ["search_query: cat"]},
}


@pytest.mark.parametrize("route", QUERIES)
async def test_queries_are_marked_where_the_model_has_a_way(route: Route, setting: Setting) -> None:
    async with setting.embedder(route) as embedder:
        await embedder.embed(["cat"], "document")
        await embedder.embed(["cat"], "query")
    documents, queries = (QUERIES[route](each.body) for each in setting.simulator.requests)
    assert {"document": documents, "query": queries} == SAID[route]


@pytest.mark.parametrize("route", ["openai", "compatible", "google"])
async def test_long_texts_are_cut_at_the_limit(route: Route, setting: Setting) -> None:
    async with setting.embedder(route) as embedder:
        limit = embedder.info.max_input_tokens
        await embedder.embed(["words and more " * 5_000, "short"], "document")
    long, short = sent_texts(route, setting.simulator.requests[0].body)
    assert limit - 1 <= estimate_text(long, "openai") <= limit
    assert short == "short"


@pytest.mark.parametrize("text", ["abc " * 99, "é" * 99, "漢字" * 99, "a漢é🎉" * 99, ""])
def test_the_longest_beginning_within_the_limit_is_kept(text: str) -> None:
    cut = cut_to_tokens(text, 40, "other")
    assert text.startswith(cut)
    assert estimate_text(cut, "other") <= 40
    assert cut == text or estimate_text(text[: len(cut) + 1], "other") > 40


async def test_a_text_that_is_still_too_long_is_cut_again(setting: Setting) -> None:
    too_long = Failure(status=400, message="Invalid 'input[0]': maximum input length is 8192.")
    setting.simulator.embedding_faults = [too_long]
    async with setting.embedder("compatible") as embedder:
        await embedder.embed(["words " * 1_000], "document")
    first, second = (sent_texts("openai", each.body)[0] for each in setting.simulator.requests)
    assert (estimate_text(first, "other"), estimate_text(second, "other")) == (512, 256)
    assert [outcome.ok for outcome in setting.meter.outcomes] == [False, True]


WRAPPED: dict[Route, Callable[[list[Any]], Any]] = {
    "openai": lambda vectors: {
        "data": [{"index": n, "embedding": each} for n, each in enumerate(vectors)]
    },
    "google": lambda vectors: {"embeddings": [{"values": each} for each in vectors]},
    "ollama": lambda vectors: {"embeddings": vectors},
}
FAULTY: dict[str, tuple[list[Any], str]] = {
    "too few": ([[1.0, 0.0]], "1 vectors came for 2 texts"),
    "too many": ([[1.0]] * 3, "3 vectors came for 2 texts"),
    "none": ([], "0 vectors came for 2 texts"),
    "different dimensions": ([[1.0], [1.0, 0.0]], "vectors of different dimensions came: [1, 2]"),
    "zero": ([[0.0, 0.0], [1.0, 0.0]], "a vector has no direction"),
    "empty": ([[], [1.0]], "a vector has no direction"),
    "NaN": ([[math.nan, 0.0], [1.0, 0.0]], "a vector has NaN or infinity"),
    "infinity": ([[math.inf, 0.0], [1.0, 0.0]], "a vector has NaN or infinity"),
    "text": ([["x", 0.0], [1.0, 0.0]], "a vector has an element that is not a number"),
    "null": ([None, [1.0]], "a vector has no direction"),
}


@pytest.mark.parametrize("route", WRAPPED)
@pytest.mark.parametrize("fault", FAULTY)
async def test_vectors_that_do_not_fit_are_an_error(
    fault: str, route: Route, setting: Setting
) -> None:
    vectors, words = FAULTY[fault]
    with pytest.raises(ProviderError, match=words.replace("[", r"\[")) as caught:
        await setting.scripted(route, WRAPPED[route](vectors))
    assert caught.value.info.code == "provider_protocol"
    assert [outcome.ok for outcome in setting.meter.outcomes] == [False]
    assert setting.meter.outcomes[0].usage.estimated


@pytest.mark.parametrize("route", WRAPPED)
async def test_vectors_are_scaled_to_length_1(route: Route, setting: Setting) -> None:
    found = await setting.scripted(route, WRAPPED[route]([[3, 4], [0, -2.5]]))
    assert found == ((0.6, 0.8), (0.0, -1.0))


async def test_the_order_of_openai_is_that_of_its_indexes(setting: Setting) -> None:
    first, second = {"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [0, 1]}
    assert await setting.scripted("openai", {"data": [second, first]}) == ((1, 0), (0, 1))
    unnumbered = [{"embedding": [1, 0]}, {"embedding": [0, 1]}]
    assert await setting.scripted("openai", {"data": unnumbered}) == ((1, 0), (0, 1))
    for wrong in ([first, first], [first, {**second, "index": 2}], [first, unnumbered[0]]):
        with pytest.raises(ProviderError, match="indexes of the vectors are not 0 to 1"):
            await setting.scripted("openai", {"data": wrong})


@every_route
async def test_another_dimension_than_before_is_an_error(route: Route, setting: Setting) -> None:
    async with setting.embedder(route) as embedder:
        await embedder.embed(TEXTS, "document")
        shape = WRAPPED.get(route, WRAPPED["openai"])
        body = json.dumps(shape([[1.0]] * 3))
        setting.simulator.embedding_faults = [Failure(status=200, body=body)]
        error = await failure(embedder)
        await embedder.embed(TEXTS, "document")
    assert error.info.code == "provider_protocol"
    assert "vectors of 1 dimensions came, where there were 64 before" in error.info.message


@pytest.mark.parametrize("route", KEYED)
async def test_a_wrong_key_is_named_without_showing_it(route: Route, setting: Setting) -> None:
    key = "sk-wrong-0123456789abcdef"
    setting.configure(setting.simulator.url, setting.simulator.openai_url, key)
    async with setting.embedder(route) as embedder:
        error = await failure(embedder)
    assert (error.info.code, error.info.retryable) == ("authentication", False)
    assert key not in str(error.info)
    assert [(outcome.cost_micro_usd, outcome.ok) for outcome in setting.meter.outcomes] == [
        (0, False)
    ]


@every_route
async def test_keys_in_a_service_s_sentence_are_redacted(route: Route, setting: Setting) -> None:
    key = setting.simulator.key
    setting.simulator.embedding_faults = [Failure(status=400, message=f"bad header {key} sent")]
    async with setting.embedder(route) as embedder:
        error = await failure(embedder)
    assert "bad header" in error.info.message
    assert key not in str(error.info)


@every_route
async def test_faults_say_whether_and_when_to_retry(route: Route, setting: Setting) -> None:
    limited = Failure(status=429, headers={"retry-after": "2"})
    setting.simulator.embedding_faults = [limited, Failure(status=500), "cut", None]
    async with setting.embedder(route) as embedder:
        found = [await failure(embedder) for _ in range(3)]
        assert len(await embedder.embed(TEXTS, "document")) == 3
    assert [(each.info.code, each.info.retryable, each.retry_after_ms) for each in found] == [
        ("rate_limited", True, 2_000),
        ("provider_error", True, None),
        ("stream_truncated", True, None),
    ]
    assert [outcome.ok for outcome in setting.meter.outcomes] == [False, False, False, True]


PRICES: dict[Route, int] = {"openai": 20_000, "compatible": 0, "google": 150_000, "ollama": 0}


@every_route
async def test_calls_are_booked_as_embeddings(route: Route, setting: Setting) -> None:
    async with setting.embedder(route) as embedder:
        await embedder.embed(["abcd" * 800, "efgh" * 200], "query")
    (planned,), (outcome,) = setting.meter.planned, setting.meter.outcomes
    assert planned.account == UsageAccount("embedding")
    assert (planned.model, planned.max_output) == (MODELS[route], 0)
    assert planned.prompt_tokens >= outcome.usage.input_tokens
    assert planned.micro_usd == -(-planned.prompt_tokens * PRICES[route] // 1_000_000)
    assert (outcome.ok, outcome.usage.estimated) == (True, route == "google")
    cost = outcome.usage.input_tokens * PRICES[route] / 1_000_000
    assert outcome.cost_micro_usd == math.floor(cost + 0.5)


@every_route
async def test_a_reached_budget_sends_nothing(route: Route, setting: Setting) -> None:
    setting.meter.refusal = PolicyRefusal("Spent.", code="budget_exhausted")
    async with setting.embedder(route) as embedder:
        with pytest.raises(PolicyRefusal, match="Spent"):
            await embedder.embed(TEXTS, "document")
    assert setting.simulator.requests == []
    assert setting.meter.outcomes == []


async def test_texts_that_cannot_be_embedded_are_refused_before_sending(setting: Setting) -> None:
    async with setting.embedder("openai") as embedder:
        assert await embedder.embed([], "document") == ()
        with pytest.raises(InvalidRequest, match="Text 1 is empty"):
            await embedder.embed(["a", " \n"], "document")
        with pytest.raises(InvalidRequest, match="at most 32 texts in one call, not 33"):
            await embedder.embed(["a"] * 33, "document")
    assert setting.simulator.requests == []


async def test_a_change_of_the_mode_reaches_an_embedder_in_use(setting: Setting) -> None:
    sent = Sent()
    answer = answering(b"{}", sent=sent)
    setting.configure("https://far.example", "https://far.example/v1", setting.simulator.key)
    transport = Upstream(ScriptedTransport(answer))
    async with setting.embedder("openai", new_upstream=lambda: transport) as embedder:
        setting.place.preferences = ModelPreferences(mode="local")
        with pytest.raises(PolicyRefusal, match="Nothing was sent"):
            await embedder.embed(TEXTS, "document")
    assert sent.requests == []
