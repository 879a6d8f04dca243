"""The ports of text files, for tools, review and restore.

Tools use ``TextDocuments`` and ``FileChanges`` only; the back end knows whether the text is on disk
or in a page with unsaved edits. Every change names its ``ChangeOrigin``, so that the operation log
can say who made it and undo it.
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
    """Whether a page has unsaved changes."""
    encoding: str
    newline: str
    r"""``\n``, ``\r\n`` or ``\r``, whichever most lines have; edits keep the others."""


@dataclass(frozen=True, slots=True)
class TextEditApplied:
    """The change was made."""

    operation_id: OperationId
    before: Version | None
    """None for a created file."""
    after: Version | None
    """None for a deleted file."""
    dirty: bool = False
    """Whether the text is open with changes that are not saved."""


@dataclass(frozen=True, slots=True)
class TextEditConflict:
    """Nothing was changed: the file differs; ``current`` is None when it was deleted."""

    current: TextSnapshot | None


class TextDocuments(Protocol):
    """Finds where a text file is currently open, and reads and changes it there."""

    async def read(self, path: str) -> TextSnapshot:
        """Return a file's text.

        Raises ``NotFound``, ``InvalidRequest`` (outside, a directory, binary, too large),
        ``PolicyRefusal`` (secret), ``Conflict`` (``page_not_responding``).
        """
        ...

    async def replace(
        self, path: str, text: str, expected: Version, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        """Replace a file's text, as one undo step where it is open; all or nothing.

        Keeps line ends, encoding and mode. Logged before the change, passed to the review after it.
        Raises like ``read``, and ``StateUnavailable``.
        """
        ...

    def in_page(self, path: str) -> bool:
        """Return whether a page has the file open, so that an edit can be reviewed there."""
        ...


class FileChanges(Protocol):
    """Makes, moves and removes files, each logged before it is done; nothing is overwritten.

    Paths are workspace-relative. All raise ``NotFound``, ``InvalidRequest``, ``PolicyRefusal``,
    ``Conflict`` (a name is taken, the file is open with unsaved changes) and ``StateUnavailable``.
    """

    async def create(self, path: str, text: str, origin: ChangeOrigin) -> TextEditApplied:
        """Make a file and its missing folders."""
        ...

    async def move(self, path: str, new_path: str, origin: ChangeOrigin) -> TextEditApplied:
        """Move a file or a folder; pages that have it open follow."""
        ...

    async def copy(self, path: str, new_path: str, origin: ChangeOrigin) -> TextEditApplied:
        """Copy a file."""
        ...

    async def delete(self, path: str, origin: ChangeOrigin) -> TextEditApplied:
        """Move a file into the trash of the state directory."""
        ...


class ByteStore(Protocol):
    """Stores bytes by their SHA-256; implemented by ``storage.blobs``. Blocks: for threads."""

    def put(self, content: bytes) -> BlobHash:
        """Store ``content``; return its SHA-256 as hex. Raises ``StateUnavailable``."""
        ...

    def get(self, blob: BlobHash) -> bytes:
        """Return the bytes. Raises ``NotFound``, ``StateUnavailable`` (damaged)."""
        ...


class OpenFiles(Protocol):
    """The files that pages have open; implemented by the live back ends."""

    def unsaved(self, path: str) -> Sequence[str]:
        """Return the files at or below a path that a page has open with unsaved changes."""
        ...

    async def moved(self, path: str, new_path: str) -> None:
        """Tell the pages that have a file at or below ``path`` open that it moved; best effort."""
        ...

    async def removed(self, path: str) -> None:
        """Tell the pages that a file was removed; best effort."""
        ...


class ChangeObserver(Protocol):
    """Receives every change of a text, for review; implemented in ``changes.review``."""

    def changed(
        self,
        origin: ChangeOrigin,
        document: str,
        cell_id: str | None,
        before: str | None,
        after: str | None,
    ) -> None:
        """Record a change by the agent; ``before`` is None for new texts, ``after`` for removed
        ones.
        """
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
