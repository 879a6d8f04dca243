"""Distinguishes the user's own state directory from one that came with a folder.

A clone or an archive can hold a ``state.db`` with conversations in which everything is already
allowed. The user's home keeps the name of each state directory created here; the name is random, so
it cannot be guessed. Made by ``host.state.store``; checked by ``host.host`` at the start.
"""

from __future__ import annotations

import logging
import re
import secrets
from pathlib import Path

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile

FILE_NAME = "origin"
KNOWN_STATES = Path("trust") / "states"
"""In ``~/.shoulders``: one empty file for each known state directory."""

_NAME = re.compile(r"[0-9a-f]{32}")
_log = logging.getLogger(__name__)


class StateOrigin:
    """The origin of one state directory."""

    def __init__(self, directory: StateDirectory, home: Path) -> None:
        """``home`` is ``~/.shoulders``."""
        self._directory = directory
        self._home = home
        self._file = StateFile(directory, FILE_NAME)

    def is_own(self) -> bool:
        """Return whether this user started its conversations, or there are none yet."""
        database = self._directory.database
        left = (database, Path(f"{database}-wal"), self._directory.damaged)
        if not any(path.exists() for path in left):  # conversations are restored from each of them
            return True
        return self.is_known()

    def is_known(self) -> bool:
        """Return whether this user made the directory, as far as anything is recorded."""
        try:
            name = (self._file.read() or "").strip()
        except StateUnavailable:
            return False
        return _NAME.fullmatch(name) is not None and (self._home / KNOWN_STATES / name).is_file()

    def claim(self) -> None:
        """Mark it as the user's own; called before its database is created."""
        name = secrets.token_hex(16)
        try:
            StateFile(StateDirectory(self._home / KNOWN_STATES), name).write(
                f"{self._directory.path}\n"
            )
            self._file.write(f"{name}\n")
        except StateUnavailable as error:
            _log.warning("Permissions given in conversations will end with the server: %s", error)
