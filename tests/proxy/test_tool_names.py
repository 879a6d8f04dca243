"""Names of tools that not every vendor takes."""

from __future__ import annotations

import re

from jupyter_ai_shoulders.providers.base import ModelRequest, NamedTool
from jupyter_ai_shoulders.proxy.tool_names import ToolNames
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)


def asking(*names: str) -> ModelRequest:
    """A request with these tools, the first of them called before and now asked for."""
    call = ToolCallPart(call_id=CallId("x"), tool=names[0], arguments={})
    result = ToolResultPart(call_id=CallId("x"), tool=names[0], content=(), is_error=False)
    return ModelRequest(
        model="m",
        system="",
        messages=(AssistantMessage(parts=(TextPart(text="a"), call)), UserMessage(parts=(result,))),
        tools=tuple(ToolDefinition(name=name, description="", parameters={}) for name in names),
        tool_choice=NamedTool(names[0]),
    )


def test_a_request_with_names_everybody_takes_is_sent_as_it_is() -> None:
    request = asking("read", "run_cell-2", "x" * 64)

    assert ToolNames(request).encode_request(request) is request


def test_other_names_are_changed_wherever_they_stand_and_stay_apart() -> None:
    request = asking("a.b", "a:b", "a_b", "x" * 65)

    sent = ToolNames(request).encode_request(request)

    names = [tool.name for tool in sent.tools]
    assert len(set(names)) == 4
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert names[2] == "a_b"
    assert sent == asking(*names)
