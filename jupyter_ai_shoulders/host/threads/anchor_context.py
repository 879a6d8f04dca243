"""Describes the current text at a task thread's anchor, for the model.

Part of ``host.context.environment``. The thread's first message contains all facts, later ones only
changed facts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from jupyter_ai_shoulders.core.anchors.outputs import locate_output, output_quote
from jupyter_ai_shoulders.core.anchors.text import (
    AnchorPosition,
    Utf16Text,
    locate_anchor,
    utf16_range,
)
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.engine.environment.attachments import one_line
from jupyter_ai_shoulders.engine.environment.snapshot import WorkspaceFact
from jupyter_ai_shoulders.files.base import TextDocuments
from jupyter_ai_shoulders.notebook.base import Notebooks, NotebookSnapshot
from jupyter_ai_shoulders.notebook.render import outputs_lines, render_notebook
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.sessions import Anchor, Session

BEFORE = 5_000
AFTER = 1_000
"""UTF-16 units of the text around the quote."""
NEIGHBOURS = 3
"""Cells named on either side."""
LINE = 120

ABOUT = "this conversation is about"
QUOTE = "the text it is about"
TEXT_BEFORE = "text before it"
TEXT_AFTER = "text after it"
CELL = "its cell"
OUTPUTS = "outputs of its cell"
AROUND = "cells around it"

_OTHER_OUTPUTS = " (its outputs are others now, so this is the likeliest one only)"
_log = logging.getLogger(__name__)


class AnchorContext:
    """Reads the anchored text of threads, through the pages where documents are open."""

    def __init__(self, notebooks: Notebooks, texts: TextDocuments) -> None:
        self._notebooks = notebooks
        self._texts = texts

    async def facts(self, session: Session) -> tuple[WorkspaceFact, ...]:
        """Return facts about a session's anchor; none for a session without one."""
        anchor = session.anchor
        if anchor is None:
            return ()
        if is_secret(anchor.document):
            return _unshown(anchor)
        try:
            return tuple(fact for fact in await self._facts(anchor) if fact.text)
        except PolicyRefusal:  # for instance a link to such a file; the quote is from it too
            return _unshown(anchor)
        except ShouldersError as error:
            _log.info("The place of thread %s cannot be read: %s", session.id, error)
            name = one_line(anchor.document)
            return (_about(f"{name}, which cannot be read: {error.info.message}"), _quote(anchor))

    async def _facts(self, anchor: Anchor) -> list[WorkspaceFact]:
        if anchor.cell_id is None:
            text = (await self._texts.read(anchor.document)).text
            return await asyncio.to_thread(_in_text, anchor, text, one_line(anchor.document))
        notebook = self._notebooks.open(anchor.document)
        snapshot = await notebook.read(outputs=[anchor.cell_id])
        return await asyncio.to_thread(_in_notebook, anchor, snapshot)


def _in_notebook(anchor: Anchor, snapshot: NotebookSnapshot) -> list[WorkspaceFact]:
    assert anchor.cell_id is not None
    name = one_line(snapshot.path)
    cell = snapshot.cell(anchor.cell_id)
    if _is_missing(anchor, cell) and (other := _elsewhere(anchor, snapshot)) is not None:
        anchor, cell = other
    if cell is None:
        return [_about(f"a cell of {name} that is not there any more"), _quote(anchor)]
    number = (snapshot.position(cell.id) or 0) + 1
    where = f"cell {number} (id={cell.id}, {cell.cell_type}) of {name}"
    around = WorkspaceFact(AROUND, _neighbours(snapshot, number - 1), is_data=True)
    if anchor.target == "source" and anchor.range is not None:
        shown = "\n".join(outputs_lines(number, cell.outputs or ()))
        return [
            *_in_text(anchor, cell.source, where),
            WorkspaceFact(OUTPUTS, shown, is_data=True),
            around,
        ]
    about = _output_of(anchor, cell, where) if anchor.target == "output" else where
    rendered = render_notebook(snapshot, [cell.id]).text
    return [_about(about), WorkspaceFact(CELL, rendered, is_data=True), around]


def _output_of(anchor: Anchor, cell: NotebookCell, where: str) -> str:
    outputs = cell.outputs or ()
    found = locate_output([output_quote(output) for output in outputs], anchor)
    if found.index is None:
        return f"an output of {where}, which has none now"
    several = "the output" if len(outputs) == 1 else f"output {found.index + 1} of {len(outputs)}"
    doubt = "" if found.certainty == "exact" else _OTHER_OUTPUTS
    return f"{several} of {where}{doubt}"


def _is_missing(anchor: Anchor, cell: NotebookCell | None) -> bool:
    """Return whether the text has left its cell: cells are split, merged and replaced."""
    return cell is None or locate_anchor(cell.source, anchor).certainty == "orphaned"


def _elsewhere(anchor: Anchor, snapshot: NotebookSnapshot) -> tuple[Anchor, NotebookCell] | None:
    """Return the only cell that certainly contains the text; the model gets it as likely."""
    if anchor.range is None or not anchor.quote:
        return None
    found = [
        (place.range, cell)
        for cell in snapshot.cells
        if cell.id != anchor.cell_id
        and (place := locate_anchor(cell.source, anchor)).certainty == "exact"
    ]
    if len(found) != 1:
        return None
    ((place, cell),) = found
    there = {"cell_id": cell.id, "range": place, "version": cell.version}
    return anchor.model_copy(update={**there, "certainty": "approximate"}), cell


def _in_text(anchor: Anchor, text: str, where: str) -> list[WorkspaceFact]:
    units, place = Utf16Text(text), locate_anchor(text, anchor)
    if place.range is None:
        about = f"text of {where} that was not found again; ask which place is meant"
        return [_about(about), _quote(anchor)]
    start, end = place.range.from_, place.range.to
    before = units.slice(utf16_range(max(0, start - BEFORE), start))
    after = units.slice(utf16_range(end, min(units.length, end + AFTER)))
    return [
        _about(f"{_lines(units, place)} of {where}{_doubt(place)}"),
        WorkspaceFact(QUOTE, units.slice(place.range), is_data=True),
        WorkspaceFact(TEXT_BEFORE, before, is_data=True),
        WorkspaceFact(TEXT_AFTER, after, is_data=True),
    ]


def _about(text: str) -> WorkspaceFact:
    return WorkspaceFact(ABOUT, text)


def _unshown(anchor: Anchor) -> tuple[WorkspaceFact, ...]:
    return (_about(f"{one_line(anchor.document)}, which is not shown: it may hold keys"),)


def _quote(anchor: Anchor) -> WorkspaceFact:
    return WorkspaceFact(QUOTE, anchor.quote, is_data=True)


def _doubt(location: AnchorPosition) -> str:
    if location.certainty == "exact":
        return ""
    return " (the text was changed meanwhile, so this is the likeliest place only)"


def _lines(units: Utf16Text, location: AnchorPosition) -> str:
    assert location.range is not None
    first = units.text.count("\n", 0, units.character_at(location.range.from_)) + 1
    last = units.text.count("\n", 0, units.character_at(location.range.to)) + 1
    if location.range.from_ == location.range.to:
        return f"the caret in line {first}"
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _neighbours(snapshot: NotebookSnapshot, position: int) -> str:
    lines = (
        f"cell {at + 1} (id={cell.id}, {cell.cell_type}): {_first_line(cell)}"
        for at, cell in _beside(snapshot, position)
    )
    return "\n".join(lines)


def _beside(snapshot: NotebookSnapshot, position: int) -> Iterable[tuple[int, NotebookCell]]:
    first = max(0, position - NEIGHBOURS)
    cells = snapshot.cells[first : position + NEIGHBOURS + 1]
    return ((at, cell) for at, cell in enumerate(cells, first) if at != position)


def _first_line(cell: NotebookCell) -> str:
    line = next((line for line in cell.source.splitlines() if line.strip()), "(empty)")
    return line if len(line) <= LINE else f"{line[:LINE]} …"
