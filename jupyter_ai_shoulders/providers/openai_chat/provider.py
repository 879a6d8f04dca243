"""Servers that speak Chat Completions behind the Provider port; made by ``registry``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit, urlunsplit

from jupyter_ai_shoulders.providers.assemble import Assembler, taken_call_ids
from jupyter_ai_shoulders.providers.base import ListedModel, ModelRequest, ProviderEvent
from jupyter_ai_shoulders.providers.exchange import Format, fetch_json, stream_events
from jupyter_ai_shoulders.providers.openai_chat.decode import OpenAIChatDecoder
from jupyter_ai_shoulders.providers.openai_chat.encode import encode
from jupyter_ai_shoulders.providers.openai_chat.errors import read_refusal
from jupyter_ai_shoulders.providers.openai_chat.profiles import profile_of
from jupyter_ai_shoulders.providers.target import Target
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)

DEFAULT_AUTH = "bearer"


class OpenAIChatProvider:
    """One model of a compatible server."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._profile = profile_of(target.provider)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Send the request and yield its events, ending with one ``Stop``."""
        call = self._target.call(
            endpoint(self._target.provider.url, "chat/completions"),
            DEFAULT_AUTH,
            body=encode(request, self._target, self._profile),
        )
        assembler = Assembler(self._target.ids, taken_call_ids(request))
        decoder = OpenAIChatDecoder(assembler, self._target, self._profile)
        events = stream_events(self._target, request, call, Format(decoder, read_refusal))
        async with contextlib.aclosing(events):
            async for event in events:
                yield event

    async def list_models(self) -> list[ListedModel]:
        """Return the models the server has; few servers say more than their names."""
        call = self._target.call(endpoint(self._target.provider.url, "models"), DEFAULT_AUTH)
        answer = await fetch_json(self._target, call, read_refusal)
        return [_listed(as_object(item)) for item in as_list(answer.get("data"))]

    async def aclose(self) -> None:
        """Close the connections of this provider."""
        await self._target.upstream.aclose()


def endpoint(url: str, name: str) -> str:
    """Return the address of ``name``; ``url`` is the root (``…/v1``), a host or an endpoint."""
    parts = urlsplit(url)
    root = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    return urlunsplit(parts._replace(path=f"{root}/{name}"))


def _listed(item: VendorObject) -> ListedModel:
    """Return an entry; vLLM, OpenRouter and llama.cpp each name the window differently."""
    window = (
        as_count(item.get("max_model_len"))
        or as_count(item.get("context_length"))
        or as_count(as_object(item.get("meta")).get("n_ctx_train"))
    )
    return ListedModel(name=as_text(item.get("id")), context_window=window)
