"""Assembles vendor ids and fragments into parts and calls; used by all decoders.

A decoder calls one method per vendor event and yields the returned events. Guarantees: parts never
interleave, empty text makes no part, call ids are unique in the conversation, arguments are
validated, split surrogate pairs are joined.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from pydantic_core import from_json

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    StopReason,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CallId, PartId
from jupyter_ai_shoulders.wire.parts import AssistantMessage, ProviderState, ToolCallPart

DEEPEST_ARGUMENTS = 64
"""Levels of nesting accepted in tool arguments."""

CUT_OFF = "The arguments are missing: the answer was cut off at the output limit."

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIGH_AT_END = re.compile("[\ud800-\udbff]\\Z")

PartKind = Literal["text", "reasoning"]


@dataclass(slots=True)
class _OpenPart:
    kind: PartKind
    id: PartId
    text: _Joiner


@dataclass(slots=True)
class _Call:
    id: CallId
    tool: str
    text: _Joiner
    pieces: list[str] = field(default_factory=list[str])
    state: ProviderState | None = None


class Assembler:
    """The parts and calls of one reply."""

    def __init__(self, ids: IdSource, taken: Collection[CallId] = ()) -> None:
        """``taken`` are the call ids already used in the conversation."""
        self._ids = ids
        self._taken = set(taken)
        self._part: _OpenPart | None = None
        self._calls: dict[Hashable, _Call] = {}
        self._waiting: _Call | None = None
        self.any_calls = False

    def delta(self, kind: PartKind, text: str) -> Iterator[ProviderEvent]:
        """Add text to the open part of this kind; opens and closes parts as needed."""
        if not text:
            return
        if self._part is None or self._part.kind != kind:
            yield from self.start_part(kind)
        part = cast("_OpenPart", self._part)
        whole = part.text.push(text)
        if whole:
            yield PartDelta(part.id, whole)

    def start_part(self, kind: PartKind) -> Iterator[ProviderEvent]:
        """Open a part, even if no text follows."""
        yield from self.end_part()
        yield from self._settle(None)
        self._part = _OpenPart(kind, PartId(self._ids.new("part")), _Joiner())
        yield PartStart(kind, self._part.id)

    def end_part(self, state: ProviderState | None = None) -> Iterator[ProviderEvent]:
        """Close the open part, if there is one."""
        part, self._part = self._part, None
        if part is None:
            return
        rest = part.text.finish()
        if rest:
            yield PartDelta(part.id, rest)
        yield PartEnd(part.id, state)

    @property
    def open_kind(self) -> PartKind | None:
        """The kind of the open part."""
        return None if self._part is None else self._part.kind

    def start_call(self, key: Hashable, vendor_id: str, tool: str) -> Iterator[ProviderEvent]:
        """Begin a call; ``key`` identifies it in the vendor's fragments."""
        yield from self.end_part()
        yield from self._settle(None)
        call = _Call(self._call_id(vendor_id), tool, _Joiner())
        self._calls[key] = call
        self.any_calls = True
        yield ToolCallStart(call.id, tool)

    def arguments(self, key: Hashable, text: str) -> Iterator[ProviderEvent]:
        """Add a piece of a call's argument text; pieces of an unknown call are dropped."""
        call = self._calls.get(key)
        whole = "" if call is None else call.text.push(text)
        if call is not None and whole:
            call.pieces.append(whole)
            yield ToolArgumentsDelta(call.id, whole)

    def set_state(self, key: Hashable, state: ProviderState) -> None:
        """Set the opaque state of a call."""
        call = self._calls.get(key)
        if call is not None:
            call.state = state

    def end_call(self, key: Hashable) -> Iterator[ProviderEvent]:
        """Complete a call.

        A call without arguments is held back until it is certain that it was not cut off.
        """
        call = self._calls.pop(key, None)
        if call is None:
            return
        yield from self._settle(None)
        rest = call.text.finish()
        if rest:
            call.pieces.append(rest)
        if "".join(call.pieces).strip():
            yield _ready(call, None)
        else:
            self._waiting = call

    def finish(self, reason: StopReason) -> Iterator[ProviderEvent]:
        """Close all open parts and calls; the reply ended for this reason."""
        yield from self.end_part()
        for key in list(self._calls):
            yield from self.end_call(key)
        yield from self._settle(CUT_OFF if reason == "max_tokens" else None)

    def _settle(self, problem: str | None) -> Iterator[ProviderEvent]:
        call, self._waiting = self._waiting, None
        if call is not None:
            yield _ready(call, problem)

    def _call_id(self, vendor_id: str) -> CallId:
        call_id = CallId(vendor_id)
        if not vendor_id or call_id in self._taken:
            call_id = CallId(self._ids.new("call"))
        self._taken.add(call_id)
        return call_id


def used_call_ids(request: ModelRequest) -> frozenset[CallId]:
    """Return the call ids used in the conversation: some servers restart them in each reply."""
    return frozenset(
        part.call_id
        for message in request.messages
        if isinstance(message, AssistantMessage)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    )


def parse_arguments(raw: str) -> tuple[JsonObject | None, str | None]:
    """Return the arguments, or None and the problem; empty text means ``{}``."""
    if not raw.strip():
        return {}, None
    try:
        value = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        return None, f"The arguments are not valid JSON: {error}."
    if not isinstance(value, dict):
        return None, "The arguments must be a JSON object."
    if _deeper_than(value, DEEPEST_ARGUMENTS):
        return None, f"The arguments are nested more than {DEEPEST_ARGUMENTS} levels deep."
    return cast("JsonObject", value), None


def _ready(call: _Call, problem: str | None) -> ToolCallReady:
    raw = "".join(call.pieces)
    arguments = None
    if problem is None:
        arguments, problem = parse_arguments(raw)
    return ToolCallReady(call.id, call.tool, arguments, raw, problem, call.state)


def _deeper_than(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        inner = list(cast("dict[str, Any]", value).values())
    elif isinstance(value, list):
        inner = cast("list[Any]", value)
    else:
        return False
    return levels == 0 or any(_deeper_than(item, levels - 1) for item in inner)


class _Joiner:
    """Joins split surrogate pairs; lone halves become U+FFFD."""

    __slots__ = ("_half",)

    def __init__(self) -> None:
        self._half = ""

    def push(self, text: str) -> str:
        """Return the complete text so far."""
        if self._half:
            text, self._half = self._half + text, ""
        if text.isascii() or not _SURROGATE.search(text):
            return text
        if _HIGH_AT_END.search(text):
            text, self._half = text[:-1], text[-1]
        return _whole(text)

    def finish(self) -> str:
        """Return the rest."""
        rest, self._half = self._half, ""
        return _whole(rest)


def _whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
