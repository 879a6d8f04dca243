"""Questions of an agent before it does something by itself (``session/request_permission``).

Each kind of deed is a tool of its own, so that rules, modes and grants judge it like the same deed
of ours. Running the tool gives the permission; nothing else happens here. What the agent does
afterwards does not pass our guards, so it is never treated as undoable.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Self

from pydantic import Field, model_validator

from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.external_agents.requests import AgentRequests, Done
from jupyter_ai_shoulders.tools.permissions.grants import target_of
from jupyter_ai_shoulders.wire.results import ToolEnvelope

PREVIEW_LIMIT = 100_000
BY_ITSELF = "The agent does it by itself, outside the sandbox and without undo."


class AgentPermissionArguments(ToolArguments):
    """Arguments of the permission tools."""

    request: str
    title: str = Field(max_length=2_000)
    """What the agent wants to do, in its words."""
    path: str | None = None
    command: str | None = Field(default=None, max_length=50_000)
    url: str | None = None
    preview: str | None = Field(default=None, max_length=PREVIEW_LIMIT)
    """The exact diff or input that the agent shows."""
    language: str | None = None


class AgentRunPermissionArguments(AgentPermissionArguments):
    """Arguments of ``agent_may_run``.

    An answer for the whole conversation covers this command only, so there must be one.
    """

    @model_validator(mode="after")
    def _has_command(self) -> Self:
        if not self.command:
            raise ValueError("the command, or a description of the deed, is missing")
        return self


class _PermissionTool(BaseTool[AgentPermissionArguments]):
    """Asks for one kind of deed."""

    category = "internal"
    risk = "execute"
    arguments = AgentPermissionArguments

    def __init__(self, requests: AgentRequests) -> None:
        self._requests = requests

    async def subject(self, args: AgentPermissionArguments, context: CallContext) -> CallSubject:
        """Return how the question is shown."""
        target = target_of(args.model_dump())
        return CallSubject(
            title=args.title,
            target_label=target.path or target.domain,
            target=target,
            preview=args.preview if args.preview is not None else args.command,
            language="bash" if args.preview is None and args.command else args.language,
            notes=() if self.risk == "read" else (BY_ITSELF,),
        )

    async def run(
        self, args: AgentPermissionArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Give the permission."""
        self._requests.check(context.session_id, args.request)
        self._requests.answer(context.session_id, args.request, Done())
        yield Result(
            envelope=ToolEnvelope(ok=True, kind="none", data=None),
            content=text_content("The agent may do it."),
        )


class AgentMayRead(_PermissionTool):
    """Asks whether the agent may read something."""

    name = "agent_may_read"
    risk = "read"


class AgentMayEdit(_PermissionTool):
    """Asks whether the agent may change, move or delete files."""

    name = "agent_may_edit"
    risk = "write"


class AgentMayRun(_PermissionTool):
    """Asks whether the agent may run a command, or do anything else."""

    name = "agent_may_run"
    risk = "execute"
    arguments = AgentRunPermissionArguments


class AgentMayFetch(_PermissionTool):
    """Asks whether the agent may use the network."""

    name = "agent_may_fetch"
    risk = "execute"
    external = True


def permission_tools(requests: AgentRequests) -> Iterable[_PermissionTool]:
    """Return the tools of all kinds."""
    return tuple(
        kind(requests) for kind in (AgentMayRead, AgentMayEdit, AgentMayRun, AgentMayFetch)
    )
