"""Turns a path given by a model, a page or a user into a ``WorkspacePath`` or an error.

Used by ``guard.filesystem.workspace``.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NewType

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.guard.filesystem.os_errors import from_os_error, outside_workspace_error
from jupyter_ai_shoulders.guard.filesystem.safe_open import Root

WorkspacePath = NewType("WorkspacePath", str)
"""A normalised path relative to the workspace root, with ``/``; only ``Workspace.path`` makes them.
"""

_KERNEL_FILES = ("/proc", "/sys", "/dev")
"""System files, closed when the workspace is the root of the file system."""
_FOLDERS = r"(?:HOME|PWD|OLDPWD|TMPDIR|XDG_\w+)"
_EXPANDED = re.compile(
    rf"~[^/]*/|~$|\${_FOLDERS}(?!\w)|\$\{{{_FOLDERS}\}}"
    r"|%(?:USERPROFILE|HOMEPATH|APPDATA|LOCALAPPDATA|TEMP|TMP)%"
)
"""A home directory or a variable that holds a folder, at the start of a path.

Shells would expand it. Other names may begin with these characters.
"""
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


class PathResolver:
    def __init__(self, directory: Path, root: Root, closed: Sequence[Path]) -> None:
        """``closed`` are folders below ``directory`` that nothing reads or changes."""
        self._directory = directory
        self._root = root
        self._closed = tuple(self._relative_below(closed))
        """Closed folders as relative paths with a final ``/``."""

    def resolve(self, text: str) -> WorkspacePath:
        """Return the canonical path of a file or directory, existing or not, at or below the root.

        ``./a``, ``b/../a``, ``/root/a`` and links inside the workspace all name ``a``. Raises
        ``InvalidRequest`` (``outside_workspace`` when the path or a link leads out) and
        ``PolicyRefusal`` (a closed folder).
        """
        path = self._resolve(text)
        if self.is_closed(path):
            raise PolicyRefusal(
                f"{text} is a file of the running server or of the system; it is never opened.",
                code="forbidden",
                hint="Use other files of the workspace.",
            )
        return path

    def is_closed(self, path: str) -> bool:
        """Return whether a workspace-relative path is in a closed folder."""
        return f"{path}/".startswith(self._closed) if self._closed else False

    def _resolve(self, text: str) -> WorkspacePath:
        parts = path_parts(self._make_relative(validate_path(text)), text)
        if begins_with_expansion(text) and not self._exists(parts[:1]):
            raise InvalidRequest(
                f"The path {text!r} uses ~ or a variable, which are not expanded.",
                hint="Give the path relative to the workspace.",
            )
        for existing in range(len(parts), 0, -1):
            try:
                real = self._root.resolve(parts[:existing])
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise from_os_error(error, text) from error
            return WorkspacePath("/".join([*real, *parts[existing:]]))
        return WorkspacePath("/".join(parts))

    def _relative_below(self, folders: Sequence[Path]) -> Iterator[str]:
        for folder in (*folders, *map(Path, _KERNEL_FILES)):
            real = Path(os.path.realpath(folder))
            if real != self._directory and real.is_relative_to(self._directory):
                yield f"{real.relative_to(self._directory).as_posix()}/"

    def _exists(self, parts: Sequence[str]) -> bool:
        """Return whether an entry with exactly this name exists."""
        try:
            return bool(parts) and bool(self._root.resolve(parts))
        except OSError:
            return False

    def _make_relative(self, text: str) -> str:
        """Convert an absolute path to one relative to the root."""
        if not Path(text).is_absolute():
            return text
        wanted = os.path.normpath(text)
        parent, name = os.path.split(wanted)
        for candidate in (Path(wanted), _real(parent) / name, _real(wanted)):
            if candidate.is_relative_to(self._directory):
                return candidate.relative_to(self._directory).as_posix()
        raise outside_workspace_error(text)


def _real(path: str) -> Path:
    """Resolve links as far as they can be read; some of ``/proc`` cannot."""
    try:
        return Path(os.path.realpath(path))
    except OSError:
        return Path(path)


def validate_path(text: str) -> str:
    """Return ``text`` if it is a plain path. Raises ``InvalidRequest``."""
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
    """Return the components of a relative path; none for the root. Raises ``InvalidRequest``."""
    normal = posixpath.normpath(relative) if relative else "."
    if normal == ".." or normal.startswith("../"):
        raise outside_workspace_error(text)
    return [] if normal == "." else normal.split("/")


def begins_with_expansion(text: str) -> bool:
    """Return whether a shell would expand the start of a path to a folder."""
    return _EXPANDED.match(text) is not None
