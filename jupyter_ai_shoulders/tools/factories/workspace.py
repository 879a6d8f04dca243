"""The tools that look around in the workspace, and those for git; called by ``host``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.files.list_files import ListFiles
from jupyter_ai_shoulders.tools.files.search_content import SearchContent, UnsavedTexts
from jupyter_ai_shoulders.tools.git.commit import GitCommit
from jupyter_ai_shoulders.tools.git.diff import GitDiff
from jupyter_ai_shoulders.tools.git.status import GitStatus
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess


def workspace_tools(
    workspace: Workspace, access: NotebookAccess, unsaved: UnsavedTexts | None = None
) -> list[Tool[Any]]:
    """Return the tools that list and search files, and those for git."""
    search = SearchContent(workspace, access, unsaved)
    return [ListFiles(workspace), search, *git_tools(workspace)]


def git_tools(workspace: Workspace) -> list[Tool[Any]]:
    """Return the tools for git; they are offered once they are loaded."""
    return [GitStatus(workspace), GitDiff(workspace), GitCommit(workspace)]
