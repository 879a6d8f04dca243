"""Token estimates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.catalogue.specs import TokenFamily
from jupyter_ai_shoulders.core.token_estimates import (
    TOKENS_PER_IMAGE,
    estimate_message,
    estimate_request,
    estimate_text,
)
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ImagePart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)


@pytest.mark.parametrize(
    ("text", "family", "expected"),
    [
        ("", "anthropic", 0),
        ("a", "openai", 1),
        ("x" * 270, "anthropic", 100),
        ("x" * 350, "openai", 100),
        ("é" * 10, "other", 5),
        ("日" * 9, "other", 10),
        ("😀" * 2, "other", 5),
        ("abc日é😀", "openai", 5),
        ("\ud83d", "other", 2),
    ],
)
def test_text_by_class_of_character(text: str, family: TokenFamily, expected: int) -> None:
    assert estimate_text(text, family) == expected


@given(one=st.text(), other=st.text())
def test_more_text_is_never_fewer_tokens(one: str, other: str) -> None:
    together = estimate_text(one + other, "other")
    assert together >= estimate_text(one, "other")
    assert together <= estimate_text(one, "other") + estimate_text(other, "other")


def test_request_is_the_sum_of_its_parts() -> None:
    image = ImagePart(media_type="image/png", data="AAAA")
    result = ToolResultPart(
        call_id=CallId("a"), tool="read", content=(TextPart(text="x" * 35), image), is_error=False
    )
    call = ToolCallPart(call_id=CallId("a"), tool="read", arguments={})
    tool = ToolDefinition(name="read", description="", parameters={})
    messages = (AssistantMessage(parts=(call,)), UserMessage(parts=(result,)))
    assert estimate_message(messages[1], "other") == 6 + 6 + 10 + TOKENS_PER_IMAGE
    total = estimate_request("x" * 35, messages, [tool], "other")
    assert total == 10 + (6 + 6 + 2) + (22 + TOKENS_PER_IMAGE) + (6 + 2)
