"""What a caller asks for, in the common form; each format's ``decode`` makes it for ``relay``."""

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
"""Output limits where the caller gives none (chapter 03)."""


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request for an answer."""

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
    """Texts that end the answer; the providers do not see them, see ``stop_texts``."""
    stream: bool = False
    report_usage: bool = True
    """Whether a stream ends with its usage."""
    show_reasoning: bool = True
    carry_state: bool = True
    """Whether the answer may carry opaque state in the place its format has for it."""
    echo: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the format repeats of the request in its answer."""

    def request(self, spec: ModelSpec, trace_id: str) -> ModelRequest:
        """Return the request as the provider of this model takes it."""
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
    """Raise ``InvalidRequest`` for images or tools the model cannot take."""
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
