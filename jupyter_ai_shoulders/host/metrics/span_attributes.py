"""The attributes of spans. Used by ``host.metrics.spans``; ``docs/metrics.md`` lists them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_ai_shoulders.host.metrics.labels import OTHER, Labels
from jupyter_ai_shoulders.host.metrics.measurements import ModelCallEnded, ToolEnded, TurnFacts
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId
from jupyter_ai_shoulders.wire.parts import TextPart

AGENT = "shoulders"
STEP_SPAN = "shoulders.step"
Attributes = dict[str, str | int | float | bool]

_CONVENTIONAL = {"google": "gcp.gemini", "mistral": "mistral_ai"}
"""Names of the conventions for providers that we name otherwise."""
_ID = re.compile(r"[\w.:-]{1,80}", re.ASCII)
MOST_CHARACTERS = 20_000
"""Of a text in a span."""
MOST_WAITING = 1000

ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    f"invoke_agent {AGENT}": (
        "gen_ai.operation.name",
        "gen_ai.agent.name",
        "gen_ai.conversation.id",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "shoulders.session.source",
        "shoulders.turn.resumed",
        "shoulders.turn.interrupted",
        "shoulders.turn.exit",
        "shoulders.turn.steps",
        "shoulders.turn.retries",
        "error.type",
    ),
    STEP_SPAN: (
        "shoulders.step",
        "shoulders.step.stop",
        "shoulders.step.tool_calls",
        "error.type",
    ),
    "chat {gen_ai.request.model}": (
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.request.stream",
        "gen_ai.response.time_to_first_chunk",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.reasoning.output_tokens",
        "shoulders.attempt",
        "shoulders.cancelled",
        "error.type",
    ),
    "execute_tool {gen_ai.tool.name}": (
        "gen_ai.operation.name",
        "gen_ai.tool.name",
        "gen_ai.tool.type",
        "gen_ai.tool.call.id",
        "shoulders.tool.status",
        "shoulders.tool.background",
        "error.type",
    ),
}
CONTENT_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    f"invoke_agent {AGENT}": ("gen_ai.input.messages",),
    "chat {gen_ai.request.model}": ("gen_ai.output.messages",),
    "execute_tool {gen_ai.tool.name}": ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
}
"""Only with ``Shoulders.otel_content``."""


class ContentRecorder:
    """Keeps the texts of open turns; added to the event bus only if spans may hold them."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self.redact = redact
        self._asked: dict[SessionId, str] = {}
        self._said: dict[TurnId, list[str]] = {}
        self.handlers: Mapping[str, Callable[[Any], None]] = {
            "message-add": self._message,
            "text-delta": self._delta,
        }

    def on_event(self, logged: LoggedEvent) -> None:
        """Handle a committed event."""
        self.handlers[logged.event.type](logged.event)

    def question(self, session_id: SessionId) -> str:
        """Return the newest message of a conversation, as ``gen_ai.input.messages``."""
        return self._messages("user", self._asked.pop(session_id, ""))

    def reply(self, turn_id: TurnId) -> str:
        """Return what the model has said since the last call, as ``gen_ai.output.messages``."""
        return self._messages("assistant", "".join(self._said.pop(turn_id, [])))

    def text(self, text: str) -> str:
        """Return a text for a span; redacted first, so that no part of a key remains."""
        return self.redact(text)[:MOST_CHARACTERS]

    def _messages(self, role: str, text: str) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": self.text(text)}]}])

    def _message(self, event: ev.MessageAdd) -> None:
        if len(self._asked) >= MOST_WAITING:
            self._asked.clear()
        self._asked[event.session_id] = event.text

    def _delta(self, event: ev.TextDelta) -> None:
        if event.turn_id is None:
            return
        if len(self._said) >= MOST_WAITING:
            self._said.clear()
        self._said.setdefault(event.turn_id, []).append(event.text)


def turn_attributes(
    facts: TurnFacts, labels: Labels, content: ContentRecorder | None
) -> Attributes:
    """Return the attributes of a turn that are known at its begin."""
    attributes: Attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": AGENT,
        "gen_ai.conversation.id": facts.session_id,
        **_model(facts, labels),
        "shoulders.session.source": facts.source or OTHER,
        "shoulders.turn.resumed": facts.resumed,
    }
    if content is not None:
        attributes["gen_ai.input.messages"] = content.question(facts.session_id)
    return attributes


def model_call_attributes(
    ended: ModelCallEnded, labels: Labels, content: ContentRecorder | None
) -> Attributes:
    """Return the attributes of a model call."""
    attributes: Attributes = {
        "gen_ai.operation.name": "chat",
        **_model(ended.turn, labels),
        "gen_ai.request.stream": True,
        "shoulders.attempt": ended.attempt,
    }
    if ended.first_output is not None:
        first = max(ended.first_output - ended.began, 0.0)
        attributes["gen_ai.response.time_to_first_chunk"] = first
    if ended.cancelled:
        attributes["shoulders.cancelled"] = True
    if ended.usage is not None:
        usage = ended.usage.usage
        attributes |= {
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        }
    if content is not None:
        attributes["gen_ai.output.messages"] = content.reply(ended.turn.turn_id)
    return attributes


def tool_call_attributes(
    ended: ToolEnded, labels: Labels, content: ContentRecorder | None
) -> Attributes:
    """Return the attributes of a tool call."""
    attributes: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": labels.tool(ended.tool),
        "gen_ai.tool.type": "function",
        "shoulders.tool.status": ended.status,
    }
    if ended.run is not None:
        attributes["shoulders.tool.background"] = True
    if _ID.fullmatch(ended.call_id):
        attributes["gen_ai.tool.call.id"] = ended.call_id
    if content is not None and ended.call is not None and ended.result is not None:
        arguments = json.dumps(ended.call.arguments, ensure_ascii=False)
        texts = [part.text for part in ended.result.content if isinstance(part, TextPart)]
        attributes["gen_ai.tool.call.arguments"] = content.text(arguments)
        attributes["gen_ai.tool.call.result"] = content.text("\n".join(texts))
    return attributes


def _model(facts: TurnFacts, labels: Labels) -> dict[str, str]:
    provider, model = labels.model(facts.provider, facts.model)
    return {
        "gen_ai.provider.name": _CONVENTIONAL.get(provider, provider),
        "gen_ai.request.model": model,
    }
