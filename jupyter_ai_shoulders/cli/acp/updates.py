"""Translates events of the log into updates for the editor. Used by ``cli.acp.conversation``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from acp import helpers, schema

from jupyter_ai_shoulders.cli.acp.diffs import changed_text
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.mentions import SkillSummary
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import ImagePart, TextPart

MAX_OUTPUT = 8_000
"""Characters of a call's streamed output that are shown; the newest are kept."""
MAX_RESULT = 20_000

_KINDS: dict[str, Any] = {
    **dict.fromkeys(
        ("search_content", "search_notebook", "semantic_search", "list_files"), "search"
    ),
    **dict.fromkeys(("delete_file", "delete_cell"), "delete"),
    **dict.fromkeys(("move_file", "rename_file", "move_cell"), "move"),
    **dict.fromkeys(("fetch_url", "web_search", "search_papers"), "fetch"),
    **dict.fromkeys(("todo", "complete", "load_tools", "run_plan"), "think"),
}
_BY_RISK = {"read": "read", "write": "edit", "execute": "execute"}


class UpdateTranslator:
    """Makes the updates of one conversation; remembers the output of running calls."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._output: dict[CallId, str] = {}

    def updates(self, event: ev.Event) -> Iterator[Any]:
        """Yield the updates of an event; most events have none."""
        match event:
            case ev.TextDelta():
                yield helpers.update_agent_message_text(event.text)
            case ev.ReasoningDelta():
                yield helpers.update_agent_thought_text(event.text)
            case ev.TodoUpdate():
                yield helpers.update_plan(
                    helpers.plan_entry(item.text, status="completed" if item.done else "pending")
                    for item in event.items
                )
            case ev.Notice() if event.text:
                yield helpers.update_agent_message_text(f"\n\n> {event.text}\n\n")
            case ev.ErrorEvent():
                yield helpers.update_agent_message_text(f"\n\n{error_text(event.error)}\n")
            case ev.StepStart() if event.window:
                yield schema.UsageUpdate(
                    session_update="usage_update", used=event.tokens_used, size=event.window
                )
            case _:
                yield from self._call(event)

    def message(self, text: str) -> Any:
        """Return text of our own."""
        return helpers.update_agent_message_text(text)

    def past_message(self, event: ev.MessageAdd) -> Any:
        """Return a message that the user did not send in the editor, or not now."""
        return helpers.update_user_message_text(event.text)

    def _call(self, event: ev.Event) -> Iterator[Any]:
        match event:
            case ev.ToolCall():
                yield helpers.start_tool_call(
                    event.call_id,
                    title=event.title,
                    kind=_KINDS.get(event.tool, _BY_RISK[event.risk]),
                    status="pending",
                    locations=self._locations(event),
                    raw_input=event.arguments,
                )
            case ev.ToolStart():
                yield helpers.update_tool_call(event.call_id, status="in_progress")
            case ev.ToolProgress():
                text = self._output.get(event.call_id, "") + event.text
                self._output[event.call_id] = text[-MAX_OUTPUT:]
                yield helpers.update_tool_call(
                    event.call_id, content=[text_content(self._output[event.call_id])]
                )
            case ev.ToolResult() | ev.RunEnd():
                self._output.pop(event.call_id, None)
                yield helpers.update_tool_call(
                    event.call_id,
                    status="completed" if event.status == "ok" else "failed",
                    content=[*self._contents(event)],
                )
            case _:
                pass

    def _contents(self, event: ev.ToolResult | ev.RunEnd) -> Iterator[Any]:
        """Yield a change as a diff with its warning, else the content for the model."""
        change = changed_text(event.result, self._workspace)
        if change is not None:
            yield change
            if event.result.warning:
                yield text_content(event.result.warning)
            return
        for part in event.content:
            match part:
                case TextPart():
                    yield text_content(part.text[:MAX_RESULT])
                case ImagePart():
                    yield helpers.tool_content(helpers.image_block(part.data, part.media_type))

    def _locations(self, call: ev.ToolCall) -> list[schema.ToolCallLocation]:
        path = (call.arguments or {}).get("path")
        if not isinstance(path, str) or not path:
            return []
        return [schema.ToolCallLocation(path=str(self._workspace / path))]


def commands(skills: Sequence[SkillSummary]) -> Any:
    """Return our commands, and the skills: a prompt that begins with one is sent as it is."""
    own = [
        schema.AvailableCommand(name="undo", description="Undo the changes of the last turn"),
        schema.AvailableCommand(name="redo", description="Revert the undo of the last turn"),
    ]
    found = (
        schema.AvailableCommand(
            name=skill.name,
            description=skill.description,
            input=schema.AvailableCommandInput(
                root=schema.UnstructuredCommandInput(hint="what to do")
            ),
        )
        for skill in skills
    )
    return helpers.update_available_commands([*own, *found])


def text_content(text: str) -> Any:
    return helpers.tool_content(helpers.text_block(text))


def error_text(error: ErrorInfo) -> str:
    """Return an error as a sentence with its hint."""
    return f"{error.message} {error.hint or ''}".strip()
