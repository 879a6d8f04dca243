"""Edits to the text of a notebook file, in the file's own style.

Used by ``notebook.backends.disk.notebooks``. A source keeps its form (one string or a list of
lines) and layout, outputs and counts are replaced by value, whole cells are inserted, removed and
moved with the text between them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, assert_never, cast

from jupyter_ai_shoulders.notebook.cells import summary_of
from jupyter_ai_shoulders.notebook.formats import nbformat3
from jupyter_ai_shoulders.notebook.formats.file_style import FileStyle
from jupyter_ai_shoulders.notebook.formats.json_layout import (
    Layout,
    MemberSpan,
    layout_of,
    skip_space,
    walk_object,
)
from jupyter_ai_shoulders.notebook.formats.notebook_file import ParsedNotebook, RawCell
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
)

_LINE_END = re.compile(r"[\r\n]")
_NON_TEXT_SPLIT = frozenset({"application/javascript", "image/svg+xml"})  # nbformat.v4.rwbase
_SPLIT_3 = frozenset({"text", "html", "svg", "latex", "javascript", "json"})  # nbformat.v3.rwbase


def splice(notebook: ParsedNotebook, edits: Sequence[CellEdit]) -> ParsedNotebook:
    """Return the notebook with the edits in its text; ``apply_edits`` has checked them."""
    style = FileStyle(notebook)
    for edit in edits:
        notebook = _splice(notebook, edit, style)
    return notebook


def _splice(notebook: ParsedNotebook, edit: CellEdit, style: FileStyle) -> ParsedNotebook:
    match edit:
        case CellSource():
            return _changed(notebook, edit.cell_id, lambda cell: _with_source(cell, edit, style))
        case CellOutputs():
            return _changed(notebook, edit.cell_id, lambda cell: _with_outputs(cell, edit, style))
        case CellInsert():
            cell = _new_cell(notebook, edit, style)
            longer = _inserted(notebook, cell, edit.after, style)
            return replace(longer, own_ids=notebook.own_ids and notebook.stores_ids)
        case CellDelete():
            return _removed(notebook, edit.cell_id)
        case CellMove():
            return _moved(notebook, edit, style)
        case _:
            assert_never(edit)


def _index(notebook: ParsedNotebook, cell_id: CellId) -> int:
    return next(i for i, cell in enumerate(notebook.cells) if cell.id == cell_id)


def _changed(
    notebook: ParsedNotebook, cell_id: CellId, change: Callable[[RawCell], RawCell]
) -> ParsedNotebook:
    index = _index(notebook, cell_id)
    cells = list(notebook.cells)
    cells[index] = change(cells[index])
    return replace(notebook, cells=tuple(cells))


def _removed(notebook: ParsedNotebook, cell_id: CellId) -> ParsedNotebook:
    """Remove a cell, with one separator."""
    index = _index(notebook, cell_id)
    cells = list(notebook.cells)
    gone = cells.pop(index)
    if not cells:
        # The white space of the empty list is removed too: "[]".
        return replace(notebook, cells=(), tail=notebook.tail.lstrip())
    if index == 0:
        cells[0] = cells[0]._replace(gap=gone.gap)
    return replace(notebook, cells=tuple(cells))


def _inserted(
    notebook: ParsedNotebook, cell: RawCell, after: CellId | None, style: FileStyle
) -> ParsedNotebook:
    layout = _cells_layout(notebook, style)
    index = 0 if after is None else _index(notebook, after) + 1
    cells = list(notebook.cells)
    if not cells:
        tail = layout.last + notebook.tail.lstrip()
        return replace(notebook, cells=(cell._replace(gap=layout.first),), tail=tail)
    if index == 0:
        first = cells[0]
        cells[0] = first._replace(gap=layout.between)
        cells.insert(0, cell._replace(gap=first.gap))
    else:
        cells.insert(index, cell._replace(gap=layout.between))
    return replace(notebook, cells=tuple(cells))


def _moved(notebook: ParsedNotebook, edit: CellMove, style: FileStyle) -> ParsedNotebook:
    index = _index(notebook, edit.cell_id)
    before = notebook.cells[index - 1].id if index else None
    if edit.after in {before, edit.cell_id}:
        return notebook
    cell = notebook.cells[index]
    return _inserted(_removed(notebook, edit.cell_id), cell, edit.after, style)


def _cells_layout(notebook: ParsedNotebook, style: FileStyle) -> Layout:
    """Return the layout of the list of cells: its own, or the file's when it is empty."""
    if not notebook.cells:
        return style.layout(_line_prefix(notebook.head[: notebook.head.rfind('"cells"')]))
    first = notebook.cells[0].gap
    if len(notebook.cells) > 1:
        return Layout(first, notebook.cells[1].gap, "")
    return Layout(first, "," + first if _LINE_END.search(first) else style.comma, "")


def _new_cell(notebook: ParsedNotebook, edit: CellInsert, style: FileStyle) -> RawCell:
    code = edit.cell_type == "code"
    data = _new_data_3(notebook, edit, style) if notebook.major == 3 else _new_data(edit, style)
    if notebook.stores_ids:
        data["id"] = edit.cell_id
    prefix = _line_prefix(_cells_layout(notebook, style).first)
    return RawCell(
        "",
        style.dump(data, prefix),
        edit.cell_id,
        edit.cell_type,
        edit.source,
        edit.metadata,
        edit.execution_count if code else None,
        tuple(map(summary_of, edit.outputs)) if code else (),
        old=notebook.major == 3,
    )


def _new_data(edit: CellInsert, style: FileStyle) -> JsonObject:
    data: JsonObject = {
        "cell_type": edit.cell_type,
        "metadata": edit.metadata,
        "source": _lines(edit.source, style),
    }
    if edit.cell_type == "code":
        data["execution_count"] = edit.execution_count
        data["outputs"] = [_stored_output(output, style) for output in edit.outputs]
    elif edit.attachments is not None:
        data["attachments"] = edit.attachments
    return data


def _new_data_3(notebook: ParsedNotebook, edit: CellInsert, style: FileStyle) -> JsonObject:
    """Return a new cell of format 3, in the language of the neighbouring code."""
    codes = (cell.text for cell in notebook.cells if cell.cell_type == "code")
    beside = next(codes, None)
    language = json.loads(beside).get("language", "python") if beside else "python"
    source, count = _lines(edit.source, style), edit.execution_count
    data = nbformat3.new_cell(edit.cell_type, source, edit.metadata, language, count)
    if edit.cell_type == "code":
        data["outputs"] = [_stored_output_3(output, style) for output in edit.outputs]
    return data


def _with_source(cell: RawCell, edit: CellSource, style: FileStyle) -> RawCell:
    if edit.source == cell.source:
        return cell
    if cell.old:
        text = _old_source_text(cell, edit.source, style)
    else:
        text = _source_text(cell, "source", edit.source, style)
    return cell._replace(text=text, source=edit.source)


def _source_text(cell: RawCell, key: str, source: str, style: FileStyle) -> str:
    """Return a cell's text with another source, in its existing form."""
    member = _members(cell).get(key)
    if member is None or member.value is None:
        return _set(cell, key, _lines(source, style), style).text
    old = cell.text[member.start : member.end]
    if old.startswith('"'):
        return _put(cell.text, member, style.dump(source, None))
    has_ends = not cell.old or nbformat3.has_line_ends(member.value)
    # Lines without ends are joined with "\n": other line ends must stay within a line.
    lines = source.splitlines(keepends=True) if has_ends else source.split("\n")
    layout = layout_of(old) or style.layout(_prefix_of(cell.text, member))
    return _put(cell.text, member, layout.join([style.dump(line, None) for line in lines]))


def _old_source_text(cell: RawCell, source: str, style: FileStyle) -> str:
    """The same for format 3, where a heading is a separate cell type."""
    members = _members(cell)
    if members["cell_type"].value == "heading":
        heading = nbformat3.heading_of(source)
        if heading is None:
            text = _without(cell.text, members.get("level"))
            cell = cell._replace(text=text)
            cell = _set(cell, "cell_type", "markdown", style)
        else:
            cell = _set(cell, "level", heading.level, style)
            source = heading.source
    return _source_text(cell, nbformat3.source_key(cell.cell_type), source, style)


def _with_outputs(cell: RawCell, edit: CellOutputs, style: FileStyle) -> RawCell:
    stored = _stored_output_3 if cell.old else _stored_output
    outputs: Json = [stored(output, style) for output in edit.outputs]
    count = "prompt_number" if cell.old else "execution_count"
    changed = _set(cell, "outputs", outputs, style, members := _members(cell))
    if changed is not cell:
        members = _members(changed)
    text = _set(changed, count, edit.execution_count, style, members).text
    return cell._replace(
        text=text,
        execution_count=edit.execution_count,
        summaries=tuple(map(summary_of, edit.outputs)),
    )


def _set(
    cell: RawCell,
    key: str,
    value: Json,
    style: FileStyle,
    members: Mapping[str, MemberSpan] | None = None,
) -> RawCell:
    """Replace a member's value, or insert the member first; ``members`` are the cell's if known."""
    members = _members(cell) if members is None else members
    member = members.get(key)
    if member is not None:
        if cast("Json", member.value) == value and type(member.value) is type(value):
            return cell
        new = style.dump(value, _prefix_of(cell.text, member))
        return cell._replace(text=_put(cell.text, member, new))
    first = next(iter(members.values()))
    space = cell.text[1 : first.key_start]
    added = f"{json.dumps(key)}{style.colon}{style.dump(value, _prefix_of(cell.text, first))}"
    comma = "," + space if _LINE_END.search(space) else style.comma
    return cell._replace(text="{" + space + added + comma + cell.text[first.key_start :])


def _members(cell: RawCell) -> dict[str, MemberSpan]:
    """Return a cell's members; of a duplicate key the last one counts, as in ``json``."""
    return {member.key: member for member in walk_object(cell.text, 0)[0]}


def _without(text: str, member: MemberSpan | None) -> str:
    """Remove a member from an object's text, with one separator."""
    if member is None:
        return text
    after = skip_space(text, member.end)
    if text[after] == ",":
        return text[: member.key_start] + text[skip_space(text, after + 1) :]
    before = text[: member.key_start].rstrip().removesuffix(",")
    return before + text[member.end :]


def _put(text: str, member: MemberSpan, value: str) -> str:
    return text[: member.start] + value + text[member.end :]


def _prefix_of(text: str, member: MemberSpan) -> str | None:
    """Return the white space before a key on its line; None when it does not begin the line."""
    return _line_prefix(text[: member.key_start])


def _line_prefix(before: str) -> str | None:
    end = max(before.rfind("\n"), before.rfind("\r"))
    line = before[end + 1 :]
    return line if end >= 0 and not line.strip() else None


def _lines(text: str, style: FileStyle) -> Json:
    # nbformat splits at the same positions; joining gives the same text for any split.
    return cast("Json", text.splitlines(keepends=True)) if style.lines else text


def _stored_output(output: JsonObject, style: FileStyle) -> JsonObject:
    """Return an output as nbformat writes it to a file (nbformat.v4.rwbase.split_lines)."""
    stored = dict(output)
    data, text = output.get("data"), output.get("text")
    if output.get("output_type") == "stream" and isinstance(text, str):
        stored["text"] = _lines(text, style)
    elif isinstance(data, dict):
        stored["data"] = {mime: _stored_data(mime, value, style) for mime, value in data.items()}
    return stored


def _stored_output_3(output: JsonObject, style: FileStyle) -> JsonObject:
    """Return an output in format 3 (nbformat.v3.rwbase.split_lines)."""
    stored = nbformat3.downgraded_output(output)
    for name in _SPLIT_3.intersection(stored):
        value = stored[name]
        stored[name] = _lines(value, style) if isinstance(value, str) else value
    return stored


def _stored_data(mime: str, value: Any, style: FileStyle) -> Json:
    if isinstance(value, str) and (mime.startswith("text/") or mime in _NON_TEXT_SPLIT):
        return _lines(value, style)
    return cast("Json", value)
