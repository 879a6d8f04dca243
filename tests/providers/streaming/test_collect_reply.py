"""Tests of complete replies."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import ModelReply, ToolCallReady
from jupyter_ai_shoulders.providers.streaming.collect_reply import collect_reply
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Fail,
    Say,
    ScriptedProvider,
    Think,
    turn,
)
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.providers.adapter_fixtures import ask


async def test_answer_is_text_calls_usage_and_stop() -> None:
    call = Call("read", {"n": 1}, call_id="a")
    usage = TokenUsage(input_tokens=3, output_tokens=4)
    provider = ScriptedProvider(turn(Think("Hm."), Say("One "), Say("two."), call, usage=usage))
    ready = ToolCallReady(CallId("a"), "read", {"n": 1}, '{"n": 1}')
    expected = ModelReply("One two.", (ready,), usage, "tool_use")
    assert await collect_reply(provider, ask("Hi")) == expected


async def test_failure_is_raised_and_the_stream_closed() -> None:
    provider = ScriptedProvider(turn(Say("One"), Fail(ProviderError("No."))))
    with pytest.raises(ProviderError, match="No"):
        await collect_reply(provider, ask("Hi"))
    assert provider.closed_early == 1
