"""Encodes a scripted reply as Gemini's: one JSON body, or the chunks of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.simulator.chaos_stream import SseEvent
from tests.simulator.chunking import Counter, cut
from tests.simulator.google.capabilities import shows_thoughts
from tests.simulator.google.models import GeminiModel
from tests.simulator.google.schema import GenerateContentBody
from tests.simulator.google.signatures import sign
from tests.simulator.script import (
    Reasoning,
    Reply,
    Stop,
    Text,
    ToolUse,
    Usage,
)
from tests.simulator.signed_state import seal_content

CONTINUATION = "CONTINUATION"
FINISH_REASONS: dict[Stop, str | None] = {
    "end_turn": "STOP",
    "tool_use": "STOP",
    "max_tokens": "MAX_TOKENS",
    "stop_sequence": "STOP",
    "refusal": "SAFETY",
    "content_filter": None,
    "pause_turn": CONTINUATION,
    "context_window": "MAX_TOKENS",
    "missing": None,
}
MALFORMED = "MALFORMED_FUNCTION_CALL"
UNKNOWN = SseEvent('{"modelStatus":{"modelStage":"STABLE"}}')
"""A chunk without anything a client knows."""

Json = dict[str, Any]


class GoogleReplyComposer:
    """Makes the answer to one request."""

    def __init__(
        self,
        body: GenerateContentBody,
        model: GeminiModel,
        reply: Reply,
        usage: Usage,
        counter: Counter,
    ) -> None:
        self._name = model.name
        self._model = model
        self._reply = reply
        self._usage = usage
        self._counter = counter
        self._id = counter.new("sim-response-")
        self._thoughts = shows_thoughts(body)
        self._malformed = any(
            isinstance(part, ToolUse) and arguments(part) is None for part in reply.parts
        )

    def whole(self) -> Json:
        """Return the whole answer as one JSON body."""
        parts: list[Json] = []
        for part in self._parts():
            if parts and mergeable(parts[-1], part):
                parts[-1]["text"] += part["text"]
            else:
                parts.append(part)
        if parts and self._closing_signature():
            parts[-1]["thoughtSignature"] = sign(self._name, dict(parts[-1]))
        return self._response(parts, last=True)

    def events(self) -> list[SseEvent]:
        """Return the whole answer as a stream."""
        chunks = [SseEvent(json.dumps(chunk), delta=True) for chunk in self._chunks()]
        if self._finish() is None and not self._blocked():
            return chunks
        last = self._response([{"text": "", **self._closing_signature()}], last=True)
        return [*chunks, SseEvent(json.dumps(last), terminal=True)]

    def chunks(self) -> list[Json]:
        """Return the stream's chunks, for clients that want them in one array."""
        return [json.loads(event.data) for event in self.events()]

    def _chunks(self) -> Iterator[Json]:
        """Yield the chunks before the last; calls made in parallel come in one."""
        if self._blocked():
            return
        calls: list[Json] = []
        for part in self._parts():
            if "functionCall" in part:
                calls.append(part)
                continue
            if calls:
                yield self._response(calls)
                calls = []
            yield self._response([part])
        if calls:
            yield self._response(calls)

    def _parts(self) -> Iterator[Json]:
        signed = not self._model.current
        for part in self._reply.parts:
            match part:
                case Text():
                    yield from ({"text": piece} for piece in cut(part.text, part.split))
                case Reasoning():
                    if self._thoughts:
                        pieces = cut(part.text, "words")
                        yield from ({"text": piece, "thought": True} for piece in pieces)
                case ToolUse():
                    if arguments(part) is not None:
                        yield self._call(part, signed=not signed)
                        signed = True

    def _call(self, part: ToolUse, *, signed: bool) -> Json:
        given = arguments(part)
        call_id = part.id or self._counter.new("sim_call_")
        call: Json = {"id": call_id, "name": part.name, "args": given}
        made: Json = {"functionCall": call}
        if signed:
            made["thoughtSignature"] = sign(
                self._name, {"functionCall": {"name": part.name, "args": given}}
            )
        if not given:
            del call["args"]
        return made

    def _closing_signature(self) -> Json:
        """Return the signature that follows a text, in an empty part of its own."""
        last = self._reply.parts[-1] if self._reply.parts else None
        ended = self._finish() != CONTINUATION
        if not self._model.current or not isinstance(last, Text) or not ended:
            return {}
        return {"thoughtSignature": sign(self._name, {"text": ""})}

    def _response(self, parts: list[Json], *, last: bool = False) -> Json:
        head = {"modelVersion": self._name, "responseId": self._id}
        if self._blocked():
            feedback = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
            return feedback | head | self._counts(last=last)
        candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
        if last and self._finish() is not None:
            candidate["finishReason"] = self._finish()
        if last and self._finish() == MALFORMED:
            candidate["finishMessage"] = "Malformed function call: call:run{path:nope"
        if last and self._finish() == CONTINUATION:
            candidate["continuationToken"] = seal_content(self._id.encode())
        return {"candidates": [candidate]} | self._counts(last=last) | head

    def _counts(self, *, last: bool) -> Json:
        if not self._reply.report_usage:
            return {}
        usage = self._usage
        counts = {"promptTokenCount": usage.input, "totalTokenCount": usage.input}
        if last:
            counts |= {
                "cachedContentTokenCount": usage.cache_read,
                "candidatesTokenCount": usage.output - usage.reasoning,
                "thoughtsTokenCount": usage.reasoning,
                "totalTokenCount": usage.input + usage.output,
            }
        return {"usageMetadata": counts}

    def _blocked(self) -> bool:
        return self._reply.stop_reason() == "content_filter"

    def _finish(self) -> str | None:
        return MALFORMED if self._malformed else FINISH_REASONS[self._reply.stop_reason()]


def arguments(part: ToolUse) -> dict[str, Any] | None:
    """Return the arguments as an object; None for text that is none, which Gemini cannot send."""
    if not isinstance(part.arguments, str):
        return dict(part.arguments)
    try:
        found = json.loads(part.arguments or "{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None  # pyright: ignore[reportUnknownVariableType] - JSON


def mergeable(before: Json, part: Json) -> bool:
    """Return whether two pieces are one text in an answer that comes whole."""
    plain = before.keys() == part.keys() and "text" in part and "thoughtSignature" not in part
    return plain and before.get("thought") == part.get("thought")
