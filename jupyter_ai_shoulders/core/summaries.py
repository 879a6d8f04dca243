"""Requests and results of summaries of a conversation, as plain values.

``engine.request.compaction`` asks, ``assist.summaries`` answers; ``host`` connects them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.wire.ids import ModelId

CompactionMode = Literal["auto", "ask", "off"]
"""The reaction to a conversation that outgrows its model: summarise it, ask the user first, or end
the turn.
"""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A part of a conversation to summarise."""

    pieces: tuple[str, ...]
    """Messages and results, oldest first, long results shortened."""
    previous: str | None
    """The summary of the part before."""
    turn_model: ModelId
    """The model of the conversation, which determines the providers that may read it."""
    account: UsageAccount
    limit: int
    """Maximum length of the summary in characters."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, and the model that wrote it."""

    text: str
    model: ModelId
