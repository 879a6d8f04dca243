"""Checks the text of a path before the file system is asked; pure.

Used by ``guard.filesystem.workspace``.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.guard.filesystem.os_errors import outside_workspace_error

_FOLDERS = r"(?:HOME|PWD|OLDPWD|TMPDIR|XDG_\w+)"
_EXPANDED = re.compile(
    rf"~[^/]*/|~$|\${_FOLDERS}(?!\w)|\$\{{{_FOLDERS}\}}"
    r"|%(?:USERPROFILE|HOMEPATH|APPDATA|LOCALAPPDATA|TEMP|TMP)%"
)
"""A home directory, or a variable that holds a folder, at the beginning of a path.

Shells would expand it. Other names may begin with these signs.
"""
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


def validate_path(text: str) -> str:
    """Return ``text`` unless it is not a plain path. Raises ``InvalidRequest``."""
    if "\0" in text:
        raise InvalidRequest("The path contains a NUL character.")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise InvalidRequest(f"The path {text!r} cannot be a file name.") from error
    windows = sys.platform == "win32"
    if text.startswith(("//", "\\\\")) or (not windows and _DRIVE.match(text)):
        raise outside_workspace_error(text)
    return text.replace("\\", "/") if windows else text


def path_parts(relative: str, text: str) -> list[str]:
    """Return the parts of a relative path; none for the root. Raises ``InvalidRequest``."""
    normal = posixpath.normpath(relative) if relative else "."
    if normal == ".." or normal.startswith("../"):
        raise outside_workspace_error(text)
    return [] if normal == "." else normal.split("/")


def begins_with_expansion(text: str) -> bool:
    """Return whether a shell would put a folder in the place of the beginning of a path."""
    return _EXPANDED.match(text) is not None
