"""Maps tool names to the characters every vendor accepts, and back; Google's format allows more.

Used by ``relay``; the caller sees only its own names. The limits are OpenAI's.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    NamedTool,
    ProviderEvent,
    ToolCallReady,
    ToolCallStart,
)
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ModelMessage,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)

_SAFE = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")
_PREFIX_LENGTH = 50

PartT = TypeVar("PartT")


class ToolNames:
    """The names of one request that need an alias."""

    def __init__(self, request: ModelRequest) -> None:
        unsafe = {name for name in _names(request) if not _SAFE.fullmatch(name)}
        self._safe: Mapping[str, str] = {name: _safe_name(name) for name in unsafe}
        self._original: Mapping[str, str] = {safe: name for name, safe in self._safe.items()}

    def encode_request(self, request: ModelRequest) -> ModelRequest:
        """Return the request with safe names; the same request where all are safe."""
        if not self._safe:
            return request
        choice = request.tool_choice
        return replace(
            request,
            messages=tuple(map(self._message, request.messages)),
            tools=tuple(
                tool.model_copy(update={"name": self._name(tool.name)}) for tool in request.tools
            ),
            tool_choice=(
                NamedTool(self._name(choice.name)) if isinstance(choice, NamedTool) else choice
            ),
        )

    def decode_events(self, events: AsyncGenerator[ProviderEvent]) -> AsyncGenerator[ProviderEvent]:
        """Return the events with the caller's names; closing it closes the given events."""
        return self._restored(events) if self._safe else events

    async def _restored(
        self, events: AsyncGenerator[ProviderEvent]
    ) -> AsyncGenerator[ProviderEvent]:
        async with contextlib.aclosing(events):
            async for event in events:
                if isinstance(event, (ToolCallStart, ToolCallReady)):
                    yield replace(event, tool=self._original.get(event.tool, event.tool))
                else:
                    yield event

    def _name(self, name: str) -> str:
        return self._safe.get(name, name)

    def _message(self, message: ModelMessage) -> ModelMessage:
        if isinstance(message, UserMessage):
            return UserMessage(parts=tuple(map(self._renamed, message.parts)))
        return AssistantMessage(parts=tuple(map(self._renamed, message.parts)))

    def _renamed(self, part: PartT) -> PartT:
        if isinstance(part, (ToolCallPart, ToolResultPart)):
            return part.model_copy(update={"tool": self._name(part.tool)})
        return part


def _names(request: ModelRequest) -> Iterator[str]:
    yield from (tool.name for tool in request.tools)
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                yield part.tool


def _safe_name(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{_UNSAFE.sub('_', name)[:_PREFIX_LENGTH]}_{digest}"
