"""The client side of the SDK: passes an agent's updates and requests to an ``AgentListener``.

Made by ``acp_client.connection``. Requests and updates of another session than ours are refused.
"""

from __future__ import annotations

from typing import Any

from acp import RequestError, schema

from jupyter_ai_shoulders.acp_client import updates
from jupyter_ai_shoulders.acp_client.values import (
    AgentFacts,
    AgentListener,
    CommandRequest,
    RequestRefused,
    ResourceMissing,
)

READS_MISSING_AS_EMPTY = frozenset({"gemini-cli"})
"""Programs that take every error of a read for a failure, so they would never make a new file."""


class SdkClient:
    """Implements the SDK's ``Client`` for one conversation."""

    def __init__(self, listener: AgentListener, facts: AgentFacts, workspace: str) -> None:
        self._listener = listener
        self._facts = facts
        self._activities = updates.Activities(workspace)
        self.is_replaying = False
        """While ``session/load`` repeats the history, which our log has."""

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Handle one update; those that are not known change nothing."""
        if self._facts.session and session_id != self._facts.session:
            return
        match update:
            case schema.AgentMessageChunk() | schema.AgentThoughtChunk():
                if not self.is_replaying:
                    is_text = isinstance(update, schema.AgentMessageChunk)
                    text = updates.text_of(update.content)
                    self._listener.on_text("text" if is_text else "reasoning", text)
            case schema.ToolCallStart() | schema.ToolCallProgress():
                activity = self._activities.update(update)
                if not self.is_replaying:
                    self._listener.on_event(activity)
            case schema.AgentPlanUpdate():
                if not self.is_replaying:
                    self._listener.on_event(updates.plan_of(update))
            case _:
                self._update_facts(update)

    def _update_facts(self, update: Any) -> None:
        facts = self._facts
        match update:
            case schema.CurrentModeUpdate():
                facts.mode = update.current_mode_id
            case schema.ConfigOptionUpdate():
                updates.set_options(facts, update.config_options)
            case schema.AvailableCommandsUpdate():
                updates.set_commands(facts, update)
            case schema.UsageUpdate():
                facts.context_used, facts.context_size = update.used, update.size
            case _:
                return
        self._listener.on_facts()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> schema.RequestPermissionResponse:
        """Ask the user; the answer is valid once, a longer one is kept on our side.

        So an agent that can only be allowed for ever is not allowed, and a notice says so.
        """
        self._check(session_id)
        activity = self._activities.update(tool_call)
        self._listener.on_event(activity)
        allowed = await self._listener.ask_permission(updates.question_of(activity))
        wanted = ("allow_once",) if allowed else ("reject_once", "reject_always")
        chosen = next((o for kind in wanted for o in options if o.kind == kind), None)
        if allowed and chosen is None:
            self._listener.on_not_allowed_once(activity.title)
        if allowed is None or chosen is None:
            outcome: Any = schema.DeniedOutcome(outcome="cancelled")
        else:
            outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(
        self,
        session_id: str,
        path: str,
        line: int | None = None,
        limit: int | None = None,
        **_: Any,
    ) -> schema.ReadTextFileResponse:
        """Read a file."""
        self._check(session_id)
        try:
            with _Refusals():
                text = await self._listener.read_file(path, line, limit)
        except ResourceMissing:
            if self._facts.program not in READS_MISSING_AS_EMPTY:
                raise RequestError.resource_not_found(path) from None
            text = ""
        return schema.ReadTextFileResponse(content=text)

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: Any
    ) -> schema.WriteTextFileResponse:
        """Write a file."""
        self._check(session_id)
        with _Refusals():
            await self._listener.write_file(path, content)
        return schema.WriteTextFileResponse()

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        *,
        args: list[str] | None = None,
        env: list[Any] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **_: Any,
    ) -> schema.CreateTerminalResponse:
        """Run a command."""
        self._check(session_id)
        variables = {item.name: item.value for item in env or ()}
        request = CommandRequest(command, args or (), variables, cwd, output_byte_limit)
        with _Refusals():
            command_id = await self._listener.run_command(request)
        return schema.CreateTerminalResponse(terminal_id=command_id)

    async def terminal_output(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> schema.TerminalOutputResponse:
        """Return the output so far."""
        self._check(session_id)
        with _Refusals():
            found = self._listener.command_output(terminal_id)
        status = schema.TerminalExitStatus(exit_code=_code(found.exit_code))
        return schema.TerminalOutputResponse(
            output=found.text,
            truncated=found.truncated,
            exit_status=status if found.ended else None,
        )

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> schema.WaitForTerminalExitResponse:
        """Return the exit code at the end."""
        self._check(session_id)
        with _Refusals():
            code = await self._listener.wait_for_command(terminal_id)
        return schema.WaitForTerminalExitResponse(exit_code=_code(code))

    async def kill_terminal(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> schema.KillTerminalResponse:
        """End a command."""
        self._check(session_id)
        with _Refusals():
            self._listener.stop_command(terminal_id, forget=False)
        return schema.KillTerminalResponse()

    async def release_terminal(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> schema.ReleaseTerminalResponse:
        """End and forget a command."""
        self._check(session_id)
        with _Refusals():
            self._listener.stop_command(terminal_id, forget=True)
        return schema.ReleaseTerminalResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Refuse methods outside the protocol."""
        del params
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore notifications outside the protocol."""

    def _check(self, session_id: str) -> None:
        if session_id != self._facts.session:
            raise RequestError.invalid_params({"details": "There is no such session."})


class _Refusals:
    """Turns ``RequestRefused`` into an error of the protocol."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, RequestRefused) and not isinstance(error, ResourceMissing):
            raise RequestError.invalid_params({"details": str(error)}) from error


def _code(code: int | None) -> int | None:
    return None if code is None or code < 0 else code
