"""The tools on files together; called by ``host``."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.files.base import FileChanges, TextDocuments
from jupyter_ai_shoulders.guard.paths import Workspace
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.file_access import FileAccess
from jupyter_ai_shoulders.tools.file_delete import DeleteFile
from jupyter_ai_shoulders.tools.file_edit import EditFile
from jupyter_ai_shoulders.tools.file_move import DuplicateFile, MoveFile, RenameFile
from jupyter_ai_shoulders.tools.file_read import Previews, ReadFile
from jupyter_ai_shoulders.tools.file_versions import FileVersions
from jupyter_ai_shoulders.tools.file_write import CreateFile, WriteFile
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess, Versions
from jupyter_ai_shoulders.tools.seen_texts import SeenTexts


def file_tools(
    *,
    workspace: Workspace,
    texts: TextDocuments,
    changes: FileChanges,
    notebooks: NotebookAccess,
    previews: Previews,
    ids: IdSource,
    seen: SeenTexts | None = None,
) -> list[Tool[Any]]:
    """Return the tools that read, write, move and delete files."""
    seen = seen or SeenTexts()
    access = FileAccess(workspace, texts, changes)
    versions, cells = FileVersions(seen, ids), Versions(seen)
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
