"""Repository lookup and formatting of changed files, shared by the git tools."""

from __future__ import annotations

import contextlib

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.git.repository import ChangedFile, Repository, find_repository
from jupyter_ai_shoulders.tools.files.workspace_paths import portable_path
from jupyter_ai_shoulders.wire.base import Json

SHOWN_FILES = 200


def resolve_repository(
    workspace: Workspace, path: WorkspacePath | None, active_document: str | None
) -> Repository:
    """Return the repository of a path, or else of the active document or the workspace.

    Blocks. Raises like ``find_repository``.
    """
    if path is not None:
        return find_repository(workspace, path)
    if active_document is not None:
        with contextlib.suppress(NotFound):
            return find_repository(workspace, _near(workspace, active_document))
    return find_repository(workspace, WorkspacePath(""))


def file_line(file: ChangedFile) -> str:
    """Return a line about a changed file."""
    states = [file.staged and f"{file.staged}, staged", file.unstaged]
    told = ["not tracked"] if file.untracked else [state for state in states if state]
    return f"{portable_path(file.path)}  ({'; '.join(told)})".replace("\n", "\\n")


def file_row(file: ChangedFile) -> Json:
    """Return a changed file as JSON for the envelope."""
    return {
        "path": portable_path(file.path),
        "staged": file.staged,
        "unstaged": file.unstaged,
        "untracked": file.untracked,
    }


def _near(workspace: Workspace, document: str) -> WorkspacePath:
    with contextlib.suppress(ShouldersError):
        return workspace.path(document)
    return WorkspacePath("")
