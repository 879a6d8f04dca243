"""Finds plain text in files, one after the other, where there is no ripgrep (chapter 01).

Slower, and the same answer for text: the files that ``guard.search.directory_listing`` lists.
Blocks. Used by ``guard.search.tree_search`` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.directory_listing import list_entries
from jupyter_ai_shoulders.guard.search.file_tree import ENTRY_LIMIT
from jupyter_ai_shoulders.guard.search.globs import Glob

DEPTH_LIMIT = 40


def files_below(workspace: Workspace, folder: str, glob: Glob | None) -> list[str]:
    """Return the files below a folder that are not hidden or left out, sorted."""
    found = list_entries(workspace, folder, depth=DEPTH_LIMIT, limit=ENTRY_LIMIT, glob=glob)
    return [entry.path for entry in found.entries if entry.kind == "file"]


def lines_with(workspace: Workspace, path: str, text: str, limit: int) -> Iterator[tuple[int, str]]:
    """Yield the lines, from 1, of a file that contain a text; none of one that is binary."""
    try:
        content = workspace.head(WorkspacePath(path), limit + 1).content
    except ShouldersError:  # gone in this moment, or not readable
        return
    if len(content) > limit or b"\0" in content or text.encode("utf-8", "replace") not in content:
        return
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
        if text in line:
            yield number, line.rstrip("\r")
