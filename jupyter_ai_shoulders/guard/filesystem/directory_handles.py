"""Operations inside an open directory, which cannot be redirected elsewhere.

Used by ``guard.filesystem.safe_open``.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jupyter_ai_shoulders.guard.filesystem.rename_noreplace import rename_without_replacing

_BINARY = getattr(os, "O_BINARY", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | _BINARY

_OWN = os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | _NOFOLLOW | _CLOEXEC | _BINARY

_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK})
"""Errors of file systems without hard links (link(2)), such as FAT and some network file systems.
"""


class Folder(Protocol):
    """An open directory; its operations cannot be redirected elsewhere."""

    def create(self, name: str) -> int:
        """Create a file that must not exist; return a writable descriptor."""
        ...

    def names(self) -> Sequence[str]:
        """Return the names of all entries."""
        ...

    def reopen(self, name: str) -> int:
        """Open a file made by ``create``; return a descriptor."""
        ...

    def stat(self, name: str) -> os.stat_result:
        """Return the metadata of an entry, without following a link."""
        ...

    def rename(self, name: str, new_name: str) -> None:
        """Rename an entry over another one."""
        ...

    def rename_new(self, name: str, new_name: str) -> None:
        """Rename a file to an unused name. Raises ``FileExistsError``."""
        ...

    def move(self, name: str, destination: Folder, new_name: str) -> None:
        """Move a file or folder into another folder, under an unused name.

        Both folders must be of the same root type. Raises ``FileExistsError``, and ``EXDEV`` across
        devices.
        """
        ...

    def make_folder(self, name: str) -> None:
        """Make a folder. Raises ``FileExistsError`` when the name is taken."""
        ...

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        ...

    def unlink(self, name: str) -> None:
        """Remove a file."""
        ...

    def sync(self) -> None:
        """Make changes of the directory's entries durable."""
        ...


@dataclass(frozen=True, slots=True)
class DescriptorFolder:
    """A directory by its descriptor."""

    descriptor: int

    def create(self, name: str) -> int:
        return os.open(name, _NEW, 0o600, dir_fd=self.descriptor)

    def names(self) -> Sequence[str]:
        return os.listdir(self.descriptor)  # noqa: PTH208 pathlib knows no descriptors

    def reopen(self, name: str) -> int:
        return os.open(name, _OWN, dir_fd=self.descriptor)

    def stat(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)

    def rename(self, name: str, new_name: str) -> None:
        os.replace(name, new_name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def rename_new(self, name: str, new_name: str) -> None:
        here = {"src_dir_fd": self.descriptor, "dst_dir_fd": self.descriptor}
        try:
            os.link(name, new_name, **here, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # Claim the name first, so that no existing file is replaced.
            os.close(self.create(new_name))
            self.rename(name, new_name)
        else:
            self.unlink(name)

    def move(self, name: str, destination: Folder, new_name: str) -> None:
        assert isinstance(destination, DescriptorFolder), "both are of one kind"
        if rename_without_replacing(self.descriptor, name, destination.descriptor, new_name):
            return
        here, there = self.descriptor, destination.descriptor
        if stat.S_ISDIR(self.stat(name).st_mode):
            # A folder can replace only an empty one, so no existing files are replaced.
            destination.make_folder(new_name)
            try:
                os.rename(name, new_name, src_dir_fd=here, dst_dir_fd=there)
            except OSError:
                destination.remove_folder(new_name)
                raise
            return
        try:
            os.link(name, new_name, src_dir_fd=here, dst_dir_fd=there, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.close(destination.create(new_name))  # claims the name
            os.replace(name, new_name, src_dir_fd=here, dst_dir_fd=there)
        else:
            self.unlink(name)

    def make_folder(self, name: str) -> None:
        os.mkdir(name, dir_fd=self.descriptor)

    def remove_folder(self, name: str) -> None:
        os.rmdir(name, dir_fd=self.descriptor)

    def unlink(self, name: str) -> None:
        os.unlink(name, dir_fd=self.descriptor)

    def sync(self) -> None:
        os.fsync(self.descriptor)


@dataclass(frozen=True, slots=True)
class PathFolder:
    """A directory by its path."""

    path: Path

    def create(self, name: str) -> int:
        return os.open(self.path / name, _NEW, 0o600)

    def names(self) -> Sequence[str]:
        return [entry.name for entry in self.path.iterdir()]

    def reopen(self, name: str) -> int:
        return os.open(self.path / name, _OWN)

    def stat(self, name: str) -> os.stat_result:
        return (self.path / name).lstat()

    def rename(self, name: str, new_name: str) -> None:
        (self.path / name).replace(self.path / new_name)

    def rename_new(self, name: str, new_name: str) -> None:
        if sys.platform != "win32":  # rename never replaces on Windows
            os.close(self.create(new_name))
        (self.path / name).rename(self.path / new_name)

    def move(self, name: str, destination: Folder, new_name: str) -> None:
        assert isinstance(destination, PathFolder), "both are of one kind"
        source, target = self.path / name, destination.path / new_name
        if sys.platform == "win32":  # rename never replaces on Windows
            source.rename(target)
            return
        folder = stat.S_ISDIR(source.lstat().st_mode)
        # Claim the name first: a folder can replace only an empty one.
        if folder:
            target.mkdir()
        else:
            os.close(destination.create(new_name))
        try:
            source.rename(target)
        except OSError:
            target.rmdir() if folder else target.unlink()
            raise

    def make_folder(self, name: str) -> None:
        (self.path / name).mkdir()

    def remove_folder(self, name: str) -> None:
        (self.path / name).rmdir()

    def unlink(self, name: str) -> None:
        (self.path / name).unlink()

    def sync(self) -> None:
        """Do nothing: these systems have no descriptor of a directory to sync."""
