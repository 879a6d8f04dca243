"""Embeddings of OpenAI and compatible servers; created by ``adapter_factory``.

``POST …/embeddings``: request by ``openai.types.EmbeddingCreateParams`` of the official SDK, answer
by ``openai.types.CreateEmbeddingResponse``. Numbers are requested as JSON: some compatible servers
ignore the format ``base64`` and others refuse it.
"""

from __future__ import annotations

from jupyter_ai_shoulders.providers.formats.embedding import (
    DecodedEmbeddings,
    EmbeddingFormat,
    EmbeddingRequest,
    InvalidEmbeddings,
)
from jupyter_ai_shoulders.providers.formats.openai_service import DEFAULT_AUTH, api_url
from jupyter_ai_shoulders.providers.formats.token_counting import ACCEPT_JSON
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_json
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.openai_chat.errors import read_refusal
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_count, as_list, as_object


def _encode(request: EmbeddingRequest, endpoint: Endpoint) -> HttpRequest:
    body = {
        "model": endpoint.model.model,
        "input": list(request.texts),
        "encoding_format": "float",
    }
    url = api_url(endpoint.provider.url, "embeddings")
    return endpoint.call(url, DEFAULT_AUTH, body=encode_json(body), headers=ACCEPT_JSON)


def _decode(answer: VendorObject) -> DecodedEmbeddings:
    """Return the vectors in the order of ``index``, or as they came where there are none."""
    items = list(map(as_object, as_list(answer.get("data"))))
    numbers = [as_count(item.get("index")) for item in items]
    vectors = [item.get("embedding") for item in items]
    if any(number is not None for number in numbers):
        places = {number: place for place, number in enumerate(numbers)}
        if places.keys() != set(range(len(items))):
            raise InvalidEmbeddings(f"the indexes of the vectors are not 0 to {len(items) - 1}")
        vectors = [vectors[places[number]] for number in range(len(items))]
    return DecodedEmbeddings(vectors, as_count(as_object(answer.get("usage")).get("prompt_tokens")))


OPENAI_EMBEDDINGS = EmbeddingFormat(_encode, _decode, read_refusal)
