"""Fits attached images to the limits of models.

The type is read from the bytes, not the name; sizes are checked before decoding. Pillow, where
installed, shrinks large images. Blocks; callers choose the thread.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import InvalidRequest, TooLarge

LONGEST_SIDE = 1_568
"""Pixels; model services downscale larger images themselves."""
LARGEST_SIDE = 8_000
"""Pixels; services refuse larger images."""
LARGEST_BYTES = 3_700_000
"""5 MB once encoded in base64, the smallest limit of the services."""
MOST_PIXELS = 60_000_000
"""Decoding takes four bytes per pixel."""


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """An image as it is sent."""

    media_type: str
    content: bytes
    width: int
    height: int


def fit_image(content: bytes) -> EncodedImage:
    """Return the image, shrunk if it is too large and Pillow is installed.

    Raises ``InvalidRequest`` (not an image that models read), ``TooLarge``.
    """
    picture = detect_image(content)
    if picture.width * picture.height > MOST_PIXELS:
        raise TooLarge(f"the picture has {picture.width} × {picture.height} pixels; too many")
    if max(picture.width, picture.height) <= LONGEST_SIDE and len(content) <= LARGEST_BYTES:
        return picture
    shrunk = _shrunk(content)
    if shrunk is not None:
        return shrunk
    if max(picture.width, picture.height) > LARGEST_SIDE or len(content) > LARGEST_BYTES:
        raise TooLarge(
            f"the picture is too large ({picture.width} × {picture.height} pixels,"
            f" {len(content) // 1024} KB), and Pillow, which would shrink it, is not installed"
        )
    return picture


def detect_image(content: bytes) -> EncodedImage:
    """Return the type and size stated by the first bytes. Raises ``InvalidRequest``."""
    size: tuple[int, int] | None = None
    media_type = ""
    if content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) >= 24:
        media_type, size = "image/png", struct.unpack(">II", content[16:24])
    elif content[:6] in {b"GIF87a", b"GIF89a"} and len(content) >= 10:
        media_type, size = "image/gif", struct.unpack("<HH", content[6:10])
    elif content.startswith(b"\xff\xd8\xff"):
        media_type, size = "image/jpeg", _jpeg_size(content)
    elif content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        media_type, size = "image/webp", _webp_size(content)
    if size is None or 0 in size:
        raise InvalidRequest("it is not a PNG, JPEG, GIF or WebP picture")
    return EncodedImage(media_type, content, *size)


def _jpeg_size(content: bytes) -> tuple[int, int] | None:
    """Find the frame header (ITU T.81, B.2.2) after the other segments."""
    at = 2
    while at + 9 < len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return None


def _webp_size(content: bytes) -> tuple[int, int] | None:
    """Read the first chunk (RFC 9649, 2.5 to 2.7)."""
    kind, chunk = content[12:16], content[20:30]
    if len(chunk) < 10:
        return None
    if kind == b"VP8X":
        return 1 + int.from_bytes(chunk[4:7], "little"), 1 + int.from_bytes(chunk[7:10], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(chunk[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", chunk[6:10])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _shrunk(content: bytes) -> EncodedImage | None:
    """Return the image scaled to at most ``LONGEST_SIDE`` per side; None without Pillow."""
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            has_alpha = image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
            made = image.convert("RGBA" if has_alpha else "RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InvalidRequest("the picture is damaged") from error
    for kind in ("PNG", "JPEG"):
        encoded = io.BytesIO()
        (made if kind == "PNG" else made.convert("RGB")).save(encoded, kind, optimize=True)
        if encoded.tell() <= LARGEST_BYTES:
            break
    return EncodedImage(f"image/{kind.lower()}", encoded.getvalue(), made.width, made.height)
