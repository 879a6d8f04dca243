"""A caller's request in the common form; made by each format's ``decode`` for ``relay``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.base import ModelRequest, ToolChoice
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId
from jupyter_ai_shoulders.wire.parts import (
    ImagePart,
    ModelMessage,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)

OUTPUT = 16_384
THINKING_OUTPUT = 32_768
"""Output limits, in tokens, where the caller gives none."""


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request for a reply."""

    model: ModelId
    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: ToolChoice = "auto"
    parallel_calls: bool = True
    thinking: ThinkingLevel = "default"
    max_output: int | None = None
    response_schema: JsonObject | None = None
    cache_key: SessionId | None = None
    stops: tuple[str, ...] = ()
    """Stop sequences; applied in ``stop_sequences``, not by the providers."""
    stream: bool = False
    report_usage: bool = True
    """Whether a stream ends with its usage."""
    show_reasoning: bool = True
    carry_state: bool = True
    """Whether the reply may carry opaque state in its format's field for it."""
    echo: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The request fields that the format repeats in its response."""

    def request(self, spec: ModelSpec, trace_id: str) -> ModelRequest:
        """Return the request for the provider of this model."""
        return ModelRequest(
            model=spec.model,
            system=self.system,
            messages=self.messages,
            tools=self.tools,
            tool_choice=self.tool_choice,
            thinking=self.thinking,
            max_output=self.max_output or (THINKING_OUTPUT if spec.reasoning else OUTPUT),
            cache_key=self.cache_key,
            trace_id=trace_id,
            response_schema=self.response_schema,
            parallel_calls=self.parallel_calls,
        )


def check_capabilities(proxy_request: ProxyRequest, model: ModelSpec) -> None:
    """Raise ``InvalidRequest`` for images or tools that the model does not support.

    A conversation of the product replaces an image by a remark when the model changes; a program
    gets the error instead, as from a vendor.
    """
    if not model.images and any(map(_has_image, proxy_request.messages)):
        raise _cannot(model, "read images", '"images": true')
    if not model.tools and proxy_request.tools:
        raise _cannot(model, "call tools", '"tools": true')


def _cannot(model: ModelSpec, ability: str, setting: str) -> InvalidRequest:
    return InvalidRequest(
        f"The model {model.id} does not {ability}.",
        hint=f"Ask another model; if this one can, say {setting} of it in models.json.",
    )


def _has_image(message: ModelMessage) -> bool:
    if not isinstance(message, UserMessage):
        return False
    return any(isinstance(part, ImagePart) or _shows_image(part) for part in message.parts)


def _shows_image(part: object) -> bool:
    shown: Iterable[object] = part.content if isinstance(part, ToolResultPart) else ()
    return any(isinstance(item, ImagePart) for item in shown)
