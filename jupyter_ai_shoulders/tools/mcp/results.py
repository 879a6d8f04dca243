"""Turns a server's answer into the result of a call: bounded, hidden characters as codes."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.images import EncodedImage, fit_image
from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.hidden_characters import legible, visible
from jupyter_ai_shoulders.wire.parts import ImagePart, ResultContent, TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope

if TYPE_CHECKING:
    import mcp_types

MAX_TEXT = 2_000_000
"""Characters of all texts of an answer; the model reads the beginning and pages the rest."""
MAX_PARTS = 100
MAX_IMAGES = 5
MAX_IMAGE = 15_000_000
"""Characters of an image in base64."""
MAX_DATA = 64 * 1024
"""Characters of structured content for the page."""
MAX_LABEL = 300


class AnswerParts:
    """Collects the parts of an answer within the limits."""

    def __init__(self) -> None:
        self.content: list[ResultContent] = []
        self._left = MAX_TEXT
        self._images = 0

    async def add_all(self, blocks: Sequence[mcp_types.ContentBlock]) -> None:
        """Add blocks of content."""
        for block in blocks[:MAX_PARTS]:
            await self._add(block)
        if len(blocks) > MAX_PARTS:
            self.add_text(f"[{len(blocks) - MAX_PARTS} more parts are left out]")

    def add_text(self, text: str) -> None:
        """Add text, cut where the limit is reached."""
        if self._left <= 0:
            return
        shown = text[: self._left]
        self._left -= len(shown)
        more = f"\n[{len(text) - len(shown)} more characters are left out]"
        self.content.append(
            TextPart(text=legible(shown) + (more if len(shown) < len(text) else ""))
        )

    async def add_image(self, data: str, media_type: str) -> None:
        """Add an image, checked and made to fit, or a note why not."""
        self._images += 1
        if self._images > MAX_IMAGES or len(data) > MAX_IMAGE:
            why = "too large" if len(data) > MAX_IMAGE else f"only {MAX_IMAGES} are shown"
            self.add_text(f"[a picture is left out: {why}]")
            return
        try:
            picture = await asyncio.to_thread(_picture, data)
        except (ShouldersError, binascii.Error, ValueError) as error:
            self.add_text(f"[a picture ({_label(media_type)}) cannot be shown: {error}]")
            return
        encoded = base64.b64encode(picture.content).decode()
        self.content.append(ImagePart(media_type=picture.media_type, data=encoded))

    async def add_resource(
        self, resource: mcp_types.TextResourceContents | mcp_types.BlobResourceContents
    ) -> None:
        """Add the content of a resource."""
        text = getattr(resource, "text", None)
        kind = resource.mime_type or ""
        if isinstance(text, str):
            self.add_text(f"[resource {_label(resource.uri)}]\n{text}")
            return
        blob = cast("mcp_types.BlobResourceContents", resource).blob
        if kind.startswith("image/"):
            self.add_text(f"[resource {_label(resource.uri)}]")
            await self.add_image(blob, kind)
        else:
            size = f"{max(1, len(blob) * 3 // 4096)} KB"
            what = _label(kind or "binary")
            self.add_text(f"[resource {_label(resource.uri)}: {what}, {size}, not shown]")

    async def _add(self, block: mcp_types.ContentBlock) -> None:
        match block.type:
            case "text":
                self.add_text(block.text)
            case "image":
                await self.add_image(block.data, block.mime_type)
            case "audio":
                self.add_text(f"[audio ({_label(block.mime_type)}), not shown]")
            case "resource_link":
                said = f": {_label(block.description)}" if block.description else ""
                self.add_text(f"[link to resource {_label(block.uri)}{said}]")
            case "resource":
                await self.add_resource(block.resource)


async def result_of(server: str, tool: str, answer: mcp_types.CallToolResult) -> Result:
    """Return the result of a call."""
    parts = AnswerParts()
    await parts.add_all(answer.content)
    structured = _structured(answer.structured_content)
    if structured is not None and not _says_same(parts.content, answer.structured_content):
        parts.add_text(structured)
    if not parts.content:
        parts.add_text("(the server answered nothing)")
    data: dict[str, Json] = {"server": server, "tool": tool}
    if structured is not None:
        small = len(structured) <= MAX_DATA
        data["structured"] = cast("Json", answer.structured_content) if small else None
    error = None
    if answer.is_error:
        said = next((part.text for part in parts.content if isinstance(part, TextPart)), "")
        error = ErrorInfo(code="invalid_request", message=_label(said) or "The tool failed.")
    envelope = ToolEnvelope(ok=error is None, kind="text", data=data, error=error)
    return Result(envelope=envelope, content=tuple(parts.content))


def _structured(value: object) -> str | None:
    if value is None:
        return None
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None


def _says_same(content: Sequence[ResultContent], structured: dict[str, object] | None) -> bool:
    """Return whether a text has the structured content already.

    Servers send it as JSON too; the SDK's send the answer of a function as text and as ``result``.
    """
    value = structured["result"] if structured and structured.keys() == {"result"} else structured
    same = {_sorted_json(structured), _sorted_json(value)}
    return any(
        part.text == value or _canonical(part.text) in same
        for part in content
        if isinstance(part, TextPart)
    )


def _sorted_json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _canonical(text: str) -> str | None:
    """Return JSON text with sorted keys; None for other text."""
    try:
        return _sorted_json(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _picture(data: str) -> EncodedImage:
    return fit_image(base64.b64decode(data, validate=True))


def _label(text: str) -> str:
    shown = " ".join(visible(text[: 4 * MAX_LABEL]).split())
    return shown if len(shown) <= MAX_LABEL else shown[: MAX_LABEL - 1] + "…"
