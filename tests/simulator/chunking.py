"""Text chunks, token estimates and identifiers, shared by the formats' replies and endpoints."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from jupyter_ai_shoulders.testing.scripted_provider import split_words
from tests.simulator.script import Reasoning, Reply, Text, ToolUse, Usage

CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class Counter:
    """Numbers for identifiers, so that a run is the same every time."""

    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def new(self, prefix: str) -> str:
        """Return the next identifier."""
        return f"{prefix}{next(self._numbers):08d}"


def cut(text: str, split: Literal["words", "whole"] | int) -> list[str]:
    """Return the deltas of a text; joined they are the text."""
    match split:
        case "words":
            return split_words(text)
        case "whole":
            return [text] if text else []
        case _:
            return [text[start : start + split] for start in range(0, len(text), split)]


def arguments_text(part: ToolUse) -> str:
    """Return the arguments as the model wrote them."""
    return part.arguments if isinstance(part.arguments, str) else json.dumps(part.arguments)


def estimate(text_length: int) -> int:
    """Return a token count for so many characters."""
    return max(1, text_length // CHARACTERS_PER_TOKEN)


def usage_of(reply: Reply, request_length: int) -> Usage:
    """Return the usage scripted, else an estimate from the sizes."""
    if reply.usage is not None:
        return reply.usage
    return Usage(input=estimate(request_length), output=estimate(parts_length(reply.parts)))


def parts_length(parts: Sequence[Text | Reasoning | ToolUse]) -> int:
    """Return how many characters an answer has."""
    return sum(
        len(arguments_text(part)) if isinstance(part, ToolUse) else len(part.text) for part in parts
    )
