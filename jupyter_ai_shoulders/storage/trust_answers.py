"""The user's answers about settings that come with a folder, stored outside the folder.

One file for each folder, ``~/.shoulders/trust/<hash of its path>.json``, so that a folder cannot
answer for itself and two servers never write the same file. Made by
``host.settings.workspace_trust``::

    {"version": 1, "folder": "/home/ada/course", "answers": {"<digest of the item>":
        {"answer": "trusted", "kind": "rule", "name": "run_command", "at": "2026-11-22T20:00:00Z"}}}
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.core.folder_trust import Answer, ItemFacts
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.wire.api.folder_trust import ItemKind

DIRECTORY = "trust"

Named = tuple[ItemKind, str, str]
"""Kind, name and digest of an item."""


class _Answered(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    answer: Literal["trusted", "declined", "own"]
    kind: ItemKind
    name: str
    at: str
    facts: dict[str, tuple[str, ...]] | None = None


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    version: Literal[1] = 1
    folder: str
    answers: dict[str, _Answered] = Field(default_factory=dict)


class TrustAnswers:
    """The answers about one folder (``core.folder_trust.FolderTrust``), reloaded on changes."""

    def __init__(self, home: Path, folder: Path, clock: Clock, *, own_only: bool = False) -> None:
        """``home`` is ``~/.shoulders``, ``folder`` the real path of the workspace.

        With ``own_only`` only items the user wrote count as trusted.
        """
        self._own_only = own_only
        name = hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._file = StateFile(StateDirectory(home / DIRECTORY), f"{name}.json")
        self._folder = str(folder)
        self._clock = clock
        self._writing = threading.Lock()
        self._signature: object = None
        self._cached: Mapping[str, _Answered] = {}

    @property
    def revision(self) -> object:
        """Return the ``stat`` result of the file as a revision."""
        try:
            found = self._file.path.stat()
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def answer(self, digest: str) -> Answer | None:
        """Return the answer about an item, or None; an unreadable file has no answers."""
        found = self._answers().get(digest)
        if found is None or (found.answer == "trusted" and self._own_only):
            return None
        return "declined" if found.answer == "declined" else "trusted"

    def named(self, kind: ItemKind, name: str) -> bool:
        """Return whether an item of this name was answered, possibly with other content."""
        return any(found.kind == kind and found.name == name for found in self._answers().values())

    def facts(self, kind: ItemKind, name: str) -> ItemFacts | None:
        """Return the facts of the item of this name that was answered last."""
        answered = [
            found
            for found in self._answers().values()
            if found.kind == kind and found.name == name and found.facts is not None
        ]
        return max(answered, key=lambda found: found.at).facts if answered else None

    def record(self, items: Iterable[Named]) -> None:
        """Record that the user wrote these items."""
        self.store(items, "own")

    def store(
        self,
        items: Iterable[Named],
        answer: Literal["trusted", "declined", "own"],
        facts: Mapping[str, ItemFacts | None] | None = None,
    ) -> None:
        """Store an answer about some items, with facts by digest. Raises ``StateUnavailable``."""
        at = timestamp(self._clock.now())
        new = {
            digest: _Answered(
                answer=answer,
                kind=kind,
                name=name,
                at=at,
                facts=_kept((facts or {}).get(digest)),
            )
            for kind, name, digest in items
        }
        if not new:
            return
        with self._writing:
            stored = self._read_to_change()
            changed = stored.model_copy(update={"answers": {**stored.answers, **new}})
            self._file.write(changed.model_dump_json(indent=1, exclude_none=True) + "\n")

    def _answers(self) -> Mapping[str, _Answered]:
        signature = self.revision
        if signature != self._signature:
            self._cached = self._read()
            self._signature = signature
        return self._cached

    def _read(self) -> Mapping[str, _Answered]:
        try:
            text = self._file.read()
            return {} if text is None else _Stored.model_validate_json(text).answers
        except (StateUnavailable, ValidationError):
            return {}  # nothing is trusted; storing an answer reports the problem

    def _read_to_change(self) -> _Stored:
        text = self._file.read()
        if text is None:
            return _Stored(folder=self._folder)
        try:
            return _Stored.model_validate_json(text)
        except ValidationError as error:
            raise StateUnavailable(
                f"The answers about this folder cannot be read: {self._file.path} is not valid.",
                hint="Correct or remove the file; you are then asked about the folder again.",
            ) from error


def _kept(facts: ItemFacts | None) -> dict[str, tuple[str, ...]] | None:
    return None if facts is None else dict(facts)
