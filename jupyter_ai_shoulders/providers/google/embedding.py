"""Embeddings of Gemini models; created by ``adapter_factory``.

``models/{model}:batchEmbedContents`` as in https://ai.google.dev/api/embeddings and the official
SDK (``google.genai.types.EmbedContentConfig``, ``EmbedContentResponse``). The vectors come in the
order of the requests. Only newer models report usage.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.core.embedding import EmbeddingPurpose
from jupyter_ai_shoulders.providers.formats.embedding import (
    DecodedEmbeddings,
    EmbeddingFormat,
    EmbeddingRequest,
)
from jupyter_ai_shoulders.providers.formats.token_counting import ACCEPT_JSON
from jupyter_ai_shoulders.providers.google.errors import read_refusal
from jupyter_ai_shoulders.providers.google.provider import DEFAULT_AUTH, api_url, resource
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_json
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_count, as_list, as_object

_TASKS: Mapping[EmbeddingPurpose, str] = {
    "document": "RETRIEVAL_DOCUMENT",
    "query": "RETRIEVAL_QUERY",
}


def _encode(request: EmbeddingRequest, endpoint: Endpoint) -> HttpRequest:
    path = resource(endpoint.model.model)
    common = {"model": path, "taskType": _TASKS[request.purpose]}
    requests = [{**common, "content": {"parts": [{"text": text}]}} for text in request.texts]
    return endpoint.call(
        api_url(endpoint.provider.url, f"{path}:batchEmbedContents"),
        DEFAULT_AUTH,
        body=encode_json({"requests": requests}),
        headers=ACCEPT_JSON,
    )


def _decode(answer: VendorObject) -> DecodedEmbeddings:
    vectors = [as_object(item).get("values") for item in as_list(answer.get("embeddings"))]
    usage = as_object(answer.get("usageMetadata"))
    return DecodedEmbeddings(vectors, as_count(usage.get("promptTokenCount")))


GOOGLE_EMBEDDINGS = EmbeddingFormat(_encode, _decode, read_refusal)
