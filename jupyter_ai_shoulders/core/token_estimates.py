"""Token estimates by character class and provider family.

No tokenizer ships a vocabulary that works offline. Estimates are on the high side, and callers
correct them by the last usage a provider reported. Used by ``engine.request.context`` for gate and
gauge, and by adapters whose server reports no usage.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import assert_never

from jupyter_ai_shoulders.core.catalogue.specs import TokenFamily
from jupyter_ai_shoulders.wire.parts import (
    AssistantPart,
    ImagePart,
    ModelMessage,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserPart,
)

ASCII_PER_TOKEN: dict[TokenFamily, float] = {
    "anthropic": 2.7,
    "openai": 3.5,
    "google": 3.5,
    "other": 3.5,
}
"""ASCII characters per token in mixed code and prose; Claude's tokenizer makes a third more tokens.
"""

ALPHABETIC_PER_TOKEN = 2.0
"""Letters of two UTF-8 bytes: accented Latin, Greek, Cyrillic, Hebrew, Arabic."""

IDEOGRAPHS_PER_TOKEN = 0.9
"""Three UTF-8 bytes: Chinese, Japanese, Korean, Indic, symbols."""

TOKENS_PER_EMOJI = 2.5
"""Four UTF-8 bytes."""

TOKENS_PER_IMAGE = 1_600
"""An image at the largest size vendors bill."""

TOKENS_PER_ITEM = 6
"""Overhead of a message, a call, a result or a tool."""

_NOT_ASCII = bytes(range(0x80, 0x100))
_NOT_LEAD_2 = bytes(byte for byte in range(256) if not 0xC0 <= byte <= 0xDF)
_NOT_LEAD_4 = bytes(byte for byte in range(256) if not 0xF0 <= byte <= 0xF7)


def estimate_text(text: str, family: TokenFamily) -> int:
    """Return the estimated number of tokens of ``text``, rounded up."""
    if text.isascii():
        return -int(-len(text) // ASCII_PER_TOKEN[family])
    encoded = text.encode("utf-8", "surrogatepass")
    ascii_count = len(encoded.translate(None, _NOT_ASCII))
    alphabetic = len(encoded.translate(None, _NOT_LEAD_2))
    emoji = len(encoded.translate(None, _NOT_LEAD_4))
    ideographs = len(text) - ascii_count - alphabetic - emoji
    total = (
        ascii_count / ASCII_PER_TOKEN[family]
        + alphabetic / ALPHABETIC_PER_TOKEN
        + ideographs / IDEOGRAPHS_PER_TOKEN
        + emoji * TOKENS_PER_EMOJI
    )
    return -int(-total // 1)


def estimate_request(
    system: str,
    messages: Iterable[ModelMessage],
    tools: Iterable[ToolDefinition],
    family: TokenFamily,
) -> int:
    """Return the estimated number of prompt tokens of a request."""
    return (
        estimate_text(system, family)
        + sum(estimate_message(message, family) for message in messages)
        + sum(estimate_tool(tool, family) for tool in tools)
    )


def estimate_message(message: ModelMessage, family: TokenFamily) -> int:
    """Return the estimated number of tokens of one message."""
    return TOKENS_PER_ITEM + sum(_part(part, family) for part in message.parts)


def estimate_tool(tool: ToolDefinition, family: TokenFamily) -> int:
    """Return the estimated number of tokens of a tool definition."""
    text = tool.name + tool.description + json.dumps(tool.parameters, ensure_ascii=False)
    return TOKENS_PER_ITEM + estimate_text(text, family)


def _part(part: UserPart | AssistantPart, family: TokenFamily) -> int:
    match part:
        case TextPart() | ReasoningPart():
            return estimate_text(part.text, family)
        case ImagePart():
            return TOKENS_PER_IMAGE
        case ToolCallPart():
            text = part.tool + json.dumps(part.arguments, ensure_ascii=False)
            return TOKENS_PER_ITEM + estimate_text(text, family)
        case ToolResultPart():
            return TOKENS_PER_ITEM + sum(_part(item, family) for item in part.content)
        case _:
            assert_never(part)
