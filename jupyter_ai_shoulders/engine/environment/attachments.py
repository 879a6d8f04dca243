"""What a message's attachments hold, captured when they are first sent (chapter 11).

A capture is logged as a ``context-add`` with role ``attachment``, so that a request can be made
again from the log. Pure; used by ``prepare``, ``transcript`` and ``user_message``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.ids import MessageId
from jupyter_ai_shoulders.wire.messages import (
    Attachment,
    CellAttachment,
    ErrorAttachment,
    FileAttachment,
    FolderAttachment,
    ImageAttachment,
    OutputAttachment,
    SelectionAttachment,
    ThreadAttachment,
    VariableAttachment,
)
from jupyter_ai_shoulders.wire.parts import ResultContent
from jupyter_ai_shoulders.wire.results import SeenVersion


@dataclass(frozen=True, slots=True)
class AttachmentContent:
    """What one attachment holds.

    ``note`` says in our own words what the content is not (cut, refused, gone); it is shown to
    model and, when ``warn`` is set, to the user.
    """

    content: tuple[ResultContent, ...] = ()
    note: str | None = None
    warn: bool = False
    seen: tuple[SeenVersion, ...] = ()
    """Versions the model has read with it."""


class AttachmentRecord(WireModel):
    """A capture as its blob holds it."""

    message_id: MessageId
    index: int
    """Which of the message's attachments."""
    content: tuple[ResultContent, ...]
    note: str | None


class SkillRecord(WireModel):
    """The text of a skill a message named, as its blob holds it."""

    message_id: MessageId
    name: str
    text: str
    reviewed: bool = True
    """False: the skill came with the folder and is not trusted, so its text is data."""


def attachment_key(attachment: Attachment) -> str | None:
    """Return what makes two attachments the same thing; None where they never are."""
    match attachment:
        case FileAttachment() | FolderAttachment():
            return f"{attachment.kind} {attachment.path}"
        case CellAttachment() | ErrorAttachment():
            return f"{attachment.kind} {attachment.path} {attachment.cell_id}"
        case OutputAttachment():
            return f"output {attachment.path} {attachment.cell_id} {attachment.index}"
        case VariableAttachment():
            return f"variable {attachment.path} {attachment.name}"
        case ThreadAttachment():
            return f"thread {attachment.session_id}"
        case SelectionAttachment() | ImageAttachment():
            return None
        case _:
            assert_never(attachment)


def describe_attachment(attachment: Attachment) -> str:
    """Return an attachment in words, on one line."""
    match attachment:
        case ImageAttachment():
            what = "image"
        case FileAttachment() | FolderAttachment():
            what = f"{attachment.kind}: {attachment.path}"
        case VariableAttachment():
            what = f"variable {attachment.name} of {attachment.path}"
        case ThreadAttachment():
            what = f"conversation {attachment.session_id}"
        case _:
            what = _describe_part(attachment)
    return one_line(what)


def _describe_part(
    attachment: SelectionAttachment | CellAttachment | ErrorAttachment | OutputAttachment,
) -> str:
    place = f"cell {attachment.cell_id} of " if attachment.cell_id else ""
    match attachment:
        case SelectionAttachment():
            return f"selection in {place}{attachment.path}"
        case CellAttachment():
            return f"{place}{attachment.path}"
        case ErrorAttachment():
            return f"error output of {place}{attachment.path}"
        case OutputAttachment():
            return f"output {attachment.index} of {place}{attachment.path}"
        case _:
            assert_never(attachment)


def one_line(text: str) -> str:
    """Return a name that cannot begin a line of its own."""
    return " ".join(text.split())
