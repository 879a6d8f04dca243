"""Turns the content blocks of an editor's prompt into a message. Used by ``cli.acp.conversation``.

Text that the editor embeds (unsaved text of a buffer, a selection) is quoted as a document of the
user, since the engine reads the file itself from the disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from jupyter_ai_shoulders.wire.messages import Attachment, FileAttachment, ImageAttachment

if TYPE_CHECKING:
    from acp import schema


@dataclass(frozen=True, slots=True)
class PromptContent:
    """The text and attachments of a prompt."""

    text: str
    attachments: tuple[Attachment, ...] = ()


def prompt_content(blocks: Sequence[Any], workspace: Path) -> PromptContent:
    """Return the content; files of the workspace are attached, other links are named."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    for block in blocks:
        match block.type:
            case "text":
                texts.append(block.text)
            case "image":
                attachments.append(
                    ImageAttachment(
                        kind="image", media_type=block.mime_type, data=block.data, blob=None
                    )
                )
            case "resource_link":
                path = workspace_path(block.uri, workspace)
                texts.append(f"[{block.name}]" if path is None else f"@{path}")
                if path is not None:
                    attachments.append(FileAttachment(kind="file", path=path))
            case "resource":
                texts.append(_embedded(block.resource, workspace))
            case _:
                texts.append(f"[{block.type} is not supported]")
    return PromptContent("\n\n".join(filter(None, map(str.strip, texts))), tuple(attachments))


def workspace_path(uri: str, workspace: Path) -> str | None:
    """Return the path in the workspace of a ``file:`` address or an absolute path, else None."""
    parts = urlsplit(uri)
    if parts.scheme not in {"", "file"}:
        return None
    path = Path(os.path.realpath(unquote(parts.path)))
    root = Path(os.path.realpath(workspace))
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def _embedded(
    resource: schema.TextResourceContents | schema.BlobResourceContents, workspace: Path
) -> str:
    name = workspace_path(resource.uri, workspace) or resource.uri
    text = getattr(resource, "text", None)
    if text is None:
        return f"[{name}: not text, left out]"
    return f'<document path="{name}">\n{text}\n</document>'
