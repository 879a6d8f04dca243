"""Prices of models and cost arithmetic, in integer micro-dollars.

Used by the catalogue, by ``engine`` for each step and by the ledger.
"""

from __future__ import annotations

from datetime import date

from pydantic import BaseModel, ConfigDict, Field

from jupyter_ai_shoulders.wire.usage import TokenUsage

TOKENS_PER_PRICE = 1_000_000
"""Number of tokens a price applies to, as in every provider's list."""


class PriceRow(BaseModel):
    """Micro-dollars per million tokens; null where unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    input: int | None = Field(default=None, ge=0)
    output: int | None = Field(default=None, ge=0)
    cache_read: int | None = Field(default=None, ge=0)
    """Null: cached tokens are billed as input."""
    cache_write: int | None = Field(default=None, ge=0)
    """Null: tokens written to the cache are billed as input."""


class PriceTier(PriceRow):
    """Prices of the whole request when its prompt is longer than ``above`` tokens."""

    above: int = Field(gt=0)


class PriceChange(PriceRow):
    """Announced prices that apply from ``since`` on (UTC)."""

    since: date
    tiers: tuple[PriceTier, ...] = ()


class PriceTable(PriceRow):
    """A model's prices, with their source and the date they were read."""

    tiers: tuple[PriceTier, ...] = ()
    changes: tuple[PriceChange, ...] = ()
    """See ``prices_on``; ``cost_micro_usd`` ignores them."""
    source: str | None = None
    checked: str | None = None
    """ISO date when ``source`` was last checked."""


def cost_micro_usd(usage: TokenUsage, prices: PriceTable | None) -> int | None:
    """Return the cost of a call in micro-dollars, rounded half up; None when unknown.

    Tiers apply to the whole request. A missing input or output price makes the cost unknown, not 0,
    if such a token was used.
    """
    if prices is None:
        return None
    row = price_row(usage.input_tokens, prices)
    plain = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
    amounts = (
        (max(plain, 0), row.input),
        (usage.cache_read_tokens, _either(row.cache_read, row.input)),
        (usage.cache_write_tokens, _either(row.cache_write, row.input)),
        (usage.output_tokens, row.output),
    )
    total = 0
    for tokens, price in amounts:
        if tokens and price is None:
            return None
        total += tokens * (price or 0)
    return (total + TOKENS_PER_PRICE // 2) // TOKENS_PER_PRICE


def price_row(prompt_tokens: int, prices: PriceTable) -> PriceRow:
    """Return the prices for a prompt of this length."""
    reached = [tier for tier in prices.tiers if prompt_tokens > tier.above]
    return max(reached, key=lambda tier: tier.above) if reached else prices


def prices_on(table: PriceTable, day: date) -> PriceTable:
    """Return the prices of a day, with later changes."""
    past = [change for change in table.changes if change.since <= day]
    if not past:
        return table
    latest = max(past, key=lambda change: change.since)
    to_come = tuple(change for change in table.changes if change.since > day)
    row = {name: getattr(latest, name) for name in PriceRow.model_fields}
    return table.model_copy(update={**row, "tiers": latest.tiers, "changes": to_come})


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first
