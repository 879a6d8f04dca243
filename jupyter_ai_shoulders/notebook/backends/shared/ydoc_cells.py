"""Converts cells of a shared notebook to values and back.

Used by ``notebook.backends.shared.notebooks``. A cell is a Y map with a Y text for its source and a
Y array of outputs (schema: the docstring of ``jupyter_ydoc.YNotebook``). Values are checked before
they are inserted: a Y type takes no text with lone surrogates, and a failure inside a transaction
leaves half of it applied.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, assert_never, cast

from jupyter_ai_shoulders.notebook.backends.shared.text_diff import (
    TextSplice,
    tail_change,
    text_changes,
)
from jupyter_ai_shoulders.notebook.cells import (
    CELL_TYPES,
    clean,
    joined_output,
    make_cell,
    summary_of,
)
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
    NotebookCell,
)
from jupyter_ai_shoulders.wire.versions import well_formed

if TYPE_CHECKING:
    from jupyter_ydoc import YNotebook
    from pycrdt import Array, Map, Text

    YMap = Map[Any]
    YArray = Array[Any]

_LARGEST = 10**300
"""Up to here every integer has a close floating-point number."""


# reading


def ycells_of(document: YNotebook) -> YArray:
    """Return the cells, typed."""
    return cast("YArray", document.ycells)


def read_cell(ycell: YMap, *, with_outputs: bool) -> NotebookCell:
    """Return the cell as it is now."""
    if with_outputs:
        return cell_of(object_of(ycell), with_outputs=True)
    return cell_of(json.loads(str(ycell)), with_outputs=False)


def cell_of(fields: JsonObject, *, with_outputs: bool) -> NotebookCell:
    """Return a cell from its JSON, which ``str`` makes of a Y map ten times as fast as ``to_py``.

    Numbers unknown to JSON become null, which is sufficient for kinds and sizes of outputs.
    """
    kind = str(fields.get("cell_type"))
    is_code = kind == "code"
    held = cast("list[JsonObject]", fields.get("outputs") or []) if is_code else []
    count = fields.get("execution_count")
    return make_cell(
        CellId(str(fields.get("id"))),
        kind if kind in CELL_TYPES else "raw",
        _joined(fields.get("source")),
        metadata=cast("JsonObject", fields.get("metadata") or {}),
        execution_count=int(count) if is_code and isinstance(count, int | float) else None,
        summaries=tuple(map(summary_of, held)),
        outputs=tuple(map(joined_output, held)) if with_outputs else None,
    )


def _joined(source: Json) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def source_of(ycell: YMap) -> str:
    """Return a cell's text."""
    return str(ycell.get("source"))


def object_of(value: Any) -> JsonObject:
    """Return a Y map, or its equivalent in older documents, as JSON."""
    plain = _plain(value)
    return cast("JsonObject", _from_page(plain)) if isinstance(plain, dict) else {}


def attachments_of(ycell: YMap) -> JsonObject | None:
    """Return the pictures pasted into a markdown or raw cell."""
    return object_of(ycell.get("attachments")) or None


def outputs_of(ycell: YMap) -> tuple[JsonObject, ...]:
    """Return a cell's outputs."""
    return tuple(map(_output, ycell.get("outputs") or ()))


def _output(youtput: Any) -> JsonObject:
    return joined_output(object_of(youtput))


def _plain(value: Any) -> Any:
    to_py = getattr(value, "to_py", None)
    return value if to_py is None else to_py()


def _from_page(value: Any) -> Json:
    """Return JSON with whole numbers as integers (``jupyter_ydoc.utils.cast_all``)."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            items = cast("dict[str, Any]", value).items()
            return {key: _from_page(item) for key, item in items}
        case list():
            return [_from_page(item) for item in cast("list[Any]", value)]
        case _:
            return value


# values for a shared document


def well_formed_edit(edit: CellEdit) -> CellEdit:
    """Return the edit with text that a Y type accepts."""
    match edit:
        case CellSource():
            return edit.model_copy(update={"source": well_formed(edit.source)})
        case CellOutputs():
            return edit.model_copy(update={"outputs": tuple(map(clean, edit.outputs))})
        case CellInsert():
            return CellInsert.model_validate(clean(edit.model_dump(mode="json")))
        case CellDelete() | CellMove():
            return edit
        case _:
            assert_never(edit)


def new_cell(edit: CellInsert) -> YMap:
    """Return the inserted cell for a document (``YNotebook.create_ycell``)."""
    from pycrdt import Array, Map, Text

    fields: dict[str, Any] = {
        "id": edit.cell_id,
        "cell_type": edit.cell_type,
        "source": Text(edit.source),
        "metadata": Map(to_page_json(edit.metadata)),
    }
    if edit.cell_type == "code":
        fields["outputs"] = Array([new_output(output) for output in edit.outputs])
        fields["execution_count"] = to_page_json(edit.execution_count)
        fields["execution_state"] = "idle"
    elif edit.attachments:
        fields["attachments"] = to_page_json(edit.attachments)
    return Map(fields)


def new_output(output: JsonObject) -> YMap:
    """Return an output for a document (``YNotebook._create_youtputs``)."""
    from pycrdt import Map, Text

    fields = cast("dict[str, Any]", to_page_json(joined_output(output)))
    if output.get("output_type") == "stream":
        fields["text"] = Text(str(fields.get("text", "")))
    return Map(fields)


def to_page_json(value: Json) -> Any:
    """Return JSON with numbers that pages can read: an integer would become a ``BigInt``."""
    match value:
        case bool():
            return value
        case int():
            return float(value) if abs(value) < _LARGEST else str(value)
        case dict():
            return {key: to_page_json(item) for key, item in value.items()}
        case list():
            return [to_page_json(item) for item in value]
        case _:
            return value


def copy_of(ycell: YMap) -> YMap:
    """Return a copy of a cell for another index: Yjs 13 cannot move (``YNotebook.moveCells``)."""
    from pycrdt import Array, Map, Text

    fields: dict[str, Any] = dict(ycell.to_py() or {})
    fields["source"] = Text(source_of(ycell))
    fields["metadata"] = Map(fields.get("metadata") or {})
    if "outputs" in fields:
        fields["outputs"] = Array([_copied_output(output) for output in fields["outputs"] or ()])
    return Map(fields)


def _copied_output(output: dict[str, Any]) -> YMap:
    from pycrdt import Map, Text

    if output.get("output_type") == "stream":
        text = output.get("text", "")
        output = {**output, "text": Text("".join(text))}
    return Map(output)


# changes, all within a transaction


def set_source(ycell: YMap, source: str) -> None:
    """Change as little of the text as possible."""
    text: Text = ycell["source"]
    before = str(text)
    for change in reversed(text_changes(before, source)):
        _replace(text, before, change)


def set_outputs(ycell: YMap, outputs: tuple[JsonObject, ...], known: int = 0) -> None:
    """Replace the outputs from the first difference on; the first ``known`` are the same.

    Pages handle no other change: they append inserted outputs, and treat a change to a stream as
    one at the end of the last output (``CodeCellModel._onSharedModelChanged``).
    """
    youtputs: YArray = ycell["outputs"]
    same = _count_same(youtputs, outputs, known)
    if same < len(outputs) and same == len(youtputs) - 1 and _grow(youtputs[same], outputs[same]):
        same += 1
    if same < len(youtputs) and _would_join(youtputs[len(youtputs) - 1], outputs[same:]):
        same = 0
    del youtputs[same:]
    youtputs.extend([new_output(output) for output in outputs[same:]])


def _would_join(last: Any, new: tuple[JsonObject, ...]) -> bool:
    """Return whether pages would append the next outputs to their last stream.

    They remember its name even after it is removed (``OutputAreaModel._lastStreamName``), until
    they show another output or none.
    """
    name = last.get("name") if last.get("output_type") == "stream" else None
    return name is not None and (not new or new[0].get("name") == name)


def _count_same(youtputs: YArray, outputs: tuple[JsonObject, ...], known: int) -> int:
    both = min(len(youtputs), len(outputs))
    different = (i for i in range(min(known, both), both) if not _is(youtputs[i], outputs[i]))
    return next(different, both)


def _is(youtput: Any, output: JsonObject) -> bool:
    if youtput.get("output_type") != output.get("output_type"):
        return False
    return _output(youtput) == object_of(to_page_json(joined_output(output)))


def _grow(youtput: Any, output: JsonObject) -> bool:
    """Append to a stream to make it this one; return False when it is another one."""
    if youtput.get("output_type") != "stream" or output.get("output_type") != "stream":
        return False
    if youtput.get("name") != output.get("name"):
        return False
    text = youtput.get("text")
    if isinstance(text, str | list):  # written by an older page
        return False
    before = str(text)
    change = tail_change(before, str(joined_output(output).get("text", "")))
    if change is not None:
        _replace(text, before, change)
    return True


def _replace(text: Text, before: str, change: TextSplice) -> None:
    """Replace a part of the text, which is ``before`` up to there; Y texts count UTF-8 bytes."""
    start = len(before[: change.start].encode())
    end = start + len(before[change.start : change.end].encode())
    if end > start:
        del text[start:end]
    if change.insert:
        text.insert(start, change.insert)
