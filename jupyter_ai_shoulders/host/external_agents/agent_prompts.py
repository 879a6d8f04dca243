"""What an agent is sent of a request of the engine: the user's new messages, and results. Pure.

Used by ``agent_models``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from jupyter_ai_shoulders.acp_client.values import PromptBlock, PromptImage, PromptText
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import AssistantMessage, ImagePart, TextPart, ToolResultPart


def _last_parts(request: ModelRequest) -> Iterator[TextPart | ImagePart | ToolResultPart]:
    """Yield the parts of all messages after the agent's last one, in order."""
    ours = takewhile(lambda m: not isinstance(m, AssistantMessage), reversed(request.messages))
    for message in reversed(tuple(ours)):
        if not isinstance(message, AssistantMessage):
            yield from message.parts


def trailing_blocks(request: ModelRequest) -> list[PromptBlock]:
    """Return the content of the user's messages after the agent's last one, in order."""
    blocks: list[PromptBlock] = []
    for part in _last_parts(request):
        match part:
            case TextPart() if part.text.strip():
                blocks.append(PromptText(part.text))
            case ImagePart():
                blocks.append(PromptImage(part.media_type, part.data))
            case _:
                pass
    return blocks


def results_of(request: ModelRequest) -> dict[CallId, str]:
    """Return the texts of the last step's results by call."""
    return {
        part.call_id: "\n".join(item.text for item in part.content if isinstance(item, TextPart))
        for part in _last_parts(request)
        if isinstance(part, ToolResultPart)
    }
