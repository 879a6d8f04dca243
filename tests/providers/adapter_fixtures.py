"""Fixtures of the adapter tests: fixed ids and time, endpoints, scripted byte streams."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

import httpx

from jupyter_ai_shoulders.core.catalogue.merge import CatalogueSource, merge_catalogue
from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, ModelSpec, ProviderSpec
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.adapter_factory import make_provider
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    PartDelta,
    PartEnd,
    PartStart,
    Provider,
    ProviderEvent,
    RecordEvent,
    Stop,
    ThinkingLevel,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
    ToolChoice,
    UsageReport,
)
from jupyter_ai_shoulders.providers.catalogue.loader import shipped_text
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.error_mapping import CalledService
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest, RawResponse, Upstream
from jupyter_ai_shoulders.providers.message_cache import MessageCache
from jupyter_ai_shoulders.wire.ids import CallId, ModelId, ProviderId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ModelMessage,
    ProviderState,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)

FIXTURES = Path(__file__).parent / "fixtures"
NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
KEY = "test-key-0123456789"
Kind = Literal["anthropic", "openai_chat", "openai_responses", "google", "ollama"]


PROVIDERS: dict[Kind, str] = {
    "anthropic": "anthropic",
    "openai_responses": "openai",
    "google": "google",
    "ollama": "ollama",
}


class SequentialIds:
    """part_1, part_2, call_1 …"""

    def __init__(self) -> None:
        self._numbers: dict[str, itertools.count[int]] = {}

    def new(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers.setdefault(prefix, itertools.count(1)))}"


class FakeClock:
    """A clock that tests advance."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.today = NOW

    def now(self) -> datetime:
        return self.today

    def monotonic(self) -> float:
        return self.seconds


def shipped() -> Catalogue:
    return merge_catalogue([CatalogueSource("shipped", shipped_text())], {})


def claude(model: str = "claude-sonnet-5-5", **changes: Any) -> ModelSpec:
    """A Claude model as in the catalogue, with changes as in a user's entry."""
    return catalogued(model, "anthropic", changes)


def catalogued(model: str, provider: str, changes: dict[str, Any]) -> ModelSpec:
    entry = {"id": model, "provider": provider, **changes}
    source = CatalogueSource("test", {"models": [entry]})
    merged = merge_catalogue([CatalogueSource("shipped", shipped_text()), source], {})
    assert not merged.problems
    return merged.models[ModelId(model)]


def chat_model(**changes: Any) -> ModelSpec:
    values: dict[str, Any] = {"id": "m", "name": "M", "provider": "lab", "model": "m", **changes}
    return ModelSpec.model_validate(values)


def gpt(model: str = "gpt-6.1-sol", **changes: Any) -> ModelSpec:
    """An OpenAI model as in the catalogue, with changes as in a user's entry."""
    return catalogued(model, "openai", changes)


def gemini(model: str = "gemini-3.8-flash", **changes: Any) -> ModelSpec:
    """A Gemini model as in the catalogue, with changes as in a user's entry."""
    return catalogued(model, "google", changes)


def llama(model: str = "sim-llama", **changes: Any) -> ModelSpec:
    """A model of a local Ollama, as a user's entry makes it."""
    return catalogued(model, "ollama", changes)


DEFAULT_MODELS: dict[Kind, Callable[[], ModelSpec]] = {
    "anthropic": claude,
    "openai_chat": chat_model,
    "openai_responses": gpt,
    "google": gemini,
    "ollama": llama,
}


@dataclass(slots=True)
class Sent:
    """The requests that the scripted transport received, and the reported outcomes of calls."""

    requests: list[httpx.Request] = field(default_factory=list[httpx.Request])
    reports: list[ProviderError | None] = field(default_factory=list["ProviderError | None"])


def make_endpoint(
    kind: Kind,
    *,
    model: ModelSpec | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    key: str | None = KEY,
    sent: Sent | None = None,
    **provider: Any,
) -> Endpoint:
    name = PROVIDERS.get(kind, "lab")
    values: dict[str, Any] = {
        "id": name,
        "name": name.title(),
        "kind": kind,
        "url": "http://upstream.test/v1",
        "api_key_env": f"{name.upper()}_API_KEY",
        **provider,
    }
    spec = ProviderSpec.model_validate(values)
    model = model or DEFAULT_MODELS[kind]()
    service = CalledService(
        id=ProviderId(name),
        name=spec.name,
        model=model.model,
        key=f"{spec.key_name} (from the environment)",
        redact=lambda text: text.replace(KEY, "[redacted]"),
        now=lambda: NOW,
    )
    reports = [] if sent is None else sent.reports
    return Endpoint(
        provider=spec,
        model=model,
        key=key,
        service=service,
        upstream=Upstream(None if transport is None else ScriptedTransport(transport)),
        ids=SequentialIds(),
        report=reports.append,
        encoded=MessageCache(),
    )


def provider_of(endpoint: Endpoint) -> Provider:
    return make_provider(endpoint)


class ScriptedTransport:
    """Sends requests to a transport of httpx, which tests have in place of the network."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    async def send(self, call: HttpRequest) -> RawResponse:
        request = httpx.Request(
            "GET" if call.body is None else "POST",
            call.url,
            params=dict(call.query) or None,
            headers=dict(call.headers),
            content=call.body,
        )
        response = await self._transport.handle_async_request(request)
        pieces = aiter(cast("httpx.AsyncByteStream", response.stream))

        async def read() -> bytes:
            while (piece := await anext(pieces, None)) is not None:
                if piece:
                    return piece
            return b""

        return RawResponse(response.status_code, response.headers, read, response.aclose)

    async def aclose(self) -> None:
        await self._transport.aclose()


class Pieces(httpx.AsyncByteStream):
    """A body in these pieces."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def answering(
    pieces: Sequence[bytes] | bytes,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    sent: Sent | None = None,
) -> httpx.MockTransport:
    """A transport that answers every request with these bytes."""
    named = {"content-type": "text/event-stream", **(headers or {})}
    body = [pieces] if isinstance(pieces, bytes) else pieces

    def handle(request: httpx.Request) -> httpx.Response:
        if sent is not None:
            sent.requests.append(request)
        return httpx.Response(status, headers=named, stream=Pieces(body))

    return httpx.MockTransport(handle)


async def collect(provider: Provider, request: ModelRequest | None = None) -> list[ProviderEvent]:
    events = cast("AsyncGenerator[ProviderEvent]", provider.stream(request or ask("Hi")))
    async with aclosing(events):
        return [event async for event in events]


async def events_of(kind: Kind, body: Sequence[bytes] | bytes, **more: Any) -> list[ProviderEvent]:
    """The events an adapter decodes from this stream."""
    found = make_endpoint(kind, transport=answering(body), **more)
    return await collect(provider_of(found))


def data_lines(*payloads: str) -> bytes:
    """Payloads as an unnamed stream."""
    return "".join(f"data: {payload}\n\n" for payload in payloads).encode()


def ask(
    *messages: ModelMessage | str,
    system: str = "Be brief.",
    model: str = "m",
    tools: tuple[ToolDefinition, ...] = (),
    tool_choice: ToolChoice = "auto",
    thinking: ThinkingLevel = "default",
    **more: Any,
) -> ModelRequest:
    """A request; strings become user messages."""
    return ModelRequest(
        model=model,
        system=system,
        messages=tuple(user(m) if isinstance(m, str) else m for m in messages),
        tools=tools,
        tool_choice=tool_choice,
        thinking=thinking,
        **more,
    )


def user(text: str) -> UserMessage:
    return UserMessage(parts=(TextPart(text=text),))


def assistant(*parts: AssistantPart) -> AssistantMessage:
    return AssistantMessage(parts=parts)


def call(call_id: str, tool: str = "read", **arguments: Any) -> ToolCallPart:
    return ToolCallPart(call_id=CallId(call_id), tool=tool, arguments=arguments)


def result(call_id: str, text: str = "done", *, error: bool = False) -> ToolResultPart:
    content = (TextPart(text=text),)
    return ToolResultPart(call_id=CallId(call_id), tool="read", content=content, is_error=error)


def results(*parts: ToolResultPart) -> UserMessage:
    return UserMessage(parts=parts)


READ = ToolDefinition(
    name="read",
    description="Read it.",
    parameters={"type": "object", "properties": {"n": {"type": "integer"}}, "required": []},
)


def transcript(events: Sequence[ProviderEvent]) -> list[str]:
    """The events, one readable line each."""
    return [_line(event) for event in events]


def _line(event: ProviderEvent) -> str:
    match event:
        case PartStart():
            line = f"{event.part_id}: {event.kind}"
        case PartDelta():
            line = f"{event.part_id} + {event.text!r}"
        case PartEnd():
            line = f"{event.part_id} end" + _state(event.state)
        case ToolCallStart():
            line = f"{event.call_id}: call of {event.tool}"
        case ToolArgumentsDelta():
            line = f"{event.call_id} + {event.text!r}"
        case ToolCallReady():
            got = event.problem or f"{event.arguments}"
            line = f"{event.call_id} ready: {event.tool} {got}" + _state(event.state)
        case UsageReport():
            line = f"usage {event.usage.model_dump(exclude_defaults=True)}"
        case Stop():
            line = f"stop: {event.reason}" + (f" ({event.detail})" if event.detail else "")
        case RecordEvent():
            line = f"record: {event.event.type}"
    return line


def _state(state: ProviderState | None) -> str:
    return "" if state is None else f" [{state.provider} {state.model}] {state.data}"
