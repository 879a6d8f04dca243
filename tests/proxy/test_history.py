"""Neighbours are merged, results get the name of their tool, calls and results must match."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.proxy.history import (
    NO_QUESTION,
    ONLY_SYSTEM,
    normalize_history,
    start_with_user_message,
)
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)
from tests.providers.adapter_fixtures import assistant, user


def call(name: str, tool: str = "read") -> ToolCallPart:
    return ToolCallPart(call_id=CallId(name), tool=tool, arguments={})


def result(name: str, tool: str = "") -> ToolResultPart:
    content = (TextPart(text="ok"),)
    return ToolResultPart(call_id=CallId(name), tool=tool, content=content, is_error=False)


def given(*parts: ToolResultPart | TextPart) -> UserMessage:
    return UserMessage(parts=parts)


def test_results_in_several_messages_become_one_with_names() -> None:
    calls = assistant(call("a"), call("b", "run"))
    messages = [user("Hi"), calls, given(result("a")), given(result("b")), user("Go on")]

    assert normalize_history(messages) == (
        user("Hi"),
        calls,
        given(result("a", "read"), result("b", "run"), TextPart(text="Go on")),
    )


def test_answers_in_a_row_become_one() -> None:
    one, two = TextPart(text="One."), TextPart(text="Two.")
    assert normalize_history([user("Hi"), assistant(one), assistant(two)]) == (
        user("Hi"),
        assistant(one, two),
    )


BROKEN: dict[str, list[ModelMessage]] = {
    "no result at the end": [user("Hi"), assistant(call("a"))],
    "no result in between": [user("Hi"), assistant(call("a")), user("Well?")],
    "one of two": [user("Hi"), assistant(call("a"), call("b")), given(result("a"))],
    "no call": [given(result("a"))],
    "another call": [user("Hi"), assistant(call("a")), given(result("a"), result("b"))],
    "twice": [user("Hi"), assistant(call("a")), given(result("a"), result("a"))],
    "same id": [user("Hi"), assistant(call("a"), call("a")), given(result("a"))],
    "too late": [user("Hi"), assistant(call("a")), user("Hm"), assistant(), given(result("a"))],
}


@pytest.mark.parametrize("name", BROKEN)
def test_calls_and_results_that_do_not_match_are_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match=r"'a'|'b'|missing: (a|b)"):
        normalize_history(BROKEN[name])


def test_where_the_model_speaks_first_the_user_says_so() -> None:
    said = assistant(TextPart(text="Hello."))
    assert list(start_with_user_message([said, user("Hi")])) == [
        user(NO_QUESTION),
        said,
        user("Hi"),
    ]
    assert list(start_with_user_message([user("Hi"), said])) == [user("Hi"), said]


def test_a_conversation_with_nothing_but_a_system_message_is_begun() -> None:
    assert list(start_with_user_message([])) == [user(ONLY_SYSTEM)]
