"""Translates errors of the operating system into errors for the caller.

Used by ``guard.filesystem.workspace``.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Generator

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    StateUnavailable,
)


class FileChanged(Conflict):
    """The file differs from the one that was read; nothing was written."""


class DifferentFileSystem(Conflict):
    """Source and target are on different file systems, so only copying is possible."""


@contextlib.contextmanager
def translate_os_errors(path: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise from_os_error(error, path) from error


@contextlib.contextmanager
def translate_move_errors(path: str, new_path: str) -> Generator[None]:
    """Translate errors of an operation on two paths."""
    try:
        yield
    except OSError as error:
        match error.errno:
            case errno.EEXIST | errno.ENOTEMPTY:
                raise from_os_error(FileExistsError(errno.EEXIST, "taken"), new_path) from error
            case errno.EXDEV:
                raise DifferentFileSystem(
                    f"{new_path} is on another file system than {path}."
                ) from error
            case errno.EINVAL:
                raise InvalidRequest(
                    f"{path} cannot be moved to {new_path}, which is inside of it.",
                    hint="Use another name.",
                ) from error
            case _:
                raise from_os_error(error, path) from error


def file_changed_error(path: str, when: str) -> FileChanged:
    return FileChanged(
        f"{path} was changed by someone else {when}.", hint="Read it again.", retryable=True
    )


def outside_workspace_error(text: str) -> ShouldersError:
    return InvalidRequest(
        f"{text} is outside the workspace.",
        code="outside_workspace",
        hint="Give a path relative to the workspace.",
    )


def from_os_error(error: OSError, path: str) -> ShouldersError:
    """Return the error for the caller of an operating system error."""
    meant: ShouldersError
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            meant = NotFound(f"There is no file {path}.", hint="List the files to find its name.")
        case errno.EEXIST:
            meant = Conflict(
                f"{path} already exists; it was not changed.", hint="Use another name."
            )
        case errno.ENOTEMPTY:
            meant = Conflict(f"The folder {path} is not empty; it was not changed.")
        case errno.ENAMETOOLONG:
            meant = InvalidRequest(f"The name {path} is too long.", hint="Use a shorter one.")
        case errno.EXDEV:
            meant = outside_workspace_error(path)
        case errno.ELOOP:
            meant = InvalidRequest(
                f"{path} leads through a link that is not followed.", code="outside_workspace"
            )
        case errno.ENXIO | errno.ENODEV:
            meant = InvalidRequest(f"{path} is not a regular file.", hint="Name a file.")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            meant = PolicyRefusal(
                f"The system does not let this server use {path}: {error.strerror}.",
                code="forbidden",
                hint="Check the permissions of the file and its directory.",
            )
        case errno.ENOSPC | errno.EDQUOT:
            meant = StateUnavailable(
                f"No space is left to write {path}; the file was not changed.",
                code="disk_full",
                hint="Free some space and try again.",
                retryable=True,
            )
        case _:
            meant = InvalidRequest(f"{path} cannot be used: {error.strerror or error}.")
    return meant
