"""Whole streams of all formats: what they become, and that framing and cuts change nothing.

``fixtures/NAME.sse`` (or ``.ndjson``) are bytes as servers send them, ``fixtures/NAME.events`` the
events they are. Each stream is cut at every byte and read by the whole adapter; each of its other
framings is cut at every byte and read by its framing, whose events are all that a decoder sees.
"""

from __future__ import annotations

import asyncio
import dataclasses
import re
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.catalogue.specs import ServerProfile
from jupyter_ai_shoulders.providers.base import ProviderEvent
from jupyter_ai_shoulders.providers.streaming.ndjson import NdjsonDecoder
from jupyter_ai_shoulders.providers.streaming.sse import SseDecoder
from tests.providers.adapter_fixtures import (
    FIXTURES,
    Kind,
    SequentialIds,
    answering,
    collect,
    make_endpoint,
    provider_of,
    transcript,
)
from tests.support.case_selection import sample

PROFILES: dict[str, ServerProfile] = {
    "chat_openrouter": "openrouter",
    "chat_mistral": "mistral",
    "chat_deepseek": "deepseek",
    "chat_llama_cpp": "llamacpp",
    "chat_lm_studio": "lmstudio",
    "chat_old_vllm": "vllm",
}
KINDS: dict[str, Kind] = {
    "anthropic": "anthropic",
    "chat": "openai_chat",
    "responses": "openai_responses",
    "google": "google",
    "ollama": "ollama",
}
STREAMS = {path.stem: path for path in FIXTURES.iterdir() if path.suffix in {".sse", ".ndjson"}}
NAMES = sorted(STREAMS)


class Player:
    """Plays one fixture again and again, in other pieces, over one client."""

    def __init__(self, name: str) -> None:
        kind: Kind = next(KINDS[start] for start in KINDS if name.startswith(start))
        self.whole = STREAMS[name].read_bytes()
        self._pieces: list[bytes] = []
        transport = answering(self._pieces)
        self._target = make_endpoint(kind, transport=transport, profile=PROFILES.get(name, "auto"))

    async def play(self, *pieces: bytes) -> list[ProviderEvent]:
        self._pieces[:] = pieces or [self.whole]
        fresh = dataclasses.replace(self._target, ids=SequentialIds())
        return await collect(provider_of(fresh))


@pytest.mark.parametrize("name", NAMES)
async def test_stream_becomes_these_events(name: str) -> None:
    expected = (FIXTURES / f"{name}.events").read_text("utf-8")
    assert transcript(await Player(name).play()) == expected.splitlines()


@pytest.mark.parametrize("name", NAMES)
async def test_cutting_at_every_byte_gives_the_same_events(name: str) -> None:
    player = Player(name)
    stream = player.whole
    expected = await player.play()
    for at in sample(range(1, len(stream)), 29, offset=len(stream)):
        assert await player.play(stream[:at], stream[at:]) == expected, at
    assert await player.play(*(bytes([byte]) for byte in stream)) == expected


@dataclass(frozen=True)
class Framing:
    """How the same events can be put into bytes."""

    end: str
    mark: bool
    comments: bool
    space: bool
    last_blank_line: bool
    size: int

    def pieces(self, text: str) -> list[bytes]:
        if self.comments:
            text = re.sub(r"^(data|event):", r": ping\n\1:", text, flags=re.MULTILINE)
        if not self.space:
            text = re.sub(r"^(data|event): ", r"\1:", text, flags=re.MULTILINE)
        text = (text if self.last_blank_line else text.rstrip("\n")).replace("\n", self.end)
        stream = (b"\xef\xbb\xbf" if self.mark else b"") + text.encode()
        return [stream[at : at + self.size] for at in range(0, len(stream), self.size)]


def test_each_format_has_many_different_streams() -> None:
    streams = {kind: [name for name in NAMES if name.startswith(kind)] for kind in KINDS}
    assert {kind: len(found) for kind, found in streams.items() if len(found) < 15} == {}
    assert len({path.read_bytes() for path in STREAMS.values()}) == len(STREAMS)


ENDS = ("\n", "\r\n", "\r")
REFRAMINGS = [
    Framing(end, mark, comments, space, last_blank_line, size=1)
    for end in ENDS
    for mark, comments, space, last_blank_line in (
        (True, True, True, True),
        (False, False, False, False),
    )
]
"""Every line end, plain and with everything that may be there or not."""


@pytest.mark.parametrize("name", NAMES)
def test_cutting_every_framing_at_every_byte_gives_the_same_data(name: str) -> None:
    """Two events at a time: nothing of a framing outlasts an event but its first bytes."""
    make = NdjsonDecoder if STREAMS[name].suffix == ".ndjson" else SseDecoder
    for window in windows(STREAMS[name].read_text("utf-8"), make is NdjsonDecoder):
        expected = read(make(), window.encode())
        for framing in REFRAMINGS:
            stream = b"".join(framing.pieces(window))
            assert read(make(), *(bytes([byte]) for byte in stream)) == expected, framing
            for at in sample(range(len(stream)), 9, offset=len(stream)):
                assert read(make(), stream[:at], stream[at:]) == expected, (framing, at)


def windows(text: str, by_lines: bool) -> list[str]:
    """The stream two events at a time."""
    end = "\n" if by_lines else "\n\n"
    events = [event + end for event in text.split(end) if event]
    return [first + second for first, second in pairwise([*events, ""])]


def read(framing: SseDecoder | NdjsonDecoder, *pieces: bytes) -> list[str]:
    """The data that reaches the decoder, without spaces: framings may take one from a line."""
    events = [event for piece in pieces for event in framing.feed(piece)]
    data = (re.sub(r"\s", "", event.data) for event in (*events, *framing.close()))
    return [text for text in data if text]


framings = st.builds(
    Framing,
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.booleans(),
    comments=st.booleans(),
    space=st.booleans(),
    last_blank_line=st.booleans(),
    size=st.integers(1, 200),
)


@settings(deadline=None, max_examples=60)
@given(name=st.sampled_from(NAMES), framing=framings)
def test_framing_anew_gives_the_same_events(name: str, framing: Framing) -> None:
    async def check() -> None:
        player = Player(name)
        pieces = framing.pieces(player.whole.decode())
        assert await player.play(*pieces) == await player.play()

    asyncio.run(check())
