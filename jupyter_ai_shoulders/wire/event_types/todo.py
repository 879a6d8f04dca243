"""The agent's checklist.

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
