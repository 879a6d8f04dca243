"""The tool that creates a commit after the user has approved its content.

The repository's hooks and filters run, as in a commit of the user; the approval names them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.git.commits import CommitPlan, CommitResult, commit, plan_commit
from jupyter_ai_shoulders.guard.git.repository import Repository
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
from jupyter_ai_shoulders.tools.truncation import truncate
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope


class GitCommitArguments(ToolArguments):
    """Arguments of ``git_commit``."""

    message: str = Field(
        min_length=1, max_length=10_000, pattern=r"\S", description="The commit message."
    )
    paths: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Workspace-relative paths of what to commit, tracked or not; "
        "none: what is staged.",
    )


class GitCommit(BaseTool[GitCommitArguments]):
    """Commits the staged changes, or the named paths."""

    name = "git_commit"
    category = "git"
    risk = "write"
    arguments = GitCommitArguments

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def subject(self, args: GitCommitArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown: the content and the hooks. Raises like ``run``."""
        _, plan = await asyncio.to_thread(self._plan, args, context.active_document)
        files = f"{len(plan.files)} file{'s' * (len(plan.files) != 1)}"
        return CallSubject(
            title=f"Commit {files} to {plan.branch}",
            target_label=None,
            target=Target(),
            preview=_preview(args.message, plan),
            language="diff",
            preview_is_complete=True,
        )

    async def run(
        self, args: GitCommitArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Create the commit.

        Raises ``NotFound`` (no repository), ``InvalidRequest`` (nothing to commit), ``Conflict`` (a
        hook refused), ``PolicyRefusal`` (secret files).
        """
        repository, plan = await asyncio.to_thread(self._plan, args, context.active_document)
        made = await asyncio.to_thread(commit, repository, plan, args.message)
        yield _result(plan, made)

    def _plan(
        self, args: GitCommitArguments, active_document: str | None
    ) -> tuple[Repository, CommitPlan]:
        paths = [self._workspace.path(path) for path in args.paths or ()]
        repository = resolve_repository(
            self._workspace, paths[0] if paths else None, active_document
        )
        return repository, plan_commit(self._workspace, repository, paths)


def _preview(message: str, plan: CommitPlan) -> str:
    more = len(plan.files) - SHOWN_FILES
    lines = [
        *(f"# {line}" for line in message.strip().splitlines()),
        "#",
        *(f"# {file_line(file)}" for file in plan.files[:SHOWN_FILES]),
        *([f"# and {more} more"] if more > 0 else []),
        f"# It runs: {', '.join(plan.programs) or 'nothing of the repository'}.",
        f"# State {plan.fingerprint[:12]}",
        "",
    ]
    return "\n".join(lines) + truncate(plan.diff)


def _result(plan: CommitPlan, made: CommitResult) -> Result:
    files = f"{len(plan.files)} file{'s' * (len(plan.files) != 1)}"
    lines = [f"Committed {files} to {plan.branch} as {made.commit[:10]}."]
    lines += [truncate(made.output)] if made.output else []
    rows: list[Json] = [file_row(file) for file in plan.files]
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="text",
            data={"commit": made.commit, "branch": plan.branch, "files": rows},
            meta=ResultMeta(total=len(plan.files)),
        ),
        content=text_content("\n".join(lines)),
    )
