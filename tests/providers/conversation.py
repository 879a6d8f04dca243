"""A conversation over a real socket that handles replies as the engine does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    PartEnd,
    PartStart,
    Provider,
    ProviderEvent,
    ToolCallReady,
)
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ModelMessage,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UserMessage,
)
from tests.providers.adapter_fixtures import (
    READ,
    Kind,
    Sent,
    ask,
    collect,
    make_endpoint,
    provider_of,
    result,
    user,
)
from tests.simulator import Simulator


@asynccontextmanager
async def connected(
    simulator: Simulator, kind: Kind, *, sent: Sent | None = None, **more: Any
) -> AsyncGenerator[Provider]:
    """An adapter connected to the simulator; closed at the end."""
    url = simulator.url if kind in {"anthropic", "google", "ollama"} else simulator.openai_url
    values: dict[str, Any] = {"key": simulator.key, "url": url, "sent": sent, **more}
    made = make_endpoint(kind, **values)
    try:
        yield provider_of(made)
    finally:
        await made.upstream.aclose()


@dataclass(slots=True)
class Conversation:
    """Messages so far; each reply is added as a log would rebuild it."""

    provider: Provider
    model: ModelSpec
    messages: list[ModelMessage] = field(default_factory=list[ModelMessage])
    system: str = "Be brief."

    async def say(self, text: str, **more: Any) -> AssistantMessage:
        self.messages.append(user(text))
        return await self.step(**more)

    async def step(self, *, tools: Sequence[Any] = (READ,), **more: Any) -> AssistantMessage:
        request = ask(
            *self.messages,
            system=self.system,
            model=self.model.model,
            tools=tuple(tools),
            **more,
        )
        reply = message_of(await collect(self.provider, request))
        self.messages.append(reply)
        return reply

    async def answer_calls(self, **more: Any) -> AssistantMessage:
        last = self.messages[-1]
        calls = [part for part in last.parts if isinstance(part, ToolCallPart)]
        self.messages.append(UserMessage(parts=tuple(result(part.call_id) for part in calls)))
        return await self.step(**more)


def message_of(events: Sequence[ProviderEvent]) -> AssistantMessage:
    """The assistant message of these events."""
    parts: list[AssistantPart] = []
    kind, text = "", ""
    for event in events:
        match event:
            case PartStart():
                kind, text = event.kind, ""
            case PartDelta():
                text += event.text
            case PartEnd():
                make = TextPart if kind == "text" else ReasoningPart
                parts.append(make(text=text, state=event.state))
            case ToolCallReady():
                parts.append(
                    ToolCallPart(
                        call_id=event.call_id,
                        tool=event.tool,
                        arguments=event.arguments or {},
                        state=event.state,
                    )
                )
            case _:
                pass
    return AssistantMessage(parts=tuple(parts))
