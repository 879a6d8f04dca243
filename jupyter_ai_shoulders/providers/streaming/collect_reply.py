"""Collects a stream into a complete reply, for single calls; used by ``assist``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import cast

from jupyter_ai_shoulders.providers.base import (
    ModelReply,
    ModelRequest,
    PartDelta,
    PartStart,
    Provider,
    ProviderEvent,
    Stop,
    StopReason,
    ToolCallReady,
    UsageReport,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage


async def collect_reply(provider: Provider, request: ModelRequest) -> ModelReply:
    """Send the request and return the answer's text, calls, usage and stop reason.

    Raises ``ProviderError``.
    """
    events = cast("AsyncGenerator[ProviderEvent]", provider.stream(request))
    text: list[str] = []
    calls: list[ToolCallReady] = []
    usage, stop, kind = TokenUsage(), cast("StopReason", "other"), ""
    async with contextlib.aclosing(events):
        async for event in events:
            match event:
                case PartStart():
                    kind = event.kind
                case PartDelta() if kind == "text":
                    text.append(event.text)
                case ToolCallReady():
                    calls.append(event)
                case UsageReport():
                    usage = event.usage
                case Stop():
                    stop = event.reason
                case _:
                    pass
    return ModelReply("".join(text), tuple(calls), usage, stop)
