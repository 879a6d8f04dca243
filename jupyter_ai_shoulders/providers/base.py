"""The ``Provider`` port: one request in, a stream of small typed events out.

Implemented by the adapter packages beside this file; used by ``engine.calls.model_call`` and
``assist``. See docs/design/providers.md#the-contract.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import AgentActivity, AgentState, Notice, TodoUpdate
from jupyter_ai_shoulders.wire.ids import CallId, PartId, SessionId
from jupyter_ai_shoulders.wire.parts import ModelMessage, ProviderState, ToolDefinition
from jupyter_ai_shoulders.wire.usage import TokenUsage

__all__ = [
    "AnyTool",
    "FillIn",
    "ListedModel",
    "ModelReply",
    "ModelRequest",
    "NamedTool",
    "PartDelta",
    "PartEnd",
    "PartStart",
    "Provider",
    "ProviderEvent",
    "RecordEvent",
    "ResolvedModel",
    "Stop",
    "StopReason",
    "ThinkingLevel",
    "ToolArgumentsDelta",
    "ToolCallReady",
    "ToolCallStart",
    "ToolChoice",
    "UsageReport",
]

StopReason = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "content_filter",
    "context_overflow",
    "pause",
    "other",
]


@dataclass(frozen=True, slots=True)
class AnyTool:
    """The model must call some tool."""


@dataclass(frozen=True, slots=True)
class NamedTool:
    """The model must call this tool."""

    name: str


ToolChoice = Literal["auto", "none"] | AnyTool | NamedTool


@dataclass(frozen=True, slots=True)
class FillIn:
    """Asks for the text between the message of the request and ``suffix``; see
    ``ModelSpec.fill_in``.

    The request has one message, the text before. System prompt and tools are not sent.
    """

    suffix: str
    temperature: float
    """Variation between answers to the same request, from 0 up."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call in the common form; adapters encode it for their format.

    ``model`` is the provider's own model name. ``max_output`` is in tokens. ``cache_key``
    identifies the conversation for prompt caches. ``trace_id`` appears in logs and, where the
    format has a field for it, in the request.
    """

    model: str
    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: ToolChoice = "auto"
    thinking: ThinkingLevel = "default"
    max_output: int = 16_384
    cache_key: SessionId | None = None
    trace_id: str | None = None
    response_schema: JsonObject | None = None
    """JSON Schema the answer must follow (structured single calls)."""
    account: UsageAccount | None = None
    """The account that the call is booked to; read by the meter in front of the provider."""
    fill_in: FillIn | None = None
    parallel_calls: bool = True
    """Whether the model may make several calls at once, where its format has a switch."""


@dataclass(frozen=True, slots=True)
class PartStart:
    """A text or reasoning part begins; parts never interleave."""

    kind: Literal["text", "reasoning"]
    part_id: PartId


@dataclass(frozen=True, slots=True)
class PartDelta:
    """More of the open part."""

    part_id: PartId
    text: str


@dataclass(frozen=True, slots=True)
class PartEnd:
    """The part is complete; ``state`` must be replayed verbatim."""

    part_id: PartId
    state: ProviderState | None = None


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """The model began a tool call."""

    call_id: CallId
    tool: str


@dataclass(frozen=True, slots=True)
class ToolArgumentsDelta:
    """More of the call's argument text."""

    call_id: CallId
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallReady:
    """The call is complete. Exactly one of ``arguments`` and ``problem`` is set."""

    call_id: CallId
    tool: str
    arguments: JsonObject | None
    raw: str
    problem: str | None = None
    state: ProviderState | None = None


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage so far; cumulative, the last one counts."""

    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class Stop:
    """The terminal event; a stream that ends without it raises ``stream_truncated``."""

    reason: StopReason
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class RecordEvent:
    """An event for the log: what an agent of others does by itself, its plan and its state."""

    event: AgentActivity | AgentState | TodoUpdate | Notice


ProviderEvent = (
    PartStart
    | PartDelta
    | PartEnd
    | ToolCallStart
    | ToolArgumentsDelta
    | ToolCallReady
    | UsageReport
    | RecordEvent
    | Stop
)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete reply, collected from the events of a stream."""

    text: str
    calls: tuple[ToolCallReady, ...]
    usage: TokenUsage
    stop: StopReason


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as its provider lists it."""

    name: str
    context_window: int | None = None
    max_output: int | None = None
    capabilities: frozenset[str] = field(default_factory=frozenset[str])


class Provider(Protocol):
    """A model service; safe for concurrent calls."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ProviderEvent]:
        """Send the request and yield its events, ending with exactly one ``Stop``.

        Raises ``ProviderError``; retries are left to the caller. Closing the iterator closes the
        connection.
        """
        ...

    async def list_models(self) -> list[ListedModel]:
        """Return the models served. Raises ``ProviderError``."""
        ...

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return the service's count of the request's prompt tokens.

        None where the service does not count; the caller then estimates. Nothing is generated or
        billed. Raises ``ProviderError``.
        """
        ...

    async def aclose(self) -> None:
        """Close pooled connections."""
        ...


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model of the catalogue with its provider.

    Made by ``providers.registry``. ``provider`` is bound to ``spec``: use it for this model only,
    and leave closing it to the registry.
    """

    spec: ModelSpec
    provider: Provider
    redactor: Callable[[], Redactor] = Redactor
    """Returns the redactor of the keys in use now, for streamed text and stored outputs."""
    is_stand_in: bool = False
    """Whether it temporarily replaces a model, see ``providers.catalogue.model_selection``."""
    notice: str = ""
    """The text shown before the answer: which model cannot answer, and why."""
