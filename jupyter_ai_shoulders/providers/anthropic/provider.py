"""Anthropic behind the Provider port; made by ``registry``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit, urlunsplit

from jupyter_ai_shoulders.providers.anthropic.decode import AnthropicDecoder
from jupyter_ai_shoulders.providers.anthropic.encode import encode
from jupyter_ai_shoulders.providers.anthropic.errors import read_refusal
from jupyter_ai_shoulders.providers.assemble import Assembler, taken_call_ids
from jupyter_ai_shoulders.providers.base import ListedModel, ModelRequest, ProviderEvent
from jupyter_ai_shoulders.providers.exchange import Format, fetch_json, stream_events
from jupyter_ai_shoulders.providers.target import Target
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)

API_VERSION = "2026-10-21"
DEFAULT_AUTH = "header:x-api-key"


class AnthropicProvider:
    """One Claude model (or a model of a server that speaks the same format)."""

    def __init__(self, target: Target) -> None:
        self._target = target

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Send the request and yield its events, ending with one ``Stop``."""
        encoded = encode(request, self._target)
        headers = {"anthropic-version": API_VERSION}
        if encoded.betas:
            headers["anthropic-beta"] = ",".join(encoded.betas)
        call = self._target.call(
            endpoint(self._target.provider.url, "messages"),
            DEFAULT_AUTH,
            body=encoded.body,
            headers=headers,
        )
        assembler = Assembler(self._target.ids, taken_call_ids(request))
        decoder = AnthropicDecoder(assembler, self._target, encoded.prefix)
        events = stream_events(self._target, request, call, Format(decoder, read_refusal))
        async with contextlib.aclosing(events):
            async for event in events:
                yield event

    async def list_models(self) -> list[ListedModel]:
        """Return the models the key may use, with what the service says of them."""
        call = self._target.call(
            endpoint(self._target.provider.url, "models"),
            DEFAULT_AUTH,
            query={"limit": "1000"},
            headers={"anthropic-version": API_VERSION},
        )
        answer = await fetch_json(self._target, call, read_refusal)
        return [_listed(as_object(item)) for item in as_list(answer.get("data"))]

    async def aclose(self) -> None:
        """Close the connections of this provider."""
        await self._target.upstream.aclose()


def endpoint(url: str, name: str) -> str:
    """Return the address of ``name``; ``url`` is the root, with ``/v1`` or not, or an endpoint."""
    parts = urlsplit(url)
    root = parts.path.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    return urlunsplit(parts._replace(path=f"{root}/v1/{name}"))


def _listed(item: VendorObject) -> ListedModel:
    capabilities = as_object(item.get("capabilities"))
    supported = frozenset(
        name for name, leaf in capabilities.items() if as_object(leaf).get("supported") is True
    )
    return ListedModel(
        name=as_text(item.get("id")),
        context_window=as_count(item.get("max_input_tokens")),
        max_output=as_count(item.get("max_tokens")),
        capabilities=supported,
    )
