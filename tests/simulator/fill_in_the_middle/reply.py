"""Encodes a scripted reply as fill-in-the-middle text: complete or as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from tests.simulator.chaos_stream import SseEvent
from tests.simulator.chunking import cut
from tests.simulator.script import Reply, Stop, Text, Usage

Style = Literal["mistral", "deepseek", "llamacpp"]
CREATED = 1_790_000_000
FINISHED: dict[Stop, str | None] = {
    "end_turn": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "stop_sequence": "stop",
    "refusal": "content_filter",
    "content_filter": "content_filter",
    "pause_turn": "stop",
    "context_window": "length",
    "missing": None,
}
DONE = SseEvent("[DONE]", terminal=True)

Json = dict[str, Any]


class FillInReplyComposer:
    """Makes the answer to one request; of a scripted reply the text counts."""

    def __init__(self, style: Style, model: str, reply: Reply, usage: Usage, name: str) -> None:
        self._style: Style = style
        self._model = model
        self._reply = reply
        self._usage = usage
        self._id = name

    def whole(self) -> Json:
        """Return the answer in one piece."""
        text = "".join(self._pieces())
        match self._style:
            case "mistral":
                message = {"role": "assistant", "content": text, "tool_calls": None}
                choice: Json = {"index": 0, "message": message}
                return self._framed("chat.completion", choice) | self._counted()
            case "deepseek":
                choice = {"index": 0, "text": text, "logprobs": None}
                return self._framed("text_completion", choice) | self._counted()
            case "llamacpp":
                return self._last() | {"content": text}

    def events(self, *, usage: bool) -> list[SseEvent]:
        """Return the stream; ``usage`` whether DeepSeek's ends with one."""
        deltas = [SseEvent(json.dumps(piece), delta=True) for piece in self._chunks()]
        if self._finish is None:
            return deltas
        match self._style:
            case "mistral":
                choice: Json = {"index": 0, "delta": {"content": ""}}
                last = self._framed("chat.completion.chunk", choice) | self._counted()
                return [*deltas, SseEvent(json.dumps(last)), DONE]
            case "deepseek":
                choice = {"index": 0, "text": "", "logprobs": None}
                ends = [self._framed("text_completion", choice)]
                if usage:
                    ends.append({**ends[0], "choices": [], **self._counted()})
                return [*deltas, *(SseEvent(json.dumps(end)) for end in ends), DONE]
            case "llamacpp":
                return [*deltas, SseEvent(json.dumps(self._last()), terminal=True)]

    @property
    def _finish(self) -> str | None:
        return FINISHED[self._reply.stop_reason()]

    def _pieces(self) -> Iterator[str]:
        for part in self._reply.parts:
            if isinstance(part, Text):
                yield from cut(part.text, part.split)

    def _chunks(self) -> Iterator[Json]:
        for number, piece in enumerate(self._pieces(), 1):
            match self._style:
                case "mistral":
                    choice: Json = {"index": 0, "delta": {"role": "assistant", "content": piece}}
                    yield self._framed("chat.completion.chunk", choice, finish=None)
                case "deepseek":
                    choice = {"index": 0, "text": piece, "logprobs": None}
                    yield self._framed("text_completion", choice, finish=None)
                case "llamacpp":
                    yield {"index": 0, "content": piece, "stop": False, "tokens_predicted": number}

    def _framed(self, kind: str, choice: Json, finish: str | None = "") -> Json:
        reason = self._finish if finish == "" else finish
        head = {"id": self._id, "object": kind, "created": CREATED, "model": self._model}
        return {**head, "choices": [{**choice, "finish_reason": reason}]}

    def _counted(self) -> Json:
        if not self._reply.report_usage:
            return {}
        prompt, output = self._usage.input, self._usage.output
        counts = {"prompt_tokens": prompt, "completion_tokens": output}
        return {"usage": {**counts, "total_tokens": prompt + output}}

    def _last(self) -> Json:
        """Return llama.cpp's last event, which has the counts."""
        stop_type = "limit" if self._finish == "length" else "eos"
        last: Json = {"index": 0, "content": "", "stop": True, "stop_type": stop_type}
        if self._reply.report_usage:
            last["tokens_evaluated"] = self._usage.input
            last["tokens_predicted"] = self._usage.output
        return {**last, "truncated": False, "model": self._model}
