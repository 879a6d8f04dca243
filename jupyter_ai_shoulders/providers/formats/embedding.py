"""Requests and replies of embedding services, and the checks that all of them share.

The formats are in ``openai_chat``, ``google`` and ``ollama``; used by ``service_embedder``.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ProviderSpec, TokenFamily
from jupyter_ai_shoulders.core.embedding import EmbeddingPurpose
from jupyter_ai_shoulders.core.token_estimates import estimate_text
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import ReadRefusal, fetch_json
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_list
from jupyter_ai_shoulders.wire.usage import TokenUsage

MAX_BATCH = 32
"""Texts per call, for all services. OpenAI accepts 2,048 texts and 300,000 tokens and Google 100
texts, but an answer with 32 vectors of 3,072 numbers already has 2 MB of JSON, which takes 20 ms to
parse; and no batch of this size exceeds OpenAI's limit of tokens.
"""
DEFAULT_INPUT_TOKENS = 512
"""Tokens per text of a model without a known window: the limit of most sentence encoders."""

_MAX_ASCII_PER_TOKEN = 4
"""More characters than ``estimate_text`` counts as one token of any text."""

Vector = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """One call: texts that are not empty, at most ``MAX_BATCH``."""

    texts: tuple[str, ...]
    purpose: EmbeddingPurpose
    account: UsageAccount


@dataclass(frozen=True, slots=True)
class EmbeddingReply:
    """A vector of length 1 for each text, and the tokens that were billed."""

    vectors: tuple[Vector, ...]
    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class DecodedEmbeddings:
    """The unchecked vectors of an answer in the order of the texts, and the reported tokens."""

    vectors: Sequence[Any]
    tokens: int | None


class InvalidEmbeddings(Exception):
    """The vectors of an answer do not fit the texts."""


class EmbeddingService(Protocol):
    """Sends embedding calls to one model of one service."""

    async def embed(self, request: EmbeddingRequest) -> EmbeddingReply:
        """Return the vectors of the texts. Raises ``ProviderError``, ``PolicyRefusal``."""
        ...


@dataclass(frozen=True, slots=True)
class EmbeddingFormat:
    """The parts of an adapter for embeddings. ``decode`` raises ``InvalidEmbeddings``."""

    encode: Callable[[EmbeddingRequest, Endpoint], HttpRequest]
    decode: Callable[[VendorObject], DecodedEmbeddings]
    read_refusal: ReadRefusal


class HttpEmbeddingService:
    """One embedding model behind an endpoint."""

    def __init__(self, endpoint: Endpoint, dialect: EmbeddingFormat) -> None:
        self._endpoint = endpoint
        self._dialect = dialect

    async def embed(self, request: EmbeddingRequest) -> EmbeddingReply:
        """Return the vectors of the texts; usage is estimated where the service reports none."""
        endpoint, dialect = self._endpoint, self._dialect
        call = dialect.encode(request, endpoint)
        answer = await fetch_json(endpoint, call, dialect.read_refusal)
        try:
            found = dialect.decode(answer)
            vectors = unit_vectors(found.vectors, len(request.texts))
        except InvalidEmbeddings as error:
            raise endpoint.service.fail("provider_protocol", str(error)) from error
        return EmbeddingReply(vectors, self._usage(request, found.tokens))

    def _usage(self, request: EmbeddingRequest, tokens: int | None) -> TokenUsage:
        if tokens is not None:
            return TokenUsage(input_tokens=tokens)
        estimate = estimate_texts(request.texts, self._endpoint.model.family)
        return TokenUsage(input_tokens=estimate, estimated=True)


def unit_vectors(found: Sequence[Any], expected: int) -> tuple[Vector, ...]:
    """Return the vectors scaled to length 1. Raises ``InvalidEmbeddings``."""
    if len(found) != expected:
        raise InvalidEmbeddings(f"{len(found)} vectors came for {expected} texts")
    vectors = tuple(map(_unit_vector, found))
    dimensions = sorted({len(vector) for vector in vectors})
    if len(dimensions) > 1:
        raise InvalidEmbeddings(f"vectors of different dimensions came: {dimensions}")
    return vectors


def _unit_vector(found: Any) -> Vector:
    try:
        values = array("d", as_list(found))
    except (TypeError, OverflowError) as error:
        raise InvalidEmbeddings("a vector has an element that is not a number") from error
    length = math.hypot(*values)
    if not math.isfinite(length) or not length:
        what = "has no direction (it is empty or zero)" if not length else "has NaN or infinity"
        raise InvalidEmbeddings(f"a vector {what}")
    return tuple([value / length for value in values])


def estimate_texts(texts: Iterable[str], family: TokenFamily) -> int:
    """Return the estimated number of tokens of texts."""
    return sum(estimate_text(text, family) for text in texts)


def cut_to_tokens(text: str, limit: int, family: TokenFamily) -> str:
    """Return the longest beginning of a text that is estimated at ``limit`` tokens or fewer."""
    text = text[: limit * _MAX_ASCII_PER_TOKEN]
    if estimate_text(text, family) <= limit:
        return text

    def tokens(length: int) -> int:
        return estimate_text(text[:length], family)

    return text[: bisect_right(range(len(text) + 1), limit, key=tokens) - 1]


@dataclass(frozen=True, slots=True)
class _Prompts:
    """What a family of models expects before each text."""

    name: str
    document: str
    query: str


_PROMPTS = (
    _Prompts("nomic-embed-text", "search_document: ", "search_query: "),
    _Prompts("embeddinggemma", "title: none | text: ", "task: search result | query: "),
    _Prompts("mxbai-embed-large", "", "Represent this sentence for searching relevant passages: "),
)
"""From the model cards: huggingface.co/nomic-ai/nomic-embed-text-v1.5 ("the text prompt must
include a task instruction prefix"), huggingface.co/google/embeddinggemma-300m,
huggingface.co/mixedbread-ai/mxbai-embed-large-v1. Servers of these models do not add them.
"""


def prompt_of(model: str, purpose: EmbeddingPurpose) -> str:
    """Return what the model expects before a text; empty for most models."""
    name = model.lower()
    found = next((prompts for prompts in _PROMPTS if prompts.name in name), None)
    if found is None:
        return ""
    return found.document if purpose == "document" else found.query


def supports_embedding(provider: ProviderSpec) -> bool:
    """Return whether the provider's format has embeddings; Anthropic's has none."""
    return provider.kind not in {"anthropic", "demo"}


def input_tokens(model: ModelSpec) -> int:
    """Return the maximum number of tokens of a text."""
    return model.context_window or DEFAULT_INPUT_TOKENS
