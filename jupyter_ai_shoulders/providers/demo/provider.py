"""The demo as a provider: streams the planner's answer word by word, as a model would.

Created by ``adapter_factory`` for the kind ``demo``.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator

from jupyter_ai_shoulders.core.clock import IdSource, RandomIds
from jupyter_ai_shoulders.providers.base import (
    ListedModel,
    ModelRequest,
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    Stop,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
    UsageReport,
)
from jupyter_ai_shoulders.providers.demo.planner import plan
from jupyter_ai_shoulders.providers.demo.skill_protocol import SkillCall, SkillReply
from jupyter_ai_shoulders.wire.ids import CallId, PartId
from jupyter_ai_shoulders.wire.parts import ModelMessage
from jupyter_ai_shoulders.wire.usage import TokenUsage

MODEL = "demo"
PIECES = re.compile(r"\s*\S+\s?|\s+")
ARGUMENT_PIECE = 24
CHARACTERS_PER_TOKEN = 4


class DemoProvider:
    """Answers by rules. ``words_per_second`` paces the stream; 0 sends without a pause."""

    def __init__(self, words_per_second: float = 80.0, ids: IdSource | None = None) -> None:
        self._pause = 1 / words_per_second if words_per_second > 0 else 0.0
        self._ids = ids or RandomIds()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ProviderEvent]:
        """Yield the next step of the answer."""
        reply = plan(request)
        for event in self._events(reply):
            await asyncio.sleep(self._pause if paced(event) else 0)
            yield event
        yield UsageReport(usage(request, reply))
        yield Stop("end_turn" if reply.act is None else "tool_use")

    async def list_models(self) -> list[ListedModel]:
        """Return the demo's only model."""
        return [ListedModel(MODEL, capabilities=frozenset({"tools"}))]

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return None: there are no tokens."""

    async def aclose(self) -> None:
        """Do nothing: there are no connections."""

    def _events(self, reply: SkillReply) -> Iterator[ProviderEvent]:
        if reply.text:
            part_id = PartId(self._ids.new("part"))
            yield PartStart("text", part_id)
            yield from (PartDelta(part_id, piece) for piece in PIECES.findall(reply.text))
            yield PartEnd(part_id)
        if reply.act is not None:
            yield from call_events(CallId(self._ids.new("call")), reply.act)


def call_events(call_id: CallId, act: SkillCall) -> Iterator[ProviderEvent]:
    """Yield the events of a call."""
    raw = json.dumps(act.arguments, ensure_ascii=False)
    yield ToolCallStart(call_id, act.tool)
    for start in range(0, len(raw), ARGUMENT_PIECE):
        yield ToolArgumentsDelta(call_id, raw[start : start + ARGUMENT_PIECE])
    yield ToolCallReady(call_id, act.tool, act.arguments, raw)


def paced(event: ProviderEvent) -> bool:
    """Return whether an event is a word, to be paced."""
    return isinstance(event, PartDelta | ToolArgumentsDelta)


def usage(request: ModelRequest, reply: SkillReply) -> TokenUsage:
    """Return estimated tokens, for the usage display."""
    answer = reply.text + (json.dumps(reply.act.arguments) if reply.act else "")
    return TokenUsage(
        input_tokens=(len(request.system) + sum(map(length, request.messages)))
        // CHARACTERS_PER_TOKEN,
        output_tokens=len(answer) // CHARACTERS_PER_TOKEN,
        estimated=True,
    )


def length(message: ModelMessage) -> int:
    """Return the approximate number of characters of a message."""
    return len(message.model_dump_json())
