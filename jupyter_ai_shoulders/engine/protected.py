"""Which messages a compaction may replace (chapter 04, budget); pure, for ``engine.context``.

The first message and the last three turn pairs stay as they are, everything between them becomes
one summary. Whoever replaces it logs a ``context-rebase`` with reason ``compaction``, and has the
next message tell the workspace whole again: what later messages only changed may have been told
in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.wire.parts import ModelMessage, ToolResultPart, UserMessage

PROTECTED_TURNS = 3
"""Turns at the end that are never summarised."""


def middle(messages: Sequence[ModelMessage]) -> tuple[int, int]:
    """Return where what is between the protected begins and ends; equal when nothing is.

    It begins after the first message and ends where the third turn from the end begins, so what
    follows it is a message of the user's that answers no call.
    """
    starts = [index for index, message in enumerate(messages) if begins_turn(message)]
    if len(starts) <= PROTECTED_TURNS:
        return (1, 1)
    end = starts[-PROTECTED_TURNS]
    return (1, max(end, 1))


def begins_turn(message: ModelMessage) -> bool:
    """Return whether the user speaks here without answering calls; steering does not count."""
    if not isinstance(message, UserMessage):
        return False
    return not any(isinstance(part, ToolResultPart) for part in message.parts)
