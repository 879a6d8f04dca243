"""Encodes a scripted reply as Ollama's: one JSON body, or lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.simulator.chaos_stream import SseEvent
from tests.simulator.chunking import Counter, cut
from tests.simulator.ollama.models import OllamaModel
from tests.simulator.ollama.schema import ChatBody
from tests.simulator.script import (
    Reasoning,
    Reply,
    Stop,
    Text,
    ToolUse,
    Usage,
)

DONE_REASONS: dict[Stop, str | None] = {
    "end_turn": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "stop_sequence": "stop",
    "refusal": "stop",
    "content_filter": "stop",
    "pause_turn": "unload",
    "context_window": "length",
    "missing": None,
}
CREATED = "2026-11-21T09:00:00Z"
UNKNOWN = SseEvent('{"status":"warming up"}', bare=True)
"""A line without anything a client knows."""

Json = dict[str, Any]


class OllamaReplyComposer:
    """Makes the answer to one request."""

    def __init__(
        self, body: ChatBody, model: OllamaModel, reply: Reply, usage: Usage, counter: Counter
    ) -> None:
        self._body = body
        self._reply = reply
        self._usage = usage
        self._counter = counter
        self._thinks = "thinking" in model.capabilities and body.think is not False

    def whole(self) -> Json:
        """Return the whole answer as one JSON body."""
        message: Json = {"role": "assistant", "content": ""}
        for change in self._changes():
            for name in ("content", "thinking", "tool_calls"):
                if name in change:
                    message[name] = message.get(name, type(change[name])()) + change[name]
        return self._envelope(message) | self._ending()

    def events(self) -> list[SseEvent]:
        """Return the whole answer as lines."""
        lines = [
            self._envelope({"role": "assistant", "content": "", **change}) | {"done": False}
            for change in self._changes()
        ]
        stream = [SseEvent(json.dumps(line), delta=True, bare=True) for line in lines]
        if DONE_REASONS[self._reply.stop_reason()] is None:
            return stream
        last = self._envelope({"role": "assistant", "content": ""}) | self._ending()
        return [*stream, SseEvent(json.dumps(last), terminal=True, bare=True)]

    def _changes(self) -> Iterator[Json]:
        index = 0
        for part in self._reply.parts:
            match part:
                case Text():
                    yield from ({"content": piece} for piece in cut(part.text, part.split))
                case Reasoning():
                    if self._thinks:
                        yield from ({"thinking": piece} for piece in cut(part.text, "words"))
                case ToolUse():
                    yield {"tool_calls": [self._call(part, index)]}
                    index += 1

    def _call(self, part: ToolUse, index: int) -> Json:
        call_id = part.id or self._counter.new("call_sim")
        function = {"index": index, "name": part.name, "arguments": part.arguments or {}}
        return {"id": call_id, "function": function}

    def _envelope(self, message: Json) -> Json:
        return {"model": self._body.model, "created_at": CREATED, "message": message}

    def _ending(self) -> Json:
        ending: Json = {
            "done": True,
            "done_reason": DONE_REASONS[self._reply.stop_reason()],
            "total_duration": 1,
            "load_duration": 1,
            "prompt_eval_duration": 1,
            "eval_duration": 1,
        }
        if not self._reply.report_usage:
            return ending
        counts = {"prompt_eval_count": self._usage.input, "eval_count": self._usage.output}
        return ending | counts
