"""Contents of a message's attachments, captured when they are first sent.

A capture is logged as a ``context-add`` with role ``attachment``, so that the request can be
rebuilt from the log. Pure; used by ``engine.request`` and ``engine.transcript``. See
docs/design/context-and-prompts.md#attachments.
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
    McpPromptAttachment,
    McpResourceAttachment,
    OutputAttachment,
    SelectionAttachment,
    ThreadAttachment,
    VariableAttachment,
)
from jupyter_ai_shoulders.wire.parts import ResultContent
from jupyter_ai_shoulders.wire.results import SeenVersion


@dataclass(frozen=True, slots=True)
class AttachmentContent:
    """The content of one attachment.

    ``note`` explains what the content is not (cut, refused, missing); the model reads it and, when
    ``warn`` is set, the user.
    """

    content: tuple[ResultContent, ...] = ()
    note: str | None = None
    warn: bool = False
    seen: tuple[SeenVersion, ...] = ()
    """Versions the model has read with it."""


class AttachmentRecord(WireModel):
    """A capture as stored in its blob."""

    message_id: MessageId
    index: int
    """The index of the attachment in the message."""
    content: tuple[ResultContent, ...]
    note: str | None


class SkillRecord(WireModel):
    """The text of a skill that a message named, as stored in its blob."""

    message_id: MessageId
    name: str
    text: str
    reviewed: bool = True
    """False when the skill came with an untrusted folder, so that its text is data."""


def attachment_key(attachment: Attachment) -> str | None:
    """Return a key that equal attachments share; None where they are never equal."""
    match attachment:
        case FileAttachment() | FolderAttachment():
            return f"{attachment.kind} {attachment.path}"
        case CellAttachment() | ErrorAttachment():
            return f"{attachment.kind} {attachment.path} {attachment.cell_id}"
        case OutputAttachment():
            return f"output {attachment.path} {attachment.cell_id} {attachment.index}"
        case VariableAttachment():
            return f"variable {attachment.path} {attachment.name}"
        case ThreadAttachment() | McpResourceAttachment():
            return describe_attachment(attachment)
        case SelectionAttachment() | ImageAttachment() | McpPromptAttachment():
            return None
        case _:
            assert_never(attachment)


def describe_attachment(attachment: Attachment) -> str:
    """Return a description of an attachment on one line."""
    match attachment:
        case ImageAttachment():
            what = "image"
        case FileAttachment() | FolderAttachment():
            what = f"{attachment.kind}: {attachment.path}"
        case VariableAttachment():
            what = f"variable {attachment.name} of {attachment.path}"
        case ThreadAttachment():
            what = f"conversation {attachment.session_id}"
        case McpResourceAttachment():
            what = f"resource {attachment.uri} of the MCP server {attachment.server}"
        case McpPromptAttachment():
            what = f"prompt {attachment.name} of the MCP server {attachment.server}"
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
    """Return the name without line breaks."""
    return " ".join(text.split())
