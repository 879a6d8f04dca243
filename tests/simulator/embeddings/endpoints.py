"""``/v1/embeddings``, ``:batchEmbedContents`` and ``/api/embed``: the checks, then the vectors.

Called by ``server``. Without a scripted fault every correct request is answered.
"""

from __future__ import annotations

import base64
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.simulator.chunking import estimate
from tests.simulator.embeddings.schema import (
    EmbedContentRequest,
    GoogleBody,
    OllamaBody,
    OpenAIBody,
)
from tests.simulator.embeddings.vectors import vectors_of
from tests.simulator.google import errors as google_errors
from tests.simulator.google.endpoint import check_google_key
from tests.simulator.google.validation_errors import invalid
from tests.simulator.google.validation_errors import parse as parse_google
from tests.simulator.http import HttpRequest
from tests.simulator.ollama.endpoint import failure_body as ollama_failure
from tests.simulator.ollama.endpoint import parse as parse_ollama
from tests.simulator.ollama.endpoint import pulled
from tests.simulator.openai_chat import errors as openai_errors
from tests.simulator.openai_chat.endpoint import check_key
from tests.simulator.openai_validation_errors import parse as parse_openai
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure

OPENAI_MODELS: Mapping[str, int] = {
    "text-embedding-3-small": 8_192,
    "text-embedding-3-large": 8_192,
    "text-embedding-ada-002": 8_192,
    "sim-embed": 512,
}
"""Tokens per text, by model."""
KEYLESS = "sim-embed"
"""A model of a local server that asks for no key."""
GOOGLE_MODELS: Mapping[str, int] = {"gemini-embedding-001": 2_048}
MOST_OPENAI_INPUTS = 2_048
MOST_OPENAI_TOKENS = 300_000
MOST_GOOGLE_REQUESTS = 100
GOOGLE_PATH = re.compile(r"/(v1|v1beta)/models/([^/:]+):batchEmbedContents")


class EmbeddingEndpoint(Protocol):
    """One service's route."""

    def serves(self, request: HttpRequest) -> bool:
        """Return whether a request is for this route."""
        ...

    def embed(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the body of the answer. Raises ``RequestRefused``."""
        ...

    def refusal(self, refused: RequestRefused, request_id: str, /) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        ...

    def failure(self, failure: Failure, request_id: str, /) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        ...

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id."""
        ...


@dataclass(frozen=True, slots=True)
class OpenAIEmbeddings:
    """``POST /v1/embeddings``."""

    keys: frozenset[str]

    def serves(self, request: HttpRequest) -> bool:
        """Return whether a request is for this route."""
        return request.path == "/v1/embeddings"

    def embed(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the vectors with their places. Raises ``RequestRefused``."""
        check_method(request)
        check_key(request.headers, self.keys, optional=True)
        body = parse_openai(OpenAIBody, request.body)
        check_key(request.headers, self.keys, optional=body.model == KEYLESS)
        if body.model not in OPENAI_MODELS:
            raise RequestRefused(
                f"The model `{body.model}` does not exist or you do not have access to it.",
                status=404,
                code="model_not_found",
            )
        check_openai_texts(body.texts, OPENAI_MODELS[body.model])
        vectors = vectors_of(body.texts, body.dimensions)
        tokens = tokens_of(body.texts)
        return {
            "object": "list",
            "data": [
                {"object": "embedding", "index": index, "embedding": encoded(vector, body)}
                for index, vector in enumerate(vectors)
            ],
            "model": body.model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def refusal(self, refused: RequestRefused, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        return openai_errors.refusal_body(refused)

    def failure(self, failure: Failure, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        return openai_errors.failure_body(failure)

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id."""
        return "x-request-id"


@dataclass(frozen=True, slots=True)
class GoogleEmbeddings:
    """``POST models/{model}:batchEmbedContents``."""

    keys: frozenset[str]

    def serves(self, request: HttpRequest) -> bool:
        """Return whether a request is for this route."""
        return GOOGLE_PATH.fullmatch(request.path) is not None

    def embed(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the vectors; there is no usage. Raises ``RequestRefused``."""
        check_google_key(request, self.keys)
        found = GOOGLE_PATH.fullmatch(request.path)
        version, name = (found.group(1), found.group(2)) if found else ("", "")
        if request.method != "POST" or name not in GOOGLE_MODELS:
            raise RequestRefused(
                f"models/{name} is not found for API version {version}, or is not supported for "
                "batchEmbedContents.",
                status=404,
            )
        body = parse_google(GoogleBody, request.body)
        if not 0 < len(body.requests) <= MOST_GOOGLE_REQUESTS:
            raise invalid(
                "* BatchEmbedContentsRequest.requests: at least one and at most "
                f"{MOST_GOOGLE_REQUESTS} requests can be in one batch"
            )
        for index, asked in enumerate(body.requests):
            check_google_request(asked, index, name)
        return {
            "embeddings": [
                {"values": vectors_of([asked.text], asked.output_dimensionality)[0]}
                for asked in body.requests
            ]
        }

    def refusal(self, refused: RequestRefused, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        return google_errors.refusal_body(refused)

    def failure(self, failure: Failure, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        return google_errors.failure_body(failure)

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id; the real one has none."""
        return "x-request-id"


@dataclass(frozen=True, slots=True)
class OllamaEmbeddings:
    """``POST /api/embed``. Empty texts are refused, for which the real one returns no vector."""

    def serves(self, request: HttpRequest) -> bool:
        """Return whether a request is for this route."""
        return request.path == "/api/embed"

    def embed(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the vectors. Raises ``RequestRefused``."""
        check_method(request)
        body = parse_ollama(OllamaBody, request.body)
        model = pulled(body.model)
        if "embedding" not in model.capabilities:
            raise RequestRefused("this model does not support embeddings", status=501)
        if not body.texts or not all(body.texts):
            raise RequestRefused("invalid input: empty text")
        limit = model.context_length
        if not body.truncate and any(estimate(len(text)) > limit for text in body.texts):
            raise RequestRefused("the input length exceeds the context length")
        kept = [text[: limit * 4] for text in body.texts]
        return {
            "model": body.model,
            "embeddings": vectors_of(kept, body.dimensions),
            "total_duration": 1,
            "load_duration": 1,
            "prompt_eval_count": tokens_of(kept),
        }

    def refusal(self, refused: RequestRefused, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        return {"error": refused.message}

    def failure(self, failure: Failure, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        return ollama_failure(failure)

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id; the real one has none."""
        return "x-request-id"


def check_method(request: HttpRequest) -> None:
    """Texts are posted."""
    if request.method != "POST":
        raise RequestRefused(f"Method {request.method} not allowed", status=405)


def check_openai_texts(texts: Sequence[str], limit: int) -> None:
    """There are texts, none is empty or too long, and together they are not too long."""
    if not texts:
        raise RequestRefused("Invalid 'input': input cannot be an empty array.", param="input")
    if len(texts) > MOST_OPENAI_INPUTS:
        raise RequestRefused(
            f"Invalid 'input': array too long. Expected an array with maximum length "
            f"{MOST_OPENAI_INPUTS}, but got an array with length {len(texts)} instead.",
            param="input",
            code="array_above_max_length",
        )
    for index, text in enumerate(texts):
        if not text:
            raise RequestRefused(
                f"Invalid 'input[{index}]': input cannot be an empty string.", param="input"
            )
        if estimate(len(text)) > limit:
            raise RequestRefused(
                f"Invalid 'input[{index}]': maximum input length is {limit} tokens.", param="input"
            )
    if tokens_of(texts) > MOST_OPENAI_TOKENS:
        raise RequestRefused(
            f"Requested {tokens_of(texts)} tokens, max {MOST_OPENAI_TOKENS} tokens per request",
            code="max_tokens_per_request",
        )


def check_google_request(asked: EmbedContentRequest, index: int, name: str) -> None:
    """A request names the model of the path and has a text that is neither empty nor too long."""
    place = f"* BatchEmbedContentsRequest.requests[{index}]"
    if asked.model != f"models/{name}":
        raise invalid(f"{place}.model: must match the model of the batch")
    if not asked.text:
        raise invalid(f"{place}.content: content is empty")
    if asked.title is not None and asked.task_type != "RETRIEVAL_DOCUMENT":
        raise invalid(f"{place}.title: applies to RETRIEVAL_DOCUMENT only")
    tokens, limit = estimate(len(asked.text)), GOOGLE_MODELS[name]
    if tokens > limit:
        raise invalid(
            f"The input token count ({tokens}) exceeds the maximum number of tokens allowed "
            f"({limit})."
        )


def tokens_of(texts: Sequence[str]) -> int:
    """Return the tokens of texts."""
    return sum(estimate(len(text)) for text in texts)


def encoded(vector: Sequence[float], body: OpenAIBody) -> Sequence[float] | str:
    """Return a vector as asked for; ``base64`` is of little-endian float32."""
    if body.encoding_format == "float":
        return vector
    return base64.b64encode(array("f", vector).tobytes()).decode()
