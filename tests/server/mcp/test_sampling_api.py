"""A real server of the SDK asks the conversation's model through its client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from tests.mcp_client import asking_server
from tests.server.client import Api
from tests.server.handlers.test_web_tools import Conversation, of_type, use
from tests.simulator import Simulator
from tests.simulator.script import ToolUse

SECRET = "sk-canary-0123456789abcdef"
SUMMARIZE = ToolUse(
    name="call_tool",
    arguments={"name": "mcp__asking__summarize", "arguments": {"text": f"Long {SECRET}"}},
)
LOAD = use("load_tools", category="mcp__asking")


@pytest.fixture
def sampling() -> bool:
    """Whether the entry of the server allows it."""
    return True


@pytest.fixture
def jp_server_config(
    jp_server_config: Config, sampling: bool, monkeypatch: pytest.MonkeyPatch
) -> Config:
    monkeypatch.setenv("ASKING_TOKEN", SECRET)
    entry: dict[str, Any] = {
        "command": sys.executable,
        "args": [str(Path(asking_server.__file__))],
        "env": {"TOKEN": "${ASKING_TOKEN}"},
        "sampling": sampling,
    }
    jp_server_config.merge(Config({"Shoulders": {"mcp_servers": {"asking": entry}}}))
    return jp_server_config


@pytest.fixture
def conversation(api: Api, upstream: Simulator) -> Conversation:
    return Conversation(api, upstream)


async def calls(api: Api) -> int:
    rows = (await api.get("usage", by="session")).body["rows"]
    return sum(row["calls"] for row in rows if row["key"] is not None)


async def test_the_model_of_the_conversation_answers_and_it_is_counted(
    conversation: Conversation, api: Api, upstream: Simulator
) -> None:
    events = await conversation.play(LOAD, SUMMARIZE, "In short.")
    [asked] = of_type(events, "stdin-request")
    assert asked["prompt"].endswith("> system: Be short.\n> \n> user: Long [redacted]")
    [answered] = of_type(events, "stdin-answer")
    assert answered["answered"] is True
    result = of_type(events, "tool-result")[-1]
    assert "In short." in result["content"][0]["text"]
    assert "maxTokens" not in result["content"][0]["text"]
    [line] = [each["text"] for each in of_type(events, "tool-progress")]
    assert line.endswith("In short.\n")
    sent = upstream.requests[2].body
    assert (sent["system"][0]["text"], sent["max_tokens"]) == ("Be short.", 100)
    assert SECRET not in str(sent)
    assert await calls(api) == 4  # three steps, and this


class TestOff:
    @pytest.fixture
    def sampling(self) -> bool:
        """The entry does not allow it."""
        return False

    async def test_a_server_is_not_offered_it(self, conversation: Conversation) -> None:
        events = await conversation.play(LOAD, SUMMARIZE)
        result = of_type(events, "tool-result")[-1]
        assert result["status"] == "error"
        assert "sampling" in str(result)
        assert of_type(events, "stdin-request") == []
