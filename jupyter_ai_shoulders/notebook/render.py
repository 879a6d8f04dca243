"""What a model reads of a notebook and of a run: a compact, stable text.

Pure functions of a snapshot; used by the notebook tools, parsed by the demo provider::

    Notebook "analysis.ipynb" · 3 cells · python3 (python) · open in the page · unsaved changes
    --- cell 1 · id=aaaa · markdown
    # Title
    --- cell 2 · id=bbbb · code · In[3] · outputs: stream 34 chars
    import pandas as pd
    --- output of cell 2 · stream
    text…
    --- cell 3 · id=cccc · code · In[1] · stale: edited since it ran · 45 lines, first 5 shown
    …

A line of content that begins with ``--- `` (after any backslashes) gets one more backslash, so
that no cell and no output can pass itself off as a header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from jupyter_ai_shoulders.notebook.analysis.staleness import NOTHING_STALE, StaleReport
from jupyter_ai_shoulders.notebook.base import CellRun, NotebookSnapshot
from jupyter_ai_shoulders.notebook.outputs.text import error_line, output_text, truncate_middle
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell, OutputSummary

WHOLE_LINES = 20
"""A cell up to this many lines is shown whole in an outline."""
FIRST_LINES = 5
_LINE_LIMIT = 400
_SHORT_CELL = 4_000
_REQUESTED_CELL = 40_000
_OUTLINE_LIMIT = 36_000
"""Characters of the outline of up to ``_FULL_CELLS`` cells."""
_LARGE_OUTLINE_LIMIT = 12_500
"""For more cells: with all tools defined, a question about one cell stays below 15 000 tokens."""
_FULL_CELLS = 60
_OUTPUTS_LIMIT = 24_000
_MAX_SUMMARIES = 6
_MAX_HEADINGS = 5
_MAX_NAMED = 60
"""Headings and stale cells named among those left out."""
_HEADING = re.compile(r"#{1,6} \S")
_HEADER_LIKE = re.compile(r"^(\\*--- )", re.MULTILINE)
# (cells up to this many lines whole, lines shown of longer ones): the first that fits the limit.
_DETAIL = ((WHOLE_LINES, FIRST_LINES), (10, 3), (4, 1), (0, 0))


@dataclass(frozen=True, slots=True)
class Rendering:
    """The text, and the cells whose whole source it holds: they count as read."""

    text: str
    whole: frozenset[CellId]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A cell's part of the text."""

    text: str
    cell_id: CellId
    whole: bool


def render_notebook(
    snapshot: NotebookSnapshot,
    cells: Collection[CellId] | None = None,
    stale: StaleReport = NOTHING_STALE,
) -> Rendering:
    """Return the outline of all cells, or only the named cells, whole.

    Outputs are shown where the snapshot has them (``NotebookCell.outputs`` is not None). A long
    outline shows fewer lines per cell, then leaves out cells in the middle, except for their
    headings and stale cells.
    """
    header = " · ".join([notebook_header(snapshot), *_stale_header(stale)])
    if cells is not None:
        found = {snapshot.position(cell_id) for cell_id in cells} - {None}
        positions = sorted(cast("set[int]", found))
        asked = [
            _whole_cell(position + 1, snapshot.cells[position], stale) for position in positions
        ]
        return _rendering(header, asked)
    numbered = list(enumerate(snapshot.cells, start=1))
    limit = _OUTLINE_LIMIT * _FULL_CELLS // max(_FULL_CELLS, len(numbered))
    limit = max(limit, _LARGE_OUTLINE_LIMIT)
    pieces: list[_Piece] = []
    for whole_lines, first_lines in _DETAIL:
        detail = (whole_lines, first_lines)
        pieces = [_outlined(number, cell, detail, stale) for number, cell in numbered]
        if sum(len(piece.text) for piece in pieces) <= limit:
            return _rendering(header, pieces)
    return _rendering(header, _without_middle(pieces, limit, snapshot, stale))


def _stale_header(stale: StaleReport) -> Iterable[str]:
    if stale.marks:
        yield f"{len(stale.marks)} stale"
    if stale.note is not None:
        yield stale.note


def notebook_header(snapshot: NotebookSnapshot) -> str:
    """Return the first line: name, number of cells, kernel, back end, unsaved changes."""
    count = len(snapshot.cells)
    parts = [
        f"Notebook {json.dumps(snapshot.path, ensure_ascii=False)}",
        "1 cell" if count == 1 else f"{count} cells",
        _kernel(snapshot.metadata),
        "on disk" if snapshot.backend == "disk" else "open in the page",
    ]
    return " · ".join([*parts, "unsaved changes"] if snapshot.dirty else parts)


def run_text(number: int, cell_id: CellId, run: CellRun) -> str:
    """Return a finished run as text for a model; ``number`` is the cell's 1-based position."""
    took = f"{run.duration_ms / 1000:.1f} s"
    count = None if run.execution_count is None else f"In[{run.execution_count}]"
    first = [f"Cell {number} (id={cell_id}) {_outcome(run)}", count, took]
    return "\n".join([" · ".join(filter(None, first)), *outputs_lines(number, run.outputs)])


def outputs_lines(number: int, outputs: Sequence[JsonObject]) -> list[str]:
    """Return the sections ``--- output of cell N · kind`` of a cell's outputs.

    An error ends a cell, so the last section is always included; those before it stop at a limit.
    """
    texts = [_escaped(output_text(output)) for output in outputs]
    lines: list[str] = []
    room = _OUTPUTS_LIMIT
    for position, (output, text) in enumerate(zip(outputs, texts, strict=True)):
        room -= len(text)
        if room >= 0 or position in {0, len(outputs) - 1}:
            lines += [_output_header(number, output), text]
    left_out = len(outputs) - len(lines) // 2
    if left_out:
        lines[-2:-2] = [f"--- {left_out} outputs of cell {number} · not shown"]
    return lines


def _output_header(number: int, output: JsonObject) -> str:
    stderr = " · stderr" if output.get("name") == "stderr" else ""
    return f"--- output of cell {number} · {output.get('output_type')}{stderr}"


def _rendering(header: str, pieces: Sequence[_Piece]) -> Rendering:
    text = "\n".join([header, *(piece.text for piece in pieces)])
    return Rendering(text, frozenset(piece.cell_id for piece in pieces if piece.whole))


def _without_middle(
    pieces: Sequence[_Piece], limit: int, snapshot: NotebookSnapshot, stale: StaleReport
) -> list[_Piece]:
    """Keep the pieces that fit, two thirds from the beginning; name the important rest."""
    average = sum(len(piece.text) for piece in pieces) // len(pieces)
    kept = max(2, limit // average)
    head, tail = kept * 2 // 3, kept - kept * 2 // 3
    note = f"--- cells {head + 1} to {len(pieces) - tail} · not shown"
    left_out = range(head, len(pieces) - tail)
    lines = [_omission_note(number + 1, snapshot.cells[number], stale) for number in left_out]
    told = list(filter(None, lines))
    if len(told) > _MAX_NAMED:
        told = [*told[:_MAX_NAMED], f"… and {len(told) - _MAX_NAMED} more"]
    gap = _Piece("\n".join([note, *told]), CellId(""), whole=False)
    return [*pieces[:head], gap, *pieces[len(pieces) - tail :]]


def _omission_note(number: int, cell: NotebookCell, stale: StaleReport) -> str | None:
    """Return the first heading of a cell that is left out, or why it is stale."""
    mark = stale.marks.get(cell.id)
    if mark is not None:
        return f"cell {number} (id={cell.id}) stale: {mark.reason}"
    if cell.cell_type != "markdown":
        return None
    heading = next(iter(_headings(cell.source.split("\n"))), None)
    return f"cell {number}: {_short(heading)}" if heading else None


def _whole_cell(number: int, cell: NotebookCell, stale: StaleReport) -> _Piece:
    whole = len(cell.source) <= _REQUESTED_CELL
    note = None if whole else f"{len(cell.source)} characters, the middle left out"
    marks = _state(cell, stale)
    return _piece(
        number, cell, truncate_middle(cell.source, _REQUESTED_CELL), [*marks, note], whole=whole
    )


def _outlined(
    number: int, cell: NotebookCell, detail: tuple[int, int], stale: StaleReport
) -> _Piece:
    whole_lines, first_lines = detail
    marks = _state(cell, stale, is_short=not whole_lines)
    lines = cell.source.split("\n")
    if len(lines) <= whole_lines and len(cell.source) <= _SHORT_CELL:
        return _piece(number, cell, cell.source, marks, whole=True)
    shown = _headings(lines) if cell.cell_type == "markdown" else []
    shown = shown or lines[:first_lines]
    part = f"first {len(shown)}" if shown else "not"
    note = f"{len(lines)} lines, {part} shown" if len(lines) > 1 else "1 long line"
    if len(lines) == 1 and len(cell.source) <= _LINE_LIMIT and not shown:
        note = "1 line, not shown"
    text = "\n".join(_short(line) for line in shown)
    return _piece(number, cell, text, [*marks, note], whole=not cell.source)


def _headings(lines: Sequence[str]) -> list[str]:
    """Return the headings of a text cell, which structure the notebook."""
    return [line for line in lines if _HEADING.match(line)][:_MAX_HEADINGS]


def _piece(
    number: int, cell: NotebookCell, source: str, state: Iterable[str | None], *, whole: bool
) -> _Piece:
    header = [f"--- cell {number}", f"id={cell.id}", cell.cell_type, *filter(None, state)]
    lines = [" · ".join(header)]
    if source:
        lines.append(_escaped(source))
    lines += outputs_lines(number, cell.outputs or ())
    return _Piece("\n".join(lines), cell.id, whole)


def _state(cell: NotebookCell, stale: StaleReport, *, is_short: bool = False) -> Iterable[str]:
    if cell.cell_type != "code":
        return
    yield "not run" if cell.execution_count is None else f"In[{cell.execution_count}]"
    mark = stale.marks.get(cell.id)
    if mark is not None:
        yield f"stale: {mark.reason}"
    if cell.output_summary and is_short:
        yield "outputs: " + _largest(cell.output_summary)
    elif cell.output_summary:
        summaries = [_summary(item) for item in cell.output_summary[:_MAX_SUMMARIES]]
        if len(cell.output_summary) > _MAX_SUMMARIES:
            summaries.append(f"{len(cell.output_summary) - _MAX_SUMMARIES} more")
        yield "outputs: " + ", ".join(summaries)


def _summary(summary: OutputSummary) -> str:
    mimes = " " + "+".join(summary.mime_types) if summary.mime_types else ""
    return f"{summary.kind}{mimes} {summary.size} chars"


def _largest(summaries: Sequence[OutputSummary]) -> str:
    """Return the most informative output, an error or else the largest, and how many there are."""
    said = max(summaries, key=lambda item: (item.kind == "error", item.size))
    rich = next((mime for mime in said.mime_types if mime != "text/plain"), said.kind)
    more = f", {len(summaries) - 1} more" if len(summaries) > 1 else ""
    return f"{rich} {said.size} chars{more}"


def _kernel(metadata: JsonObject) -> str:
    spec, info = metadata.get("kernelspec"), metadata.get("language_info")
    name = spec.get("name") if isinstance(spec, dict) else None
    language = info.get("name") if isinstance(info, dict) else None
    if language is None and isinstance(spec, dict):
        language = spec.get("language")
    if name is None:
        return f"no kernel chosen ({language})" if language else "no kernel chosen"
    return f"{name} ({language})" if language else str(name)


def _outcome(run: CellRun) -> str:
    match run.status:
        case "ok":
            return "finished: ok"
        case "error":
            return f"failed: {run.failure or _first_error(run.outputs)}"
        case "aborted":
            return "did not run: the kernel dropped it after an earlier cell failed"
        case "died":
            return f"failed: {run.failure or 'the kernel died'}"
        case "cancelled":
            return "was cancelled"
        case "running":
            return "is still running"


def _first_error(outputs: Iterable[JsonObject]) -> str:
    errors = (error_line(item) for item in outputs if item.get("output_type") == "error")
    return _short(next(errors, "the kernel reported an error").split("\n")[0])


def _short(line: str) -> str:
    return line if len(line) <= _LINE_LIMIT else line[:_LINE_LIMIT] + " …"


def _escaped(text: str) -> str:
    return _HEADER_LIKE.sub(r"\\\1", text)
