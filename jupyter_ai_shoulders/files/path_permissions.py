"""The files that tools may read and change as files: never secrets, never the state directory.

Used by ``files.disk_texts`` and ``files.file_changes``.
"""

from __future__ import annotations

import posixpath

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath


def permitted_path(workspace: Workspace, path: str) -> WorkspacePath:
    """Return the canonical path of a permitted file.

    Raises ``InvalidRequest`` (outside, the workspace itself), ``PolicyRefusal`` (secret).
    """
    found = workspace.path(path)
    if not found:
        raise InvalidRequest("The workspace itself is not a file.", hint="Name a file in it.")
    if any("\ud800" <= sign <= "\udfff" for sign in found):
        raise InvalidRequest(f"The name {found!r} is not text.", hint="Rename it by a command.")
    # A link may have a secret's name, and a folder of keys is refused like its files.
    for name in (found,) if posixpath.isabs(path) else (found, path):
        if is_secret(name) or is_secret(f"{name}/x"):
            raise PolicyRefusal(
                f"{path} usually holds keys or passwords, or belongs to the state directory: "
                "tools do not use it.",
                code="forbidden",
                hint="Ask the user to look at it or to change it.",
            )
    return found
