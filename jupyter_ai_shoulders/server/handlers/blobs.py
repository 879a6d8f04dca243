"""``blobs`` and ``artifacts``: stored outputs, pictures and files of conversations."""

from __future__ import annotations

import asyncio
import mimetypes
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from pydantic import Field
from tornado import web

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.storage.blob_access import is_blob_referenced
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.ids import BlobHash

LARGEST = 4_000_000
"""Maximum bytes of one answer."""
SIZE_HEADER = "X-Shoulders-Size"
"""Header with the bytes of the whole content."""
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}
"""First bytes of pictures; no other stored content starts with them."""


class BlobQuery(CommandModel):
    """Query arguments of ``GET blobs/{hash}``, in bytes."""

    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=1_000_000, ge=4, le=LARGEST)


class BlobHandler(ShouldersHandler):
    """``blobs/{hash}``."""

    @web.authenticated
    @authorized
    async def get(self, blob: str) -> None:
        """Send a part of the content as a download.

        Text is cut between characters, so a part may be shorter than requested; the next one starts
        after it. Pictures are sent whole.
        """
        query = self.query(BlobQuery)
        content = await asyncio.to_thread(self._content, BlobHash(blob))
        media_type = await asyncio.to_thread(media_type_of, content)
        part = content if media_type.startswith("image/") else part_of(content, query)
        self.set_header(SIZE_HEADER, str(len(content)))
        self.set_download_headers(f"attachment; filename={blob}")
        self.set_header("Cache-Control", "private, max-age=3600")
        self.finish(part, set_content_type=media_type)

    def _content(self, blob: BlobHash) -> bytes:
        """Return the content; blocks. Raises ``NotFound``, also for another user's content."""
        content = self.host.blobs.get(blob)
        if not is_blob_referenced(self.host.database, blob, self.user):
            raise NotFound(f"There is no stored content {blob}.")
        return content


def media_type_of(content: bytes) -> str:
    """Return the media type: a picture, text or binary."""
    for start, media_type in _PICTURES.items():
        if content.startswith(start):
            return media_type
    try:
        content.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain; charset=utf-8"


def part_of(content: bytes, query: BlobQuery) -> bytes:
    """Return a part of the content; text ends between two characters."""
    end = query.offset + query.limit
    while end < len(content) and end > query.offset + 1 and content[end] & 0xC0 == 0x80:
        end -= 1
    return content[query.offset : end]


class ArtifactHandler(ShouldersHandler):
    """``artifacts/{session}/{name}``."""

    @web.authenticated
    @authorized
    async def get(self, session_id: str, name: str) -> None:
        """Send the file as a download."""
        session = self.session(session_id)
        content = await asyncio.to_thread(self.host.artifacts.read, session.id, name)
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.set_download_headers(f"attachment; filename*=UTF-8''{quote(name)}")
        self.set_header("Cache-Control", "private, no-cache")
        self.finish(content, set_content_type=media_type)
