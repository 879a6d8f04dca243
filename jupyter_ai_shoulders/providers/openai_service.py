"""What both OpenAI formats share: where a service's addresses are, and its list of models.

Used by the providers of ``openai_chat`` and ``openai_responses``.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from jupyter_ai_shoulders.providers.base import ListedModel
from jupyter_ai_shoulders.providers.exchange import ReadRefusal, fetch_json
from jupyter_ai_shoulders.providers.target import Target
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)

DEFAULT_AUTH = "bearer"


def endpoint(url: str, name: str) -> str:
    """Return the address of ``name``; ``url`` is the root (``…/v1``), a host or an endpoint."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/responses")
    return urlunsplit(parts._replace(path=f"{path or '/v1'}/{name}"))


async def list_models(target: Target, read_refusal: ReadRefusal) -> list[ListedModel]:
    """Return the models the service has; few say more than their names."""
    call = target.call(endpoint(target.provider.url, "models"), DEFAULT_AUTH)
    answer = await fetch_json(target, call, read_refusal)
    return [_listed(as_object(item)) for item in as_list(answer.get("data"))]


def _listed(item: VendorObject) -> ListedModel:
    """Return an entry; vLLM, OpenRouter and llama.cpp each name the window differently."""
    window = (
        as_count(item.get("max_model_len"))
        or as_count(item.get("context_length"))
        or as_count(as_object(item.get("meta")).get("n_ctx_train"))
    )
    return ListedModel(name=as_text(item.get("id")), context_window=window)
