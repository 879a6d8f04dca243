"""Decodes chunks of ``streamGenerateContent`` into the common events.

Each chunk is a whole response with the next parts; calls arrive complete. There is no closing
event: the stream ended properly when a chunk had a finish reason (older models send one in each).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from jupyter_ai_shoulders.providers.base import ProviderEvent, Stop, StopReason, UsageReport
from jupyter_ai_shoulders.providers.google.errors import read_refusal
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.error_mapping import Refusal
from jupyter_ai_shoulders.providers.http.request import StreamErrorEvent
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler, PartKind
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)
from jupyter_ai_shoulders.wire.parts import ProviderState
from jupyter_ai_shoulders.wire.usage import TokenUsage

CONTINUATION = "CONTINUATION"
STOP_REASONS: Mapping[str, StopReason] = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    CONTINUATION: "max_tokens",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
}
_PLAIN = frozenset({"STOP", "MAX_TOKENS", CONTINUATION})
"""Reasons that need no detail."""

_FAILURES: Mapping[str, Refusal] = {
    "MALFORMED_FUNCTION_CALL": Refusal(
        "provider_error", "the model wrote a call that cannot be read", retryable=True
    ),
    "MALFORMED_RESPONSE": Refusal(
        "provider_error", "the model wrote an answer that cannot be read", retryable=True
    ),
    "UNEXPECTED_TOOL_CALL": Refusal(
        "provider_error", "the model called a tool it was not given", retryable=True
    ),
    "MISSING_THOUGHT_SIGNATURE": Refusal(
        "bad_request_upstream", "a thought signature is missing", status=400, retryable=False
    ),
}
"""Reasons that are failures of the call."""

_ONCE_MORE = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"})
"""Reasons that a retry may cure; Google's own client also retries once."""


class GoogleDecoder:
    """Decodes one reply, possibly in several streams (see ``provider``).

    ``names`` maps the names Gemini knows to the tools' own.
    """

    def __init__(self, assembler: Assembler, endpoint: Endpoint, names: Mapping[str, str]) -> None:
        self._assembler = assembler
        self._endpoint = endpoint
        self._names = names
        self._calls = 0
        self.begin(may_continue=False)

    def begin(self, *, may_continue: bool) -> None:
        """Prepare for a stream; ``may_continue``: another one can be requested after it."""
        self._may_continue = may_continue
        self._finish = ""
        self._remark = ""
        self._blocked = ""
        self._token = ""
        self._usage: dict[str, int] = {}

    @property
    def malformed(self) -> bool:
        """Whether the reply was malformed and may be retried."""
        return self._finish in _ONCE_MORE

    @property
    def continuation(self) -> str | None:
        """The token that requests the rest of the reply from another stream."""
        more = self._may_continue and self._finish == CONTINUATION
        return self._token or None if more else None

    def feed(self, data: VendorObject) -> Iterable[ProviderEvent]:
        """Translate one chunk. Raises ``StreamErrorEvent``."""
        if data.get("error") is not None:
            raise StreamErrorEvent(read_refusal(None, data))
        yield from self._chunk(data)

    def end_marker(self) -> Iterable[ProviderEvent]:
        """Decode ``[DONE]``, which is not part of this format, though some gateways send it."""
        return self.end_of_stream()

    def whole(self, answer: VendorObject) -> Iterator[ProviderEvent]:
        """Report the usage of a complete response that came instead of a stream."""
        return self._add_usage(as_object(answer.get("usageMetadata")))

    def end_of_stream(self) -> Iterator[ProviderEvent]:
        """End the reply if there was a finish reason or the prompt was blocked; else it was cut
        off.
        """
        if self.continuation is not None:
            yield Stop("pause")
        elif self._finish or self._blocked:
            reason = self._reason()
            yield from self._assembler.finish(reason)
            yield Stop(reason, self._detail())

    def _chunk(self, data: VendorObject) -> Iterator[ProviderEvent]:
        feedback = as_object(data.get("promptFeedback"))
        self._blocked = as_text(feedback.get("blockReason")) or self._blocked
        finish = ""
        for candidate in map(as_object, as_list(data.get("candidates"))[:1]):
            for part in as_list(as_object(candidate.get("content")).get("parts")):
                yield from self._part(as_object(part))
            finish = self._note_finish(candidate)
        yield from self._add_usage(as_object(data.get("usageMetadata")))
        if finish in _FAILURES:
            raise StreamErrorEvent(_FAILURES[finish])

    def _note_finish(self, candidate: VendorObject) -> str:
        finish = as_text(candidate.get("finishReason")).removeprefix("FINISH_REASON_UNSPECIFIED")
        self._finish = finish or self._finish
        self._remark = as_text(candidate.get("finishMessage")) or self._remark
        self._token = as_text(candidate.get("continuationToken")) or self._token
        return finish

    def _part(self, part: VendorObject) -> Iterator[ProviderEvent]:
        signature = as_text(part.get("thoughtSignature"))
        if isinstance(part.get("functionCall"), dict):
            yield from self._call(as_object(part["functionCall"]), signature)
        elif isinstance(part.get("text"), str):
            kind: PartKind = "reasoning" if part.get("thought") is True else "text"
            yield from self._text(kind, part["text"], signature)

    def _text(self, kind: PartKind, text: str, signature: str) -> Iterator[ProviderEvent]:
        """Decode text or a thought; a signature ends the part and is stored with it.

        Signed and unsigned text must not be mixed when sent back, so the length of the signed text
        is stored too. A signature without text is stored as empty reasoning.
        """
        if signature and not text and self._assembler.open_kind != kind:
            yield from self._assembler.start_part("reasoning")
        yield from self._assembler.delta(kind, text)
        if signature:
            thought = {"thought": True} if kind == "reasoning" else {}
            state = self._state({"signature": signature, "tail": len(text), **thought})
            yield from self._assembler.end_part(state)

    def _call(self, call: VendorObject, signature: str) -> Iterator[ProviderEvent]:
        key, name = self._calls, as_text(call.get("name"))
        self._calls += 1
        tool = self._names.get(name, name)
        yield from self._assembler.start_call(key, as_text(call.get("id")), tool)
        if signature:
            self._assembler.set_state(key, self._state({"signature": signature}))
        yield from self._assembler.arguments(key, _argument_text(call))
        yield from self._assembler.end_call(key)

    def _state(self, data: VendorObject) -> ProviderState:
        return self._endpoint.state(data)

    def _reason(self) -> StopReason:
        """Return why the reply ended; Gemini reports ``STOP`` after calls too."""
        if not self._finish:
            return "content_filter"
        reason = STOP_REASONS.get(self._finish, "other")
        return "tool_use" if reason == "end_turn" and self._assembler.any_calls else reason

    def _detail(self) -> str | None:
        if not self._finish:
            return f"prompt blocked: {self._blocked}"
        if self._finish in _PLAIN:
            return None
        return f"{self._finish}: {self._remark}" if self._remark else self._finish

    def _add_usage(self, reported: VendorObject) -> Iterator[ProviderEvent]:
        """Report usage so far; counts are cumulative, missing ones keep their value."""
        counts = {name: as_count(reported.get(name)) for name in _COUNTS}
        known = {name: count for name, count in counts.items() if count is not None}
        if known and known.items() - self._usage.items():
            self._usage |= known
            yield UsageReport(_usage(self._usage))


_COUNTS = (
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
)


def _usage(counts: Mapping[str, int]) -> TokenUsage:
    """Return the common counts; Gemini counts thoughts separately from the answer."""
    thoughts = counts.get("thoughtsTokenCount", 0)
    prompt = counts.get("promptTokenCount", 0) + counts.get("toolUsePromptTokenCount", 0)
    return TokenUsage(
        input_tokens=prompt,
        output_tokens=counts.get("candidatesTokenCount", 0) + thoughts,
        cache_read_tokens=counts.get("cachedContentTokenCount", 0),
        reasoning_tokens=thoughts,
    )


def _argument_text(call: VendorObject) -> str:
    """Return the arguments as text; a call without arguments has null or none. Raises
    ``ValueError``.
    """
    arguments = call.get("args")
    try:
        return "{}" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
