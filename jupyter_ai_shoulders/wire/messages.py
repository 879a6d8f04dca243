"""Attachments and editor context of a user message."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.ids import BlobHash, CellId, SessionId
from jupyter_ai_shoulders.wire.sessions import TextRange


class FileAttachment(WireModel):
    """A file of the workspace."""

    kind: Literal["file"]
    path: str


class FolderAttachment(WireModel):
    """A folder of the workspace."""

    kind: Literal["folder"]
    path: str


class CellAttachment(WireModel):
    """A cell of a notebook."""

    kind: Literal["cell"]
    path: str
    cell_id: CellId


class SelectionAttachment(WireModel):
    """Selected text with its surroundings."""

    kind: Literal["selection"]
    path: str
    cell_id: CellId | None
    range: TextRange
    text: str
    before: str
    after: str


class OutputAttachment(WireModel):
    """One output of a cell."""

    kind: Literal["output"]
    path: str
    cell_id: CellId
    index: int


class ErrorAttachment(WireModel):
    """The error output of a cell."""

    kind: Literal["error"]
    path: str
    cell_id: CellId


class VariableAttachment(WireModel):
    """A variable of a notebook's kernel."""

    kind: Literal["variable"]
    path: str
    name: str


class ImageAttachment(WireModel):
    """An image, inline as base64 or already stored as a blob."""

    kind: Literal["image"]
    media_type: str
    data: str | None
    blob: BlobHash | None


class ThreadAttachment(WireModel):
    """Another conversation."""

    kind: Literal["thread"]
    session_id: SessionId


class McpResourceAttachment(WireModel):
    """A resource of an MCP server, read when the message is sent."""

    kind: Literal["mcp_resource"]
    server: str
    uri: str
    name: str


class McpPromptAttachment(WireModel):
    """Marks that the message's text has a prompt of an MCP server in it."""

    kind: Literal["mcp_prompt"]
    server: str
    name: str


Attachment = Annotated[
    FileAttachment
    | FolderAttachment
    | CellAttachment
    | SelectionAttachment
    | OutputAttachment
    | ErrorAttachment
    | VariableAttachment
    | ImageAttachment
    | ThreadAttachment
    | McpResourceAttachment
    | McpPromptAttachment,
    Field(discriminator="kind"),
]


class Selection(WireModel):
    """The selection in the active document."""

    cell_id: CellId | None
    range: TextRange
    text: str


class MessageContext(WireModel):
    """The user's editor context; parts the user removed are null."""

    active_document: str | None = None
    active_cell_id: CellId | None = None
    selection: Selection | None = None
    open_documents: tuple[str, ...] = ()
