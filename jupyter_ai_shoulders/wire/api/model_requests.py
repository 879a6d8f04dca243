"""A request to a model as people may look at it: what was sent, or would be (chapter 11)."""

from __future__ import annotations

from jupyter_ai_shoulders.wire.api.commands import GivenAttachments, MessageCommand
from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.parts import ModelMessage, ToolDefinition
from jupyter_ai_shoulders.wire.sessions import Mode


class PreviewMessage(MessageCommand):
    """``POST sessions/{id}/preview``: a message that is not sent."""

    text: str
    attachments: GivenAttachments = ()
    context: MessageContext | None = None
    model: ModelId | None = None
    mode: Mode | None = None


class MessageRange(WireModel):
    """Messages of a request, counted from 0; ``end`` is the first that is not meant."""

    start: int
    end: int


class RequestView(WireModel):
    """One request in the common form, from which the provider's own body is encoded.

    ``tokens`` is the estimate the gate used; ``max_output`` is None where the model is no longer
    configured.
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
    """Of a preview that does not fit: the messages a summary would stand for when it is sent."""
