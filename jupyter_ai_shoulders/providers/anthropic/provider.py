"""Anthropic behind the ``Provider`` port; created by ``adapter_factory``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from urllib.parse import urlsplit, urlunsplit

from jupyter_ai_shoulders.providers.anthropic.decode import AnthropicDecoder
from jupyter_ai_shoulders.providers.anthropic.encode import Encoded, encode, encode_count
from jupyter_ai_shoulders.providers.anthropic.errors import read_refusal
from jupyter_ai_shoulders.providers.base import ListedModel, ModelRequest, ProviderEvent
from jupyter_ai_shoulders.providers.formats.token_counting import ACCEPT_JSON, request_token_count
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import StreamFormat, fetch_json, stream_events
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler, used_call_ids
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
    """One Claude model, or a model of a server with the same format."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Send the request and yield its events, ending with one ``Stop``."""
        encoded = encode(request, self._endpoint)
        call = self._call("messages", encoded)
        assembler = Assembler(self._endpoint.ids, used_call_ids(request))
        decoder = AnthropicDecoder(assembler, self._endpoint, encoded.prefix)
        events = stream_events(self._endpoint, request, call, StreamFormat(decoder, read_refusal))
        async with contextlib.aclosing(events):
            async for event in events:
                yield event

    async def list_models(self) -> list[ListedModel]:
        """Return the models the key can use, with their listed capabilities."""
        call = self._endpoint.call(
            api_url(self._endpoint.provider.url, "models"),
            DEFAULT_AUTH,
            query={"limit": "1000"},
            headers={"anthropic-version": API_VERSION},
        )
        answer = await fetch_json(self._endpoint, call, read_refusal)
        return [_listed(as_object(item)) for item in as_list(answer.get("data"))]

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return the prompt tokens; None from a gateway that does not count."""
        call = self._call(
            "messages/count_tokens", encode_count(request, self._endpoint), ACCEPT_JSON
        )
        return await request_token_count(self._endpoint, call, read_refusal, "input_tokens")

    async def aclose(self) -> None:
        """Close the connections of this provider."""
        await self._endpoint.upstream.aclose()

    def _call(
        self, name: str, encoded: Encoded, headers: Mapping[str, str] | None = None
    ) -> HttpRequest:
        named = {"anthropic-version": API_VERSION, **(headers or {})}
        if encoded.betas:
            named["anthropic-beta"] = ",".join(encoded.betas)
        url = api_url(self._endpoint.provider.url, name)
        return self._endpoint.call(url, DEFAULT_AUTH, body=encoded.body, headers=named)


def api_url(url: str, name: str) -> str:
    """Return the address of ``name``; ``url`` is the root (with ``/v1`` or not) or an endpoint."""
    parts = urlsplit(url)
    root = parts.path.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    return urlunsplit(parts._replace(path=f"{root}/v1/{name}"))


def _listed(item: VendorObject) -> ListedModel:
    return ListedModel(
        name=as_text(item.get("id")),
        context_window=as_count(item.get("max_input_tokens")),
        max_output=as_count(item.get("max_tokens")),
        capabilities=frozenset(_supported(as_object(item.get("capabilities")))),
    )


def _supported(capabilities: VendorObject) -> Iterator[str]:
    """Yield the supported capabilities: ``image_input``, ``effort.low``, ``thinking.adaptive``."""
    for name, leaf in capabilities.items():
        found = as_object(leaf)
        if found.get("supported") is True:
            yield name
            parts = as_object(found.get("types")) or found
            yield from (f"{name}.{part}" for part in parts if _is_supported(parts[part]))


def _is_supported(leaf: object) -> bool:
    return as_object(leaf).get("supported") is True
