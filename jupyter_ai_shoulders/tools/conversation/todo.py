"""The tool that maintains the checklist of a conversation.

Registered by ``host``; the engine records the list as ``todo-update``.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    refusal,
    text_content,
)
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.events import TodoItem, TodoUpdate
from jupyter_ai_shoulders.wire.results import ToolEnvelope

_ITEM = re.compile(r"(?P<indent> {0,6})- \[(?P<mark>[ xX])\] +(?P<text>\S.*)")
_INDENT = 2
"""Spaces per level."""


class TodoArguments(ToolArguments):
    """Arguments of ``todo``."""

    markdown: str = Field(
        max_length=20_000,
        description="The whole list, one item a line: `- [ ] open`, `- [x] done`; two spaces "
        "before a sub-item, at most six.",
    )


class Todo(BaseTool[TodoArguments]):
    """Replaces the checklist."""

    name = "todo"
    category = "loop"
    risk = "read"
    arguments = TodoArguments

    async def subject(self, args: TodoArguments, context: CallContext) -> CallSubject:
        return CallSubject(title="Update the checklist", target_label=None, target=Target())

    async def run(
        self, args: TodoArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Replace the list; a text without any item is refused, a blank text clears it."""
        items = checklist(args.markdown)
        if not items and args.markdown.strip():
            yield refusal(
                "The list has no item; nothing was changed.",
                "Write one item a line, as `- [ ] open` or `- [x] done`.",
            )
        else:
            yield _replaced(items)


def checklist(markdown: str) -> tuple[TodoItem, ...]:
    """Return the items of a Markdown list; other lines are ignored."""
    matches = (_ITEM.fullmatch(line.rstrip()) for line in markdown.splitlines())
    return tuple(
        TodoItem(
            text=match["text"],
            done=match["mark"] != " ",
            depth=len(match["indent"]) // _INDENT,
        )
        for match in matches
        if match
    )


def _replaced(items: tuple[TodoItem, ...]) -> Result:
    done = sum(item.done for item in items)
    said = f"The checklist has {len(items)} items, {done} done." if items else "It is empty now."
    rows: list[Json] = [item.model_dump() for item in items]
    return Result(
        envelope=ToolEnvelope(ok=True, kind="text", data={"items": rows}),
        content=text_content(said),
        events=(TodoUpdate(items=items),),
    )
