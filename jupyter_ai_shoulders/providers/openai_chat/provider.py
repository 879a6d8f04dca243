"""Chat Completions servers behind the ``Provider`` port; created by ``adapter_factory``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from jupyter_ai_shoulders.providers.base import ListedModel, ModelRequest, ProviderEvent
from jupyter_ai_shoulders.providers.formats.openai_service import DEFAULT_AUTH, api_url
from jupyter_ai_shoulders.providers.formats.server_profiles import profile_of
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import StreamFormat, stream_events
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.openai_chat.decode import OpenAIChatDecoder
from jupyter_ai_shoulders.providers.openai_chat.encode import encode
from jupyter_ai_shoulders.providers.openai_chat.errors import read_refusal
from jupyter_ai_shoulders.providers.openai_chat.fill_in_the_middle import fill_call, fill_format
from jupyter_ai_shoulders.providers.openai_chat.model_listing import models_of
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler, used_call_ids


class OpenAIChatProvider:
    """One model of a compatible server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._profile = profile_of(endpoint.provider)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Send the request and yield its events, ending with one ``Stop``."""
        assembler = Assembler(self._endpoint.ids, used_call_ids(request))
        call, dialect = self._filling(request, assembler) or self._chatting(request, assembler)
        events = stream_events(self._endpoint, request, call, dialect)
        async with contextlib.aclosing(events):
            async for event in events:
                yield event

    async def list_models(self) -> list[ListedModel]:
        """Return the server's models; few servers list more than names."""
        return await models_of(self._endpoint, self._profile)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return None: the format cannot count."""

    async def aclose(self) -> None:
        """Close the connections of this provider."""
        await self._endpoint.upstream.aclose()

    def _chatting(
        self, request: ModelRequest, assembler: Assembler
    ) -> tuple[HttpRequest, StreamFormat]:
        call = self._endpoint.call(
            api_url(self._endpoint.provider.url, "chat/completions"),
            DEFAULT_AUTH,
            body=encode(request, self._endpoint, self._profile),
        )
        decoder = OpenAIChatDecoder(assembler, self._endpoint, self._profile)
        return call, StreamFormat(decoder, read_refusal)

    def _filling(
        self, request: ModelRequest, assembler: Assembler
    ) -> tuple[HttpRequest, StreamFormat] | None:
        if request.fill_in is None:
            return None
        call = fill_call(request, request.fill_in, self._endpoint, self._profile)
        return call, fill_format(assembler, self._endpoint, self._profile)
