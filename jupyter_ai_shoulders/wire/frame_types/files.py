"""Frames about the text files that a page has open in its editor, and about files that moved.

As notebooks they are announced, read and changed through the page; the whole text travels only when
the server asks for it. Imported from ``wire.frames``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.ids import OperationId, Version


class TextOpen(CommandModel):
    """The page has this text file open; from now on nobody writes it underneath unsaved text."""

    type: Literal["text-open"] = "text-open"
    path: str
    claim_epoch: int
    """Counts up each time this page opens or re-announces a text."""
    version: Version
    dirty: bool
    writable: bool
    saved_at: str | None
    """The contents manager's last-modified stamp of the last save this page knows of."""


class TextChange(CommandModel):
    """The open text changed, or what is known of it (debounced)."""

    type: Literal["text-change"] = "text-change"
    path: str
    claim_epoch: int
    version: Version
    dirty: bool
    writable: bool
    saved_at: str | None


class TextFocus(CommandModel):
    """The user looked at this text in this page."""

    type: Literal["text-focus"] = "text-focus"
    path: str


class TextClose(CommandModel):
    """The text was closed in this page."""

    type: Literal["text-close"] = "text-close"
    path: str
    discarded: bool


class TextRename(CommandModel):
    """The text has another path now; what was said about the old one holds for the new one."""

    type: Literal["text-rename"] = "text-rename"
    path: str
    new_path: str


class TextContent(CommandModel):
    r"""Answer to ``text-read``; every line ends in ``\n``."""

    type: Literal["text-content"] = "text-content"
    operation_id: OperationId
    path: str
    text: str
    dirty: bool


class TextApplied(CommandModel):
    """Answer to ``text-apply``: done. ``saves``: it had nothing unsaved, so the page saves it."""

    type: Literal["text-applied"] = "text-applied"
    operation_id: OperationId
    version: Version
    saves: bool


class TextConflict(CommandModel):
    """Answer to ``text-apply``: the text is another than was expected; nothing was changed."""

    type: Literal["text-conflict"] = "text-conflict"
    operation_id: OperationId
    text: str
    dirty: bool


class TextRefused(CommandModel):
    """Answer to a request of an old epoch, past its deadline, or for a text not open here."""

    type: Literal["text-refused"] = "text-refused"
    operation_id: OperationId
    reason: Literal["epoch", "deadline", "not_open", "read_only", "failed"]
    message: str


class TextRead(WireModel):
    """Send the text as it is now."""

    type: Literal["text-read"] = "text-read"
    operation_id: OperationId
    claim_epoch: int
    path: str


class TextApply(WireModel):
    """Make it this text, as one undo step; nothing when it is another than was expected."""

    type: Literal["text-apply"] = "text-apply"
    operation_id: OperationId
    claim_epoch: int
    deadline_ms: int
    """By the server's clock, see ``Welcome``; after it the page refuses."""
    path: str
    expected: Version
    text: str


class TextSaved(WireModel):
    """Others have written this file: take up what it says now."""

    type: Literal["text-saved"] = "text-saved"
    path: str


class FileMoved(WireModel):
    """A file or folder was given another path by the agent: what is open of it follows."""

    type: Literal["file-moved"] = "file-moved"
    path: str
    new_path: str


class FileRemoved(WireModel):
    """A file was removed by the agent: what is open of it without changes is closed."""

    type: Literal["file-removed"] = "file-removed"
    path: str
