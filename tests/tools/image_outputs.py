"""Outputs with pictures, for tests of what the model sees of them."""

import base64
import struct
import zlib

from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.parts import ImagePart


def png(width: int = 2, height: int = 2) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * 3 * width) * height)
    start = b"\x89PNG\r\n\x1a\n"
    return start + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def shown(**data: str) -> JsonObject:
    bundle: JsonObject = {key.replace("__", "/"): value for key, value in data.items()}
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


def printed(text: str) -> JsonObject:
    return {"output_type": "stream", "name": "stdout", "text": text}


PLOT = shown(image__png=base64.b64encode(png()).decode(), text__plain="<Figure>")
DRAWN: JsonObject = {
    "output_type": "display_data",
    "data": {"application/vnd.plotly.v1+json": {"data": []}, "text/plain": "Figure()"},
    "metadata": {},
}


def images(result: Result) -> list[bytes]:
    return [base64.b64decode(p.data) for p in result.content if isinstance(p, ImagePart)]
