"""How long texts are cut and paged: the limits hold, and nothing is lost on the way."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.tools.read_output import read_page
from jupyter_ai_shoulders.tools.truncation import (
    BYTE_LIMIT,
    LINE_LIMIT,
    fits_limits,
    take_head,
    take_tail,
    truncate,
    truncation_bounds,
)

HANDLE = "0123456789abcdef" * 4
lines = st.text(alphabet="aé漢😀\ud800 ", max_size=20)
pieces = st.tuples(lines, st.integers(1, 6_000), st.sampled_from(["\n", "\r\n", ""]))
texts = st.lists(pieces, max_size=3).map(
    lambda parts: "".join(f"{line}{end}" * count for line, count, end in parts)
)


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@given(text=texts)
def test_digest_keeps_the_limits_and_both_ends(text: str):
    cut = truncate(text, HANDLE)
    assert fits_limits(cut)
    assert len(cut.splitlines()) <= LINE_LIMIT
    assert size(cut) <= BYTE_LIMIT
    if fits_limits(text):
        assert cut == text
    else:
        ends = truncation_bounds(text)
        head, tail = text[: ends.head_end], text[ends.tail_start :]
        assert 0 < ends.head_end < ends.tail_start < len(text)
        assert cut.startswith(head.removesuffix("\n"))
        assert cut.endswith(tail)
        assert f'"offset": {ends.head_end}}}' in cut


@given(text=texts, count=st.integers(1, 50), limit=st.integers(4, 300))
def test_ends_are_whole_characters_within_their_limits(text: str, count: int, limit: int):
    for kept, at_end in (
        (take_head(text, count, limit), False),
        (take_tail(text, count, limit), True),
    ):
        assert text.endswith(kept) if at_end else text.startswith(kept)
        assert size(kept) <= limit
        assert len(kept.splitlines()) <= count


@given(text=texts)
def test_pages_joined_are_the_text(text: str):
    offset, found = 0, list[str]()
    for _ in range(1_000):
        page = read_page(text, offset)
        found.append(page.text)
        assert page.first_line == text.count("\n", 0, offset) + 1
        assert page.total_characters == len(text)
        if page.next_offset is None:
            break
        assert page.next_offset > offset
        offset = page.next_offset
    assert "".join(found) == text


def test_pages_begin_where_lines_do():
    text = "".join(f"line {number}\n" for number in range(10_000))
    offsets = [0]
    while (after := read_page(text, offsets[-1]).next_offset) is not None:
        offsets.append(after)
    assert len(offsets) == 6
    assert all(text[offset - 1] == "\n" for offset in offsets[1:])
    pages = [read_page(text, offset) for offset in offsets]
    assert [page.last_line + 1 for page in pages[:-1]] == [page.first_line for page in pages[1:]]
    assert all(first.end == second.offset for first, second in itertools.pairwise(pages))


@pytest.mark.parametrize("text", ["", "one line", "one line\n"])
def test_short_text_is_one_page(text: str):
    page = read_page(text, 0)
    assert (page.text, page.next_offset, page.first_line, page.last_line) == (text, None, 1, 1)
    assert page.total_lines == 1
