"""Frames about text files open in a page's editor, and about moved files.

Like notebooks, they are announced, read and changed through the page; the whole text is sent only
when the server requests it. Imported from ``wire.frames``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.ids import OperationId, Version


class TextOpen(CommandModel):
    """The page has opened this text file; from now on the server does not write it underneath
    unsaved text.
    """

    type: Literal["text-open"] = "text-open"
    path: str
    claim_epoch: int
    """Increases each time this page opens or re-announces a text."""
    version: Version
    dirty: bool
    writable: bool
    saved_at: str | None
    """The contents manager's last-modified stamp of the last save known to this page."""


class TextChange(CommandModel):
    """The open text or its known facts changed (debounced)."""

    type: Literal["text-change"] = "text-change"
    path: str
    claim_epoch: int
    version: Version
    dirty: bool
    writable: bool
    saved_at: str | None


class TextFocus(CommandModel):
    """The user focused this text in this page."""

    type: Literal["text-focus"] = "text-focus"
    path: str


class TextClose(CommandModel):
    """The text was closed in this page."""

    type: Literal["text-close"] = "text-close"
    path: str
    discarded: bool


class TextRename(CommandModel):
    """The text has a new path; its state is kept."""

    type: Literal["text-rename"] = "text-rename"
    path: str
    new_path: str


class TextEditor(CommandModel):
    """The client is an editor that reads and changes any text file below ``folder`` on request.

    It is asked for files of its own messages, while one of them is answered also for those of work
    that no page asked for, and at any time for files in which it was seen to have unsaved text.
    """

    type: Literal["text-editor"] = "text-editor"
    folder: str
    """Workspace-relative, empty for the whole workspace."""
    answering: bool


class TextContent(CommandModel):
    r"""Answer to ``text-read``; every line ends in ``\n``."""

    type: Literal["text-content"] = "text-content"
    operation_id: OperationId
    path: str
    text: str
    dirty: bool


class TextApplied(CommandModel):
    """Answer to ``text-apply``: applied. ``saves``: it had no unsaved changes, so the page saves
    it.
    """

    type: Literal["text-applied"] = "text-applied"
    operation_id: OperationId
    version: Version
    saves: bool


class TextConflict(CommandModel):
    """Answer to ``text-apply``: the text is not the expected one; nothing was changed."""

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
    """Request the current text."""

    type: Literal["text-read"] = "text-read"
    operation_id: OperationId
    claim_epoch: int
    path: str


class TextApply(WireModel):
    """Replace the text as one undo step, if it is the expected one."""

    type: Literal["text-apply"] = "text-apply"
    operation_id: OperationId
    claim_epoch: int
    deadline_ms: int
    """Time on the server's clock, see ``Welcome``, after which the page refuses."""
    path: str
    expected: Version
    text: str


class TextSaved(WireModel):
    """Another program has written this file: reload its text."""

    type: Literal["text-saved"] = "text-saved"
    path: str


class FileMoved(WireModel):
    """The agent moved a file or folder: open documents follow."""

    type: Literal["file-moved"] = "file-moved"
    path: str
    new_path: str


class FileRemoved(WireModel):
    """The agent removed a file: open documents of it without changes are closed."""

    type: Literal["file-removed"] = "file-removed"
    path: str
