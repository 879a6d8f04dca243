"""What an agent is sent, and the end of a prompt that fails in an unexpected way."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.acp_client.values import PromptText
from jupyter_ai_shoulders.core.clock import RandomIds
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.host.external_agents.agent_conversation import AgentConversation
from jupyter_ai_shoulders.host.external_agents.agent_prompts import trailing_blocks
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.tools.external_agents.requests import AgentRequests
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.parts import AssistantMessage, TextPart, UserMessage


class _BrokenConnection:
    async def prompt(self, blocks: object) -> None:
        raise AttributeError("usage")


async def test_a_prompt_that_fails_unexpectedly_ends_the_turn_with_an_error() -> None:
    conversation = AgentConversation(SessionId("s"), "broken", AgentRequests(), RandomIds())
    conversation.connection = cast("Any", _BrokenConnection())

    conversation.begin([PromptText("Hello")])

    async with asyncio.timeout(5):
        with pytest.raises(ProviderError, match="connection to the agent failed"):
            _ = [event async for event in conversation.relay()]
    assert not conversation.is_working


def test_messages_that_the_agent_was_not_sent_keep_their_order() -> None:
    old, first, second = (TextPart(text=text) for text in ("old", "first", "second"))
    answer = AssistantMessage(parts=(TextPart(text="answer"),))
    messages = (
        UserMessage(parts=(old,)),
        answer,
        *(UserMessage(parts=(p,)) for p in (first, second)),
    )

    blocks = trailing_blocks(ModelRequest(model="codex", system="", messages=messages))

    assert blocks == [PromptText("first"), PromptText("second")]
