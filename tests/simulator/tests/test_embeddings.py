"""The embedding routes: the official SDKs as clients, and what is refused."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from google import genai
from google.genai import types
from ollama import AsyncClient
from openai import AsyncOpenAI

from tests.simulator import Failure, Simulator
from tests.simulator.embeddings.vectors import vector_of

TEXTS = ["the cat sat", "value_counts of a column"]
OPENAI = "/v1/embeddings"
GOOGLE = "/v1beta/models/gemini-embedding-001:batchEmbedContents"
OLLAMA = "/api/embed"
SMALL = "text-embedding-3-small"
NOMIC = "nomic-embed-text"


def near(vector: Any) -> Any:
    return pytest.approx(vector, abs=1e-6)


async def test_the_sdk_of_openai_reads_the_vectors(simulator: Simulator) -> None:
    async with AsyncOpenAI(base_url=simulator.openai_url, api_key=simulator.key) as client:
        packed = await client.embeddings.create(model=SMALL, input=TEXTS)
        plain = await client.embeddings.create(
            model=SMALL, input=TEXTS[0], encoding_format="float", dimensions=8
        )
    assert [item.embedding for item in packed.data] == [near(vector_of(text)) for text in TEXTS]
    assert plain.data[0].embedding == near(vector_of(TEXTS[0], 8))
    assert packed.usage.prompt_tokens > 0


# the SDK makes a subclass of aiohttp's session
@pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")
async def test_the_sdk_of_google_reads_the_vectors(simulator: Simulator) -> None:
    options = types.HttpOptions(base_url=simulator.url)
    client = genai.Client(api_key=simulator.key, http_options=options)
    found = await client.aio.models.embed_content(
        model="gemini-embedding-001",
        contents=list[Any](TEXTS),
        config=types.EmbedContentConfig(task_type="RETRIEVAL_DOCUMENT"),
    )
    assert [item.values for item in found.embeddings or []] == [
        near(vector_of(text)) for text in TEXTS
    ]
    await client.aio.aclose()
    client.close()


async def test_the_sdk_of_ollama_reads_the_vectors(simulator: Simulator) -> None:
    client = AsyncClient(simulator.url)
    found = await client.embed(model=NOMIC, input=TEXTS)
    await client.close()
    assert found.embeddings == [near(vector_of(text)) for text in TEXTS]
    assert (found.prompt_eval_count or 0) > 0


def request(text: str = "Hi", **more: Any) -> dict[str, Any]:
    content = {"parts": [{"text": text}]}
    return {"requests": [{"model": "models/gemini-embedding-001", "content": content, **more}]}


REFUSED: dict[str, tuple[str, Any, int, str]] = {
    "OpenAI: unknown field": (OPENAI, {"model": SMALL, "input": "Hi", "x": 1}, 400, "'x'"),
    "OpenAI: no input": (OPENAI, {"model": SMALL}, 400, "'input'"),
    "OpenAI: unknown model": (OPENAI, {"model": "gpt-4.1", "input": "Hi"}, 404, "does not exist"),
    "OpenAI: empty text": (OPENAI, {"model": SMALL, "input": ["a", ""]}, 400, "input[1]"),
    "OpenAI: no text": (OPENAI, {"model": SMALL, "input": []}, 400, "empty array"),
    "OpenAI: too many": (OPENAI, {"model": SMALL, "input": ["a"] * 2_049}, 400, "array too long"),
    "OpenAI: too long": (OPENAI, {"model": SMALL, "input": "a " * 20_000}, 400, "maximum input"),
    "OpenAI: in all": (OPENAI, {"model": SMALL, "input": ["a" * 30_000] * 50}, 400, "per request"),
    "Google: unknown field": (GOOGLE, request(x=1), 400, "Cannot find field"),
    "Google: unknown task": (GOOGLE, request(taskType="SEARCH"), 400, "task_type"),
    "Google: empty text": (GOOGLE, request(""), 400, "content is empty"),
    "Google: another model": (GOOGLE, request(model="models/x"), 400, "must match"),
    "Google: title of a query": (GOOGLE, request(title="T"), 400, "RETRIEVAL_DOCUMENT only"),
    "Google: none": (GOOGLE, {"requests": []}, 400, "at least one"),
    "Google: too many": (GOOGLE, {"requests": request()["requests"] * 101}, 400, "at most 100"),
    "Google: too long": (GOOGLE, request("a " * 5_000), 400, "exceeds the maximum"),
    "Google: chat model": (
        GOOGLE.replace("embedding-001", "3.8-flash"),
        request(),
        404,
        "not found",
    ),
    "Ollama: unknown field": (
        OLLAMA,
        {"model": NOMIC, "input": "Hi", "x": 1},
        400,
        "unknown field",
    ),
    "Ollama: no model": (OLLAMA, {"input": "Hi"}, 400, "model is required"),
    "Ollama: not pulled": (OLLAMA, {"model": "other", "input": "Hi"}, 404, "not found"),
    "Ollama: chat model": (OLLAMA, {"model": "sim-llama", "input": "Hi"}, 501, "not support"),
    "Ollama: empty text": (OLLAMA, {"model": NOMIC, "input": ["a", ""]}, 400, "empty"),
    "Ollama: too long": (
        OLLAMA,
        {"model": NOMIC, "input": "a " * 9_000, "truncate": False},
        400,
        "context length",
    ),
}


@pytest.mark.malformed_requests
@pytest.mark.parametrize("name", REFUSED)
async def test_wrong_requests_are_refused(
    name: str, simulator: Simulator, http: httpx.AsyncClient
) -> None:
    path, body, status, words = REFUSED[name]
    headers = {"authorization": f"Bearer {simulator.key}", "x-goog-api-key": simulator.key}
    found = await http.post(path, json=body, headers=headers)
    assert (found.status_code, words in found.text) == (status, True), found.text


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [(OPENAI, {"model": SMALL, "input": "Hi"}, 401), (GOOGLE, request(), 400)],
)
async def test_a_wrong_key_and_a_wrong_method_are_refused(
    path: str, body: Any, status: int, http: httpx.AsyncClient
) -> None:
    headers = {"authorization": "Bearer wrong-key", "x-goog-api-key": "wrong-key"}
    assert (await http.post(path, json=body, headers=headers)).status_code == status
    assert (await http.get(path, headers=headers)).status_code >= 400


async def test_faults_do_not_use_the_script(simulator: Simulator, http: httpx.AsyncClient) -> None:
    simulator.script("Hello")
    simulator.embedding_faults = [Failure(status=429, headers={"retry-after": "2"}), None]
    answers = [await http.post(OLLAMA, json={"model": NOMIC, "input": "Hi"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [429, 200]
    assert answers[0].headers["retry-after"] == "2"
    assert len(simulator.playing.replies) == 1
