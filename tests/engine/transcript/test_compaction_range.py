"""The range of a compaction: never the first message, the last turns, or half a call."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.engine.transcript.compaction_range import (
    find_compactable_range,
    leading_results,
    replace_compacted_range,
)
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)
from tests.engine.log_invariants import check_history


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ([], None),
        ([0], None),
        ([0, 2, 4, 6], None),
        ([0, 2, 4, 6, 8], (1, 2)),
        ([0, 10, 20, 22, 40, 42], (1, 20)),
    ],
)
def test_first_message_three_turns_and_the_open_one_are_protected(
    starts: list[int], expected: tuple[int, int] | None
):
    assert find_compactable_range(starts) == expected


def said(text: str) -> TextPart:
    return TextPart(text=text)


def test_result_whose_call_is_replaced_goes_with_it():
    call = ToolCallPart(call_id=CallId("c1"), tool="complete", arguments={})
    result = ToolResultPart(
        call_id=CallId("c1"), tool="complete", content=(said("Done."),), is_error=False
    )
    messages: list[ModelMessage] = [
        UserMessage(parts=(said("First"),)),
        AssistantMessage(parts=(call,)),
        UserMessage(parts=(result, said("Second"))),
        AssistantMessage(parts=(said("Yes."),)),
        UserMessage(parts=(said("Third"),)),
    ]
    check_history(messages)
    assert leading_results(messages[2]) == UserMessage(parts=(result,))
    shorter = replace_compacted_range(messages, 1, 2, "Summary")
    check_history(shorter)
    assert shorter == [
        messages[0],
        AssistantMessage(parts=(said("Summary"),)),
        UserMessage(parts=(said("Second"),)),
        *messages[3:],
    ]
