"""The tool that lists the files changed since the last commit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.git.repository import RepositoryStatus
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
from jupyter_ai_shoulders.tools.git.repository import (
    SHOWN_FILES,
    file_line,
    file_row,
    resolve_repository,
)
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope


class GitStatusArguments(ToolArguments):
    """Arguments of ``git_status``: none."""


class GitStatus(BaseTool[GitStatusArguments]):
    """Lists the changed files of the repository."""

    name = "git_status"
    category = "git"
    risk = "read"
    arguments = GitStatusArguments

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def subject(self, args: GitStatusArguments, context: CallContext) -> CallSubject:
        return CallSubject(title="Show git status", target_label=None, target=Target())

    async def run(
        self, args: GitStatusArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """List them. Raises like ``find_repository``."""
        status = await asyncio.to_thread(self._status, context.active_document)
        yield _result(status)

    def _status(self, active_document: str | None) -> RepositoryStatus:
        return resolve_repository(self._workspace, None, active_document).status()


def _result(status: RepositoryStatus) -> Result:
    shown = status.files[:SHOWN_FILES]
    more = f", the first {len(shown)} shown" if len(status.files) > len(shown) else ""
    amount = f"{'' if status.complete else 'At least '}{len(status.files)}"
    changed = f"{amount} changed file{'s' * (len(status.files) != 1)}{more}."
    clean = "Nothing changed since the last commit."
    lines = [_branch(status), changed if status.files else clean, *map(file_line, shown)]
    rows: list[Json] = [file_row(file) for file in shown]
    truncated = len(status.files) > len(shown) or not status.complete
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="listing",
            data={
                "branch": status.branch,
                "commit": status.commit,
                "upstream": status.upstream,
                "ahead": status.ahead,
                "behind": status.behind,
                "files": rows,
            },
            meta=ResultMeta(total=len(status.files), truncated=truncated or None),
        ),
        content=text_content("\n".join(lines)),
    )


def _branch(status: RepositoryStatus) -> str:
    branch = f"On branch {status.branch}" if status.branch else "On no branch"
    facts = [branch if status.commit else f"{branch}, which has no commit yet"]
    if status.upstream is not None and status.ahead is not None:
        facts.append(f"{status.ahead} ahead of and {status.behind} behind {status.upstream}")
    return f"{', '.join(facts)}."
