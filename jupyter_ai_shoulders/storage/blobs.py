"""Content-addressed files: prompts, large outputs, snapshots. Used by the engine and by tools.

Writing a blob needs no sync on the event loop: the log's next sync first syncs pending blobs, then
the events that refer to them.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections import deque
from pathlib import Path

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.storage.errors import storage_errors
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire.ids import BlobHash


class FileBlobs:
    """``Blobs`` as files named by their SHA-256, two levels deep."""

    def __init__(self, directory: StateDirectory) -> None:
        self._directory = directory
        self._root = str(directory.blobs)
        self._pending: deque[Path] = deque()

    def put(self, content: bytes) -> BlobHash:
        """Store ``content``; return its SHA-256 in hex. Raises ``StateUnavailable``."""
        blob = BlobHash(hashlib.sha256(content).hexdigest())
        with storage_errors("store a file", self._directory.path):
            if _size(self._path_text(blob)) != len(content):
                path = self.path(blob)
                self._write(path, content)
                self._pending.append(path)
        return blob

    def get(self, blob: BlobHash) -> bytes:
        """Return the bytes. Raises ``NotFound``, and ``StateUnavailable`` when they are damaged."""
        try:
            with storage_errors("read a stored file", self._directory.path):
                content = _content(self._path_text(blob))
        except StateUnavailable as error:
            if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
                raise NotFound(f"There is no stored content {blob}.") from error
            raise
        if hashlib.sha256(content).hexdigest() != blob:
            raise StateUnavailable(f"The stored content {blob} is damaged.")
        return content

    def path(self, blob: BlobHash) -> Path:
        """Return the path of the content, if any. Raises ``NotFound`` for an invalid hash."""
        return Path(self._path_text(blob))

    def _path_text(self, blob: BlobHash) -> str:
        """Return the path as a string: a ``Path`` costs as much as reading a small file."""
        if len(blob) != 64 or not (blob.isascii() and blob.isalnum()):
            raise NotFound(f"{blob!r} is not the name of stored content.")
        return f"{self._root}{os.sep}{blob[:2]}{os.sep}{blob[2:]}"

    def flush(self) -> None:
        """Sync the blobs written since the last call. For a thread."""
        with storage_errors("bring stored files to the disk", self._directory.path):
            while self._pending:
                path = self._pending[0]
                _sync_file(path)
                _sync_directory(path.parent)
                self._pending.popleft()
                crash_point("blobs.flush.synced")

    def _write(self, path: Path, content: bytes) -> None:
        self._directory.prepare()
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{secrets.token_hex(8)}")
        try:
            temporary.write_bytes(content)
            crash_point("blobs.put.written")
            temporary.replace(path)
            crash_point("blobs.put.renamed")
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _size(path_text: str) -> int | None:
    try:
        return os.stat(path_text).st_size  # noqa: PTH116 see ``FileBlobs._path_text``
    except (FileNotFoundError, NotADirectoryError):
        return None


def _content(path_text: str) -> bytes:
    with open(path_text, "rb") as file:  # noqa: PTH123 see ``FileBlobs._path_text``
        return file.read()


def _sync_file(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _sync_directory(path: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
