"""Decodes Chat Completions chunks into the common events, including deviations of servers.

A reply ends properly with a finish reason and ``[DONE]``. Where one is missing it was cut off,
unless the server's profile permits that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jupyter_ai_shoulders.providers.base import ProviderEvent, Stop, StopReason, UsageReport
from jupyter_ai_shoulders.providers.formats.server_profiles import Profile
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import StreamErrorEvent
from jupyter_ai_shoulders.providers.openai_chat.errors import read_refusal
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

STOP_REASONS: Mapping[str, StopReason] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "content_filter",
}
_MERGED = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Types of reasoning detail that arrive in fragments, and the field that grows."""


class OpenAIChatDecoder:
    """Decodes one stream."""

    def __init__(self, assembler: Assembler, endpoint: Endpoint, profile: Profile) -> None:
        self._assembler = assembler
        self._endpoint = endpoint
        self._profile = profile
        self._finish = ""
        self._refused = False
        self._usage: TokenUsage | None = None
        self._anything = False
        self._by_index: dict[int, int] = {}
        self._known: list[tuple[str, str]] = []
        self._details: list[VendorObject] = []

    def feed(self, data: VendorObject) -> Iterable[ProviderEvent]:
        """Decode one chunk. Raises ``StreamErrorEvent``."""
        if data.get("error") is not None or data.get("object") == "error":
            raise StreamErrorEvent(read_refusal(None, data))
        yield from self._chunk(data)

    def end_marker(self) -> Iterator[ProviderEvent]:
        """Decode ``[DONE]``: the end, if a reason was given."""
        if self._finish or self._profile.may_end_silently:
            yield from self._end()

    def whole(self, answer: VendorObject) -> Iterable[ProviderEvent]:
        """Report the usage of a complete response that came instead of a stream."""
        usage = _usage(as_object(answer.get("usage")))
        return () if usage is None else (UsageReport(usage),)

    def end_of_stream(self) -> Iterator[ProviderEvent]:
        """The stream ended without ``[DONE]``, which some servers never send."""
        if self._profile.may_end_silently and self._anything:
            yield from self._end()

    def _chunk(self, data: VendorObject) -> Iterator[ProviderEvent]:
        for choice in as_list(data.get("choices"))[:1]:
            self._anything = True
            yield from self._choice(as_object(choice))
        usage = _usage(as_object(data.get("usage")))
        if usage is not None and usage != self._usage:
            self._usage = usage
            yield UsageReport(usage)

    def _choice(self, choice: VendorObject) -> Iterator[ProviderEvent]:
        delta = as_object(choice.get("delta")) or as_object(choice.get("message"))
        yield from self._reasoning(delta)
        yield from self._content(delta.get("content"))
        refusal = as_text(delta.get("refusal"))
        self._refused = self._refused or bool(refusal)
        yield from self._text(refusal)
        for fragment in as_list(delta.get("tool_calls")):
            yield from self._call(as_object(fragment))
        self._finish = as_text(choice.get("finish_reason")) or self._finish
        if self._finish == "error":
            raise StreamErrorEvent(read_refusal(None, choice))

    def _reasoning(self, delta: VendorObject) -> Iterator[ProviderEvent]:
        """Decode reasoning; the field's name differs, and some servers send two."""
        details = [as_object(item) for item in as_list(delta.get("reasoning_details"))]
        text = as_text(delta.get("reasoning")) or as_text(delta.get("reasoning_content"))
        text = text or "".join(_detail_text(item) for item in details)
        yield from self._assembler.delta("reasoning", text)
        for detail in details:
            self._keep_detail(detail)

    def _content(self, content: Any) -> Iterator[ProviderEvent]:
        """Decode content: text, or (Mistral) a list of text and thinking."""
        if isinstance(content, str):
            yield from self._text(content)
        for item in map(as_object, as_list(content)):
            if item.get("type") == "thinking":
                pieces = map(as_object, as_list(item.get("thinking")))
                text = "".join(as_text(piece.get("text")) for piece in pieces)
                yield from self._assembler.delta("reasoning", text)
            else:
                yield from self._text(as_text(item.get("text")))

    def _text(self, text: str) -> Iterator[ProviderEvent]:
        if text and self._assembler.open_kind == "reasoning":
            yield from self._end_reasoning()
        yield from self._assembler.delta("text", text)

    def _call(self, fragment: VendorObject) -> Iterator[ProviderEvent]:
        """Decode a fragment of a call: a new index, id or name begins a call."""
        function = as_object(fragment.get("function"))
        vendor_id, name = as_text(fragment.get("id")), as_text(function.get("name"))
        index = as_count(fragment.get("index"))
        key = self._call_of(index, vendor_id, name)
        if key is None:
            key = len(self._known)
            self._known.append((vendor_id, name))
            yield from self._end_reasoning()
            yield from self._assembler.start_call(key, vendor_id, name)
        if index is not None:
            self._by_index[index] = key
        extra = as_object(fragment.get("extra_content"))
        if extra:
            self._assembler.set_state(key, self._endpoint.state({"extra_content": extra}))
        yield from self._assembler.arguments(key, _argument_text(function.get("arguments")))

    def _call_of(self, index: int | None, vendor_id: str, name: str) -> int | None:
        """Return the call a fragment belongs to, or None when it begins a new one.

        Proxies send all parallel calls as index 0, so another id or name is another call. Some
        servers send neither index nor id after the first fragment; those go to the last call.
        """
        if index is None:
            return self._without_index(vendor_id, name)
        key = self._by_index.get(index)
        if key is None or self._same_call(key, vendor_id, name):
            return key
        return self._with_id(vendor_id)

    def _without_index(self, vendor_id: str, name: str) -> int | None:
        if vendor_id:
            return self._with_id(vendor_id)
        return len(self._known) - 1 if self._known and not name else None

    def _with_id(self, vendor_id: str) -> int | None:
        return next((key for key, (known, _) in enumerate(self._known) if known == vendor_id), None)

    def _same_call(self, key: int, vendor_id: str, name: str) -> bool:
        """Return whether id and name match the call; both may be missing."""
        known_id, known_name = self._known[key]
        return vendor_id in {"", known_id} and name in {"", known_name}

    def _end(self) -> Iterator[ProviderEvent]:
        reason = self._reason()
        yield from self._end_reasoning()
        if self._details:
            yield from self._assembler.start_part("reasoning")
            yield from self._end_reasoning()
        yield from self._assembler.finish(reason)
        unknown = self._finish not in STOP_REASONS and self._finish
        yield Stop(reason, self._finish if unknown else None)

    def _reason(self) -> StopReason:
        """Return why the reply ended; several servers say ``stop`` after calls."""
        reason = STOP_REASONS.get(self._finish or "stop", "other")
        if self._refused:
            return "content_filter"
        return "tool_use" if reason == "end_turn" and self._assembler.any_calls else reason

    def _end_reasoning(self) -> Iterator[ProviderEvent]:
        """End an open reasoning part, with the state that this server wants back."""
        if self._assembler.open_kind != "reasoning":
            return
        state: ProviderState | None = None
        if self._profile.echo == "reasoning_content":
            state = self._endpoint.state({})
        elif self._details:
            state = self._endpoint.state({"details": self._details})
            self._details = []
        yield from self._assembler.end_part(state)

    def _keep_detail(self, detail: VendorObject) -> None:
        """Store a reasoning detail to send back, joining its fragments."""
        if self._profile.echo != "reasoning_details" or not detail:
            return
        field = _MERGED.get(as_text(detail.get("type")))
        last = self._details[-1] if self._details else {}
        if field and _same_detail(last, detail):
            text = as_text(last.get(field)) + as_text(detail.get(field))
            known = {name: value for name, value in detail.items() if value is not None}
            self._details[-1] = last | known | {field: text}
        else:
            self._details.append(detail)


def _same_detail(one: VendorObject, other: VendorObject) -> bool:
    return all(one.get(name) == other.get(name) for name in ("type", "index"))


def _detail_text(detail: VendorObject) -> str:
    return as_text(detail.get("text")) or as_text(detail.get("summary"))


def _argument_text(arguments: Any) -> str:
    """Return argument text; some servers send the object itself."""
    if isinstance(arguments, (dict, list)):
        return json.dumps(arguments)
    return as_text(arguments)


def _usage(usage: VendorObject) -> TokenUsage | None:
    """Return the common counts; ``prompt_tokens`` includes cached tokens."""
    prompt = as_count(usage.get("prompt_tokens"))
    completion = as_count(usage.get("completion_tokens"))
    if prompt is None and completion is None:
        return None
    read = as_object(usage.get("prompt_tokens_details"))
    reasoning = as_object(usage.get("completion_tokens_details"))
    cached = as_count(read.get("cached_tokens")) or as_count(usage.get("prompt_cache_hit_tokens"))
    return TokenUsage(
        input_tokens=prompt or 0,
        output_tokens=completion or 0,
        cache_read_tokens=cached or 0,
        cache_write_tokens=as_count(read.get("cache_write_tokens")) or 0,
        reasoning_tokens=as_count(reasoning.get("reasoning_tokens")) or 0,
    )
