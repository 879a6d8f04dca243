"""The content of an attached text file, open or on the disk. Used by ``attachment_content``."""

from __future__ import annotations

from typing import Protocol

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.files.base import TextSnapshot
from jupyter_ai_shoulders.files.encoding import decode_text
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.wire.ids import Version
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import SeenVersion
from jupyter_ai_shoulders.wire.versions import file_version, text_version

FILE_LIMIT = 50 * 1024
"""Bytes shown of an attached file."""


class OpenTexts(Protocol):
    """The texts that pages and editors have open."""

    async def open_text(self, path: str) -> TextSnapshot | None:
        """Return a file's text with unsaved changes, None if it is not open.

        Raises as ``TextDocuments.read``.
        """
        ...


def open_text(opened: TextSnapshot) -> tuple[AttachmentContent, str]:
    """Return the part of an open text that is shown, and the text as the tools read it."""
    content = opened.text.encode()
    if len(content) > FILE_LIMIT:
        shown = content[:FILE_LIMIT].decode(errors="ignore")
        return AttachmentContent((TextPart(text=shown),), _cut_note(len(content)), warn=True), ""
    return _whole(opened.path, opened.text, opened.version), opened.text


def stored_text(workspace: Workspace, path: WorkspacePath) -> tuple[AttachmentContent, str]:
    """Return the part of a file that is shown, and its text as the tools read it. Blocks."""
    found = workspace.head(workspace.path(path), FILE_LIMIT)
    size = found.stat.size
    if found.content.startswith(b"%PDF-"):
        return unshown(f"a PDF of {_kilobytes(size)}, which cannot be read here"), ""
    text = _decoded(found.content)
    if text is None:
        return unshown(f"a binary file of {_kilobytes(size)}, not shown"), ""
    if size > len(found.content):
        return AttachmentContent((TextPart(text=text),), _cut_note(size), warn=True), ""
    version, known = _version(found.content, path)
    return _whole(path, text, version), known


def unshown(note: str) -> AttachmentContent:
    """Return the content of an attachment that cannot be shown."""
    return AttachmentContent(note=note, warn=True)


def _whole(path: str, text: str, version: Version) -> AttachmentContent:
    seen = SeenVersion(path=path, cell_id=None, version=version)
    return AttachmentContent((TextPart(text=text or "(empty file)"),), seen=(seen,))


def _cut_note(size: int) -> str:
    return f"only its first {FILE_LIMIT // 1024} KB of {_kilobytes(size)} are shown"


def _version(content: bytes, path: str) -> tuple[Version, str]:
    """Return the version and the text by which tools know a file, whatever its encoding."""
    try:
        text = decode_text(content, path).text
    except InvalidRequest:
        return file_version(content), ""
    return text_version(text), text


def _decoded(content: bytes) -> str | None:
    """Return the text, or None for binary content. A character cut off at the end is dropped."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if b"\0" in content:
        return None
    text = content.decode("utf-8-sig", "replace")
    damaged = text.count("�")
    if damaged > 1 and damaged * 50 > len(text):
        return content.decode("cp1252", "replace")
    return text.rstrip("�")


def _kilobytes(size: int) -> str:
    return f"{max(1, size // 1024):,} KB"
