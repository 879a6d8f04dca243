"""Decodes the events of a Responses stream into the common ones, one method per event type.

Unknown events and items are ignored. The final item of ``output_item.done`` is authoritative; only
text is taken from deltas. Items are identified by ``output_index``, as gateways change ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from jupyter_ai_shoulders.providers.base import ProviderEvent, Stop, StopReason, UsageReport
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import ReadRefusal, StreamErrorEvent
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)
from jupyter_ai_shoulders.wire.parts import ProviderState
from jupyter_ai_shoulders.wire.usage import TokenUsage

INCOMPLETE: Mapping[str, StopReason] = {
    "max_output_tokens": "max_tokens",
    "content_filter": "content_filter",
}
PARAGRAPH = "\n\n"
"""Separates the parts of a reasoning summary."""

Key = int | str


@dataclass(slots=True)
class _Item:
    """An open item. ``shown``: some of its text came in deltas."""

    kind: str
    shown: bool = False
    parts: int = 0


class ResponsesDecoder:
    """Decodes one stream."""

    def __init__(self, assembler: Assembler, endpoint: Endpoint, read_refusal: ReadRefusal) -> None:
        self._assembler = assembler
        self._endpoint = endpoint
        self._read_refusal = read_refusal
        self._open: dict[Key, _Item] = {}
        self._any_items = False
        self._refused = False
        self._events: Mapping[str, Callable[[VendorObject], Iterable[ProviderEvent]]] = {
            "response.output_item.added": self._item_added,
            "response.output_item.done": self._item_done,
            "response.output_text.delta": self._text_delta,
            "response.refusal.delta": self._refusal_delta,
            "response.reasoning_summary_part.added": self._summary_part,
            "response.reasoning_summary_text.delta": self._reasoning_delta,
            "response.reasoning_text.delta": self._reasoning_delta,
            "response.function_call_arguments.delta": self._arguments_delta,
            "response.function_call_arguments.done": self._arguments_done,
            "response.completed": self._ended,
            "response.incomplete": self._ended,
            "response.failed": self._failed,
            "error": self._failed,
        }

    def feed(self, data: VendorObject) -> Iterable[ProviderEvent]:
        """Decode one event. Raises ``StreamErrorEvent``."""
        handler = self._events.get(as_text(data.get("type")))
        if handler is None and data.get("error") is not None:
            handler = self._failed
        return handler(data) if handler else ()

    def end_marker(self) -> Iterable[ProviderEvent]:
        """Return nothing: ``[DONE]`` is not part of this format, though some gateways send it."""
        return ()

    def whole(self, answer: VendorObject) -> Iterable[ProviderEvent]:
        """Report the usage of a complete response that came instead of a stream."""
        usage = _usage(as_object(answer.get("usage")))
        return () if usage is None else (UsageReport(usage),)

    def end_of_stream(self) -> Iterable[ProviderEvent]:
        """Return nothing: the stream was cut off."""
        return ()

    def _item_added(self, data: VendorObject) -> Iterator[ProviderEvent]:
        yield from self._begin(_key(data), as_object(data.get("item")))

    def _begin(self, key: Key, item: VendorObject) -> Iterator[ProviderEvent]:
        kind = as_text(item.get("type"))
        self._any_items = True
        self._open[key] = _Item(kind)
        match kind:
            case "message":
                yield from self._assembler.end_part()
            case "reasoning":
                yield from self._assembler.start_part("reasoning")
            case "function_call":
                call_id, name = as_text(item.get("call_id")), as_text(item.get("name"))
                yield from self._assembler.start_call(key, call_id, name)
            case _:
                pass

    def _item_done(self, data: VendorObject) -> Iterator[ProviderEvent]:
        yield from self._finish(_key(data), as_object(data.get("item")))

    def _finish(self, key: Key, item: VendorObject) -> Iterator[ProviderEvent]:
        """End an item, adding text that no delta brought."""
        if key not in self._open:
            yield from self._begin(key, item)
        known = self._open.pop(key)
        match known.kind:
            case "message":
                yield from self._end_message(known, item)
            case "reasoning":
                yield from self._end_reasoning(known, item)
            case "function_call":
                if not known.shown:
                    yield from self._assembler.arguments(key, as_text(item.get("arguments")))
                yield from self._assembler.end_call(key)
            case _:
                pass

    def _end_message(self, known: _Item, item: VendorObject) -> Iterator[ProviderEvent]:
        for part in map(as_object, as_list(item.get("content"))):
            refusal = as_text(part.get("refusal"))
            self._refused = self._refused or bool(refusal)
            if not known.shown:
                yield from self._assembler.delta("text", as_text(part.get("text")) or refusal)
        phase = as_text(item.get("phase"))
        yield from self._assembler.end_part(
            self._endpoint.state({"phase": phase}) if phase else None
        )

    def _end_reasoning(self, known: _Item, item: VendorObject) -> Iterator[ProviderEvent]:
        if self._assembler.open_kind != "reasoning":
            yield from self._assembler.start_part("reasoning")
        if not known.shown:
            pieces = as_list(item.get("summary")) or as_list(item.get("content"))
            texts = (as_text(as_object(piece).get("text")) for piece in pieces)
            yield from self._assembler.delta("reasoning", PARAGRAPH.join(filter(None, texts)))
        yield from self._assembler.end_part(self._reasoning_state(item))

    def _reasoning_state(self, item: VendorObject) -> ProviderState | None:
        """Return the item as it must be sent back, without its plain content, which the API
        refuses.
        """
        encrypted, item_id = as_text(item.get("encrypted_content")), as_text(item.get("id"))
        if not encrypted or not item_id:
            return None
        kept: VendorObject = {
            "type": "reasoning",
            "id": item_id,
            "summary": as_list(item.get("summary")),
            "encrypted_content": encrypted,
        }
        return self._endpoint.state({"item": kept})

    def _text_delta(self, data: VendorObject) -> Iterator[ProviderEvent]:
        self._note_shown(data, "message")
        yield from self._assembler.delta("text", as_text(data.get("delta")))

    def _refusal_delta(self, data: VendorObject) -> Iterator[ProviderEvent]:
        self._refused = True
        yield from self._text_delta(data)

    def _summary_part(self, data: VendorObject) -> Iterator[ProviderEvent]:
        """Begin a part of a summary: a new paragraph, unless it is the first."""
        item = self._open.get(_key(data))
        if item is None or item.kind != "reasoning":
            return
        item.parts += 1
        if item.parts > 1 and item.shown:
            yield from self._assembler.delta("reasoning", PARAGRAPH)

    def _reasoning_delta(self, data: VendorObject) -> Iterator[ProviderEvent]:
        self._note_shown(data, "reasoning")
        yield from self._assembler.delta("reasoning", as_text(data.get("delta")))

    def _arguments_delta(self, data: VendorObject) -> Iterator[ProviderEvent]:
        """Add to a call's arguments; those of an unknown call arrive with its end."""
        key = _key(data)
        item = self._open.get(key)
        if item is not None and item.kind == "function_call":
            self._note_shown(data, "function_call")
            yield from self._assembler.arguments(key, as_text(data.get("delta")))

    def _arguments_done(self, data: VendorObject) -> Iterator[ProviderEvent]:
        """Take complete arguments."""
        item = self._open.get(_key(data))
        if item is not None and not item.shown:
            yield from self._arguments_delta({**data, "delta": data.get("arguments")})

    def _note_shown(self, data: VendorObject, kind: str) -> None:
        item = self._open.setdefault(_key(data), _Item(kind))
        item.shown = item.shown or bool(as_text(data.get("delta")))
        self._any_items = True

    def _ended(self, data: VendorObject) -> Iterator[ProviderEvent]:
        response = as_object(data.get("response"))
        if not self._any_items:
            for index, item in enumerate(as_list(response.get("output"))):
                yield from self._finish(index, as_object(item))
        usage = _usage(as_object(response.get("usage")))
        if usage is not None:
            yield UsageReport(usage)
        vendor = as_text(as_object(response.get("incomplete_details")).get("reason"))
        reason = self._reason(vendor, cut=data.get("type") == "response.incomplete")
        yield from self._assembler.finish(reason)
        yield Stop(reason, None if vendor in INCOMPLETE else vendor or None)

    def _reason(self, vendor: str, *, cut: bool) -> StopReason:
        """Return why the response ended; this format has no reason for calls."""
        if vendor or cut:
            return INCOMPLETE.get(vendor, "other")
        if self._refused:
            return "content_filter"
        return "tool_use" if self._assembler.any_calls else "end_turn"

    def _failed(self, data: VendorObject) -> Iterable[ProviderEvent]:
        raise StreamErrorEvent(self._read_refusal(None, data))


def _key(data: VendorObject) -> Key:
    """Return the item's index, or its id where a server sends no index."""
    index = as_count(data.get("output_index"))
    if index is not None:
        return index
    return as_text(data.get("item_id")) or as_text(as_object(data.get("item")).get("id"))


def _usage(usage: VendorObject) -> TokenUsage | None:
    """Return the common counts; ``input_tokens`` includes cached tokens."""
    prompt, output = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
    if prompt is None and output is None:
        return None
    read = as_object(usage.get("input_tokens_details"))
    written = as_object(usage.get("output_tokens_details"))
    return TokenUsage(
        input_tokens=prompt or 0,
        output_tokens=output or 0,
        cache_read_tokens=as_count(read.get("cached_tokens")) or 0,
        cache_write_tokens=as_count(read.get("cache_write_tokens")) or 0,
        reasoning_tokens=as_count(written.get("reasoning_tokens")) or 0,
    )
