"""Turns what an agent asks for into requests of its conversation; implements ``AgentListener``.

Paths become paths of the workspace here, so that rules and answers of the user cover them.
"""

from __future__ import annotations

import posixpath
from typing import Literal

from jupyter_ai_shoulders.acp_client.values import (
    CommandOutputSoFar,
    CommandRequest,
    PermissionQuestion,
    RequestRefused,
    ResourceMissing,
)
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.host.external_agents.agent_conversation import (
    AgentConversation,
    AgentRequestCancelled,
    AgentRequestFailed,
)
from jupyter_ai_shoulders.providers.base import RecordEvent
from jupyter_ai_shoulders.tools.external_agents.command_line import command_line
from jupyter_ai_shoulders.tools.external_agents.permissions import PREVIEW_LIMIT
from jupyter_ai_shoulders.tools.external_agents.requests import Answer, NotThere, TextRead
from jupyter_ai_shoulders.tools.external_agents.running_command import RunningCommand
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import ActivityDiff, ActivityKind, AgentActivity, TodoUpdate
from jupyter_ai_shoulders.wire.ids import CallId

MOST_COMMANDS = 100
CANCELLED = "The user stopped the turn; nothing was done."
_TOOL_BY_KIND: dict[ActivityKind, str] = {
    "read": "agent_may_read",
    "search": "agent_may_read",
    "think": "agent_may_read",
    "edit": "agent_may_edit",
    "delete": "agent_may_edit",
    "move": "agent_may_edit",
    "fetch": "agent_may_fetch",
}
"""The others are judged like commands."""


class ConversationListener:
    """The requests of one conversation's agent."""

    def __init__(self, conversation: AgentConversation, workspace: str, ids: IdSource) -> None:
        self._conversation = conversation
        self._workspace = workspace
        self._ids = ids
        self._commands: dict[str, RunningCommand] = {}
        self._approved: dict[str, ActivityDiff] = {}
        """Edits that were shown and allowed, by the tool call that asked."""

    def on_text(self, kind: Literal["text", "reasoning"], text: str) -> None:
        """Pass text on."""
        self._conversation.on_text(kind, text)

    def on_event(self, event: AgentActivity | TodoUpdate) -> None:
        """Pass an event on; the permission of a tool call ends with it."""
        if isinstance(event, AgentActivity) and event.status in {"completed", "failed"}:
            self._approved.pop(event.activity_id, None)
        self._conversation.on_event(RecordEvent(event))

    def on_not_allowed_once(self, question: str) -> None:
        """Say that the agent was not allowed what the user allowed."""
        text = f"The agent cannot be allowed this once only, so it was not allowed: {question}"
        self._conversation.notice("agent_answer", text)

    def on_facts(self) -> None:
        """Pass the agent's new state on."""
        if self._conversation.connection is not None:
            self._conversation.on_event(RecordEvent(self._conversation.state()))

    async def read_file(self, path: str, line: int | None, limit: int | None) -> str:
        """Read a file."""
        arguments: JsonObject = {"path": self._path(path)}
        if line:
            arguments["line"] = line
        if limit is not None:
            arguments["limit"] = limit
        answer = await self._ask("agent_read_file", arguments)
        if isinstance(answer, NotThere):
            raise ResourceMissing(f"There is no file {path}.")
        return answer.text if isinstance(answer, TextRead) else ""

    async def write_file(self, path: str, content: str) -> None:
        """Write a file; what the agent has just asked for and was allowed is not asked again."""
        arguments: JsonObject = {"path": self._path(path), "content": content}
        found = [
            (call, edit.old or "")
            for call, edit in self._approved.items()
            if edit.new == content and self._path(edit.path) == arguments["path"]
        ]
        for call, _ in found:
            del self._approved[call]
        replaced = found[0][1] if found else None
        await self._ask("agent_write_file", arguments, replaced=replaced)

    async def ask_permission(self, question: PermissionQuestion) -> bool | None:
        """Ask the user, or let rules and earlier answers decide."""
        tool = _TOOL_BY_KIND.get(question.kind, "agent_may_run")
        arguments: JsonObject = {"title": question.title}
        given = {"path": question.path and self._path(question.path), "url": question.url}
        arguments |= {name: value for name, value in given.items() if value}
        command = question.command or (question.title if tool == "agent_may_run" else None)
        if command:
            arguments["command"] = command[: PREVIEW_LIMIT // 2]
        if question.preview:
            arguments["preview"] = question.preview[:PREVIEW_LIMIT]
            arguments["language"] = question.language
        try:
            await self._conversation.request(tool, arguments, self._call_id())
        except AgentRequestCancelled:
            return None
        except AgentRequestFailed:
            return False
        if question.edit is not None and len(question.preview or "") <= PREVIEW_LIMIT:
            self._approved[question.activity_id] = question.edit
        return True

    async def run_command(self, request: CommandRequest) -> str:
        """Start a command; its call's id is the id of the terminal."""
        if len(self._commands) >= MOST_COMMANDS:
            raise RequestRefused("Too many commands. Release those that have ended.")
        folder = "" if request.folder is None else self._path(request.folder)
        line = command_line(request.command, request.arguments, request.environment, folder)
        arguments: JsonObject = {"command": line}
        if request.output_limit is not None:
            arguments["output_limit"] = request.output_limit
        call_id = self._call_id()
        answer = await self._ask("agent_run_command", arguments, call_id)
        if not isinstance(answer, RunningCommand):
            raise RequestRefused("The command could not be started.")
        self._commands[call_id] = answer
        return call_id

    def command_output(self, command_id: str) -> CommandOutputSoFar:
        """Return the output of a command so far."""
        command = self._command(command_id)
        output = command.output()
        return CommandOutputSoFar(
            output.text, output.truncated, command.has_ended, command.exit_code
        )

    async def wait_for_command(self, command_id: str) -> int | None:
        """Return the exit code of a command when it has ended."""
        return await self._command(command_id).wait()

    def stop_command(self, command_id: str, *, forget: bool) -> None:
        """End a command if it still runs."""
        self._command(command_id).stop()
        if forget:
            del self._commands[command_id]

    def forget_permissions(self) -> None:
        """Ask again about edits that were allowed and not made."""
        self._approved.clear()

    def stop_all(self) -> None:
        """End all commands, as when the agent ended."""
        for command in self._commands.values():
            command.stop()

    async def _ask(
        self,
        tool: str,
        arguments: JsonObject,
        call_id: CallId | None = None,
        *,
        replaced: str | None = None,
    ) -> Answer:
        call_id = call_id or self._call_id()
        try:
            return await self._conversation.request(tool, arguments, call_id, replaced=replaced)
        except AgentRequestCancelled:
            raise RequestRefused(CANCELLED) from None
        except AgentRequestFailed as error:
            raise RequestRefused(str(error)) from error

    def _command(self, command_id: str) -> RunningCommand:
        command = self._commands.get(command_id)
        if command is None:
            raise RequestRefused("There is no such terminal.")
        return command

    def _path(self, given: str) -> str:
        """Return a path inside the workspace as a relative one; others as they are, to refuse."""
        whole = posixpath.normpath(posixpath.join(self._workspace, given))
        if whole == self._workspace:
            return "."
        prefix = f"{self._workspace.rstrip('/')}/"
        return whole.removeprefix(prefix) if whole.startswith(prefix) else given

    def _call_id(self) -> CallId:
        return CallId(self._ids.new("call"))
