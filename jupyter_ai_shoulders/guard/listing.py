"""Names of files in the workspace, found by a bounded walk that follows no links.

Used to name the files a wrong path may have meant. Blocks; callers choose the thread.
"""

from __future__ import annotations

import os
from collections import deque

from jupyter_ai_shoulders.guard.paths import Workspace

ENTRY_LIMIT = 20_000
"""Directory entries looked at, nearest to the root first."""
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def file_names(workspace: Workspace, suffix: str, limit: int = ENTRY_LIMIT) -> list[str]:
    """Return workspace-relative paths of files that end in ``suffix``, without hidden ones."""
    found: list[str] = []
    folders = deque([""])
    while folders and limit > 0:
        folder = folders.popleft()
        for entry in _entries(workspace, folder):
            limit -= 1
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED:
                    folders.append(name)
            elif entry.name.endswith(suffix):
                found.append(name)
    return found


def _entries(workspace: Workspace, folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(workspace.directory / folder) as entries:
            shown = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return []  # gone meanwhile, or not readable: then nothing in it can be meant
    return sorted(shown, key=lambda entry: entry.name)
