"""The only access to workspace files.

Text of a path becomes a ``WorkspacePath`` or an error. Files are opened beneath a descriptor of the
root, so that neither ``..`` nor a link leads out. Used by the notebook back ends and the file
tools. All methods block; callers choose the thread. See docs/design/security.md#path-guard.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Literal

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.guard.filesystem.atomic_write import (
    Digest,
    FileContent,
    FileStat,
    copy_and_hash,
    copy_file,
    write_new,
    write_replacement,
)
from jupyter_ai_shoulders.guard.filesystem.directory_handles import DescriptorFolder, Folder
from jupyter_ai_shoulders.guard.filesystem.os_errors import (
    DifferentFileSystem,
    FileChanged,
    file_changed_error,
    translate_move_errors,
    translate_os_errors,
)
from jupyter_ai_shoulders.guard.filesystem.path_resolution import PathResolver, WorkspacePath
from jupyter_ai_shoulders.guard.filesystem.safe_open import Root, open_root
from jupyter_ai_shoulders.guard.filesystem.temp_file import (
    open_temp_file,
    preserved_copy_name,
    sweep_temp_files,
    temp_name,
)

__all__ = [
    "DifferentFileSystem",
    "Digest",
    "FileChanged",
    "FileContent",
    "FileStat",
    "Workspace",
    "WorkspacePath",
]


class Workspace:
    """The server's root directory; close it after use."""

    def __init__(
        self, directory: str | Path, root: Root | None = None, closed: Sequence[Path] = ()
    ) -> None:
        """Open a directory; ``closed`` are folders below it that are never read or changed."""
        self.directory = Path(directory).resolve()
        self._root = root or open_root(self.directory)
        self._paths = PathResolver(self.directory, self._root, closed)
        self._swept: set[str] = set()
        """Folders without files abandoned by earlier servers."""

    def close(self) -> None:
        """Close the root directory."""
        self._root.close()

    def path(self, text: str) -> WorkspacePath:
        """Return the canonical path of an entry. Raises like ``PathResolver.resolve``."""
        return self._paths.resolve(text)

    def is_closed(self, path: str) -> bool:
        """Return whether a workspace-relative path is in a closed folder."""
        return self._paths.is_closed(path)

    def stat(self, path: WorkspacePath) -> FileStat:
        """Return a regular file's metadata. Raises ``NotFound``, ``InvalidRequest``."""
        with self._open(path) as descriptor:
            return _stat_regular(descriptor, path)

    def read(self, path: WorkspacePath) -> FileContent:
        """Return a regular file's content. Raises like ``stat``, and ``FileChanged``."""
        with self._open(path) as descriptor:
            before = _stat_regular(descriptor, path)
            content = _read_all(descriptor, before.size)
            after = _stat_regular(descriptor, path)
        if before != after or len(content) != after.size:
            raise file_changed_error(path, "while it was read")
        return FileContent(content, after)

    def head(self, path: WorkspacePath, limit: int) -> FileContent:
        """Return a regular file's first ``limit`` bytes and its metadata. Raises like ``stat``."""
        with self._open(path) as descriptor:
            facts = _stat_regular(descriptor, path)
            chunks: list[bytes] = []
            while limit > 0 and (chunk := os.read(descriptor, min(limit, 1 << 20))):
                chunks.append(chunk)
                limit -= len(chunk)
        return FileContent(b"".join(chunks), facts)

    def chunks(self, path: WorkspacePath, size: int = 1 << 20) -> Generator[bytes]:
        """Yield a regular file's content in pieces, so that none is too large to be read.

        Raises like ``stat``.
        """
        with self._open(path) as descriptor:
            _stat_regular(descriptor, path)
            while chunk := os.read(descriptor, size):
                yield chunk

    def tail(self, path: WorkspacePath, limit: int) -> FileContent:
        """Return a regular file's last ``limit`` bytes and its metadata. Raises like ``stat``."""
        with self._open(path) as descriptor:
            facts = _stat_regular(descriptor, path)
            os.lseek(descriptor, max(0, facts.size - limit), os.SEEK_SET)
            return FileContent(_read_all(descriptor, min(limit, facts.size)), facts)

    def names(self, path: WorkspacePath) -> Sequence[str]:
        """Return the names of all entries of a folder. Raises ``NotFound``."""
        with (
            translate_os_errors(path),
            self._root.folder(path.split("/") if path else []) as folder,
        ):
            return folder.names()

    @contextlib.contextmanager
    def open_folder_path(self, path: WorkspacePath) -> Generator[str]:
        """Yield a path of the open folder, for scanning it or starting a process in it.

        On Linux the path refers to the folder itself even if its name is given to another one;
        elsewhere it is the ordinary path. Raises ``NotFound``.
        """
        with contextlib.ExitStack() as opened:
            with translate_os_errors(path):
                folder = self._root.folder(path.split("/") if path else [])
                handle = opened.enter_context(folder)
            if sys.platform == "linux" and isinstance(handle, DescriptorFolder):
                yield f"/proc/self/fd/{handle.descriptor}"
            else:
                yield str(self.directory / path)

    def replace(self, path: WorkspacePath, content: bytes, expected: FileStat) -> FileStat:
        """Atomically replace the file that was read as ``expected``.

        Keeps the mode and, where permitted, the owner; durable on return. Raises ``FileChanged``
        when the file or its content is another one.
        """
        *directory, name = path.split("/")
        with translate_os_errors(path), self._root.folder(directory) as folder:
            with open_temp_file(folder, name) as temporary:
                write_replacement(temporary.descriptor, content, expected)
                temporary.finish()
                crash_point("disk.replace.written")
                _verify_unchanged(folder, name, expected, path)
                crash_point("disk.replace.before_rename")
                folder.rename(temporary.name, name)
            crash_point("disk.replace.renamed")
            folder.sync()
            crash_point("disk.replace.synced")
            written = FileStat.of(folder.stat(name))
            self._sweep("/".join(directory), folder, written.mtime_ns)
            return written

    def create(self, path: WorkspacePath, content: bytes) -> FileStat:
        """Atomically create a file in an existing folder; durable on return.

        Raises ``Conflict`` when the name is taken.
        """
        *directory, name = path.split("/")
        with translate_os_errors(path), self._root.folder(directory) as folder:
            with open_temp_file(folder, name) as temporary:
                write_new(temporary.descriptor, content)
                temporary.finish()
                crash_point("disk.create.written")
                folder.rename_new(temporary.name, name)
            crash_point("disk.create.settled")
            folder.sync()
            written = FileStat.of(folder.stat(name))
            self._sweep("/".join(directory), folder, written.mtime_ns)
            return written

    def kind(self, path: WorkspacePath) -> Literal["file", "folder", "other"]:
        """Return the kind of an entry. Raises ``NotFound``."""
        if not path:
            return "folder"
        *directory, name = path.split("/")
        with translate_os_errors(path), self._root.folder(directory) as folder:
            mode = folder.stat(name).st_mode
        if stat.S_ISDIR(mode):
            return "folder"
        return "file" if stat.S_ISREG(mode) else "other"

    def digest(self, path: WorkspacePath) -> Digest:
        """Return the hash of a regular file of any size. Raises like ``read``."""
        with self._open(path) as descriptor:
            before = _stat_regular(descriptor, path)
            sha256 = copy_and_hash(descriptor)
            after = _stat_regular(descriptor, path)
        if before != after:
            raise file_changed_error(path, "while it was read")
        return Digest(sha256, after)

    def move(
        self, path: WorkspacePath, new_path: WorkspacePath, target: Workspace | None = None
    ) -> None:
        """Rename a file or folder, here or below another root; durable on return.

        The new parent folder must exist. Never replaces anything. Raises ``Conflict`` when the new
        name is taken, ``NotFound``, and ``DifferentFileSystem`` when a rename cannot reach the
        target.
        """
        other = target or self
        with (
            self._open_parent(path) as (source, name),
            other._open_parent(new_path) as (folder, new_name),  # noqa: SLF001 of the same class
        ):
            with translate_move_errors(path, new_path):
                source.move(name, folder, new_name)
            crash_point("disk.move.renamed")
            with translate_os_errors(path):
                folder.sync()
                source.sync()
        crash_point("disk.move.synced")

    def copy(
        self, path: WorkspacePath, new_path: WorkspacePath, target: Workspace | None = None
    ) -> Digest:
        """Atomically copy a file of any size with its mode and time, here or below another root.

        Durable on return; the target folder must exist. Raises ``Conflict`` when the new name is
        taken, and ``FileChanged`` when the source changes during the copy.
        """
        other = target or self
        with (
            self._open(path) as source,
            other._open_parent(new_path) as (folder, name),  # noqa: SLF001 of the same class
            translate_os_errors(new_path),
        ):
            before = _stat_regular(source, path)
            with open_temp_file(folder, name) as temporary:
                sha256 = copy_file(temporary.descriptor, source, before)
                if _stat_regular(source, path) != before:
                    raise file_changed_error(path, "while it was copied")
                temporary.finish()
                crash_point("disk.copy.written")
                folder.rename_new(temporary.name, name)
            crash_point("disk.copy.settled")
            folder.sync()
            return Digest(sha256, FileStat.of(folder.stat(name)))

    def remove(self, path: WorkspacePath, expected: FileStat) -> None:
        """Remove the file that was read as ``expected``; durable on return.

        The file is renamed first, so that no other file is removed. Raises ``FileChanged`` when the
        file or its content is another one. That file gets its name back or, if the name was taken
        again, a new name that is never swept and that the error states.
        """
        with self._open_parent(path) as (folder, name), translate_os_errors(path):
            aside = temp_name(name)
            folder.move(name, folder, aside)
            crash_point("disk.remove.aside")
            if FileStat.of(folder.stat(aside)) != expected:
                raise file_changed_error(path, _restore_name(folder, aside, name))
            folder.unlink(aside)
            crash_point("disk.remove.unlinked")
            folder.sync()

    def make_folder(self, path: WorkspacePath) -> None:
        """Make a folder in an existing one; durable. Raises ``Conflict`` (name taken),
        ``NotFound``.
        """
        with self._open_parent(path) as (folder, name), translate_os_errors(path):
            folder.make_folder(name)
            crash_point("disk.mkdir.made")
            folder.sync()

    def remove_folder(self, path: WorkspacePath) -> None:
        """Remove an empty folder; durable. Raises ``Conflict`` when it is not empty.

        Abandoned temporary files are removed first.
        """
        with translate_os_errors(path), self._root.folder(path.split("/")) as inside:
            sweep_temp_files(inside, time.time_ns())
        with self._open_parent(path) as (folder, name), translate_os_errors(path):
            folder.remove_folder(name)
            crash_point("disk.rmdir.removed")
            folder.sync()

    def _sweep(self, directory: str, folder: Folder, now_ns: int) -> None:
        """Remove files abandoned by dead servers from a folder, once per folder and server."""
        if directory not in self._swept and sweep_temp_files(folder, now_ns):
            self._swept.add(directory)

    @contextlib.contextmanager
    def _open_parent(self, path: WorkspacePath) -> Generator[tuple[Folder, str]]:
        """Open the parent folder of a path; yield it with the last component."""
        if not path:
            raise InvalidRequest("The workspace itself cannot be changed.", hint="Name a file.")
        *directory, name = path.split("/")
        with contextlib.ExitStack() as stack:
            with translate_os_errors(path):
                folder = stack.enter_context(self._root.folder(directory))
            yield folder, name

    @contextlib.contextmanager
    def _open(self, path: WorkspacePath) -> Generator[int]:
        with translate_os_errors(path):
            descriptor = self._root.open(path.split("/"))
            try:
                yield descriptor
            finally:
                os.close(descriptor)


def _restore_name(folder: Folder, aside: str, name: str) -> str:
    """Give another program's file its name back, or an unused one; return the outcome in words."""
    try:
        folder.move(aside, folder, name)
    except OSError:
        new_name = preserved_copy_name(name)
        folder.move(aside, folder, new_name)
        folder.sync()
        return f"twice meanwhile; it was not removed, the one in between is now called {new_name}"
    return "meanwhile; it was not removed"


def _stat_regular(descriptor: int, path: str) -> FileStat:
    result = os.fstat(descriptor)
    if stat.S_ISREG(result.st_mode):
        return FileStat.of(result)
    kind = "a directory" if stat.S_ISDIR(result.st_mode) else "not a regular file"
    raise InvalidRequest(f"{path or 'The workspace'} is {kind}.", hint="Name a file.")


def _read_all(descriptor: int, size: int) -> bytes:
    chunks: list[bytes] = []
    while chunk := os.read(descriptor, max(65_536, size + 1)):
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _verify_unchanged(folder: Folder, name: str, expected: FileStat, path: str) -> None:
    """Check the file a last time, immediately before it is replaced."""
    now = folder.stat(name)
    if not stat.S_ISREG(now.st_mode) or FileStat.of(now) != expected:
        raise file_changed_error(path, "meanwhile; nothing was written")
