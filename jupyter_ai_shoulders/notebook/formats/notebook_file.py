"""A notebook file as text cut at its cells: a cell can be replaced without moving any other byte.

``parse_notebook`` cuts, ``ParsedNotebook.text`` joins; ``notebook.formats.splice`` edits. Used by
``notebook.backends.disk.notebooks``. Only the structure is checked, never the whole schema: about 3
% of real notebooks are invalid, and a flaw in one cell is no reason to refuse another.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeGuard, cast

from jupyter_ai_shoulders.core.errors import InvalidNotebook
from jupyter_ai_shoulders.notebook.cells import (
    CELL_TYPES,
    RawOutputSummary,
    clean,
    joined_output,
    make_cell,
    summaries_of,
)
from jupyter_ai_shoulders.notebook.formats.cell_ids import (
    Fingerprint,
    KnownCells,
    assign_ids,
    has_own_ids,
)
from jupyter_ai_shoulders.notebook.formats.json_layout import (
    MemberSpan,
    skip_space,
    walk_array,
    walk_object,
)
from jupyter_ai_shoulders.notebook.formats.nbformat3 import upgraded_cell, upgraded_outputs
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.versions import well_formed

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class RawCell(NamedTuple):
    """A cell and its exact text; ``gap`` is the text between it and the previous one."""

    gap: str
    text: str
    id: CellId
    cell_type: str
    source: str
    metadata: JsonObject
    execution_count: int | None
    summaries: tuple[RawOutputSummary, ...]
    old: bool = False
    """Whether the text is of format 3; all other fields are in format 4."""

    def view(self) -> NotebookCell:
        """Return the cell without its outputs."""
        odd = self._may_have_surrogates()
        return make_cell(
            self.id,
            self.cell_type,
            well_formed(self.source) if odd else self.source,
            metadata=cast("JsonObject", clean(self.metadata)) if odd else self.metadata,
            execution_count=self.execution_count,
            summaries=self.summaries,
        )

    def outputs(self) -> tuple[JsonObject, ...]:
        """Return the outputs, with multi-line strings joined."""
        if not self.summaries:
            return ()
        items = json.loads(self.text).get("outputs")
        if self.old:
            outputs = list(upgraded_outputs(items))
        else:
            outputs = [joined_output(item) for item in _list(items) if _is_object(item)]
        if self._may_have_surrogates():
            outputs = [cast("JsonObject", clean(output)) for output in outputs]
        return tuple(outputs)

    def attachments(self) -> JsonObject | None:
        """Return the attachments."""
        if self.cell_type == "code" or '"attachments"' not in self.text:
            return None
        found = json.loads(self.text).get("attachments")
        return cast("JsonObject", found) if isinstance(found, dict) else None

    def _may_have_surrogates(self) -> bool:
        """Return whether there may be lone surrogates: only an escape can spell them."""
        return _SURROGATE.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class ParsedNotebook:
    """A notebook file: ``head`` up to the ``[`` of its cells, the cells, ``tail`` after the last.

    ``own_ids``: every cell's id is stored in the file. ``major`` below 3 can be read but not
    written. ``sheets``: format 3 may divide its cells among several.
    """

    head: str
    cells: tuple[RawCell, ...]
    tail: str
    metadata: JsonObject
    minor: int
    own_ids: bool
    major: int = 4
    sheets: int = 1

    @property
    def text(self) -> str:
        """The file's text."""
        pieces = [self.head]
        for cell in self.cells:
            pieces += (cell.gap, cell.text)
        return "".join([*pieces, self.tail])

    @property
    def stores_ids(self) -> bool:
        """Whether the format has cell ids (4.5)."""
        return self.major == 4 and self.minor >= 5

    def has_text_of(self, other: ParsedNotebook) -> bool:
        """Return whether both have the same text; compares identical objects fast."""
        return (self.head, self.cells, self.tail) == (other.head, other.cells, other.tail)

    def known(self) -> KnownCells:
        """Return the identification of the cells for the next read of the file."""
        return [(cell.id, Fingerprint(cell.cell_type, cell.source)) for cell in self.cells]


def parse_notebook(content: bytes, path: str, known: KnownCells = ()) -> ParsedNotebook:
    """Cut a notebook file at its cells. Raises ``InvalidNotebook`` with line and column."""
    text = _decoded(content, path)
    try:
        members, end = walk_object(text, _start(text), {"cells": _CellReader(text, path)})
    except InvalidNotebook:
        if not _is_format_1(text):
            raise
        return _upgraded(text, path, known, 1)
    except json.JSONDecodeError as error:
        raise _invalid(path, error.msg, text, error.pos) from error
    except (ValueError, RecursionError) as error:
        raise _invalid(path, f"it cannot be decoded: {error}", text, 0) from error
    end = skip_space(text, end)
    if end != len(text):
        raise _invalid(path, "Extra data", text, end)
    top = _unique(members, text, path)
    match _format(top, text, path):
        case 4:
            return _cut(text, top, path, known)
        case 3:
            return _cut_old(text, top, path, known)
        case major:
            return _upgraded(text, path, known, major)


def _start(text: str) -> int:
    """Return where the object begins: some Windows editors write a byte order mark."""
    return skip_space(text, 1 if text.startswith("\ufeff") else 0)


def _is_format_1(text: str) -> bool:
    """Return whether a file is of format 1, whose cells have another structure."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return content.get("nbformat") == 1


def _decoded(content: bytes, path: str) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise _invalid(path, "it is UTF-16, not UTF-8 text", "", 0)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        raise _invalid(path, "it is not UTF-8 text", before, len(before)) from error


def _unique(members: Sequence[MemberSpan], text: str, path: str) -> dict[str, MemberSpan]:
    top: dict[str, MemberSpan] = {}
    for member in members:
        if member.key in top:
            raise _invalid(path, f'the key "{member.key}" occurs twice', text, member.key_start)
        top[member.key] = member
    return top


def _format(top: Mapping[str, MemberSpan], text: str, path: str) -> int:
    """Return the major version."""
    major = top.get("nbformat")
    if major is None:
        raise _invalid(path, 'it has no "nbformat", so it is not a notebook', text, 0)
    if not isinstance(major.value, int) or not 1 <= major.value <= 4:
        raise _invalid(path, f"it has the unknown format {major.value!r}", text, major.start)
    return major.value


def _cut(text: str, top: Mapping[str, MemberSpan], path: str, known: KnownCells) -> ParsedNotebook:
    array = top.get("cells")
    if array is None or text[array.start] != "[":
        raise _invalid(path, "it has no list of cells", text, array.start if array else 0)
    cells = cast("list[RawCell]", array.value)
    own_ids = has_own_ids([cell.id for cell in cells])
    # After the last cell's brace there is only white space.
    end = text.rindex("}", 0, array.end) + 1 if cells else array.start + 1
    return ParsedNotebook(
        head=text[: array.start + 1],
        cells=tuple(cells) if own_ids else _identified(cells, known),
        tail=text[end:],
        metadata=_object(top, "metadata", text, path),
        minor=_minor(top),
        own_ids=own_ids,
    )


def _identified(cells: Sequence[RawCell], known: KnownCells) -> tuple[RawCell, ...]:
    prints = [Fingerprint(cell.cell_type, cell.source) for cell in cells]
    ids = assign_ids([cell.id for cell in cells], prints, known)
    return tuple(cell._replace(id=cell_id) for cell, cell_id in zip(cells, ids, strict=True))


@dataclass(frozen=True, slots=True)
class _CellReader:
    """Makes raw cells during the walk; it is called for every cell, so it is kept simple."""

    text: str
    path: str

    def __call__(self, before: int, start: int, end: int, value: Any) -> RawCell:
        text, data = self.text, value
        if not isinstance(value, dict):
            raise _invalid(self.path, "a cell is not an object", text, start)
        get: Callable[[str], Any] = data.get
        cell_type, source, outputs = get("cell_type"), get("source"), get("outputs")
        lines, items = source, outputs
        if not isinstance(cell_type, str) or cell_type not in CELL_TYPES:
            problem = f"a cell has the unknown type {cell_type!r}"
            raise _invalid(self.path, problem, text, start)
        if isinstance(source, list):
            try:
                source = "".join(lines)
            except TypeError:
                source = 0  # reported below
        if source is None:
            source = ""
        if not isinstance(source, str):
            raise _invalid(self.path, "a cell has no source text", text, start)
        metadata, count = get("metadata"), get("execution_count")
        known: Any = metadata
        return RawCell(
            text[before:start],
            text[start:end],
            get("id"),  # replaced below if it is no valid id
            cell_type,
            source,
            known if isinstance(metadata, dict) else {},
            count if isinstance(count, int) else None,
            summaries_of(items) if outputs and isinstance(outputs, list) else (),
        )


@dataclass(frozen=True, slots=True)
class _OldCellReader:
    """The same for format 3; ``ends`` is where the previous cell ended, in any worksheet."""

    text: str
    path: str
    ends: list[int]

    def __call__(self, before: int, start: int, end: int, value: Any) -> RawCell:
        cell = upgraded_cell(cast("dict[str, Any]", value)) if isinstance(value, dict) else None
        if cell is None:
            problem = "a cell is not an object with a known type and a source"
            raise _invalid(self.path, problem, self.text, start)
        before = self.ends[-1] if self.ends else before
        self.ends.append(end)
        return RawCell(
            self.text[before:start],
            self.text[start:end],
            CellId(""),  # the format has none
            cell.cell_type,
            cell.source,
            cell.metadata,
            cell.execution_count,
            summaries_of(cell.outputs),
            old=True,
        )


def _is_object(value: Any) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _object(top: Mapping[str, MemberSpan], key: str, text: str, path: str) -> JsonObject:
    member = top.get(key)
    if member is None:
        return {}
    if not isinstance(member.value, dict):
        raise _invalid(path, f'"{key}" is not an object', text, member.start)
    return cast("JsonObject", member.value)


def _minor(top: Mapping[str, MemberSpan]) -> int:
    minor = top.get("nbformat_minor")
    return minor.value if minor is not None and isinstance(minor.value, int) else 0


def _cut_old(
    text: str, top: Mapping[str, MemberSpan], path: str, known: KnownCells
) -> ParsedNotebook:
    """Cut a notebook of format 3: its cells are in worksheets, nearly always in one."""
    sheets = top.get("worksheets")
    if sheets is None or text[sheets.start] != "[":
        raise _invalid(path, "it has no list of worksheets", text, sheets.start if sheets else 0)
    reader = _OldCellReader(text, path, [])
    starts, _ = walk_array(text, sheets.start, lambda _before, start, _end, _value: start)
    arrays = [_old_cells(text, start, path, reader) for start in starts]
    if not arrays:
        raise _invalid(path, "it has no worksheet", text, sheets.start)
    cells = [cell for array in arrays for cell in cast("list[RawCell]", array.value)]
    filled = next((array for array in arrays if array.value), arrays[0])
    return ParsedNotebook(
        head=text[: filled.start + 1],
        cells=_identified(cells, known),
        tail=text[reader.ends[-1] if reader.ends else filled.start + 1 :],
        metadata=_object(top, "metadata", text, path),
        minor=_minor(top),
        own_ids=False,
        major=3,
        sheets=len(arrays),
    )


def _old_cells(text: str, start: int, path: str, reader: _OldCellReader) -> MemberSpan:
    members = walk_object(text, start, {"cells": reader})[0] if text[start] == "{" else []
    array = _unique(members, text, path).get("cells")
    if array is None or text[array.start] != "[":
        raise _invalid(path, "a worksheet has no list of cells", text, start)
    return array


def _upgraded(text: str, path: str, known: KnownCells, major: int) -> ParsedNotebook:
    """Read a notebook of format 1 or 2 through nbformat; its text is not used."""
    from nbformat import converter, reader

    try:
        notebook = cast("Any", converter.convert(reader.reads(text), 4))
        rebuilt = parse_notebook(json.dumps(notebook).encode(), path, known)
    except InvalidNotebook:
        raise
    except Exception as error:  # nbformat's converters raise many types of errors
        raise _invalid(path, f"its old format cannot be read: {error}", text, 0) from error
    # nbformat makes new ids at each conversion: only those from the text are stable.
    cells = _identified([cell._replace(id=CellId("")) for cell in rebuilt.cells], known)
    return replace(rebuilt, cells=cells, major=major, minor=0, own_ids=False)


def _invalid(path: str, problem: str, text: str, position: int) -> InvalidNotebook:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return InvalidNotebook(
        f"{path} is not a valid notebook: {problem} (line {line}, column {column}). "
        "Nothing was changed.",
        hint="Repair the file in a text editor, or restore an earlier version.",
        line=line,
        column=column,
    )
