"""Extracts images from cell outputs, sized for models.

Used by the tools that run cells and read outputs. Images that need a browser (plotly and altair
plots, SVG, widgets) are rendered by a page that shows them, if any.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.guard.images import fit_image
from jupyter_ai_shoulders.notebook.outputs.text import join_text
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.parts import ImagePart

MAX_IMAGES = 3
"""Most images of a result; the newest are used."""

_PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_DRAWN = (
    "image/svg+xml",
    "application/vnd.plotly.v1+json",
    "application/vnd.vega.",
    "application/vnd.vegalite.",
    "application/vnd.bokehjs_exec.v0+json",
    "application/vnd.jupyter.widget-view+json",
    "application/geo+json",
)
"""Prefixes of media types that a page renders."""
_DRAWING = re.compile(r"<(?:canvas|iframe|img|script|svg)\b", re.IGNORECASE)
"""HTML elements that need rendering; tables are read as text."""


class OutputRasterizer(Protocol):
    """Renders outputs that need a browser."""

    async def picture(self, path: str, cell_id: CellId, index: int) -> bytes | None:
        """Return an output as an open page shows it, as PNG; None if no page can."""
        ...


@dataclass(frozen=True, slots=True)
class OutputImages:
    """The extracted images of a cell, and notes on those that are omitted."""

    parts: tuple[ImagePart, ...] = ()
    notes: tuple[str, ...] = ()


class OutputImageExtractor:
    """Extracts images from outputs."""

    def __init__(self, rasters: OutputRasterizer | None = None) -> None:
        self._rasters = rasters

    async def extract(
        self, path: str, cell_id: CellId, outputs: Sequence[JsonObject], only: int | None = None
    ) -> OutputImages:
        """Return the newest images of a cell's outputs, or that of output ``only`` (from 0)."""
        indices = [at for at, output in enumerate(outputs) if is_image_output(output)]
        chosen = indices[-MAX_IMAGES:] if only is None else [at for at in indices if at == only]
        parts: list[ImagePart] = []
        notes: list[str] = []
        for at in chosen:
            try:
                parts.append(await self._part(path, cell_id, at, outputs[at]))
            except ShouldersError as error:
                notes.append(f"Output {at} is not shown as a picture: {error}.".replace("..", "."))
        if len(indices) > len(chosen) and only is None:
            left = ", ".join(map(str, indices[: -len(chosen)]))
            notes.append(f"More pictures: outputs {left}; see read_cell_output with as=image.")
        return OutputImages(tuple(parts), tuple(notes))

    async def _part(self, path: str, cell_id: CellId, index: int, output: JsonObject) -> ImagePart:
        stored = _stored(output)
        if stored is not None:
            return await asyncio.to_thread(_fitted, stored)
        drawn = await self._rasters.picture(path, cell_id, index) if self._rasters else None
        if drawn is None:
            raise InvalidRequest("only a page that shows the notebook can draw it")
        return await asyncio.to_thread(_encoded, drawn)


def is_image_output(output: JsonObject) -> bool:
    """Return whether an output is an image or can be rendered as one."""
    data = output.get("data")
    if not isinstance(data, dict):
        return False
    if any(mime.startswith((*_PICTURES, *_DRAWN)) for mime in data):
        return True
    return _DRAWING.search(join_text(data.get("text/html"))) is not None


def _stored(output: JsonObject) -> str | None:
    data = output.get("data")
    bundle = data if isinstance(data, dict) else {}
    found = (join_text(bundle[mime]) for mime in _PICTURES if mime in bundle)
    return next((text for text in found if text), None)


def _fitted(text: str) -> ImagePart:
    try:
        content = base64.b64decode(text)
    except binascii.Error as error:
        raise InvalidRequest("it is damaged") from error
    return _encoded(content)


def _encoded(content: bytes) -> ImagePart:
    picture = fit_image(content)
    return ImagePart(
        media_type=picture.media_type, data=base64.b64encode(picture.content).decode("ascii")
    )
