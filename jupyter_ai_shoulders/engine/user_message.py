"""A user's message as the model reads it: text, attachments, and what was in front of them.

Pure; used by ``engine.transcript``. The demo provider reads the ``<workspace>`` block.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import assert_never

from jupyter_ai_shoulders.wire.events import MessageAdd
from jupyter_ai_shoulders.wire.messages import (
    Attachment,
    CellAttachment,
    ErrorAttachment,
    FileAttachment,
    FolderAttachment,
    ImageAttachment,
    MessageContext,
    OutputAttachment,
    Selection,
    SelectionAttachment,
    ThreadAttachment,
    VariableAttachment,
)
from jupyter_ai_shoulders.wire.parts import ImagePart, TextPart, UserPart

SELECTION_LIMIT = 8_000
"""Characters of a selection that are shown."""


def user_parts(message: MessageAdd, zone: tzinfo) -> list[UserPart]:
    """Return the parts of a message: text, attachments, workspace."""
    texts = [message.text] if message.text.strip() else []
    texts += [text for item in message.attachments if (text := attachment_text(item))]
    if message.context is not None and message.context.selection is not None:
        texts.append(_selected(message.context.selection, message.context.active_document))
    texts.append(workspace_block(message.context, message.at, zone))
    images = [
        ImagePart(media_type=item.media_type, data=item.data)
        for item in message.attachments
        if isinstance(item, ImageAttachment) and item.data
    ]
    return [*(TextPart(text=text) for text in texts), *images]


def workspace_block(context: MessageContext | None, at: str, zone: tzinfo) -> str:
    """Return the block with what the user had in front of them; what is unknown is absent."""
    lines = ["<workspace>"]
    if context is not None:
        lines += _context_lines(context)
    lines += [f"local time: {local_time(at, zone)}", "</workspace>"]
    return "\n".join(lines)


def local_time(at: str, zone: tzinfo) -> str:
    """Return a log's timestamp in the zone, to the minute."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:  # an event that no log has stamped yet
        moment = datetime.fromtimestamp(0, UTC)
    return moment.astimezone(zone).strftime("%A %Y-%m-%d %H:%M %Z")


def attachment_text(attachment: Attachment) -> str | None:
    """Return how an attachment is told; contents other than selections are read with tools."""
    match attachment:
        case ImageAttachment():
            return None
        case SelectionAttachment():
            return _tagged(attachment.text, attachment.path, attachment.cell_id)
        case FileAttachment() | FolderAttachment():
            what = f"{attachment.kind}: {_line(attachment.path)}"
        case CellAttachment() | ErrorAttachment():
            place = f"cell {attachment.cell_id} of {_line(attachment.path)}"
            what = place if attachment.kind == "cell" else f"error output of {place}"
        case OutputAttachment():
            place = f"cell {attachment.cell_id} of {_line(attachment.path)}"
            what = f"output {attachment.index} of {place}"
        case VariableAttachment():
            what = f"variable {attachment.name} of {_line(attachment.path)}"
        case ThreadAttachment():
            what = f"conversation {attachment.session_id}"
        case _:
            assert_never(attachment)
    return f"[attached {what}]"


def _context_lines(context: MessageContext) -> Iterator[str]:
    if context.active_document is not None:
        yield f"active document: {_line(context.active_document)}"
    if context.active_cell_id is not None:
        yield f"active cell: {_line(context.active_cell_id)}"
    if context.open_documents:
        yield "open documents: " + ", ".join(_line(path) for path in context.open_documents)


def _selected(selection: Selection, document: str | None) -> str:
    return _tagged(selection.text, document, selection.cell_id)


def _tagged(text: str, document: str | None, cell_id: str | None) -> str:
    place = f' document="{_line(document)}"' if document else ""
    place += f' cell="{_line(cell_id)}"' if cell_id else ""
    shown = text if len(text) <= SELECTION_LIMIT else text[:SELECTION_LIMIT] + "\n[…]"
    return f"<selection{place}>\n{shown}\n</selection>"


def _line(text: str) -> str:
    """Return a name that cannot begin a line of its own."""
    return " ".join(text.split())
