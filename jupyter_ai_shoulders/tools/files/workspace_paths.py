"""Path checks shared by the tools that list and search the workspace."""

from __future__ import annotations

import contextlib
import posixpath
import re

from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
)
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath

_EXPANDABLE = re.compile(r"^[~$%]|^\\\\|^[A-Za-z]:\\")


def readable_folder(workspace: Workspace, text: str) -> WorkspacePath:
    """Return a folder that may be listed. Blocks.

    Raises ``NotFound``, ``InvalidRequest`` (outside, a file), ``PolicyRefusal`` (secret).
    """
    path = readable_path(workspace, text)
    if is_file(workspace, path):
        raise InvalidRequest(f"{path} is a file.", hint="Read it, or name its folder.")
    try:
        workspace.names(path)
    except NotFound as error:
        raise NotFound(
            f"There is no folder {path}.", hint="List the files of the workspace to find it."
        ) from error
    return path


def readable_path(workspace: Workspace, text: str) -> WorkspacePath:
    """Return the normalised path of a file or folder that is not secret.

    Raises ``InvalidRequest`` (outside), ``PolicyRefusal`` (secret, the state directory).
    """
    path = workspace.path(text)
    # A link may have a secret name, and a folder of keys is refused like its files.
    for name in (path,) if posixpath.isabs(text) else (path, text):
        if is_secret(name) or is_secret(f"{name}/x"):
            raise PolicyRefusal(
                f"{text} usually holds keys or passwords, or belongs to the state directory: "
                "it is not searched or listed.",
                code="forbidden",
                hint="Ask the user to look at it.",
            )
    return path


def is_file(workspace: Workspace, path: WorkspacePath) -> bool:
    """Return whether a path names a regular file."""
    if not path:
        return False
    with contextlib.suppress(ShouldersError):
        workspace.stat(path)
        return True
    return False


def portable_path(path: str) -> str:
    """Prefix a path with ``./`` if it looks like a home folder, a variable or a drive."""
    return f"./{path}" if _EXPANDABLE.match(path) else path
