"""Files shared into conversations, stored as they were when shared.

Stored as ``artifacts/<session>/<name>`` in the state directory. Written by the tool
``share_artifact``, read by the handler of ``GET artifacts/{session}/{name}``.
"""

from __future__ import annotations

import errno
import os
import posixpath
import secrets
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.storage.errors import storage_errors
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire.ids import SessionId


class ArtifactFiles:
    """The shared files of all conversations. Its methods block."""

    def __init__(self, directory: StateDirectory) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        """Calls of one step share files concurrently; choosing and claiming a name is atomic."""

    def put(self, session_id: SessionId, name: str, content: bytes) -> str:
        """Store a copy; return its name, which is unique for its content in the session.

        Raises ``StateUnavailable``.
        """
        self._directory.prepare()
        folder = self._directory.path / "artifacts" / session_id
        with self._lock, storage_errors(f"keep a copy of {name}", self._directory.path):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for candidate in _candidates(name):
                path = folder / candidate
                if not path.exists():
                    _write(path, content)
                    return candidate
                if path.stat().st_size == len(content) and path.read_bytes() == content:
                    return candidate
        raise AssertionError("there is always another name")

    def share(self, source: SessionId, target: SessionId, names: Sequence[str]) -> None:
        """Share these files of one session with another; missing files are skipped.

        Raises ``StateUnavailable``.
        """
        folder = self._directory.path / "artifacts" / target
        for name in names:
            try:
                content = self.read(source, name)
            except NotFound:
                continue
            with storage_errors(f"keep a copy of {name}", self._directory.path):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write(folder / name, content)

    def read(self, session_id: SessionId, name: str) -> bytes:
        """Return a shared file. Raises ``NotFound``, also for anything but a plain name."""
        if not (_is_plain(session_id) and _is_plain(name)):
            raise _unknown(name)
        path = self._directory.path / "artifacts" / session_id / name
        try:
            with storage_errors("read a shared file", self._directory.path):
                return _read(path)
        except StateUnavailable as error:
            cause = error.__cause__
            missing = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG}
            if isinstance(cause, OSError) and cause.errno in missing:
                raise _unknown(name) from error
            raise


def _candidates(name: str) -> Iterator[str]:
    stem, suffix = posixpath.splitext(name)
    yield name
    number = 2
    while True:
        yield f"{stem} ({number}){suffix}"
        number += 1


def _is_plain(name: str) -> bool:
    return bool(name) and not name.startswith(".") and not any(sign in name for sign in "/\\\0:")


def _unknown(name: str) -> NotFound:
    return NotFound(f"There is no shared file {name!r} in this conversation.")


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _write(path: Path, content: bytes) -> None:
    """Write the file atomically: a card may name it right afterwards."""
    temporary = path.with_name(f".{secrets.token_hex(8)}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        crash_point("artifacts.put.written")
        temporary.replace(path)
        crash_point("artifacts.put.renamed")
    finally:
        temporary.unlink(missing_ok=True)
