"""The provider-independent conversation of a request, with opaque provider state.

Built by ``engine.request.context`` from the log, encoded by each provider adapter, shown by ``GET
sessions/{id}/requests/{step}``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import Json, JsonObject, WireModel
from jupyter_ai_shoulders.wire.ids import CallId


class ProviderState(WireModel):
    """Opaque provider state kept verbatim beside a part (thinking signature, encrypted reasoning).

    Sent back only to the provider and model that produced it, dropped otherwise.
    """

    provider: str
    model: str
    data: Json


class TextPart(WireModel):
    """Text of the user or the model."""

    type: Literal["text"] = "text"
    text: str
    state: ProviderState | None = None


class ReasoningPart(WireModel):
    """Reasoning shown by the model; ``text`` may be empty when only its signature came."""

    type: Literal["reasoning"] = "reasoning"
    text: str
    state: ProviderState | None = None


class ImagePart(WireModel):
    """An image, base64."""

    type: Literal["image"] = "image"
    media_type: str
    data: str


class ToolCallPart(WireModel):
    """A tool call by the model; ``arguments`` is ``{}`` when they were invalid."""

    type: Literal["tool-call"] = "tool-call"
    call_id: CallId
    tool: str
    arguments: JsonObject
    state: ProviderState | None = None


ResultContent = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class ToolResultPart(WireModel):
    """The one result of a tool call."""

    type: Literal["tool-result"] = "tool-result"
    call_id: CallId
    tool: str
    content: tuple[ResultContent, ...]
    is_error: bool


UserPart = Annotated[TextPart | ImagePart | ToolResultPart, Field(discriminator="type")]
AssistantPart = Annotated[TextPart | ReasoningPart | ToolCallPart, Field(discriminator="type")]


class UserMessage(WireModel):
    """A user turn: tool results first, then text and images."""

    role: Literal["user"] = "user"
    parts: tuple[UserPart, ...]


class AssistantMessage(WireModel):
    """A model turn, parts in the vendor's order."""

    role: Literal["assistant"] = "assistant"
    parts: tuple[AssistantPart, ...]


ModelMessage = Annotated[UserMessage | AssistantMessage, Field(discriminator="role")]


class ToolDefinition(WireModel):
    """A tool as described to the model."""

    name: str
    description: str
    parameters: JsonObject
    """JSON Schema of the arguments, an object."""
