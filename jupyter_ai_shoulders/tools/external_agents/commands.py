"""Runs a command that an agent requests (``terminal/create``), in the sandbox like our own.

The call continues in the background, so that the agent can go on: its output is shown live, and
the agent reads it, waits for the end or stops it through a ``RunningCommand``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace

from pydantic import Field

from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Effect,
    Progress,
    Result,
    ToolArguments,
    ToolOutput,
    refusal,
)
from jupyter_ai_shoulders.tools.commands.run_command import RunCommand, RunCommandArguments
from jupyter_ai_shoulders.tools.external_agents.requests import AgentRequests
from jupyter_ai_shoulders.tools.external_agents.running_command import RunningCommand


class AgentCommandArguments(ToolArguments):
    """Arguments of ``agent_run_command``."""

    request: str
    command: str = Field(min_length=1, max_length=50_000)
    output_limit: int | None = Field(default=None, ge=0)
    """Bytes of output that the agent wants to see."""


class AgentRunCommand(BaseTool[AgentCommandArguments]):
    """Runs a command line for an agent."""

    name = "agent_run_command"
    category = "internal"
    risk = "execute"
    arguments = AgentCommandArguments

    def __init__(self, runner: RunCommand, requests: AgentRequests) -> None:
        self._runner = runner
        self._requests = requests

    async def subject(self, args: AgentCommandArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the exact line and its confinement."""
        subject = await self._runner.subject(_line(args), context)
        return replace(subject, title="Run a command of the agent")

    async def prepare(self, context: CallContext) -> Effect:
        """Return the identity of its process, for recovery after a crash."""
        return await self._runner.prepare(context)

    async def run(
        self, args: AgentCommandArguments, context: CallContext
    ) -> AsyncIterator[ToolOutput]:
        """Run it until it ends or the agent stops it."""
        self._requests.check(context.session_id, args.request)
        command = RunningCommand(args.output_limit)
        self._requests.answer(context.session_id, args.request, command)
        try:
            async with (
                aclosing(self._runner.run(_line(args), context)) as outputs,
                aclosing(_until_stopped(outputs, command)) as items,
            ):
                async for item in items:
                    if isinstance(item, Progress) and item.channel != "status":
                        command.add_output(item.text)
                    if isinstance(item, Result):
                        command.end(_exit_code(item))
                    yield item
            if not command.has_ended:
                yield refusal("The agent stopped the command.", "", "aborted")
        finally:
            command.end(None)


async def _until_stopped(
    outputs: AsyncGenerator[ToolOutput], command: RunningCommand
) -> AsyncGenerator[ToolOutput]:
    """Yield the outputs until the agent stops the command."""
    stop = asyncio.create_task(command.stop_requested.wait())
    try:
        while True:
            following = asyncio.create_task(anext(outputs, None))
            try:
                await asyncio.wait({following, stop}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not following.done():  # stopped or cancelled: this ends all its processes
                    following.cancel()
                    await asyncio.wait({following})
            if following.cancelled():
                return
            item = following.result()
            if item is None:
                return
            yield item
    finally:
        stop.cancel()


def _line(args: AgentCommandArguments) -> RunCommandArguments:
    return RunCommandArguments(command=args.command, background=True)


def _exit_code(result: Result) -> int | None:
    data = result.envelope.data
    code = data.get("exit_code") if isinstance(data, dict) else None
    return code if isinstance(code, int) else None
