"""OpenAI's Responses API behind the ``Provider`` port; created by ``adapter_factory``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import ListedModel, ModelRequest, ProviderEvent
from jupyter_ai_shoulders.providers.formats.openai_service import (
    DEFAULT_AUTH,
    api_url,
    list_models,
)
from jupyter_ai_shoulders.providers.formats.token_counting import ACCEPT_JSON, request_token_count
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.error_mapping import Refusal
from jupyter_ai_shoulders.providers.http.request import StreamFormat, stream_events
from jupyter_ai_shoulders.providers.openai_responses.decode import ResponsesDecoder
from jupyter_ai_shoulders.providers.openai_responses.encode import Extra, encode, encode_count
from jupyter_ai_shoulders.providers.openai_responses.errors import read_refusal, refused_extras
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler, used_call_ids
from jupyter_ai_shoulders.providers.vendor_json import VendorObject


class OpenAIResponsesProvider:
    """One model of OpenAI, or of a server with the same format."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Send the request and yield its events, ending with one ``Stop``.

        If an extra is refused before anything was shown, the request is sent once more without it.
        """
        without: frozenset[Extra] = frozenset()
        while True:
            attempt = _Attempt(self._endpoint, without)
            try:
                async with contextlib.aclosing(attempt.stream(request)) as events:
                    async for event in events:
                        yield event
            except ProviderError:
                if attempt.began or not attempt.refused - without:
                    raise
                without |= attempt.refused
            else:
                return

    async def list_models(self) -> list[ListedModel]:
        """Return the models the key can use."""
        return await list_models(self._endpoint, read_refusal)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return the prompt tokens; None from a server that does not count."""
        call = self._endpoint.call(
            api_url(self._endpoint.provider.url, "responses/input_tokens"),
            DEFAULT_AUTH,
            body=encode_count(request, self._endpoint),
            headers=ACCEPT_JSON,
        )
        return await request_token_count(self._endpoint, call, read_refusal, "input_tokens")

    async def aclose(self) -> None:
        """Close the connections of this provider."""
        await self._endpoint.upstream.aclose()


class _Attempt:
    """One call. ``began``: something was shown; ``refused``: the extras that were refused."""

    def __init__(self, endpoint: Endpoint, without: frozenset[Extra]) -> None:
        self._endpoint = endpoint
        self._without = without
        self.began = False
        self.refused: frozenset[Extra] = frozenset()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Send the request and yield its events."""
        call = self._endpoint.call(
            api_url(self._endpoint.provider.url, "responses"),
            DEFAULT_AUTH,
            body=encode(request, self._endpoint, self._without),
        )
        assembler = Assembler(self._endpoint.ids, used_call_ids(request))
        decoder = ResponsesDecoder(assembler, self._endpoint, self._read_refusal)
        dialect = StreamFormat(decoder, self._read_refusal)
        events = stream_events(self._endpoint, request, call, dialect)
        async with contextlib.aclosing(events):
            async for event in events:
                self.began = True
                yield event

    def _read_refusal(self, status: int | None, body: VendorObject) -> Refusal:
        self.refused = refused_extras(body)
        return read_refusal(status, body)
