"""Limits the outputs of a run for the conversation; only small images are kept. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.notebook.outputs.text import join_text, truncate_middle
from jupyter_ai_shoulders.wire.base import Json, JsonObject

TEXT_LIMIT = 20_000
"""Characters of one stream, plain text or traceback."""
HTML_LIMIT = 50_000
IMAGE_LIMIT = 200 * 1024
"""Characters of one image, as base64."""
TOTAL_LIMIT = 1_000_000
OUTPUT_LIMIT = 50


def bounded_outputs(outputs: Sequence[JsonObject]) -> list[Json]:
    """Return the newest outputs in order; parts that are too large are listed in ``omitted``.

    The notebook keeps the complete outputs; these are shown in the conversation.
    """
    shown: list[Json] = []
    room = TOTAL_LIMIT
    for output in outputs[-OUTPUT_LIMIT:]:
        small = _small(output, room)
        room -= _size(small)
        shown.append(small)
    return shown


def _small(output: JsonObject, room: int) -> JsonObject:
    match output.get("output_type"):
        case "stream":
            return {
                **output,
                "text": truncate_middle(join_text(output.get("text")), min(TEXT_LIMIT, room)),
            }
        case "error":
            return {**output, "traceback": _traceback(output.get("traceback"))}
        case _:
            data = output.get("data")
            return _small_bundle(output, data if isinstance(data, dict) else {}, room)


def _traceback(lines: Json) -> list[Json]:
    texts = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    return [truncate_middle("\n".join(texts), TEXT_LIMIT)]


def _small_bundle(output: JsonObject, data: JsonObject, room: int) -> JsonObject:
    kept: JsonObject = {}
    omitted: list[Json] = []
    for mime, value in data.items():
        text = join_text(value)
        if mime == "text/plain":
            kept[mime] = truncate_middle(text, TEXT_LIMIT)
        elif text and len(text) <= min(_limit(mime), room):
            kept[mime] = text
            room -= len(text)
        else:
            omitted.append(mime)
    bundle: JsonObject = {"output_type": output.get("output_type"), "data": kept, "metadata": {}}
    return {**bundle, "omitted": omitted} if omitted else bundle


def _limit(mime: str) -> int:
    if mime.startswith("image/"):
        return IMAGE_LIMIT
    return HTML_LIMIT if mime.startswith("text/") else 0


def _size(output: JsonObject) -> int:
    data = output.get("data")
    texts = data.values() if isinstance(data, dict) else [output.get("text")]
    return sum(len(join_text(text)) for text in texts)
