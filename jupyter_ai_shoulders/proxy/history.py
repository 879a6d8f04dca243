"""Normalises a caller's messages to a history that all adapters can encode.

Used by each format's ``decode``. All vendors require that neighbours of one role are merged and
that every call has its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
    UserPart,
)

NO_QUESTION = "(The conversation begins with the assistant.)"
ONLY_SYSTEM = "(Begin.)"


def start_with_user_message(messages: Iterable[ModelMessage]) -> Iterator[ModelMessage]:
    """Yield the messages, after an added user message where the first is the model's or there is
    none.

    Only OpenAI's formats allow the model to speak first, or a conversation of system messages
    alone.
    """
    begun = False
    for message in messages:
        if not begun and isinstance(message, AssistantMessage):
            yield UserMessage(parts=(TextPart(text=NO_QUESTION),))
        begun = True
        yield message
    if not begun:
        yield UserMessage(parts=(TextPart(text=ONLY_SYSTEM),))


def normalize_history(messages: Iterable[ModelMessage]) -> tuple[ModelMessage, ...]:
    """Return the messages with neighbours of one role merged and results named.

    Raises ``InvalidRequest`` for a call without its result, or a result without its call.
    """
    made: list[ModelMessage] = []
    waiting: dict[CallId, str] = {}
    for message in _merged(messages):
        if isinstance(message, UserMessage):
            made.append(_answered(message, waiting))
            waiting = {}
        else:
            made.append(message)
            waiting = _calls(message)
    if waiting:
        raise _unanswered(waiting)
    return tuple(made)


def _merged(messages: Iterable[ModelMessage]) -> Iterator[ModelMessage]:
    before: ModelMessage | None = None
    for message in messages:
        if isinstance(before, UserMessage) and isinstance(message, UserMessage):
            before = UserMessage(parts=before.parts + message.parts)
        elif isinstance(before, AssistantMessage) and isinstance(message, AssistantMessage):
            before = AssistantMessage(parts=before.parts + message.parts)
        else:
            if before is not None:
                yield before
            before = message
    if before is not None:
        yield before


def _calls(message: AssistantMessage) -> dict[CallId, str]:
    calls: dict[CallId, str] = {}
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            if part.call_id in calls:
                raise InvalidRequest(f"Two tool calls of one message have the id {part.call_id!r}.")
            calls[part.call_id] = part.tool
    return calls


def _answered(message: UserMessage, calls: dict[CallId, str]) -> UserMessage:
    open_calls = dict(calls)
    parts = tuple(_named(part, open_calls) for part in message.parts)
    if open_calls:
        raise _unanswered(open_calls)
    return UserMessage(parts=parts)


def _named(part: UserPart, open_calls: dict[CallId, str]) -> UserPart:
    if not isinstance(part, ToolResultPart):
        return part
    tool = open_calls.pop(part.call_id, None)
    if tool is None:
        raise InvalidRequest(
            f"The result of tool call {part.call_id!r} does not follow a message with that call."
        )
    return part.model_copy(update={"tool": tool})


def _unanswered(calls: dict[CallId, str]) -> InvalidRequest:
    return InvalidRequest(
        f"A message with tool calls must be followed by their results; missing: {', '.join(calls)}."
    )
