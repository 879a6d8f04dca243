"""The tools on files together; called by ``host``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.files.base import FileChanges, TextDocuments
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache
from jupyter_ai_shoulders.tools.files.access import FileAccess
from jupyter_ai_shoulders.tools.files.delete import DeleteFile
from jupyter_ai_shoulders.tools.files.edit import EditFile
from jupyter_ai_shoulders.tools.files.move import DuplicateFile, MoveFile, RenameFile
from jupyter_ai_shoulders.tools.files.read import PreviewReader, ReadFile
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.files.write import CreateFile, WriteFile
from jupyter_ai_shoulders.tools.notebook.access import CellReadTracker, NotebookAccess


def file_tools(
    *,
    workspace: Workspace,
    texts: TextDocuments,
    changes: FileChanges,
    notebooks: NotebookAccess,
    previews: PreviewReader,
    ids: IdSource,
    seen: ReadTextCache | None = None,
) -> list[Tool[Any]]:
    """Return the tools that read, write, move and delete files."""
    seen = seen or ReadTextCache()
    access = FileAccess(workspace, texts, changes)
    versions, cells = FileReadTracker(seen, ids), CellReadTracker(seen)
    return [
        ReadFile(access, versions, notebooks, cells, previews),
        WriteFile(access, versions),
        CreateFile(access, versions),
        EditFile(access, versions),
        RenameFile(access),
        MoveFile(access),
        DuplicateFile(access),
        DeleteFile(access, versions, notebooks, cells),
    ]
