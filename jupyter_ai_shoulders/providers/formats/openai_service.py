"""The addresses and the model list of a service with an OpenAI format.

Used by the providers of ``openai_chat`` and ``openai_responses``.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

from jupyter_ai_shoulders.providers.base import ListedModel
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import ReadRefusal, fetch_json
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)

DEFAULT_AUTH = "bearer"


def api_url(url: str, name: str) -> str:
    """Return the address of ``name``; ``url`` is the root (``…/v1``), a host or an endpoint."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/responses")
    return urlunsplit(parts._replace(path=f"{path or '/v1'}/{name}"))


async def list_models(endpoint: Endpoint, read_refusal: ReadRefusal) -> list[ListedModel]:
    """Return the service's models; few services list more than names."""
    call = endpoint.call(api_url(endpoint.provider.url, "models"), DEFAULT_AUTH)
    answer = await fetch_json(endpoint, call, read_refusal)
    return [_listed(as_object(item)) for item in as_list(answer.get("data"))]


def _listed(item: VendorObject) -> ListedModel:
    """Return a listed model; vLLM, OpenRouter and Mistral name their fields differently.

    llama.cpp's ``n_ctx_train`` is the model's maximum, not the window it was started with.
    """
    window = (
        as_count(item.get("max_model_len"))
        or as_count(item.get("context_length"))
        or as_count(item.get("max_context_length"))
        or as_count(as_object(item.get("meta")).get("n_ctx_train"))
    )
    top = as_object(item.get("top_provider"))
    return ListedModel(
        name=as_text(item.get("id")),
        context_window=window,
        max_output=as_count(top.get("max_completion_tokens")),
        capabilities=frozenset(_abilities(item)),
    )


def _abilities(item: VendorObject) -> Iterator[str]:
    """Yield capabilities under Ollama's names; nothing where the server lists none."""
    said = as_object(item.get("capabilities"))
    names = {
        "completion_chat": "completion",
        "completion_fim": "insert",
        "function_calling": "tools",
        "vision": "vision",
    }
    yield from (ours for name, ours in names.items() if said.get(name) is True)
    parameters = as_list(item.get("supported_parameters"))
    if parameters:
        yield "completion"
        yield from (["tools"] if "tools" in parameters else [])
        modalities = as_list(as_object(item.get("architecture")).get("input_modalities"))
        yield from (["vision"] if "image" in modalities else [])
