"""Reads and writes of text files that an agent requests, through the machinery of the file tools.

An agent sees unsaved text, and its writes are pending edits. What the user changed since the agent
read the file is kept. Notebooks are refused with a pointer to the notebook tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.files.encoding import decode_text
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.external_agents.requests import (
    AgentRequests,
    Done,
    NotThere,
    TextRead,
)
from jupyter_ai_shoulders.tools.files.access import (
    FileAccess,
    NothingAtPath,
    TextFileAtPath,
    is_notebook,
)
from jupyter_ai_shoulders.tools.files.read import is_readable_secret
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.files.write import WriteFile, WriteFileArguments, normalized_text
from jupyter_ai_shoulders.tools.notebook.access import file_name
from jupyter_ai_shoulders.wire.results import SeenVersion, ToolEnvelope

CHARACTER_LIMIT = 10_000_000
"""The longest text that an agent is given or may write."""
NOTEBOOK_HINT = (
    "Use the tools of the MCP server jupyter: read_notebook, edit_cell, add_cell, run_cell."
)


class AgentReadArguments(ToolArguments):
    """Arguments of ``agent_read_file``."""

    request: str
    path: str = Field(min_length=1)
    line: int | None = Field(default=None, ge=1)
    """The first line, from 1."""
    limit: int | None = Field(default=None, ge=0)
    """The number of lines."""


class AgentReadFile(BaseTool[AgentReadArguments]):
    """Reads a text file for an agent."""

    name = "agent_read_file"
    category = "internal"
    risk = "read"
    arguments = AgentReadArguments

    def __init__(
        self,
        access: FileAccess,
        versions: FileReadTracker,
        requests: AgentRequests,
        redact: Callable[[str], str],
    ) -> None:
        self._access = access
        self._versions = versions
        self._requests = requests
        self._redact = redact

    async def subject(self, args: AgentReadArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, without reading the file."""
        _refuse_notebook(args.path, "read")
        path, secret, warning = await asyncio.to_thread(self._checked, args.path)
        return CallSubject(
            title="Read file for the agent",
            target_label=file_name(path),
            target=Target(path=path),
            in_page=self._access.in_page(path),
            reads_secret=secret,
            always_ask_reason=warning,
        )

    async def run(
        self, args: AgentReadArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Give the agent the text; the log has the number of lines only."""
        self._requests.check(context.session_id, args.request)
        _refuse_notebook(args.path, "read")
        path, secret, _ = await asyncio.to_thread(self._checked, args.path)
        if secret:  # the user has allowed it; it does not count as read, so it cannot be edited
            head = await asyncio.to_thread(self._access.workspace.head, path, CHARACTER_LIMIT)
            yield self._given(args, path, decode_text(head.content, path).text, context, ())
            return
        there = await self._access.inspect(args.path)
        _refuse_notebook(there.path, "read")
        if isinstance(there, NothingAtPath):
            self._requests.answer(context.session_id, args.request, NotThere())
            raise NotFound(f"There is no file {there.path}.")
        if not isinstance(there, TextFileAtPath):
            raise NotFound(f"{there.path} is not a text file.", hint="List the folder.")
        known = context.seen.get((there.path, None))
        whole = args.line in {None, 1} and args.limit is None
        seen = self._versions.note(there.snapshot, whole=whole, before=known)
        yield self._given(args, there.path, there.snapshot.text, context, (seen,))

    def _given(
        self,
        args: AgentReadArguments,
        path: str,
        text: str,
        context: CallContext,
        seen: tuple[SeenVersion, ...],
    ) -> Result:
        lines = text.splitlines(keepends=True)
        first = (args.line or 1) - 1
        chosen = lines[first : None if args.limit is None else first + args.limit]
        given = "".join(chosen)
        if len(given) > CHARACTER_LIMIT:
            raise InvalidRequest(f"{path} is too long.", hint="Read a part of it.")
        self._requests.answer(context.session_id, args.request, TextRead(self._redact(given)))
        count = f"{len(chosen)} of {len(lines)} lines"
        return Result(
            envelope=ToolEnvelope(ok=True, kind="text", data={"path": path, "lines": len(chosen)}),
            content=text_content(f"The agent read {path} ({count})."),
            seen=seen,
        )

    def _checked(self, given: str) -> tuple[WorkspacePath, bool, str | None]:
        workspace = self._access.workspace
        path = workspace.path(given)
        secret = is_readable_secret(workspace, given, path)
        return path, secret, self._access.hard_link_warning(path)


class AgentWriteArguments(ToolArguments):
    """Arguments of ``agent_write_file``."""

    request: str
    path: str = Field(min_length=1)
    content: str = Field(max_length=CHARACTER_LIMIT)


class AgentWriteFile(BaseTool[AgentWriteArguments]):
    """Writes a text file for an agent, as an edit that the user can undo."""

    name = "agent_write_file"
    category = "internal"
    risk = "write"
    arguments = AgentWriteArguments

    def __init__(
        self, access: FileAccess, versions: FileReadTracker, requests: AgentRequests
    ) -> None:
        self._access = access
        self._versions = versions
        self._writer = WriteFile(access, versions)
        self._requests = requests

    async def subject(self, args: AgentWriteArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown: the new text, or its diff to the existing one."""
        _refuse_notebook(args.path, "written")
        shown = await self._shown(args, context)
        subject = await self._writer.subject(_written(args), shown or context)
        return replace(subject, is_approved=shown is not None)

    async def _shown(self, args: AgentWriteArguments, context: CallContext) -> CallContext | None:
        """Return the context of a change that the user was shown and allowed; else None.

        They saw what it does to the file as it is now, so it counts as read.
        """
        replaced = self._requests.approved_to_replace(context.session_id, args.request)
        if replaced is None:
            return None
        there = await self._access.writable(args.path)
        if isinstance(there, NothingAtPath):
            return None if replaced else context
        if there.snapshot.text not in {normalized_text(replaced), normalized_text(args.content)}:
            return None
        seen = self._versions.note(there.snapshot, whole=True, before=None)
        return replace(context, seen={**context.seen, (there.path, None): seen.version})

    async def run(
        self, args: AgentWriteArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Create the file or replace its text."""
        self._requests.check(context.session_id, args.request)
        _refuse_notebook(args.path, "written")
        shown = await self._shown(args, context)
        result = await self._writer.write(_written(args), shown or context)
        if result.ok:
            self._requests.answer(context.session_id, args.request, Done())
        yield result


def _written(args: AgentWriteArguments) -> WriteFileArguments:
    return WriteFileArguments(path=args.path, content=args.content)


def _refuse_notebook(path: str, what: str) -> None:
    if is_notebook(path):
        raise InvalidRequest(f"{path} is a notebook; it is not {what} as text.", hint=NOTEBOOK_HINT)
