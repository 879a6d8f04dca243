"""Tests of whether and how long to wait before a retry."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.http.retry_policy import (
    MAX_WAIT_MS,
    delay_ms,
    requested_wait_ms,
    should_retry,
)
from tests.providers.adapter_fixtures import NOW


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (408, {}, True),
        (409, {}, True),
        (429, {}, True),
        (500, {}, True),
        (503, {}, True),
        (529, {}, True),
        (400, {}, False),
        (401, {}, False),
        (402, {}, False),
        (404, {}, False),
        (200, {}, False),
        (400, {"x-should-retry": "true"}, True),
        (500, {"x-should-retry": "false"}, False),
        (500, {"x-should-retry": "maybe"}, True),
    ],
)
def test_status_and_header_decide(status: int, headers: dict[str, str], expected: bool) -> None:
    assert should_retry(status, headers) is expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after-ms": "250"}, 250),
        ({"retry-after-ms": "250", "retry-after": "9"}, 250),
        ({"retry-after": "2"}, 2000),
        ({"retry-after": "0.25"}, 250),
        ({"retry-after": "0"}, 0),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90))}, 90_000),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90))}, 0),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:05 -0000"}, 5000),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_wait_asked_for(headers: dict[str, str], expected: int | None) -> None:
    assert requested_wait_ms(headers, NOW) == expected


@pytest.mark.parametrize(("attempt", "longest"), [(1, 500), (2, 1000), (5, 8000), (90, 8000)])
@given(seed=st.integers())
def test_own_delay_doubles_with_jitter_up_to_a_cap(attempt: int, longest: int, seed: int) -> None:
    delay = delay_ms(attempt, ProviderError("Overloaded"), Random(seed))
    assert longest * 0.75 <= delay <= longest


def test_asked_delay_wins_and_is_capped() -> None:
    short, long = ProviderError("", retry_after_ms=123), ProviderError("", retry_after_ms=10**9)
    assert delay_ms(3, short, Random(0)) == 123
    assert delay_ms(3, long, Random(0)) == MAX_WAIT_MS
