"""Finds the largest parts of a request, so that the user knows what to remove.

Used by ``engine.request.builder`` and ``engine.request.compaction`` for the error
``context_overflow``. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from jupyter_ai_shoulders.core.catalogue.specs import TokenFamily
from jupyter_ai_shoulders.core.token_estimates import estimate_message, estimate_text, estimate_tool
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ImagePart,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
    UserPart,
)

MOST_NAMED = 3
_SMALL = 0.05
"""Share of a request below which a part is not named."""
_QUOTED = 40
_ATTACHED = re.compile(r"\[attached ([^\]\n]*)")
_NAMES = {
    "<workspace>": "what was told of the workspace",
    "<data ": "what was told of the workspace",
    "<instructions>": "instructions",
    "<skill ": "skills",
    "<selection": "the selection",
}

Sized = tuple[str, int]
"""A name and its tokens."""


def find_largest_parts(
    system: str,
    messages: tuple[ModelMessage, ...],
    tools: tuple[ToolDefinition, ...],
    family: TokenFamily,
) -> tuple[Sized, ...]:
    """Return the largest parts of a request with their estimated tokens, largest first."""
    sizes: Counter[str] = Counter()
    sizes["the system prompt and instructions"] = estimate_text(system, family)
    sizes["the definitions of tools"] = sum(estimate_tool(tool, family) for tool in tools)
    labels = _labels(messages)
    for message in messages:
        for name, tokens in _sizes(message, labels, family):
            sizes[name] += tokens
    least = sum(sizes.values()) * _SMALL
    return tuple(item for item in sizes.most_common(MOST_NAMED) if item[1] >= least)


def _labels(messages: tuple[ModelMessage, ...]) -> dict[str, str]:
    """Return the subject of each call, by call id."""
    labels: dict[str, str] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                path = part.arguments.get("path")
                on = f" of {path}" if isinstance(path, str) else ""
                labels[part.call_id] = f"results of {part.tool}{on}"
    return labels


def _sizes(
    message: ModelMessage, labels: Mapping[str, str], family: TokenFamily
) -> Iterator[Sized]:
    if isinstance(message, AssistantMessage):
        yield "the model's answers", estimate_message(message, family)
        return
    last = ""
    for part in message.parts:
        last = _name(part, labels, last)
        yield last, estimate_message(UserMessage(parts=(part,)), family)


def _name(part: UserPart, labels: Mapping[str, str], last: str) -> str:
    match part:
        case ToolResultPart():
            return labels.get(part.call_id, f"results of {part.tool}")
        case ImagePart():
            return last if last.startswith("attached ") else "images"
        case TextPart():
            return _name_of_text(part.text)


def _name_of_text(text: str) -> str:
    attached = _ATTACHED.match(text)
    if attached is not None:
        return f"attached {attached[1].split(';')[0]}"
    for beginning, name in _NAMES.items():
        if text.startswith(beginning):
            return name
    line = " ".join(text[:200].split())
    quoted = line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…"
    return f"the message “{quoted}”"
