"""Cells as values, made from any nbformat JSON; and multi-line strings of nbformat joined.

Used by every back end that reads nbformat itself: the disk, its signatures and the overlay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast, get_args

from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellType, NotebookCell, OutputSummary
from jupyter_ai_shoulders.wire.versions import cell_version, well_formed

CELL_TYPES: frozenset[str] = frozenset(get_args(CellType))
_KINDS = frozenset({"stream", "display_data", "execute_result", "error"})


class RawOutputSummary(NamedTuple):
    """An output's kind and size, cheap to make; converted to ``OutputSummary`` on access."""

    kind: str
    mime_types: tuple[str, ...]
    size: int


def make_cell(
    cell_id: CellId,
    cell_type: str,
    source: str,
    *,
    metadata: JsonObject | None = None,
    execution_count: int | None = None,
    summaries: tuple[RawOutputSummary, ...] = (),
    outputs: tuple[JsonObject, ...] | None = None,
) -> NotebookCell:
    """Return a cell, with the version of its source."""
    return NotebookCell(
        id=cell_id,
        cell_type=cast("CellType", cell_type),
        source=source,
        version=cell_version(source),
        metadata=metadata or {},
        execution_count=execution_count,
        output_summary=tuple(map(_output_summary, summaries)),
        outputs=outputs,
    )


def with_outputs(cell: NotebookCell, outputs: tuple[JsonObject, ...]) -> NotebookCell:
    """Return the cell with these outputs and their summaries."""
    summaries = tuple(_output_summary(summary_of(output)) for output in outputs)
    return cell.model_copy(update={"outputs": outputs, "output_summary": summaries})


def with_source(cell: NotebookCell, source: str) -> NotebookCell:
    """Return the cell with another source."""
    return cell.model_copy(update={"source": source, "version": cell_version(source)})


def summaries_of(outputs: Sequence[Any]) -> tuple[RawOutputSummary, ...]:
    """Return the summaries of a cell's outputs."""
    if len(outputs) == 1:  # the usual case, and a file has thousands of cells
        return (summary_of(outputs[0]),)
    return tuple(map(summary_of, outputs))


def summary_of(output: Any) -> RawOutputSummary:
    """Return an output's kind and approximate size; an unknown kind counts as display data."""
    fields: Any = output  # not narrowed: a cast for each of 2 000 outputs takes noticeable time
    if not isinstance(output, dict):
        return RawOutputSummary("display_data", (), 0)
    kind = fields.get("output_type")
    if kind == "stream":
        return RawOutputSummary("stream", (), _size(fields.get("text")))
    if kind == "error":
        return RawOutputSummary(
            "error", (), _size(fields.get("evalue")) + _size(fields.get("traceback"))
        )
    data = fields.get("data")
    bundle = cast("dict[str, Any]", data) if isinstance(data, dict) else dict[str, Any]()
    known = kind if isinstance(kind, str) and kind in _KINDS else "display_data"
    return RawOutputSummary(known, tuple(bundle), sum(map(_size, bundle.values())))


def joined_output(output: JsonObject) -> JsonObject:
    """Return an output with multi-line strings joined, as nbformat has it in memory."""
    text = output.get("text")
    if output.get("output_type") in {"display_data", "execute_result"}:
        data = output.get("data")
        return {**output, "data": joined_bundle(data)} if isinstance(data, dict) else output
    if isinstance(text, list):
        return {**output, "text": "".join(map(str, text))}
    return output


def joined_bundle(bundle: JsonObject) -> JsonObject:
    """Return a MIME bundle with multi-line strings joined (nbformat.v4.rwbase)."""
    return {
        mime: "".join(cast("list[str]", value)) if _is_split(mime, value) else value
        for mime, value in bundle.items()
    }


def clean(value: Json) -> Json:
    """Return JSON with each lone surrogate replaced by U+FFFD: UTF-8 cannot encode it."""
    match value:
        case str():
            return well_formed(value)
        case dict():
            return {well_formed(key): clean(item) for key, item in value.items()}
        case list():
            return [clean(item) for item in value]
        case _:
            return value


def _is_split(mime: str, value: Json) -> bool:
    json_mime = mime == "application/json" or (
        mime.startswith("application/") and mime.endswith("+json")
    )
    return (
        isinstance(value, list) and not json_mime and all(isinstance(line, str) for line in value)
    )


def _output_summary(summary: RawOutputSummary) -> OutputSummary:
    kind, mime_types, size = summary
    return OutputSummary(kind=cast("Any", kind), mime_types=mime_types, size=size)


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    items: Any = value
    if isinstance(value, list):
        try:
            return len("".join(items))  # lines of text, the usual case
        except TypeError:
            return sum(map(_size, items))
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return sum(len(key) + _size(item) for key, item in pairs)
    return 4
