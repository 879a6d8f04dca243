"""Which statements of a workspace's memory the user wrote: their hashes, outside of the folder.

A clone may bring a ``memory.md`` of somebody else. One file for each folder, beside the answers of
``storage.trust_answers``; statements that are gone from the memory leave it. Methods block.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.storage.trust_answers import DIRECTORY


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    folder: str
    own: tuple[str, ...] = ()


class OwnStatements:
    """The statements of one folder that this user wrote."""

    def __init__(self, home: Path, folder: Path) -> None:
        """``home`` is ``~/.shoulders``, ``folder`` the real path of the workspace."""
        name = hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._file = StateFile(StateDirectory(home / DIRECTORY), f"{name}.memory.json")
        self._folder = str(folder)

    @property
    def signature(self) -> object:
        """Return a value that changes when the file may have changed."""
        try:
            found = self._file.path.stat()
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def read(self) -> frozenset[str]:
        """Return the hashes; an unreadable file holds none. Raises ``StateUnavailable``."""
        text = self._file.read()
        if text is None:
            return frozenset()
        try:
            return frozenset(_Stored.model_validate_json(text).own)
        except ValidationError:
            return frozenset()

    def replace(self, hashes: Iterable[str]) -> None:
        """Store the hashes. Raises ``StateUnavailable``, ``TooLarge``."""
        stored = _Stored(folder=self._folder, own=tuple(sorted(set(hashes))))
        self._file.write(stored.model_dump_json(indent=1) + "\n")


def statement_hash(text: str) -> str:
    """Return the hash of a statement's text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
