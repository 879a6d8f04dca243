"""The ports of text files (chapter 07): what tools, review and restore ask for.

Tools speak to ``TextDocuments`` and ``FileChanges`` only; whether the text lives on the disk or in
a page with unsaved edits is the back end's business. Every change names its ``ChangeOrigin``, so
that the operation log can say who made it and take it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from jupyter_ai_shoulders.core.operation_journal import (
    ChangeOrigin,
    ChangeOutcome,
    LoggedChange,
    OperationJournal,
)
from jupyter_ai_shoulders.wire.ids import BlobHash, OperationId, Version

__all__ = [
    "ByteStore",
    "ChangeObserver",
    "ChangeOrigin",
    "ChangeOutcome",
    "FileChanges",
    "LoggedChange",
    "NoOpenFiles",
    "NullChangeObserver",
    "OpenFiles",
    "OperationJournal",
    "TextBackend",
    "TextDocuments",
    "TextEditApplied",
    "TextEditConflict",
    "TextSnapshot",
]

TextBackend = Literal["disk", "live"]


@dataclass(frozen=True, slots=True)
class TextSnapshot:
    r"""A text file at one moment.

    ``text`` has ``\n`` for every line end, whatever the file has; ``version`` is SHA-256 over that
    text in UTF-8 (the hash of the file itself for UTF-8 with ``\n``), the same on disk and in a
    page.
    """

    path: str
    text: str
    version: Version
    backend: TextBackend
    dirty: bool
    """Whether a page has changes that are not saved."""
    encoding: str
    newline: str
    r"""``\n``, ``\r\n`` or ``\r``, the one most lines have; edits keep the others."""


@dataclass(frozen=True, slots=True)
class TextEditApplied:
    """The change is in."""

    operation_id: OperationId
    before: Version | None
    """None of a file that was made."""
    after: Version | None
    """None of a file that is gone."""


@dataclass(frozen=True, slots=True)
class TextEditConflict:
    """Nothing was changed: the file is not what was expected; ``current`` None means it is gone."""

    current: TextSnapshot | None


class TextDocuments(Protocol):
    """Finds where a text file lives at this moment, and reads and changes it there."""

    async def read(self, path: str) -> TextSnapshot:
        """Return a file's text.

        Raises ``NotFound``, ``InvalidRequest`` (outside, a directory, binary, too large),
        ``PolicyRefusal`` (secret), ``Conflict`` (``page_not_responding``).
        """
        ...

    async def replace(
        self, path: str, text: str, expected: Version, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        """Give a file another text, as one undo step where it is open; all or nothing.

        Keeps line ends, encoding and mode. Logged before it is done, noted for review after.
        Raises like ``read``, and ``StateUnavailable``.
        """
        ...

    def in_page(self, path: str) -> bool:
        """Return whether a page has it open, so that an edit can be reviewed there."""
        ...


class FileChanges(Protocol):
    """Makes, moves and removes files, each logged before it is done; nothing replaces a file.

    Paths are workspace-relative. All raise ``NotFound``, ``InvalidRequest``, ``PolicyRefusal``,
    ``Conflict`` (a name is taken, the file is open with unsaved changes) and ``StateUnavailable``.
    """

    async def create(self, path: str, text: str, origin: ChangeOrigin) -> TextEditApplied:
        """Make a file; missing folders are made too."""
        ...

    async def move(self, path: str, new_path: str, origin: ChangeOrigin) -> TextEditApplied:
        """Give a file (or a folder) another name; pages that have it open follow."""
        ...

    async def copy(self, path: str, new_path: str, origin: ChangeOrigin) -> TextEditApplied:
        """Copy a file."""
        ...

    async def delete(self, path: str, origin: ChangeOrigin) -> TextEditApplied:
        """Move a file into the trash of the state directory."""
        ...


class ByteStore(Protocol):
    """Keeps bytes by their SHA-256; implemented by ``storage.blobs``. For threads."""

    def put(self, content: bytes) -> BlobHash:
        """Keep ``content``; return its SHA-256 as hex. Raises ``StateUnavailable``."""
        ...

    def get(self, blob: BlobHash) -> bytes:
        """Return the bytes. Raises ``NotFound``, ``StateUnavailable`` (damaged)."""
        ...


class OpenFiles(Protocol):
    """Which files pages have open; implemented by the live back ends."""

    def unsaved(self, path: str) -> Sequence[str]:
        """Return the files at or below a path that a page has open with unsaved changes."""
        ...

    async def moved(self, path: str, new_path: str) -> None:
        """Let the pages that have a file at or below ``path`` open follow it; best effort."""
        ...

    async def removed(self, path: str) -> None:
        """Tell the pages that a file is gone; best effort."""
        ...


class ChangeObserver(Protocol):
    """Told of every change of a text, for review; implemented in ``changes.review``."""

    def changed(
        self,
        origin: ChangeOrigin,
        document: str,
        cell_id: str | None,
        before: str | None,
        after: str | None,
    ) -> None:
        """Note that the agent changed a text; None before: it was made, None after: it is gone."""
        ...


class NullChangeObserver:
    """``ChangeObserver`` of hosts without a review."""

    def changed(
        self,
        origin: ChangeOrigin,
        document: str,
        cell_id: str | None,
        before: str | None,
        after: str | None,
    ) -> None:
        """Do nothing."""
        del origin, document, cell_id, before, after


class NoOpenFiles:
    """``OpenFiles`` of surfaces without pages."""

    def unsaved(self, path: str) -> Sequence[str]:
        """Return nothing."""
        del path
        return ()

    async def moved(self, path: str, new_path: str) -> None:
        """Do nothing."""
        del path, new_path

    async def removed(self, path: str) -> None:
        """Do nothing."""
        del path
