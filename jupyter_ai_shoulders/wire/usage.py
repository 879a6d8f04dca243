"""Tokens and money of one or more provider calls."""

from __future__ import annotations

from jupyter_ai_shoulders.wire.base import WireModel


class TokenUsage(WireModel):
    """Tokens of one provider call, as the provider reported them (estimated where it did not)."""

    input_tokens: int = 0
    """All prompt tokens, cached ones included."""
    output_tokens: int = 0
    """All billed output tokens, reasoning included."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False


class Cost(WireModel):
    """A price in integer micro-dollars; null means unknown and is never shown as zero."""

    micro_usd: int | None
