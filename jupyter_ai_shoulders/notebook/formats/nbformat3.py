"""Converts cells of format 3 (IPython 1 and 2, before 2015) to format 4 and back.

Pure. ``notebook.formats.notebook_file`` reads such cells with it and ``notebook.formats.splice``
writes them, so that an old notebook keeps its format. The rules are those of
``nbformat.v4.convert``; MIME types that it would drop are kept, as format 3 allows them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from jupyter_ai_shoulders.wire.base import Json, JsonObject

_MIME = {
    "text": "text/plain",
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "pdf": "application/pdf",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
}
_NAMES = {mime: name for name, mime in _MIME.items()}
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_TYPES = {
    "code": "code",
    "markdown": "markdown",
    "raw": "raw",
    "heading": "markdown",
    "html": "markdown",
}


class OldCell(NamedTuple):
    """A cell of format 3, converted to format 4."""

    cell_type: str
    source: str
    metadata: JsonObject
    execution_count: int | None
    outputs: tuple[JsonObject, ...]


class Heading(NamedTuple):
    """A heading cell's two members."""

    level: int
    source: str


def upgraded_cell(data: dict[str, Any]) -> OldCell | None:
    """Return a cell in format 4; None when it has no known type or no source text."""
    kind = data.get("cell_type")
    cell_type = _TYPES.get(kind) if isinstance(kind, str) else None
    source = joined_source(data.get(source_key(cell_type), "" if cell_type == "code" else None))
    if cell_type is None or source is None:
        return None
    if kind == "heading":
        source = f"{'#' * _level(data.get('level'))} {' '.join(source.splitlines())}"
    metadata, count = data.get("metadata"), data.get("prompt_number")
    return OldCell(
        cell_type,
        source,
        cast("JsonObject", metadata) if isinstance(metadata, dict) else {},
        count if isinstance(count, int) else None,
        upgraded_outputs(data.get("outputs")) if cell_type == "code" else (),
    )


def source_key(cell_type: str | None) -> str:
    """Return the member that holds the source."""
    return "input" if cell_type == "code" else "source"


def joined_source(value: Any) -> str | None:
    """Return a text or list of lines as one text (nbformat.v3.rwbase); None when it is neither."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    lines = cast("list[Any]", value)
    if not all(isinstance(line, str) for line in lines):
        return None
    return ("" if has_line_ends(lines) else "\n").join(lines)


def has_line_ends(lines: Sequence[str]) -> bool:
    """Return whether the lines include their ends; the oldest writers left them out."""
    return not lines or len(lines) == 1 or lines[0].endswith(("\n", "\r"))


def heading_of(source: str) -> Heading | None:
    """Return the heading cell for a markdown text, None when it is more than a heading."""
    match = _HEADING.fullmatch(source)
    return Heading(len(match[1]), match[2]) if match else None


def upgraded_outputs(value: Any) -> tuple[JsonObject, ...]:
    """Return the outputs of a cell in format 4."""
    if not isinstance(value, list):
        return ()
    items = cast("list[Any]", value)
    return tuple(
        _upgraded_output(cast("JsonObject", item)) for item in items if isinstance(item, dict)
    )


def _upgraded_output(output: JsonObject) -> JsonObject:
    match output.get("output_type"):
        case "pyout":
            count = output.get("prompt_number")
            bundle = {name: value for name, value in output.items() if name != "prompt_number"}
            return {**_upgraded_bundle(bundle, "execute_result"), "execution_count": count}
        case "display_data":
            return _upgraded_bundle(output, "display_data")
        case "pyerr":
            return {**output, "output_type": "error"}
        case "stream":
            rest = {name: value for name, value in output.items() if name != "stream"}
            text = joined_source(output.get("text"))
            return {**rest, "name": output.get("stream", "stdout"), "text": text or ""}
        case _:
            return output


def _upgraded_bundle(output: JsonObject, kind: str) -> JsonObject:
    data: JsonObject = {}
    for name, value in output.items():
        if name not in {"output_type", "metadata"}:
            text = joined_source(value)
            data[_MIME.get(name, name)] = value if text is None else _upgraded_data(name, text)
    metadata = output.get("metadata")
    named = cast("JsonObject", metadata) if isinstance(metadata, dict) else {}
    return {
        "output_type": kind,
        "data": data,
        "metadata": {_MIME.get(name, name): value for name, value in named.items()},
    }


def _upgraded_data(name: str, text: str) -> Json:
    if _MIME.get(name, name) != "application/json":
        return text
    try:
        return cast("Json", json.loads(text))
    except ValueError:
        return text


def downgraded_output(output: JsonObject) -> JsonObject:
    """Return an output of format 4 in format 3."""
    match output.get("output_type"):
        case "execute_result":
            count = output.get("execution_count")
            return {**_downgraded_bundle(output), "output_type": "pyout", "prompt_number": count}
        case "display_data":
            return {**_downgraded_bundle(output), "output_type": "display_data"}
        case "error":
            return {**output, "output_type": "pyerr"}
        case "stream":
            rest = {name: value for name, value in output.items() if name != "name"}
            return {**rest, "stream": output.get("name", "stdout")}
        case _:
            return output


def _downgraded_bundle(output: JsonObject) -> JsonObject:
    data, metadata = output.get("data"), output.get("metadata")
    bundle = data if isinstance(data, dict) else {}
    named = metadata if isinstance(metadata, dict) else {}
    made: JsonObject = {
        _NAMES.get(mime, mime): _downgraded_data(mime, value) for mime, value in bundle.items()
    }
    if named:
        made["metadata"] = {_NAMES.get(mime, mime): value for mime, value in named.items()}
    return made


def _downgraded_data(mime: str, value: Json) -> Json:
    """Return a MIME type's value as text, the only form in format 3."""
    if isinstance(value, str) and mime != "application/json":
        return value
    return json.dumps(value, ensure_ascii=False)


def new_cell(
    cell_type: str, source: Json, metadata: JsonObject, language: str, count: int | None
) -> JsonObject:
    """Return a new cell without outputs; ``source`` is a text or a list of lines."""
    data: JsonObject = {
        "cell_type": cell_type,
        "metadata": metadata,
        source_key(cell_type): source,
    }
    if cell_type == "code":
        data |= {"collapsed": False, "language": language, "outputs": [], "prompt_number": count}
    return data


def _level(value: Any) -> int:
    return value if isinstance(value, int) and 1 <= value <= 6 else 1
