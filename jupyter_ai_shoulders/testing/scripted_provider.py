"""A scripted ``Provider``, for tests of the engine and everything above it.

Without a wire format; ``tests.simulator`` has one with sockets. A script has one entry per request:
a turn, a string (one text), or a function of the request that returns either::

    gate = Gate()
    provider = ScriptedProvider(
        turn(Think("Look first."), Call("read_notebook", {"path": "a.ipynb"})),
        turn(Say("Cell 2 "), gate, Say("is wrong.")),
        lambda request: f"You sent {len(request.messages)} messages.",
        turn(Fail(ProviderError("Overloaded", code="overloaded", retryable=True))),
    )
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from jupyter_ai_shoulders.providers.base import (
    ListedModel,
    ModelRequest,
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    Stop,
    StopReason,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
    UsageReport,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CallId, PartId
from jupyter_ai_shoulders.wire.parts import ProviderState
from jupyter_ai_shoulders.wire.usage import TokenUsage


@dataclass(frozen=True, slots=True)
class Say:
    """A text part, sent word by word."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """A reasoning part, sent word by word; ``state`` must be returned verbatim."""

    text: str
    state: ProviderState | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. String ``arguments`` are sent unchanged and reported as a problem."""

    tool: str
    arguments: JsonObject | str
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """Pauses the stream until ``open`` is set; ``reached`` is set when the stream gets here."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    open: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class Fail:
    """Raises the error."""

    error: Exception


Item = Say | Think | Call | Gate | Fail

TYPICAL_USAGE = TokenUsage(input_tokens=100, output_tokens=20)


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """One reply; ``stop`` is derived from the items if not given."""

    items: tuple[Item, ...]
    stop: StopReason | None = None
    usage: TokenUsage | None = TYPICAL_USAGE

    def stop_reason(self) -> StopReason:
        """Return the given stop reason, else the one a provider would send for these items."""
        if self.stop is not None:
            return self.stop
        calls = any(isinstance(item, Call) for item in self.items)
        return "tool_use" if calls else "end_turn"


ScriptEntry = ScriptedTurn | str | Callable[[ModelRequest], ScriptedTurn | str]


def turn(
    *items: Item, stop: StopReason | None = None, usage: TokenUsage | None = TYPICAL_USAGE
) -> ScriptedTurn:
    """Return a turn of these items."""
    return ScriptedTurn(items, stop, usage)


class ScriptExhausted(AssertionError):
    """There were more requests than script entries."""


class ScriptedProvider:
    """Plays one entry per request and records the requests.

    ``requests`` are the requests so far; ``finished`` counts the streams that ended with their
    ``Stop``, ``closed_early`` those that were closed or cancelled before.
    """

    def __init__(self, *entries: ScriptEntry, models: tuple[str, ...] = ("scripted",)) -> None:
        self.requests: list[ModelRequest] = []
        self.finished = 0
        self.closed_early = 0
        self.closed = False
        self._entries = list(entries)
        self._models = models
        self._numbers = itertools.count(1)

    def extend(self, *entries: ScriptEntry) -> None:
        """Append entries to the script."""
        self._entries.extend(entries)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ProviderEvent]:
        """Play the next entry."""
        self.requests.append(request)
        reply = self._next_turn(request)
        done = False
        try:
            for item in reply.items:
                async for event in self._play(item):
                    await asyncio.sleep(0)
                    yield event
            if reply.usage is not None:
                yield UsageReport(reply.usage)
            done = True
            self.finished += 1
            yield Stop(reply.stop_reason())
        finally:
            if not done:
                self.closed_early += 1

    async def list_models(self) -> list[ListedModel]:
        """Return the given models."""
        return [ListedModel(name) for name in self._models]

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return None, so that callers estimate."""

    async def aclose(self) -> None:
        self.closed = True

    def _next_turn(self, request: ModelRequest) -> ScriptedTurn:
        if not self._entries:
            raise ScriptExhausted(f"Request {len(self.requests)} came, but the script has ended.")
        entry = self._entries.pop(0)
        reply = entry if isinstance(entry, (ScriptedTurn, str)) else entry(request)
        return turn(Say(reply)) if isinstance(reply, str) else reply

    async def _play(self, item: Item) -> AsyncIterator[ProviderEvent]:
        match item:
            case Say() | Think():
                for event in self._part(item):
                    yield event
            case Call():
                for event in self._call(item):
                    yield event
            case Gate():
                item.reached.set()
                await item.open.wait()
            case Fail():
                raise item.error
            case _:
                assert_never(item)

    def _part(self, item: Say | Think) -> Iterator[ProviderEvent]:
        part_id = PartId(f"part_{next(self._numbers)}")
        yield PartStart("text" if isinstance(item, Say) else "reasoning", part_id)
        for piece in split_words(item.text):
            yield PartDelta(part_id, piece)
        yield PartEnd(part_id, item.state if isinstance(item, Think) else None)

    def _call(self, item: Call) -> Iterator[ProviderEvent]:
        call_id = CallId(item.call_id or f"call_{next(self._numbers)}")
        raw = item.arguments if isinstance(item.arguments, str) else json.dumps(item.arguments)
        yield ToolCallStart(call_id, item.tool)
        half = len(raw) // 2
        yield ToolArgumentsDelta(call_id, raw[:half])
        yield ToolArgumentsDelta(call_id, raw[half:])
        if isinstance(item.arguments, str):
            yield ToolCallReady(
                call_id, item.tool, None, raw, "The arguments are not a JSON object."
            )
        else:
            yield ToolCallReady(call_id, item.tool, item.arguments, raw)


def split_words(text: str) -> list[str]:
    """Split text into words with their trailing space; joined they are the text again."""
    return re.findall(r"\s*\S+\s?|\s+", text)
