"""What is asked of whoever summarises a conversation, and what comes back: plain values.

The engine asks (``engine.request.compaction``), ``assist.summaries`` answers; ``host`` brings them
together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.wire.ids import ModelId

CompactionMode = Literal["auto", "ask", "off"]
"""What happens when a conversation outgrows its model: it is summarised, the user is asked
first, or the turn ends (chapter 04, budget)."""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A part of a conversation that is to be summarised."""

    pieces: tuple[str, ...]
    """What was said and done, oldest first, long results shortened."""
    previous: str | None
    """The summary of what went before them."""
    turn_model: ModelId
    """The model of the conversation, which tells who may read it."""
    account: UsageAccount
    limit: int
    """Characters the summary may have."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, and the model that wrote it."""

    text: str
    model: ModelId
