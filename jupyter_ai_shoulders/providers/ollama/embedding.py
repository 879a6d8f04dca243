"""Embeddings of Ollama models; created by ``adapter_factory``.

``POST /api/embed`` as in https://docs.ollama.com/api/embed and the official SDK
(``ollama.EmbedResponse``).
``truncate`` lets the server cut a text that is longer than the model's window by its own tokens.
"""

from __future__ import annotations

import dataclasses

from jupyter_ai_shoulders.providers.formats.embedding import (
    DecodedEmbeddings,
    EmbeddingFormat,
    EmbeddingRequest,
)
from jupyter_ai_shoulders.providers.formats.token_counting import ACCEPT_JSON
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_json
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.ollama.errors import HINTS, read_refusal
from jupyter_ai_shoulders.providers.ollama.provider import DEFAULT_AUTH, api_url
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_count, as_list


def with_ollama_hints(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with Ollama's hints in its errors."""
    return dataclasses.replace(endpoint, service=dataclasses.replace(endpoint.service, hints=HINTS))


def _encode(request: EmbeddingRequest, endpoint: Endpoint) -> HttpRequest:
    body = {"model": endpoint.model.model, "input": list(request.texts), "truncate": True}
    url = api_url(endpoint.provider.url, "embed")
    return endpoint.call(url, DEFAULT_AUTH, body=encode_json(body), headers=ACCEPT_JSON)


def _decode(answer: VendorObject) -> DecodedEmbeddings:
    vectors = as_list(answer.get("embeddings"))
    return DecodedEmbeddings(vectors, as_count(answer.get("prompt_eval_count")))


OLLAMA_EMBEDDINGS = EmbeddingFormat(_encode, _decode, read_refusal)
