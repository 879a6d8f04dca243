"""Translates the SDK's session updates to events and facts of ours; bounds all they contain.

Used by ``acp_client.sdk_client``. Imports the SDK, so it is imported on first use.
"""

from __future__ import annotations

import difflib
import json
import posixpath
from collections.abc import Iterable, Sequence
from typing import Any

from acp import schema

from jupyter_ai_shoulders.acp_client.values import AgentFacts, PermissionQuestion
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.event_types.agents import AgentChoice
from jupyter_ai_shoulders.wire.events import (
    ActivityContent,
    ActivityDiff,
    ActivityTerminal,
    ActivityText,
    AgentActivity,
    AgentOption,
    AgentSlashCommand,
    TodoItem,
    TodoUpdate,
)
from jupyter_ai_shoulders.wire.hidden_characters import visible
from jupyter_ai_shoulders.wire.ids import CallId

TITLE = 500
TEXT = 20_000
DIFF = 200_000
CONTENT = 1_000_000
INPUT = 4_000
ITEMS = 100
"""Most characters of a title, a text, a side of a diff, all content, an input; most items."""
ACTIVITIES = 5_000
WHOLE_ACTIVITIES = 100
"""Activities that are remembered, and of how many the content is."""
COMMANDS = 200

ToolUpdate = schema.ToolCall | schema.ToolCallUpdate


class Activities:
    """The activities of an agent's conversation; each update yields the whole new state."""

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        self._current: dict[str, AgentActivity] = {}
        self._whole: dict[str, AgentActivity] = {}
        """The ones changed last, newest at the end."""

    def update(self, update: ToolUpdate) -> AgentActivity:
        """Return the activity after an update, known before or not."""
        key = update.tool_call_id[:200]
        before = self._current.get(key) or AgentActivity(
            activity_id=key, title="Tool", kind="other", status="pending"
        )
        changes: dict[str, Any] = {}
        if update.title is not None:
            changes["title"] = name_of(update.title)
        if update.kind is not None:
            changes["kind"] = update.kind
        if update.status is not None:
            changes["status"] = update.status
        if update.locations is not None:
            paths = [inside(item.path, self._workspace) for item in update.locations[:ITEMS]]
            changes["locations"] = tuple(path for path in paths if path is not None)
        if update.content is not None:
            changes["content"] = tuple(self._contents(update.content[:ITEMS]))
        if update.raw_input is not None:
            changes["input"] = bounded_input(update.raw_input)
        after = before.model_copy(update=changes)
        self._remember(key, after)
        return after

    def _remember(self, key: str, activity: AgentActivity) -> None:
        """Keep the state for the next update; of older activities without their content."""
        if key not in self._current and len(self._current) >= ACTIVITIES:
            return
        self._whole.pop(key, None)
        self._whole[key] = activity
        self._current[key] = activity
        if len(self._whole) > WHOLE_ACTIVITIES:
            oldest = next(iter(self._whole))
            shortened = {"content": (), "input": None, "locations": ()}
            self._current[oldest] = self._whole.pop(oldest).model_copy(update=shortened)

    def _contents(self, items: Iterable[Any]) -> Iterable[ActivityContent]:
        left = CONTENT
        for content in self._bounded(items):
            left -= _length(content)
            if left < 0:
                return
            yield content

    def _bounded(self, items: Iterable[Any]) -> Iterable[ActivityContent]:
        for item in items:
            match item:
                case schema.FileEditToolCallContent():
                    old = None if item.old_text is None else item.old_text[:DIFF]
                    path = visible((inside(item.path, self._workspace) or item.path)[:TITLE])
                    yield ActivityDiff(path=path, old=old, new=item.new_text[:DIFF])
                case schema.TerminalToolCallContent():
                    yield ActivityTerminal(call_id=CallId(item.terminal_id[:TITLE]))
                case schema.ContentToolCallContent():
                    yield ActivityText(text=text_of(item.content)[:TEXT])
                case _:
                    pass


def _length(content: ActivityContent) -> int:
    if isinstance(content, ActivityDiff):
        return len(content.old or "") + len(content.new)
    return len(content.text) if isinstance(content, ActivityText) else 0


def name_of(text: str) -> str:
    """Return a name or title, bounded and with hidden characters as codes."""
    return visible(text[:TITLE])


def inside(path: str, workspace: str) -> str | None:
    """Return an absolute or relative path as one in the workspace; None if it is outside."""
    whole = posixpath.normpath(posixpath.join(workspace, path))
    if whole == workspace:
        return "."
    prefix = f"{workspace.rstrip('/')}/"
    return whole.removeprefix(prefix) if whole.startswith(prefix) else None


def text_of(content: Any) -> str:
    """Return a content block as text."""
    match content:
        case schema.TextContentBlock():
            return content.text
        case schema.ResourceContentBlock():
            return content.uri
        case schema.EmbeddedResourceContentBlock():
            return getattr(content.resource, "text", None) or content.resource.uri
        case _:
            return f"[{getattr(content, 'type', 'content')}]"


def bounded_input(value: Any) -> JsonObject:
    """Return what the agent passed to its tool as a bounded JSON object."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, dict) and len(text) <= INPUT:
        return json.loads(text)
    return {"input": text[:INPUT]}


def plan_of(update: schema.AgentPlanUpdate) -> TodoUpdate:
    """Return the plan as the checklist."""
    return TodoUpdate(
        items=tuple(
            TodoItem(text=name_of(entry.content), done=entry.status == "completed", depth=0)
            for entry in update.entries[:ITEMS]
        )
    )


def set_modes(facts: AgentFacts, modes: schema.SessionModeState | None) -> None:
    """Take over the modes that the agent offers."""
    if modes is not None:
        facts.mode = modes.current_mode_id
        facts.modes = tuple(
            AgentChoice(id=mode.id, name=name_of(mode.name), description=_short(mode.description))
            for mode in modes.available_modes[:ITEMS]
        )


def set_options(facts: AgentFacts, options: Sequence[Any] | None) -> None:
    """Take over the options that the agent offers."""
    if options is not None:
        facts.options = tuple(_option(option) for option in options[:ITEMS])


def set_commands(facts: AgentFacts, update: schema.AvailableCommandsUpdate) -> None:
    """Take over the slash commands that the agent offers."""
    facts.commands = tuple(
        AgentSlashCommand(
            name=name_of(command.name),
            description=name_of(command.description),
            hint=None if command.input is None else _short(command.input.root.hint),
        )
        for command in update.available_commands[:COMMANDS]
    )


def _option(option: Any) -> AgentOption:
    category = option.category if isinstance(option.category, str) else None
    if isinstance(option, schema.SessionConfigOptionSelect):
        flat: list[schema.SessionConfigSelectOption] = []
        for item in option.options:
            grouped = isinstance(item, schema.SessionConfigSelectGroup)
            flat.extend(item.options if grouped else [item])
        choices = tuple(
            AgentChoice(
                id=item.value, name=name_of(item.name), description=_short(item.description)
            )
            for item in flat[: 2 * ITEMS]
        )
        value = option.current_value
    else:
        choices = (AgentChoice(id="true", name="On"), AgentChoice(id="false", name="Off"))
        value = "true" if option.current_value else "false"
    return AgentOption(
        id=option.id,
        name=name_of(option.name),
        description=_short(option.description),
        category=category,
        value=value,
        choices=choices,
    )


def question_of(activity: AgentActivity) -> PermissionQuestion:
    """Return the question about an activity, with the diff or command that it shows."""
    diffs = [item for item in activity.content if isinstance(item, ActivityDiff)]
    texts = [item.text for item in activity.content if isinstance(item, ActivityText)]
    given = activity.input or {}
    command, url = given.get("command"), given.get("url")
    if isinstance(command, list):
        command = " ".join(str(word) for word in command)
    path = diffs[0].path if diffs else next(iter(activity.locations), None)
    preview = "\n".join(_diff_text(diff) for diff in diffs) if diffs else "\n".join(texts)
    return PermissionQuestion(
        activity_id=activity.activity_id,
        title=activity.title,
        kind=activity.kind,
        path=path,
        command=command if isinstance(command, str) else None,
        url=url if isinstance(url, str) else None,
        preview=preview or None,
        language="diff" if diffs else None,
        edit=diffs[0] if len(diffs) == 1 and activity.kind == "edit" else None,
    )


def _diff_text(diff: ActivityDiff) -> str:
    lines = difflib.unified_diff(
        (diff.old or "").splitlines(), diff.new.splitlines(), diff.path, diff.path, lineterm=""
    )
    return "\n".join(lines)


def _short(text: str | None) -> str | None:
    return None if text is None else name_of(text)
