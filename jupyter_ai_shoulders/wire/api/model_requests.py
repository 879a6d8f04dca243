"""A request to a model for display: one that was sent, or a preview."""

from __future__ import annotations

from jupyter_ai_shoulders.wire.api.commands import MessageCommand, RequestAttachments
from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.parts import ModelMessage, ToolDefinition
from jupyter_ai_shoulders.wire.sessions import Mode


class PreviewMessage(MessageCommand):
    """``POST sessions/{id}/preview``: a message that is not sent."""

    text: str
    attachments: RequestAttachments = ()
    context: MessageContext | None = None
    model: ModelId | None = None
    mode: Mode | None = None


class MessageRange(WireModel):
    """Messages of a request, counted from 0; ``end`` is exclusive."""

    start: int
    end: int


class RequestMemory(WireModel):
    """A statement of the memory in a request."""

    id: str
    text: str


class RequestView(WireModel):
    """One request in the provider-independent form.

    ``tokens`` is the estimate used by the context gate; ``max_output`` is None when the model is no
    longer configured.
    """

    session_id: SessionId
    turn_id: TurnId | None
    """None for a preview."""
    step: int
    model: ModelId
    provider: ProviderId
    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...]
    tokens: int
    window: int | None
    max_output: int | None
    replaces: MessageRange | None = None
    """For a preview that does not fit: the messages a summary would replace."""
    memory: tuple[RequestMemory, ...] = ()
    """The statements of the memory that the conversation holds."""
