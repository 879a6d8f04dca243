"""Invariants of every log and every history sent to a provider
(docs/design/reliability.md#invariants).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jupyter_ai_shoulders.engine.request.context import SessionContext, build_request_content
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.conversation.branches import visible_events
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)
from tests.tools.result_checks import check_logged

REBUILT = 10
"""Every tenth prefix is built from its first event: the time for that grows with its length."""


def check_history(messages: Sequence[ModelMessage]) -> None:
    """Check that sides alternate from the user on, and each call is followed by its one result."""
    for index, message in enumerate(messages):
        expected = UserMessage if index % 2 == 0 else AssistantMessage
        assert isinstance(message, expected), f"message {index} is of the wrong side"
        assert message.parts, f"message {index} is empty"
        for part in message.parts:
            if isinstance(part, TextPart):
                assert part.text.strip(), f"message {index} has a blank text"
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            calls = [part.call_id for part in message.parts if isinstance(part, ToolCallPart)]
            following = messages[index + 1] if index + 1 < len(messages) else None
            assert _leading_results(following) == calls
    results = sum(len(_leading_results(message)) for message in messages)
    assert results == sum(
        isinstance(part, ToolResultPart) for message in messages for part in message.parts
    ), "results stand before other parts, after their calls"


def _leading_results(message: ModelMessage | None) -> list[str]:
    ids: list[str] = []
    for part in message.parts if message else ():
        if not isinstance(part, ToolResultPart):
            break
        ids.append(part.call_id)
    return ids


def check_requests(requests: Sequence[ModelRequest]) -> None:
    """Check that each request is a valid history that ends with the user."""
    for request in requests:
        check_history(request.messages)
        assert isinstance(request.messages[-1], UserMessage)


def check_log(events: Sequence[ev.Event]) -> None:
    """Check that ``seq`` has no gaps, messages are unique, and calls, approvals and turns
    well-formed.
    """
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    messages = Counter(event.message_id for event in events if isinstance(event, ev.MessageAdd))
    assert set(messages.values()) <= {1}
    for kind in (
        ev.ToolCall,
        ev.ToolResult,
        ev.ApprovalRequest,
        ev.ApprovalAnswer,
        ev.ClarifyRequest,
        ev.ClarifyAnswer,
        ev.ToolStart,
    ):
        counted = Counter(event.call_id for event in events if isinstance(event, kind))
        assert set(counted.values()) <= {1}, f"{kind.__name__} twice for one call"
    _check_turns(events)
    for event in events:
        if isinstance(event, ev.ToolResult):
            check_logged(event)


def _check_turns(events: Sequence[ev.Event]) -> None:
    turn: str | None = None
    unsettled: set[str] = set()
    for event in events:
        match event:
            case ev.TurnStart():
                assert turn is None, "a turn starts while one is open"
                turn = event.turn_id
            case ev.TurnResume():
                assert event.turn_id == turn, "a turn is resumed that is not open"
            case ev.ToolCall():
                unsettled.add(event.call_id)
            case ev.ToolResult():
                assert event.call_id in unsettled, "a result without its call"
                unsettled.discard(event.call_id)
            case ev.TurnEnd():
                assert event.turn_id == turn, "the turn that ends is not the open one"
                assert not unsettled, "calls without a result at the end of the turn"
                turn = None
            case ev.StepStart():
                assert not unsettled, "a step starts while calls have no result"
            case _:
                pass


def check_contexts(events: Sequence[ev.Event], blobs: Blobs) -> None:
    """Check that every prefix of the log gives a valid history, the same for one that grows."""
    growing = SessionContext(blobs)
    branched = len(list(visible_events(events))) < len(events)
    for end in range(len(events) + 1):
        if end:
            growing.add(events[end - 1])
        history = growing.built().messages
        if branched or end % REBUILT == 0 or end == len(events):
            whole = build_request_content(events[:end], blobs).messages
            assert branched or history == whole
            history = whole
        check_history(history)
