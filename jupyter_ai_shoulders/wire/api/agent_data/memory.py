"""The memory: ``memory`` and ``memory/{id}``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import OperationId, SessionId

MemoryScope = Literal["person", "workspace"]
MemoryState = Literal["trusted", "new", "declined"]
"""``new`` came with the folder and needs a review; models read it as data."""
MemoryChangeKind = Literal["remembered", "repeated", "replaced", "edited", "forgot"]

LONGEST_STATEMENT = 500
"""Maximum characters of a statement."""

StatementId = Annotated[str, Field(pattern=r"^[pw]-[0-9a-f]{8}$")]
StatementText = Annotated[str, Field(min_length=1, max_length=4 * LONGEST_STATEMENT)]


class MemoryStatement(WireModel):
    """A statement of a memory file."""

    id: str
    """``p-`` (person) or ``w-`` (workspace), and the id in the file."""
    scope: MemoryScope
    text: str
    date: str | None
    """Null where the user wrote the line by hand."""
    session_id: SessionId | None
    """The conversation it comes from."""
    section: str
    """The heading above it; ``Preferences`` for those of the settings page."""
    state: MemoryState


class MemoryFileView(WireModel):
    """One of the two files."""

    scope: MemoryScope
    path: str
    """As shown: ``~/.shoulders/memory.md``."""
    text: str | None
    """The file as it is; null if there is none."""
    statements: tuple[MemoryStatement, ...]
    error: ErrorInfo | None
    """Why it is not used."""


class MemoryView(WireModel):
    """``GET memory``."""

    enabled: bool
    files: tuple[MemoryFileView, ...]
    """The files this user may read; none while the memory is switched off."""


class MemoryChange(WireModel):
    """The answer to a change, and the data of the tools' results."""

    kind: MemoryChangeKind
    statement: MemoryStatement
    """The statement as stored, or the one that was removed."""
    previous: str | None
    """The text that it replaces."""
    operation_id: OperationId
    """For ``POST operations/{id}/undo``."""
    near: tuple[MemoryStatement, ...] = ()
    """Other statements about the same."""


class PostMemory(CommandModel):
    """``POST memory``."""

    text: StatementText
    scope: MemoryScope
    preference: bool = False
    """Whether it belongs below the heading of the settings page's preferences."""


class PatchMemory(CommandModel):
    """``PATCH memory/{id}``."""

    text: StatementText
