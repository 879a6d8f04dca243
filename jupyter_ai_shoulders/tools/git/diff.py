"""The tool that shows the changes since the last commit, or the staged ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.git.repository import RepositoryDiff
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
from jupyter_ai_shoulders.tools.files.workspace_paths import readable_path
from jupyter_ai_shoulders.tools.git.repository import resolve_repository
from jupyter_ai_shoulders.tools.truncation import truncate
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope


class GitDiffArguments(ToolArguments):
    """Arguments of ``git_diff``."""

    path: str | None = Field(
        default=None, description="Workspace-relative path of a file or folder; none: all."
    )
    staged: bool | None = Field(
        default=None,
        description="Whether to show what is staged for the next commit instead of what is not.",
    )


class GitDiff(BaseTool[GitDiffArguments]):
    """Shows differences in git's format."""

    name = "git_diff"
    category = "git"
    risk = "read"
    arguments = GitDiffArguments

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def subject(self, args: GitDiffArguments, context: CallContext) -> CallSubject:
        path = None
        if args.path:
            path = await asyncio.to_thread(self._workspace.path, args.path)
        what = "Show staged changes" if args.staged else "Show changes"
        return CallSubject(
            title=f"{what} in {path or 'git'}", target_label=path, target=Target(path=path)
        )

    async def run(
        self, args: GitDiffArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Show them. Raises like ``find_repository``, and ``PolicyRefusal`` for a secret file."""
        yield await asyncio.to_thread(self._diff, args, context.active_document)

    def _diff(self, args: GitDiffArguments, active_document: str | None) -> Result:
        path = readable_path(self._workspace, args.path) if args.path else None
        repository = resolve_repository(self._workspace, path, active_document)
        which = ["--cached"] if args.staged else []
        return _result(repository.diff(which, [path] if path else []), staged=bool(args.staged))


def _result(diff: RepositoryDiff, *, staged: bool) -> Result:
    what = "staged" if staged else "not staged"
    notes = [
        f"{path} changed too; it looks like a secret and is not shown." for path in diff.secrets
    ]
    if not diff.complete:
        notes.append("Not all is shown; name a path.")
    untracked = "" if staged else " Files that git does not track are in git_status."
    text = diff.text.strip("\n") or f"Nothing changed that is {what}.{untracked}"
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="diff",
            data={"diff": truncate(diff.text), "files": [*diff.files]},
            warning=" ".join(notes) or None,
            meta=ResultMeta(total=len(diff.files), truncated=not diff.complete or None),
        ),
        content=text_content("\n".join([text, *notes])),
    )
