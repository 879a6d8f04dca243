"""Ollama behind the ``Provider`` port; created by ``adapter_factory``."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import re
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit, urlunsplit

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import ListedModel, ModelRequest, ProviderEvent
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_json
from jupyter_ai_shoulders.providers.http.request import StreamFormat, fetch_json, stream_events
from jupyter_ai_shoulders.providers.ollama.decode import OllamaDecoder
from jupyter_ai_shoulders.providers.ollama.encode import encode
from jupyter_ai_shoulders.providers.ollama.errors import HINTS, read_refusal, without_tools
from jupyter_ai_shoulders.providers.ollama.fill_in_the_middle import fill_body, fill_format
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler, used_call_ids
from jupyter_ai_shoulders.providers.streaming.ndjson import NdjsonDecoder
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)

DEFAULT_AUTH = "bearer"
"""For Ollama's cloud; a local server needs no key."""

CONCURRENT_LOOK_UPS = 8
_ENDPOINT = re.compile(r"/(api|v1)(/.*)?$")


class OllamaProvider:
    """One model of an Ollama server."""

    def __init__(self, endpoint: Endpoint) -> None:
        service = dataclasses.replace(endpoint.service, hints=HINTS)
        self._endpoint = dataclasses.replace(endpoint, service=service)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Send the request and yield its events, ending with one ``Stop``.

        A model that turns out not to support tools gets a second request without them.
        """
        try:
            async with contextlib.aclosing(self._stream(request)) as events:
                async for event in events:
                    yield event
        except ProviderError as error:
            if not request.tools or not without_tools(error):
                raise
            plain = dataclasses.replace(request, tools=(), tool_choice="auto")
            async with contextlib.aclosing(self._stream(plain)) as events:
                async for event in events:
                    yield event

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        fill, endpoint = request.fill_in, self._endpoint
        assembler = Assembler(endpoint.ids, used_call_ids(request))
        call = endpoint.call(
            api_url(endpoint.provider.url, "chat" if fill is None else "generate"),
            DEFAULT_AUTH,
            body=encode(request, endpoint)
            if fill is None
            else fill_body(request, fill, endpoint.model),
            headers={"accept": "application/x-ndjson"},
        )
        chat = StreamFormat(OllamaDecoder(assembler, endpoint), read_refusal, NdjsonDecoder)
        dialect = chat if fill is None else fill_format(assembler)
        events = stream_events(self._endpoint, request, call, dialect)
        async with contextlib.aclosing(events):
            async for event in events:
                yield event

    async def list_models(self) -> list[ListedModel]:
        """Return the pulled models with their capabilities."""
        call = self._endpoint.call(api_url(self._endpoint.provider.url, "tags"), DEFAULT_AUTH)
        answer = await fetch_json(self._endpoint, call, read_refusal)
        items = map(as_object, as_list(answer.get("models")))
        names = [as_text(item.get("model")) or as_text(item.get("name")) for item in items]
        at_once = asyncio.Semaphore(CONCURRENT_LOOK_UPS)
        async with asyncio.TaskGroup() as tasks:
            looking = [tasks.create_task(self._look_up(name, at_once)) for name in names if name]
        return [task.result() for task in looking]

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return None: Ollama cannot count."""

    async def aclose(self) -> None:
        """Close the connections of this provider."""
        await self._endpoint.upstream.aclose()

    async def _look_up(self, name: str, at_once: asyncio.Semaphore) -> ListedModel:
        """Return a model's details; only its name where Ollama cannot show it."""
        call = self._endpoint.call(
            api_url(self._endpoint.provider.url, "show"),
            DEFAULT_AUTH,
            body=encode_json({"model": name}),
            headers={"accept": "application/json"},
        )
        try:
            async with at_once:
                shown = await fetch_json(self._endpoint, call, read_refusal)
        except ProviderError:  # the model was removed or is broken; the others are listed
            return ListedModel(name)
        capabilities = frozenset(map(as_text, as_list(shown.get("capabilities"))))
        return ListedModel(name, _window(shown), None, capabilities)


def api_url(url: str, name: str) -> str:
    """Return the address of ``name``; ``url`` is the host, with or without ``/api``, or an
    endpoint.
    """
    parts = urlsplit(url)
    root = _ENDPOINT.sub("", parts.path.rstrip("/"))
    return urlunsplit(parts._replace(path=f"{root}/api/{name}"))


def _window(shown: VendorObject) -> int | None:
    """Return the model's context length, which is stored under the name of its architecture."""
    info = as_object(shown.get("model_info"))
    found = (as_count(value) for key, value in info.items() if key.endswith(".context_length"))
    return next((count for count in found if count), None)
