"""Finds the messages a compaction may replace, and replaces them (see
docs/design/engine.md#compaction). Pure.

The first message, the last three turns and the open turn stay; everything between becomes one
assistant message with the summary. Used by ``engine.transcript.messages``, which knows where turns
start, and by ``engine.request.compaction``.
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
    """The content of a ``context-rebase`` with reason ``compaction``.

    Messages are counted as sent, from 0; ``end`` is the first that stays.
    """

    start: int
    end: int
    summary: BlobHash
    model: ModelId | None
    """The author of the summary; None when it was made without a model."""


def find_compactable_range(starts: Sequence[int]) -> tuple[int, int] | None:
    """Return start and end of the replaceable range; None when all is protected.

    ``starts`` are the first messages of the turns; the last is that of the open turn.
    """
    if len(starts) <= PROTECTED_TURNS + 1:
        return None
    return (1, starts[-(PROTECTED_TURNS + 1)])


def replace_compacted_range(
    messages: Sequence[ModelMessage], start: int, end: int, summary: str
) -> list[ModelMessage]:
    """Return the messages with those from ``start`` to ``end`` replaced by a summary.

    The summary is an assistant message: the sides keep alternating, and text in it cannot pose as
    the user's. Leading results after it answer calls that are gone, so they are removed too.
    """
    said = AssistantMessage(parts=(TextPart(text=summary),))
    return [*messages[:start], said, _without_results(messages[end]), *messages[end + 1 :]]


def leading_results(message: ModelMessage) -> UserMessage | None:
    """Return the results at the start of a message, which belong to the turn before it."""
    results = tuple(part for part in message.parts if isinstance(part, ToolResultPart))
    return UserMessage(parts=results) if results else None


def _without_results(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, UserMessage) or leading_results(message) is None:
        return message
    kept = tuple(part for part in message.parts if not isinstance(part, ToolResultPart))
    return UserMessage(parts=kept or (TextPart(text="Go on."),))
