"""The normalised conversation a provider is sent, and the opaque state it wants back verbatim.

Built by ``engine.request.context`` from the log, encoded by each provider adapter, shown by
``GET sessions/{id}/requests/{step}``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import Json, JsonObject, WireModel
from jupyter_ai_shoulders.wire.ids import CallId


class ProviderState(WireModel):
    """Opaque provider state kept verbatim beside a part (thinking signature, encrypted reasoning).

    Replayed only to the provider and model that made it, dropped otherwise (chapter 01,
    decision 5).
    """

    provider: str
    model: str
    data: Json


class TextPart(WireModel):
    """Text of either side."""

    type: Literal["text"] = "text"
    text: str
    state: ProviderState | None = None


class ReasoningPart(WireModel):
    """Reasoning the model showed; ``text`` may be empty when only its signature came."""

    type: Literal["reasoning"] = "reasoning"
    text: str
    state: ProviderState | None = None


class ImagePart(WireModel):
    """An image, base64."""

    type: Literal["image"] = "image"
    media_type: str
    data: str


class ToolCallPart(WireModel):
    """A tool call the model made; ``arguments`` is ``{}`` when it sent something invalid."""

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
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: JsonObject
    """JSON Schema of the arguments, an object."""
