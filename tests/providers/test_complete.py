"""Whole answers."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import ModelReply, ToolCallReady
from jupyter_ai_shoulders.providers.complete import complete
from jupyter_ai_shoulders.testing.scripted import Call, Fail, Say, ScriptedProvider, Think, turn
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.providers.support import ask


async def test_answer_is_text_calls_usage_and_stop() -> None:
    call = Call("read", {"n": 1}, call_id="a")
    usage = TokenUsage(input_tokens=3, output_tokens=4)
    provider = ScriptedProvider(turn(Think("Hm."), Say("One "), Say("two."), call, usage=usage))
    ready = ToolCallReady(CallId("a"), "read", {"n": 1}, '{"n": 1}')
    expected = ModelReply("One two.", (ready,), usage, "tool_use")
    assert await complete(provider, ask("Hi")) == expected


async def test_failure_is_raised_and_the_stream_closed() -> None:
    provider = ScriptedProvider(turn(Say("One"), Fail(ProviderError("No."))))
    with pytest.raises(ProviderError, match="No"):
        await complete(provider, ask("Hi"))
    assert provider.closed_early == 1
