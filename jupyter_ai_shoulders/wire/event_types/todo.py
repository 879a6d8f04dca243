"""The checklist the agent keeps of its work (chapter 05).

Part of ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.event_types.base import EventBase


class TodoItem(WireModel):
    """One line of the checklist."""

    text: str
    done: bool
    depth: int


class TodoUpdate(EventBase):
    """The whole checklist was replaced."""

    type: Literal["todo-update"] = "todo-update"
    items: tuple[TodoItem, ...]
