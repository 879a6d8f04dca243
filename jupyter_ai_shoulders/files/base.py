"""The ports of text files (chapter 07): what tools, review and restore ask for.

Tools speak to ``TextDocuments`` and ``FileChanges`` only; whether the text lives on the disk or in
a page with unsaved edits is the back end's business. Every change names its ``Origin``, so that the
operation log can say who made it and take it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from jupyter_ai_shoulders.wire.ids import BlobHash, CallId, OperationId, SessionId, TurnId, Version
from jupyter_ai_shoulders.wire.operations import Operation, OperationKind, OperationState

TextBackend = Literal["disk", "live"]


@dataclass(frozen=True, slots=True)
class Origin:
    """On whose behalf files are changed: a call of a session, or the user."""

    session_id: SessionId | None
    turn_id: TurnId | None = None
    call_id: CallId | None = None
    by: Literal["agent", "user"] = "agent"
    batch: str | None = None
    """Changes of one batch are taken back together; None: each by itself."""
    undoes: OperationId | None = None
    """The change that this one takes back."""


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
class TextApplied:
    """The change is in."""

    operation_id: OperationId
    before: Version | None
    """None of a file that was made."""
    after: Version | None
    """None of a file that is gone."""


@dataclass(frozen=True, slots=True)
class TextConflict:
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
        self, path: str, text: str, expected: Version, origin: Origin
    ) -> TextApplied | TextConflict:
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

    async def create(self, path: str, text: str, origin: Origin) -> TextApplied:
        """Make a file; missing folders are made too."""
        ...

    async def move(self, path: str, new_path: str, origin: Origin) -> TextApplied:
        """Give a file (or a folder) another name; pages that have it open follow."""
        ...

    async def copy(self, path: str, new_path: str, origin: Origin) -> TextApplied:
        """Copy a file."""
        ...

    async def delete(self, path: str, origin: Origin) -> TextApplied:
        """Move a file into the trash of the state directory."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """A change as the operation log is told of it, before and after it is made."""

    kind: OperationKind
    document: str
    origin: Origin
    cell_id: str | None = None
    new_document: str | None = None
    before_version: Version | None = None
    after_version: Version | None = None
    before: BlobHash | None = None
    """What it takes to put the file's bytes back; None where nothing was there."""
    after: BlobHash | None = None
    mode: int | None = None
    """Permission bits of the file before."""
    cannot_undo: str | None = None
    """The honest reason why it cannot be taken back; None: it can."""


class OperationJournal(Protocol):
    """The operation log; implemented by ``storage.operations``. Calls block for a commit only."""

    def begin(self, change: Change) -> OperationId:
        """Write a change down before it is made; ``sync`` brings it to the disk."""
        ...

    def end(
        self, operation_id: OperationId, state: OperationState, after: Version | None = None
    ) -> None:
        """Say what became of it: ``done``, ``failed`` (nothing was changed) or ``undone``."""
        ...

    async def sync(self) -> None:
        """Return once everything written so far is on the disk."""
        ...

    def get(self, operation_id: OperationId) -> Operation:
        """Return a row. Raises ``NotFound``."""
        ...

    def latest(
        self, *, session_id: SessionId | None = None, path: str | None = None, limit: int = 100
    ) -> Sequence[Operation]:
        """Return rows, the latest first."""
        ...

    def of_turn(self, session_id: SessionId, turn_id: TurnId) -> Sequence[Operation]:
        """Return what a turn did, in order."""
        ...

    def after(self, session_id: SessionId, moment: str) -> Sequence[Operation]:
        """Return what a session did after a time (ISO 8601 as in events), in order."""
        ...


class ChangeWitness(Protocol):
    """Told of every change of a text, for review; implemented in ``engine.review``."""

    def changed(
        self,
        origin: Origin,
        document: str,
        cell_id: str | None,
        before: str | None,
        after: str | None,
    ) -> None:
        """Note that the agent changed a text; None before: it was made, None after: it is gone."""
        ...
