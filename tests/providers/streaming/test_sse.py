"""Server-sent events from bytes cut anywhere."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.providers.streaming.ndjson import NdjsonDecoder
from jupyter_ai_shoulders.providers.streaming.sse import (
    LineSplitter,
    LineTooLong,
    ServerSentEvent,
    SseDecoder,
)


def decode(*chunks: bytes) -> list[ServerSentEvent]:
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.close()


def event(data: str, name: str = "") -> ServerSentEvent:
    return ServerSentEvent(name, data)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(b"data: a\n\n", [event("a")], id="LF"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", [event("a"), event("b")], id="CRLF"),
        pytest.param(b"data: a\r\rdata: b\r\r", [event("a"), event("b")], id="CR"),
        pytest.param(b"data:a\n\n", [event("a")], id="no space"),
        pytest.param(b"data:  a\n\n", [event(" a")], id="only one space is dropped"),
        pytest.param(b"data: a\ndata: b\n\n", [event("a\nb")], id="several data lines"),
        pytest.param(b"event: x\ndata: a\n\ndata: b\n\n", [event("a", "x"), event("b")], id="name"),
        pytest.param(b": hello\n\n: again\ndata: a\n\n", [event("a")], id="comments"),
        pytest.param(b"id: 7\nretry: 100\ndata: a\n\n", [event("a")], id="id and retry"),
        pytest.param(b"event: x\n\ndata: a\n\n", [event("a")], id="name without data is dropped"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [event("a")], id="byte-order mark"),
        pytest.param(b"data: a\n", [event("a")], id="final blank line missing"),
        pytest.param(b"data: a", [event("a")], id="final line end missing"),
        pytest.param(b"\n\n\n", [], id="blank lines"),
        pytest.param(b"", [], id="nothing"),
        pytest.param(
            "data: a\u2028b\u0085c\x0bd\n\n".encode(), [event("a\u2028b\u0085c\x0bd")], id="U+2028"
        ),
        pytest.param(b"data: \xff\n\n", [event("\ufffd")], id="invalid UTF-8"),
        pytest.param(b"data\n\n", [event("")], id="field without colon"),
        pytest.param(b"database: x\n\n", [], id="another field"),
        pytest.param(b'data: a\n\n{"error": 1}\n', [event("a"), event('{"error": 1}')], id="JSON"),
        pytest.param(
            b'[{\n  "error": {\n    "code": 429\n  }\n}\n]\n\ndata: a\n\n',
            [event('[{\n  "error": {\n    "code": 429\n  }\n}\n]'), event("a")],
            id="JSON of many lines",
        ),
        pytest.param(b'{"error": "{"\n}\n', [event('{"error": "{"\n}')], id="odd brackets"),
        pytest.param(b'{"error": \n "x', [event('{"error": \n "x')], id="cut JSON"),
        pytest.param(b"{x}\ndata: a\n\n", [event("a")], id="brackets that are no JSON"),
    ],
)
def test_decoder_reads(stream: bytes, expected: list[ServerSentEvent]) -> None:
    assert decode(stream) == expected
    assert decode(*(bytes([byte]) for byte in stream)) == expected


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(b'{"a":1}\n{"b":2}\n', [event('{"a":1}'), event('{"b":2}')], id="lines"),
        pytest.param(b"\xef\xbb\xbf{}\r\n\r\n[]\r", [event("{}"), event("[]")], id="CR and mark"),
        pytest.param(b'{"a":1}\n{"b"', [event('{"a":1}'), event('{"b"')], id="final line end"),
        pytest.param('{"é":"\u2028"}\n'.encode(), [event('{"é":"\u2028"}')], id="U+2028"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_lines_of_json_are_read(stream: bytes, expected: list[ServerSentEvent]) -> None:
    for pieces in ([stream], [bytes([byte]) for byte in stream]):
        decoder = NdjsonDecoder()
        found = [event for piece in pieces for event in decoder.feed(piece)]
        assert found + decoder.close() == expected


def test_json_of_many_lines_is_bounded() -> None:
    decoder = SseDecoder(limit=100)
    with pytest.raises(LineTooLong):
        decoder.feed(b"{\n" * 100)


texts = st.text(alphabet="ab:é日😀\u2028 ", max_size=8)
names = st.text(alphabet="abc", max_size=3)
line_ends = st.sampled_from(["\n", "\r\n", "\r"])


@given(
    events=st.lists(st.tuples(names, st.lists(texts, min_size=1, max_size=3)), max_size=5),
    end=line_ends,
    mark=st.booleans(),
    comments=st.booleans(),
    cuts=st.lists(st.integers(0, 400), max_size=6),
)
def test_framing_and_cuts_change_nothing(
    events: list[tuple[str, list[str]]], end: str, mark: bool, comments: bool, cuts: list[int]
) -> None:
    text = ""
    for name, lines in events:
        text += f": ping{end}" if comments else ""
        text += f"event: {name}{end}" if name else ""
        text += "".join(f"data: {line}{end}" for line in lines) + end
    stream = (b"\xef\xbb\xbf" if mark else b"") + text.encode()
    places = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    chunks = [stream[a:b] for a, b in itertools.pairwise(places)]
    assert decode(*chunks) == [event("\n".join(lines), name) for name, lines in events]


def test_long_line_is_refused_as_it_grows() -> None:
    splitter = LineSplitter(limit=10)
    assert splitter.feed(b"0123456789\nabc") == [b"0123456789"]
    with pytest.raises(LineTooLong, match="10 bytes"):
        splitter.feed(b"defghijk")


def test_event_of_many_lines_is_bounded() -> None:
    decoder = SseDecoder(limit=20)
    decoder.feed(b"data: abcde\n" * 3)
    with pytest.raises(LineTooLong):
        decoder.feed(b"data: abcde\n")


def test_trickle_of_a_long_line_takes_linear_time() -> None:
    splitter = LineSplitter()
    for _ in range(200_000):
        splitter.feed(b"x")
    assert splitter.feed(b"\n") == [b"x" * 200_000]
