"""Finds, adds and changes the parts of a reduced conversation.

Used by ``wire.conversation.reducer`` and its modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.conversation import views
from jupyter_ai_shoulders.wire.conversation.views import (
    AgentView,
    CallView,
    Conversation,
    MessageView,
    PartView,
)
from jupyter_ai_shoulders.wire.events import Event
from jupyter_ai_shoulders.wire.ids import CallId

Change = Callable[[PartView], PartView | None]
"""Returns the changed part, or None if the part does not match."""
ModelT = TypeVar("ModelT", bound=WireModel)


def copy_with(model: ModelT, /, **changes: Any) -> ModelT:
    """Return a copy with these fields."""
    return model.model_copy(update=changes)


def change_turn(state: Conversation, /, **changes: Any) -> Conversation:
    """Change the last turn, if there is one."""
    return state if state.turn is None else copy_with(state, turn=copy_with(state.turn, **changes))


def clear_retry(state: Conversation) -> Conversation:
    """End the pause before a retry: the model answered."""
    retrying = state.turn is not None and state.turn.state == "retrying"
    return change_turn(state, state="running", retry=None) if retrying else state


def add_part(state: Conversation, event: Event, part: PartView) -> Conversation:
    """Add to the agent's last message, or begin one after the user's and with each turn."""
    last = state.messages[-1] if state.messages else None
    if isinstance(last, AgentView) and event.turn_id in {None, last.turn_id}:
        grown = copy_with(last, parts=(*last.parts, part))
        return copy_with(state, messages=(*state.messages[:-1], grown))
    message = AgentView(turn_id=event.turn_id, seq=event.seq, at=event.at, parts=(part,))
    return copy_with(state, messages=(*state.messages, message))


def change_part(state: Conversation, change: Change) -> Conversation:
    """Change the newest part accepted by ``change``."""
    for index in reversed(range(len(state.messages))):
        changed = _change_in(state.messages[index], change)
        if changed is not None:
            messages = (*state.messages[:index], changed, *state.messages[index + 1 :])
            return copy_with(state, messages=messages)
    return state


def _change_in(message: MessageView, change: Change) -> MessageView | None:
    if not isinstance(message, AgentView):
        return None
    for index in reversed(range(len(message.parts))):
        part = change(message.parts[index])
        if part is not None:
            return copy_with(
                message, parts=(*message.parts[:index], part, *message.parts[index + 1 :])
            )
    return None


def change_call(
    state: Conversation, call_id: CallId, change: Callable[[CallView], CallView]
) -> Conversation:

    def matching(part: PartView) -> PartView | None:
        if isinstance(part, CallView) and part.call_id == call_id:
            return change(part)
        return None

    return change_part(state, matching)


def close_parts(state: Conversation) -> Conversation:
    """Close open parts at the end of a model call; only the last message can have one."""
    last = state.messages[-1] if state.messages else None
    if not isinstance(last, AgentView):
        return state
    closed = tuple(
        copy_with(part, open=False)
        if isinstance(part, views.TextView | views.ReasoningView) and part.open
        else part
        for part in last.parts
    )
    return copy_with(state, messages=(*state.messages[:-1], copy_with(last, parts=closed)))
