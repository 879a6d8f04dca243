"""Lists a compatible server's models with their capabilities; used by ``provider``.

In addition to ``GET /models``: LM Studio's own list (REST API v0) has model types and windows,
llama.cpp's ``/props`` has the window it was started with.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from jupyter_ai_shoulders.core.embedding.model_names import EMBEDDING
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import ListedModel
from jupyter_ai_shoulders.providers.formats.openai_service import DEFAULT_AUTH, list_models
from jupyter_ai_shoulders.providers.formats.server_profiles import Profile
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import fetch_json
from jupyter_ai_shoulders.providers.openai_chat.errors import read_refusal
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)


async def models_of(endpoint: Endpoint, profile: Profile) -> list[ListedModel]:
    """Return the server's models. Raises ``ProviderError``."""
    match profile.listing:
        case "lmstudio":
            return await _of_lm_studio(endpoint)
        case "llamacpp":
            return await _of_llama_cpp(endpoint)
        case "models":
            return await list_models(endpoint, read_refusal)


async def _of_lm_studio(endpoint: Endpoint) -> list[ListedModel]:
    try:
        answer = await _look_up(endpoint, "api/v0/models")
    except ProviderError as error:
        if error.status is None:  # unreachable; with a status, it is a version without that list
            raise
        return await list_models(endpoint, read_refusal)
    return [_listed(as_object(item)) for item in as_list(answer.get("data"))]


def _listed(item: VendorObject) -> ListedModel:
    """Return an entry; every chat model is given tools, by its own format or LM Studio's."""
    kind = as_text(item.get("type"))
    known = {
        "llm": {"completion", "tools"},
        "vlm": {"completion", "tools", "vision"},
        "embeddings": {EMBEDDING},
    }
    window = as_count(item.get("loaded_context_length")) or as_count(item.get("max_context_length"))
    abilities = frozenset(known.get(kind, {kind or "unknown"}))
    return ListedModel(as_text(item.get("id")), window, None, abilities)


async def _of_llama_cpp(endpoint: Endpoint) -> list[ListedModel]:
    found = await list_models(endpoint, read_refusal)
    try:
        props = await _look_up(replace(endpoint, report=_ignore), "props")
    except ProviderError:  # behind a proxy that passes on only the API
        return found
    window = as_count(as_object(props.get("default_generation_settings")).get("n_ctx"))
    return [replace(model, context_window=window or model.context_window) for model in found]


async def _look_up(endpoint: Endpoint, path: str) -> VendorObject:
    """Fetch a path outside the API."""
    parts = urlsplit(endpoint.provider.url)
    url = urlunsplit(parts._replace(path=f"/{path}", query=""))
    return await fetch_json(endpoint, endpoint.call(url, DEFAULT_AUTH), read_refusal)


def _ignore(_: ProviderError | None) -> None:
    """Discard the outcome of the call."""
