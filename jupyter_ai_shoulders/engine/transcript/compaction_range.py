"""Which messages a compaction may replace, and by what (chapter 04, budget). Pure.

The first message and the last three turns stay as they are, and so does the turn that is open;
everything between becomes one message of the model's that holds the summary. Used by
``engine.transcript.messages``, which knows where turns begin, and by ``engine.request.compaction``.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.ids import BlobHash, ModelId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ModelMessage,
    TextPart,
    ToolResultPart,
    UserMessage,
)

PROTECTED_TURNS = 3
"""Turns before the open one that are never summarised."""


class CompactionRecord(WireModel):
    """What a ``context-rebase`` with reason ``compaction`` says: which messages, by what.

    Messages are counted as they were sent, from 0; ``end`` is the first that stays.
    """

    start: int
    end: int
    summary: BlobHash
    model: ModelId | None
    """Who wrote the summary; None when it was made without a model."""


def find_compactable_range(starts: Sequence[int]) -> tuple[int, int] | None:
    """Return where what may be replaced begins and ends; None when all is protected.

    ``starts`` are the messages that turns begin with, the last one being the open turn's.
    """
    if len(starts) <= PROTECTED_TURNS + 1:
        return None
    return (1, starts[-(PROTECTED_TURNS + 1)])


def replace_compacted_range(
    messages: Sequence[ModelMessage], start: int, end: int, summary: str
) -> list[ModelMessage]:
    """Return the messages with a summary in the place of those from ``start`` to ``end``.

    It stands on the model's side, which keeps the sides alternating, and keeps anybody's words
    that found their way into it from being the user's. Results at the beginning of what follows
    answer calls that are gone, so they go too.
    """
    said = AssistantMessage(parts=(TextPart(text=summary),))
    return [*messages[:start], said, _without_results(messages[end]), *messages[end + 1 :]]


def leading_results(message: ModelMessage) -> UserMessage | None:
    """Return the results a message begins with, which belong to the turn before it."""
    results = tuple(part for part in message.parts if isinstance(part, ToolResultPart))
    return UserMessage(parts=results) if results else None


def _without_results(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, UserMessage) or leading_results(message) is None:
        return message
    kept = tuple(part for part in message.parts if not isinstance(part, ToolResultPart))
    return UserMessage(parts=kept or (TextPart(text="Go on."),))
