"""Cost in integer micro-dollars."""

from __future__ import annotations

from datetime import date

import pytest

from jupyter_ai_shoulders.core.catalogue.prices import (
    PriceChange,
    PriceRow,
    PriceTable,
    PriceTier,
    cost_micro_usd,
    prices_on,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage

HAIKU = PriceTable(
    input=100_000,
    output=500_000,
    cache_read=10_000,
    cache_write=125_000,
    tiers=(
        PriceTier(
            above=100_000, input=500_000, output=2_500_000, cache_read=50_000, cache_write=625_000
        ),
    ),
)


def usage(prompt: int = 0, output: int = 0, read: int = 0, write: int = 0) -> TokenUsage:
    return TokenUsage(
        input_tokens=prompt, output_tokens=output, cache_read_tokens=read, cache_write_tokens=write
    )


@pytest.mark.parametrize(
    ("used", "prices", "expected"),
    [
        pytest.param(usage(1_000_000, 0), PriceTable(input=4_000_000), 4_000_000, id="input"),
        pytest.param(usage(10_000, 1_000), HAIKU, 1_500, id="input and output"),
        pytest.param(usage(10_000, 0, 9_000, 500), HAIKU, 203, id="cache: 50 + 90 + 62.5, half up"),
        pytest.param(usage(100_000, 0), HAIKU, 10_000, id="at the tier's edge"),
        pytest.param(usage(100_001, 0), HAIKU, 50_001, id="beyond it, the whole request"),
        pytest.param(usage(1, 0), HAIKU, 0, id="less than half a micro-dollar"),
        pytest.param(usage(5, 0), HAIKU, 1, id="half a micro-dollar"),
        pytest.param(usage(10, 10), None, None, id="no prices"),
        pytest.param(usage(10, 10), PriceTable(input=1), None, id="output unknown"),
        pytest.param(usage(10, 0), PriceTable(input=0), 0, id="output unknown, none used"),
        pytest.param(usage(), PriceTable(), 0, id="nothing used"),
        pytest.param(usage(10, 10), PriceTable(input=0, output=0), 0, id="free"),
        pytest.param(
            usage(1_000_000, 0, 400_000, 100_000),
            PriceTable(input=1_000_000, output=0),
            1_000_000,
            id="cache without prices is input",
        ),
    ],
)
def test_cost(used: TokenUsage, prices: PriceTable | None, expected: int | None) -> None:
    assert cost_micro_usd(used, prices) == expected


ANNOUNCED = PriceTable(
    input=2_000_000,
    output=10_000_000,
    tiers=(PriceTier(above=10, input=1, output=1),),
    changes=(
        PriceChange(since=date(2027, 1, 1), input=8_000_000, output=9),
        PriceChange(since=date(2026, 12, 1), input=4_000_000, output=20_000_000, cache_read=5),
    ),
    source="a list",
)


@pytest.mark.parametrize(
    ("day", "row", "left"),
    [
        (date(2026, 11, 30), (2_000_000, 10_000_000, None), 2),
        (date(2026, 12, 1), (4_000_000, 20_000_000, 5), 1),
        (date(2030, 1, 1), (8_000_000, 9, None), 0),
    ],
)
def test_announced_prices_hold_from_their_day_on(
    day: date, row: tuple[int | None, ...], left: int
) -> None:
    found = prices_on(ANNOUNCED, day)
    assert (found.input, found.output, found.cache_read) == row
    assert (len(found.changes), found.source) == (left, "a list")
    assert bool(found.tiers) == (left == 2)


def test_unknown_fields_of_a_price_are_refused() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        PriceRow.model_validate({"inputs": 3})
