"""A scripted reply in the Responses format: one JSON body, or a stream.

Both are made from the same items, so that streaming cannot differ from not streaming.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tests.simulator.chaos_stream import SseEvent, interleave
from tests.simulator.chunking import Counter, arguments_text, cut
from tests.simulator.endpoint_protocol import with_failure
from tests.simulator.openai_chat.errors import failure_body
from tests.simulator.openai_chat.reply import CREATED
from tests.simulator.openai_responses.capabilities import effort_of
from tests.simulator.openai_responses.issued_items import IssuedItem, IssuedItems, encrypt
from tests.simulator.openai_responses.models import ResponsesModel
from tests.simulator.openai_responses.schema import NamespaceTool, ResponsesBody
from tests.simulator.script import (
    Failure,
    Part,
    Reasoning,
    Reply,
    Stop,
    Text,
    ToolUse,
    Usage,
)

INCOMPLETE: Mapping[Stop, str] = {
    "max_tokens": "max_output_tokens",
    "context_window": "max_output_tokens",
    "content_filter": "content_filter",
    "pause_turn": "max_messages",
}
"""Stops that leave the response incomplete, and the reason given."""

OBFUSCATION = "sIm0bfu5c4t10n"

Json = dict[str, Any]

KEEPALIVE: Json = {"type": "keepalive"}
UNKNOWN: Json = {"type": "response.sim_future_event.delta", "output_index": 0, "detail": {}}


class OpenAIResponsesReplyComposer:
    """Makes the answer to one request."""

    def __init__(
        self,
        body: ResponsesBody,
        model: ResponsesModel,
        reply: Reply,
        usage: Usage,
        counter: Counter,
    ) -> None:
        self._body = body
        self._model = model
        self._reply = reply
        self._usage = usage
        self._id = counter.new("resp_sim")
        thinks = effort_of(body, model) != "none"
        self._parts = [
            (part, self._item(part, counter))
            for part in reply.parts
            if thinks or not isinstance(part, Reasoning)
        ]
        if self._parts and self._reason() is not None:
            self._parts[-1][1].update(status="incomplete")

    def remember(self, issued: IssuedItems) -> None:
        """Note the items, and the reasoning each must come back with."""
        reasoning: str | None = None
        for _, item in self._parts:
            stored = self._body.store is not False
            own = item["type"] == "reasoning"
            issued.items[item["id"]] = IssuedItem(item["type"], stored, None if own else reasoning)
            reasoning = item["id"] if own else reasoning

    def response(self) -> Json:
        """Return the whole answer as one JSON body."""
        reason = self._reason()
        return self._envelope(
            "completed" if reason is None else "incomplete",
            output=[item for _, item in self._parts],
            incomplete_details=None if reason is None else {"reason": reason},
            usage=usage_body(self._usage) if self._reply.report_usage else None,
        )

    def events(self) -> list[SseEvent]:
        """Return the whole answer as a stream, with what the delivery adds and the failure."""
        reply = self._reply
        found = [*self._opening(), *self._item_events(), *self._ending()]
        found = interleave(found, [KEEPALIVE] * reply.delivery.pings, before_first=False)
        if reply.delivery.unknown_events:
            found = interleave(found, [UNKNOWN], before_first=True)
        instead = list(self._failed(reply.failure)) if reply.failure else list[Json]()
        return numbered(with_failure(found, reply.failure, instead))

    def _item(self, part: Part, counter: Counter) -> Json:
        match part:
            case Text():
                return self._message(part, counter.new("msg_sim"))
            case Reasoning():
                return self._reasoning(part, counter.new("rs_sim"))
            case ToolUse():
                return {
                    "id": counter.new("fc_sim"),
                    "type": "function_call",
                    "status": "completed",
                    "call_id": part.id or counter.new("call_sim"),
                    "name": part.name,
                    "arguments": arguments_text(part),
                    **self._namespace(part.name),
                }

    def _namespace(self, name: str) -> Json:
        """The group of a function that is offered in one (``ResponseFunctionToolCall``)."""
        groups = [tool for tool in self._body.tools or [] if isinstance(tool, NamespaceTool)]
        found = [group.name for group in groups if name in {tool.name for tool in group.tools}]
        return {"namespace": found[0]} if found else {}

    def _message(self, part: Text, item_id: str) -> Json:
        content: Json = {"type": "output_text", "text": part.text, "annotations": []}
        if self._reply.stop_reason() == "refusal":
            content = {"type": "refusal", "refusal": part.text}
        calls = any(isinstance(other, ToolUse) for other in self._reply.parts)
        phase = {"phase": "commentary" if calls else "final_answer"} if self._model.phases else {}
        return {
            "id": item_id,
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [content],
            **phase,
        }

    def _reasoning(self, part: Reasoning, item_id: str) -> Json:
        asked = self._body.reasoning is not None and self._body.reasoning.summary is not None
        texts = part.text.split("\n\n") if asked and not part.redacted else []
        summary = [{"type": "summary_text", "text": text} for text in texts]
        item: Json = {"id": item_id, "type": "reasoning", "summary": summary}
        if "reasoning.encrypted_content" in (self._body.include or []):
            item["encrypted_content"] = encrypt(item_id, self._body.model)
        return item

    def _reason(self) -> str | None:
        return INCOMPLETE.get(self._reply.stop_reason())

    def _opening(self) -> Iterator[Json]:
        begun = self._envelope("in_progress", output=[], incomplete_details=None, usage=None)
        yield {"type": "response.created", "response": begun}
        yield {"type": "response.in_progress", "response": begun}

    def _item_events(self) -> Iterator[Json]:
        options = self._body.stream_options
        plain = options is not None and options.include_obfuscation is False
        for index, (part, item) in enumerate(self._parts):
            for event in item_events(part, item):
                veil = {} if plain or "delta" not in event else {"obfuscation": OBFUSCATION}
                yield {**event, "output_index": index, **veil}

    def _ending(self) -> Iterator[Json]:
        if self._reply.stop_reason() != "missing":
            whole = self.response()
            yield {"type": f"response.{whole['status']}", "response": whole}

    def _failed(self, failure: Failure) -> Iterator[Json]:
        """Yield the error in the shape asked for, and the response that failed with it."""
        error = failure_body(failure)["error"]
        if failure.shape == "nested":
            yield {"type": "error", "error": error}
        if failure.shape == "flat":
            yield {"type": "error", **{key: error[key] for key in ("code", "message", "param")}}
        said = {"code": error["code"] or error["type"], "message": error["message"]}
        failed = self._envelope("failed", output=[], incomplete_details=None, usage=None)
        yield {"type": "response.failed", "response": {**failed, "error": said}}

    def _envelope(self, status: str, **rest: Any) -> Json:
        asked = self._body.model_dump(mode="json", by_alias=True)
        return {
            "id": self._id,
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "background": False,
            "error": None,
            "model": self._body.model,
            **{name: asked[name] for name in ECHOED},
            "parallel_tool_calls": asked["parallel_tool_calls"] is not False,
            "reasoning": {"effort": effort_of(self._body, self._model), "summary": None},
            "store": asked["store"] is not False,
            "temperature": 1.0 if asked["temperature"] is None else asked["temperature"],
            "text": asked["text"] or {"format": {"type": "text"}},
            "tool_choice": asked["tool_choice"] or "auto",
            "tools": asked["tools"] or [],
            "top_p": 1.0 if asked["top_p"] is None else asked["top_p"],
            "truncation": asked["truncation"] or "disabled",
            **rest,
        }


ECHOED = (
    "instructions",
    "max_output_tokens",
    "metadata",
    "previous_response_id",
    "prompt_cache_key",
    "safety_identifier",
    "service_tier",
    "user",
)
"""Fields of the request that the response repeats as they were."""


def item_events(part: Part, item: Json) -> Iterator[Json]:
    """Yield the events of one item, without its index."""
    yield {"type": "response.output_item.added", "item": opening(item)}
    for event in filling(part, item):
        yield {**event, "item_id": item["id"]}
    yield {"type": "response.output_item.done", "item": item}


def opening(item: Json) -> Json:
    """Return the item as it begins; encrypted content may be there already, but not whole."""
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case _:
            encrypted = item.get("encrypted_content")
            begun = {} if encrypted is None else {"encrypted_content": encrypted[:20]}
            return {**item, "summary": [], **begun}


def filling(part: Part, item: Json) -> Iterator[Json]:
    """Yield the events between the beginning and the end of an item."""
    match part:
        case Text():
            yield from content_events(part, item["content"][0])
        case Reasoning():
            for index, piece in enumerate(item["summary"]):
                yield from summary_events(index, piece)
        case ToolUse():
            kind = "response.function_call_arguments"
            for piece in cut(item["arguments"], 8):
                yield {"type": f"{kind}.delta", "delta": piece}
            yield {"type": f"{kind}.done", "name": item["name"], "arguments": item["arguments"]}


def content_events(part: Text, content: Json) -> Iterator[Json]:
    """Yield the events of a message's content: text or a refusal."""
    refused = content["type"] == "refusal"
    field, kind = ("refusal", "refusal") if refused else ("text", "output_text")
    more: Json = {} if refused else {"logprobs": []}
    place = {"content_index": 0}
    empty = {**content, field: ""}
    yield {"type": "response.content_part.added", **place, "part": empty}
    for piece in cut(part.text, part.split):
        yield {"type": f"response.{kind}.delta", **place, "delta": piece, **more}
    yield {"type": f"response.{kind}.done", **place, field: part.text, **more}
    yield {"type": "response.content_part.done", **place, "part": content}


def summary_events(index: int, piece: Json) -> Iterator[Json]:
    """Yield the events of one part of a reasoning summary."""
    kind, place = "response.reasoning_summary", {"summary_index": index}
    yield {"type": f"{kind}_part.added", **place, "part": {**piece, "text": ""}}
    for delta in cut(piece["text"], "words"):
        yield {"type": f"{kind}_text.delta", **place, "delta": delta}
    yield {"type": f"{kind}_text.done", **place, "text": piece["text"]}
    yield {"type": f"{kind}_part.done", **place, "part": piece}


TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})


def numbered(events: Iterable[Json]) -> list[SseEvent]:
    """Return the events as sent: each with its number, and its type as the name."""
    return [
        SseEvent(
            json.dumps({**event, "sequence_number": number}),
            event["type"],
            delta="delta" in event,
            terminal=event["type"] in TERMINAL,
        )
        for number, event in enumerate(events)
    ]


def usage_body(usage: Usage) -> Json:
    """Return the usage as this format counts it: the input includes cached tokens."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def text_of(parts: Sequence[Any] | str) -> str:
    """Return the text of a message's or an output's content."""
    if isinstance(parts, str):
        return parts
    return "\n".join(part.text for part in parts if hasattr(part, "text"))
