"""Images: detection by their bytes, and shrinking of large ones."""

from __future__ import annotations

import io
import struct
import sys
import zlib
from typing import Any

import pytest
from PIL import Image

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError, TooLarge
from jupyter_ai_shoulders.guard.images import LONGEST_SIDE, MOST_PIXELS, detect_image, fit_image


def picture(
    kind: str, size: tuple[int, int] = (30, 20), mode: str = "RGB", **more: object
) -> bytes:
    made = io.BytesIO()
    Image.new(mode, size, 120).save(made, kind, **more)
    return made.getvalue()


def png_header(width: int, height: int) -> bytes:
    """Return a PNG header with this size and no image data."""
    body = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + body
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )


KINDS: dict[str, tuple[str, dict[str, Any], str]] = {
    "png": ("PNG", {}, "image/png"),
    "jpeg": ("JPEG", {}, "image/jpeg"),
    "progressive": ("JPEG", {"progressive": True}, "image/jpeg"),
    "gif": ("GIF", {}, "image/gif"),
    "lossy": ("WEBP", {}, "image/webp"),
    "lossless": ("WEBP", {"lossless": True}, "image/webp"),
    "extended": ("WEBP", {"exif": b"Exif\0\0"}, "image/webp"),
}


@pytest.mark.parametrize(("kind", "options", "media_type"), KINDS.values(), ids=KINDS.keys())
def test_type_and_size_come_from_the_bytes(kind: str, options: dict[str, Any], media_type: str):
    content = picture(kind, **options)
    found = detect_image(content)
    assert (found.media_type, found.width, found.height) == (media_type, 30, 20)
    assert fit_image(content).content is content


@pytest.mark.parametrize(
    "content", [b"", b"<svg/>", b"\xff\xd8\xff", b"RIFF....WEBPxxxx", b"%PDF-1"]
)
def test_other_bytes_are_refused(content: bytes):
    with pytest.raises(InvalidRequest, match="not a PNG"):
        detect_image(content)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_large_picture_is_shrunk(kind: str):
    shrunk = fit_image(picture(kind, (4_000, 1_000)))
    assert (shrunk.width, shrunk.height) == (LONGEST_SIDE, 392)
    assert detect_image(shrunk.content).width == LONGEST_SIDE


def test_transparency_stays():
    shrunk = fit_image(picture("PNG", (3_000, 10), "RGBA"))
    assert Image.open(io.BytesIO(shrunk.content)).mode == "RGBA"


def test_bomb_is_refused_before_it_is_decoded():
    side = int(MOST_PIXELS**0.5) + 1
    with pytest.raises(TooLarge, match="pixels"):
        fit_image(png_header(side, side))


def test_damaged_picture_is_refused():
    with pytest.raises(InvalidRequest, match="damaged"):
        fit_image(png_header(3_000, 10))


def test_without_pillow_what_services_accept_is_sent_as_it_is(monkeypatch: pytest.MonkeyPatch):
    wide = picture("PNG", (4_000, 10))
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert fit_image(wide).content is wide
    with pytest.raises(ShouldersError, match="Pillow"):
        fit_image(png_header(9_000, 10))
