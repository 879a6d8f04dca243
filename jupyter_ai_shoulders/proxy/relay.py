"""Relays a caller's request to the model's provider, and the reply back.

Used by the handlers of ``server.proxy``. Retries are left to the caller's SDK.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Protocol, cast

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.token_estimates import estimate_request
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    Provider,
    ProviderEvent,
    ResolvedModel,
    Stop,
)
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator, ReplyEvent, StoppedAt
from jupyter_ai_shoulders.proxy.request import ProxyRequest, check_capabilities
from jupyter_ai_shoulders.proxy.state_cache import StateCache
from jupyter_ai_shoulders.proxy.stop_sequences import until_stop_sequence
from jupyter_ai_shoulders.proxy.tool_names import ToolNames
from jupyter_ai_shoulders.proxy.wire_format import WireFormat
from jupyter_ai_shoulders.wire.api.responses import ModelList
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId
from jupyter_ai_shoulders.wire.parts import AssistantMessage, ModelMessage

_log = logging.getLogger(__name__)


class ModelResolver(Protocol):
    """Resolves and lists models; implemented by ``providers.registry``."""

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return a model and its provider. Raises ``InvalidRequest``."""
        ...

    def listing(self) -> ModelList:
        """Return all models."""
        ...


class ProxyRelay:
    """Relays requests from any format to any provider."""

    def __init__(
        self,
        models: ModelResolver,
        state_cache: StateCache,
        ids: IdSource,
        owner: str | None = None,
        session_id: SessionId | None = None,
    ) -> None:
        """``owner`` pays for the requests; they count for a conversation if one is given."""
        self._models = models
        self._state_cache = state_cache
        self._ids = ids
        self._account = UsageAccount("proxy", session_id=session_id, owner=owner)

    def open(self, caller: WireFormat, raw: bytes) -> RelayedRequest:
        """Return the prepared request; nothing is sent yet.

        Raises ``InvalidRequest`` for an invalid request, or a model that cannot answer it.
        """
        proxy_request = caller.read(raw)
        resolved = self._models.resolve(proxy_request.model)
        check_capabilities(proxy_request, resolved.spec)
        reply_id = self._ids.new("reply").removeprefix("reply_")
        request = proxy_request.request(resolved.spec, reply_id)
        messages = tuple(map(self._restored, request.messages))
        request = replace(request, messages=messages, account=self._account)
        return RelayedRequest(
            caller, proxy_request, resolved, request, state_cache=self._state_cache
        )

    async def count(self, caller: WireFormat, raw: bytes) -> int:
        """Return the tokens of a request: the provider's count, or else an estimate.

        Raises ``InvalidRequest``, ``ProviderError``.
        """
        return await self.open(caller, raw).count()

    def models(self, caller: WireFormat) -> bytes:
        """Return the models that can answer."""
        return caller.models([model for model in self._models.listing().models if model.available])

    def model(self, caller: WireFormat, model_id: ModelId) -> bytes:
        """Return a model's description. Raises ``InvalidRequest`` for one that cannot answer."""
        found = self._models.resolve(model_id).spec.id
        return caller.model(next(m for m in self._models.listing().models if m.id == found))

    def _restored(self, message: ModelMessage) -> ModelMessage:
        return (
            self._state_cache.restore(message) if isinstance(message, AssistantMessage) else message
        )


class RelayedRequest:
    """One request and its reply."""

    def __init__(
        self,
        caller: WireFormat,
        proxy_request: ProxyRequest,
        resolved: ResolvedModel,
        request: ModelRequest,
        *,
        state_cache: StateCache,
    ) -> None:
        """``request.trace_id`` becomes the id of the reply."""
        reply_id = request.trace_id or ""
        self._caller = caller
        self._proxy_request = proxy_request
        self._resolved = resolved
        self._names = ToolNames(request)
        self._request = self._names.encode_request(request)
        self._reply_id = reply_id
        self._state_cache = state_cache
        self._writer = caller.writer(proxy_request, reply_id)
        self._answer = ReplyAccumulator()
        self._started_writing = False
        self._shown = False

    @property
    def streams(self) -> bool:
        """Whether the caller wants a stream."""
        return self._proxy_request.stream

    async def count(self) -> int:
        """Return the tokens of the request. Raises ``ProviderError``."""
        counted = await self._resolved.provider.count_tokens(self._request)
        if counted is not None:
            return counted
        proxy_request, family = self._request, self._resolved.spec.family
        return estimate_request(
            proxy_request.system, proxy_request.messages, proxy_request.tools, family
        )

    async def stream(self) -> AsyncGenerator[bytes]:
        """Yield the reply as it arrives.

        Raises ``ShouldersError`` only before the first bytes; later errors are part of the stream.
        """
        try:
            async with contextlib.aclosing(self._events()) as events:
                async for event in events:
                    data = self._begin() + self._take(event)
                    if data:
                        self._shown = True
                        yield data
        except ShouldersError as error:
            if not self._shown:
                raise
            _log.info("A streamed answer of the model proxy failed: %s", error)
            yield self._writer.fail(error.info)

    async def complete(self) -> bytes:
        """Return the complete response. Raises ``ShouldersError``."""
        async with contextlib.aclosing(self._events()) as events:
            async for event in events:
                self._note(event)
        return self._caller.body(self._proxy_request, self._reply_id, self._answer)

    def idle(self) -> bytes:
        """Return a keep-alive; it starts the stream, so later errors are part of it."""
        self._shown = True
        return self._begin() + self._writer.idle()

    def fail(self, info: ErrorInfo) -> bytes:
        """Return an error that ends the stream."""
        return self._begin() + self._writer.fail(info)

    def _begin(self) -> bytes:
        if self._started_writing:
            return b""
        self._started_writing = True
        return self._writer.begin(self._answer.usage)

    def _take(self, event: ReplyEvent) -> bytes:
        self._note(event)
        return self._writer.feed(event)

    def _note(self, event: ReplyEvent) -> None:
        self._answer.add(event)
        if isinstance(
            event, (Stop, StoppedAt)
        ):  # before the caller can return with the results of the calls
            self._state_cache.store(self._answer.message())

    def _events(self) -> AsyncGenerator[ReplyEvent]:
        events = self._names.decode_events(_started(self._resolved.provider, self._request))
        if not self._proxy_request.stops:
            return cast("AsyncGenerator[ReplyEvent]", events)
        return _closing(events, self._proxy_request.stops, self._resolved)


def _started(provider: Provider, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
    return cast("AsyncGenerator[ProviderEvent]", provider.stream(request))


async def _closing(
    events: AsyncGenerator[ProviderEvent], stops: tuple[str, ...], resolved: ResolvedModel
) -> AsyncGenerator[ReplyEvent]:
    """Close the provider's stream once a stop sequence was found; otherwise it would continue."""
    async with contextlib.aclosing(events):
        async for event in until_stop_sequence(events, stops, resolved.spec.family):
            yield event
