"""Encodes a scripted reply as Chat Completions: one JSON body, or the chunks of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.simulator.chaos_stream import SseEvent
from tests.simulator.chunking import Counter, arguments_text, cut
from tests.simulator.openai_chat.capabilities import effort_of
from tests.simulator.openai_chat.models import ChatModel
from tests.simulator.openai_chat.schema import ChatBody
from tests.simulator.script import (
    Reasoning,
    Reply,
    Stop,
    Text,
    ToolUse,
    Usage,
)
from tests.simulator.signed_state import seal_content

FINISH_REASONS: dict[Stop, str | None] = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "stop_sequence": "stop",
    "refusal": "content_filter",
    "content_filter": "content_filter",
    "pause_turn": "stop",
    "context_window": "length",
    "missing": None,
}
CREATED = 1_790_000_000

Json = dict[str, Any]


class OpenAIChatReplyComposer:
    """Makes the answer to one request."""

    def __init__(
        self, body: ChatBody, model: ChatModel, reply: Reply, usage: Usage, counter: Counter
    ) -> None:
        self._body = body
        self._reply = reply
        self._usage = usage
        self._id = counter.new("chatcmpl-sim")
        self._field = model.server.reasoning if effort_of(body, model) != "none" else None
        self._details = model.server.details
        calls = [part for part in reply.parts if isinstance(part, ToolUse)]
        self._calls = [(part, part.id or counter.new("call_sim")) for part in calls]

    def completion(self) -> Json:
        """Return the whole answer as one JSON body."""
        message: Json = {"role": "assistant", "content": self._text() or None, "refusal": None}
        if self._field and self._reasoning():
            message[self._field] = self._reasoning()
            if self._details:
                message["reasoning_details"] = [
                    detail(self._reasoning(), signature(self._reasoning()))
                ]
        if self._calls:
            message["tool_calls"] = [whole_call(part, call_id) for part, call_id in self._calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._finish()}
        body = self._envelope("chat.completion", choices=[choice])
        return {**body, "usage": usage_body(self._usage)} if self._reply.report_usage else body

    def events(self) -> list[SseEvent]:
        """Return the whole answer as a stream."""
        stream = [self._chunk({"role": "assistant", "content": ""})]
        stream += [self._chunk(change, delta=True) for change in self._changes()]
        if self._finish() is not None:
            stream.append(self._chunk({}, finish=self._finish()))
        options = self._body.stream_options
        if options is not None and options.include_usage and self._reply.report_usage:
            usage = usage_body(self._usage)
            body = self._envelope("chat.completion.chunk", choices=[], usage=usage)
            stream.append(SseEvent(json.dumps(body)))
        return [*stream, SseEvent("[DONE]", terminal=True)]

    def _changes(self) -> Iterator[Json]:
        index = 0
        for part in self._reply.parts:
            match part:
                case Text():
                    yield from ({"content": piece} for piece in cut(part.text, part.split))
                case Reasoning():
                    if self._field is not None:
                        yield from self._thought(part.text, self._field)
                case ToolUse():
                    yield from call_changes(part, self._calls[index][1], index)
                    index += 1

    def _thought(self, text: str, name: str) -> Iterator[Json]:
        """Yield the deltas of reasoning; its signature comes last."""
        for piece in cut(text, "words"):
            details = {"reasoning_details": [detail(piece)]} if self._details else {}
            yield {name: piece, **details}
        if self._details:
            yield {"reasoning_details": [detail("", signature(text))]}

    def _chunk(self, change: Json, *, finish: str | None = None, delta: bool = False) -> SseEvent:
        choice = {"index": 0, "delta": change, "finish_reason": finish}
        return SseEvent(
            json.dumps(self._envelope("chat.completion.chunk", choices=[choice])), delta=delta
        )

    def _envelope(self, kind: str, **rest: Any) -> Json:
        head = {"id": self._id, "object": kind, "created": CREATED, "model": self._body.model}
        return {**head, **rest}

    def _finish(self) -> str | None:
        return FINISH_REASONS[self._reply.stop_reason()]

    def _text(self) -> str:
        return "".join(part.text for part in self._reply.parts if isinstance(part, Text))

    def _reasoning(self) -> str:
        return "".join(part.text for part in self._reply.parts if isinstance(part, Reasoning))


def detail(text: str, signed: str | None = None) -> Json:
    """Return a piece of reasoning as OpenRouter sends it beside the plain text."""
    made: Json = {"type": "reasoning.text", "text": text, "format": "unknown", "index": 0}
    return made if signed is None else made | {"signature": signed}


def signature(text: str) -> str:
    """Return the signature of reasoning."""
    return seal_content(text.encode())


def whole_call(part: ToolUse, call_id: str) -> Json:
    """Return a call as an answer that does not stream has it."""
    function = {"name": part.name, "arguments": arguments_text(part)}
    return {"id": call_id, "type": "function", "function": function}


def call_changes(part: ToolUse, call_id: str, index: int) -> Iterator[Json]:
    """Yield the deltas of one call: its head, then its arguments in pieces."""
    head = {"name": part.name, "arguments": ""}
    yield {"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": head}]}
    for piece in cut(arguments_text(part), 8):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def usage_body(usage: Usage) -> Json:
    """Return the usage as this format counts it: the prompt includes cached tokens."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


UNKNOWN = SseEvent(
    json.dumps(
        {
            "id": "chatcmpl-sim",
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": "sim",
            "choices": [],
            "sim_future_field": {},
        }
    )
)


def model_list(names: Sequence[str]) -> Json:
    """Return the body of ``GET /v1/models``."""
    return {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "created": CREATED, "owned_by": "simulator"}
            for name in names
        ],
    }
