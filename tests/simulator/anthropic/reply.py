"""A scripted reply in the Messages format: one JSON body, or a stream.

Both are made from the same blocks, so that streaming cannot differ from not streaming.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import JsonValue

from tests.simulator.anthropic.capabilities import thinks
from tests.simulator.anthropic.models import CLAUDE_MODELS, ClaudeModel
from tests.simulator.anthropic.schema import (
    MessagesBody,
    ThinkingAdaptive,
    ThinkingEnabled,
)
from tests.simulator.anthropic.signatures import seal, sign
from tests.simulator.anthropic.thinking_checks import IssuedThinking
from tests.simulator.chaos_stream import SseEvent
from tests.simulator.chunking import Counter, arguments_text, cut
from tests.simulator.script import (
    Part,
    Reasoning,
    Reply,
    Stop,
    Text,
    ToolUse,
    Usage,
)

STOP_REASONS: dict[Stop, str | None] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "content_filter": "refusal",
    "pause_turn": "pause_turn",
    "context_window": "model_context_window_exceeded",
    "missing": None,
}

Json = dict[str, Any]


class AnthropicReplyComposer:
    """Makes the answer to one request."""

    def __init__(
        self,
        body: MessagesBody,
        model: ClaudeModel,
        reply: Reply,
        usage: Usage,
        counter: Counter,
    ) -> None:
        self._body = body
        self._reply = reply
        self._usage = usage
        self._id = counter.new("msg_sim")
        self._shown = shows_thinking(body, model)
        self._parts = [
            (part, self._block(part, counter))
            for part in reply.parts
            if thinks(body, model) or not isinstance(part, Reasoning)
        ]

    def remember(self, issued: IssuedThinking) -> None:
        """Note the calls that follow thinking, which must come back with it."""
        thought = False
        for part, block in self._parts:
            thought = thought or isinstance(part, Reasoning)
            if thought and isinstance(part, ToolUse):
                issued.after_thinking[block["id"]] = self._body.model

    def message(self) -> Json:
        """Return the whole answer as one JSON body."""
        return self._envelope(
            content=[finished(part, block) for part, block in self._parts],
            usage=self._all_usage() if self._reply.report_usage else {},
            **self._ending(),
        )

    def events(self) -> list[SseEvent]:
        """Return the whole answer as a stream."""
        stream = [event({"type": "message_start", "message": self._start()})]
        for index, (part, block) in enumerate(self._parts):
            stream += block_events(index, part, block)
        stream.append(event(self._message_delta()))
        stream.append(event({"type": "message_stop"}, terminal=True))
        return stream

    def _block(self, part: Part, counter: Counter) -> Json:
        match part:
            case Text():
                return {"type": "text", "text": part.text}
            case ToolUse():
                call_id = part.id or counter.new("toolu_sim")
                return {"type": "tool_use", "id": call_id, "name": part.name, "input": {}}
            case Reasoning(redacted=True):
                return {"type": "redacted_thinking", "data": sign(seal(self._body, ""))}
            case Reasoning():
                text = part.text if self._shown else ""
                signature = sign(seal(self._body, text))
                return {"type": "thinking", "thinking": text, "signature": signature}

    def _start(self) -> Json:
        usage = {
            "input_tokens": uncached(self._usage),
            "cache_creation_input_tokens": self._usage.cache_write,
            "cache_read_input_tokens": self._usage.cache_read,
            "output_tokens": 1,
        }
        return self._envelope(
            content=[], usage=usage if self._reply.report_usage else {}, **NOTHING_YET
        )

    def _message_delta(self) -> Json:
        usage: Json = self._all_usage() if self._reply.report_usage else {}
        return {"type": "message_delta", "delta": self._ending(), "usage": usage}

    def _envelope(self, **rest: Any) -> Json:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._body.model,
            **rest,
        }

    def _ending(self) -> Json:
        reason = self._reply.stop_reason()
        ending: Json = {"stop_reason": STOP_REASONS[reason], "stop_sequence": None}
        if reason == "stop_sequence" and self._body.stop_sequences:
            ending["stop_sequence"] = self._body.stop_sequences[0]
        if reason == "refusal":
            ending["stop_details"] = {
                "type": "refusal",
                "category": None,
                "explanation": "The simulator was told to refuse.",
            }
        return ending

    def _all_usage(self) -> Json:
        return {
            "input_tokens": uncached(self._usage),
            "cache_creation_input_tokens": self._usage.cache_write,
            "cache_read_input_tokens": self._usage.cache_read,
            "output_tokens": self._usage.output,
            "output_tokens_details": {"thinking_tokens": self._usage.reasoning},
        }


NOTHING_YET: Json = {"stop_reason": None, "stop_sequence": None}


def shows_thinking(body: MessagesBody, model: ClaudeModel) -> bool:
    """Return whether thinking is sent as text, or as its signature alone."""
    if isinstance(body.thinking, ThinkingAdaptive | ThinkingEnabled) and body.thinking.display:
        return body.thinking.display == "summarized"
    return model.display == "summarized"


def uncached(usage: Usage) -> int:
    """Return the input tokens as this format counts them: without the cached ones."""
    return usage.input - usage.cache_read - usage.cache_write


def finished(part: Part, block: Json) -> Json:
    """Return the block as an answer that does not stream has it."""
    if not isinstance(part, ToolUse):
        return block
    return {**block, "input": parsed(arguments_text(part))}


def parsed(arguments: str) -> JsonValue:
    """Return the arguments as an object; what cannot be read is kept as text."""
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return {"INVALID_JSON": arguments}


def event(data: Json, *, delta: bool = False, terminal: bool = False) -> SseEvent:
    """Return a server-sent event; its name is the type."""
    return SseEvent(json.dumps(data), data["type"], delta=delta, terminal=terminal)


def block_events(index: int, part: Part, block: Json) -> Iterator[SseEvent]:
    """Yield start, deltas and stop of one block."""
    start = {"type": "content_block_start", "index": index, "content_block": opening(block)}
    yield event(start)
    for change in deltas(part, block):
        yield event(
            {"type": "content_block_delta", "index": index, "delta": change},
            delta=change["type"] != "signature_delta",
        )
    yield event({"type": "content_block_stop", "index": index})


def opening(block: Json) -> Json:
    """Return the block as it begins: empty, but redacted thinking comes whole."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}
        case "thinking":
            return {**block, "thinking": "", "signature": ""}
        case _:
            return block


def deltas(part: Part, block: Json) -> Iterator[Json]:
    """Yield the changes that fill a block."""
    match block["type"]:
        case "text" if isinstance(part, Text):
            for piece in cut(part.text, part.split):
                yield {"type": "text_delta", "text": piece}
        case "thinking":
            for piece in cut(block["thinking"], "words"):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use" if isinstance(part, ToolUse):
            for piece in argument_pieces(arguments_text(part)):
                yield {"type": "input_json_delta", "partial_json": piece}
        case _:
            return


def argument_pieces(arguments: str) -> Sequence[str]:
    """Return the pieces arguments come in: an empty one first, and no other when there are none."""
    return [""] if arguments in ("", "{}") else ["", *cut(arguments, 8)]


PING = SseEvent(json.dumps({"type": "ping"}), "ping")
UNKNOWN = SseEvent(json.dumps({"type": "sim_future_event", "detail": {}}), "sim_future_event")


def model_info(name: str, model: ClaudeModel) -> Json:
    """Return an entry of ``GET /v1/models``."""
    thinking = {
        kind: {"supported": kind in model.thinking_types}
        for kind in ("adaptive", "enabled", "disabled", "between_tools")
    }
    effort = {
        level: {"supported": level in model.efforts}
        for level in ("low", "medium", "high", "xhigh", "max")
    }
    return {
        "id": name,
        "type": "model",
        "display_name": name.replace("-", " ").title(),
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
        "line": model.line,
        "max_input_tokens": model.window,
        "max_tokens": model.max_output,
        "deprecated_at": None,
        "retires_at": None,
        "capabilities": {
            "thinking": {"supported": True, "types": thinking},
            "effort": {"supported": bool(model.efforts), **effort},
            **{capability: {"supported": True} for capability in FLAT_CAPABILITIES},
            "server_tools": {"supported": False},
            "context_management": {"supported": False},
        },
    }


FLAT_CAPABILITIES = (
    "image_input",
    "pdf_input",
    "structured_outputs",
    "citations",
    "batch",
    "code_execution",
)


def model_list(models: dict[str, ClaudeModel] | None = None) -> Json:
    """Return the body of ``GET /v1/models``."""
    known = CLAUDE_MODELS if models is None else models
    names = list(known)
    return {
        "data": [model_info(name, model) for name, model in known.items()],
        "first_id": names[0] if names else None,
        "last_id": names[-1] if names else None,
        "has_more": False,
    }
