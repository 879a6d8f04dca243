"""Parses the notebook from the text of ``read_notebook``.

The demo reads the same text as a model, so it needs no other access to notebooks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

HEADER = re.compile(r'^Notebook ("(?:[^"\\]|\\.)*") · (.*)$', re.MULTILINE)
CELL = re.compile(r"^--- cell (\d{1,9}) · id=(\S+) · (code|markdown|raw)(.*)$")
OUTPUT = re.compile(r"^--- output of cell (\d{1,9}) · (\w+)")
ANY_HEADER = re.compile(r"^--- ")
ESCAPED = re.compile(r"^\\(\\*--- )")
SHORTENED = re.compile(r"lines?, (first \d+|not) shown|1 long line|left out")
RUN_COUNT = re.compile(r"In\[(\d{1,9})\]")
ERROR_LINE = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)\b")


@dataclass(frozen=True, slots=True)
class ParsedOutput:
    """One output of a cell."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ParsedCell:
    """One cell; ``complete`` when its whole source was shown."""

    number: int
    id: str
    type: str
    source: str
    run_count: int | None
    complete: bool
    failed: bool
    outputs: tuple[ParsedOutput, ...] = ()

    @property
    def is_code(self) -> bool:
        """Return whether it holds code."""
        return self.type == "code"

    @property
    def error(self) -> str | None:
        """Return ``ErrorName: message`` of its error output, if it has one."""
        errors = (
            output.text.partition("\n")[0] for output in self.outputs if output.kind == "error"
        )
        return next(errors, None)


KERNELS = {"ir": "R", "julia": "Julia", "bash": "Bash", "xcpp": "C++", "deno": "TypeScript"}
"""Languages of well-known kernels, for notebooks that name only the kernel."""
KERNEL = re.compile(r"(?P<name>[^·(]*?)\s*(?:\((?P<language>[^)]*)\))?\s*(?:·|$)")


@dataclass(frozen=True, slots=True)
class ParsedNotebook:
    """The cells, in order."""

    path: str
    about: str
    cells: tuple[ParsedCell, ...]

    @property
    def code(self) -> tuple[ParsedCell, ...]:
        """The code cells."""
        return tuple(cell for cell in self.cells if cell.is_code)

    @property
    def foreign(self) -> str | None:
        """The language, when it is known and not Python."""
        kernel = KERNEL.match(self.about.partition(" · ")[2])
        if kernel is None:
            return None
        name = kernel["name"].strip()
        found = kernel["language"] or next(
            (language for start, language in KERNELS.items() if re.match(rf"{start}\b", name)), None
        )
        return None if found is None or "python" in found.lower() else found

    def cell(self, cell_id: str | None) -> ParsedCell | None:
        """Return the cell with this id."""
        return next((cell for cell in self.cells if cell.id == cell_id), None)

    def updated(self, changed: Sequence[ParsedCell]) -> ParsedNotebook:
        """Return the notebook with these cells replaced, by id."""
        new = {cell.id: cell for cell in changed}
        return replace(self, cells=tuple(new.get(cell.id, cell) for cell in self.cells))


def parse_notebook(text: str) -> ParsedNotebook | None:
    """Return the notebook in a text, or None when there is none."""
    header = HEADER.search(text)
    path = None if header is None else path_of(header[1])
    if header is None or path is None:
        return None
    cells: list[ParsedCell] = []
    for line, content in sections(text[header.end() :]):
        cell, output = CELL.match(line), OUTPUT.match(line)
        if cell:
            cells.append(new_cell(cell, content))
        elif output and cells:
            cells[-1] = with_output(cells[-1], ParsedOutput(output[2], content))
    return ParsedNotebook(path, header[2], tuple(cells))


def path_of(quoted: str) -> str | None:
    """Return the path in a header, or None when it is not a JSON string."""
    try:
        return str(json.loads(quoted))
    except ValueError:
        return None


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield each header line with the content below it."""
    header, lines = "", list[str]()
    for line in text.split("\n"):
        if ANY_HEADER.match(line):
            yield header, "\n".join(lines)
            header, lines = line, []
        else:
            lines.append(ESCAPED.sub(r"\1", line))
    yield header, "\n".join(lines)


def new_cell(found: re.Match[str], source: str) -> ParsedCell:
    """Return the cell of a header line."""
    state = found[4]
    count = RUN_COUNT.search(state)
    return ParsedCell(
        number=int(found[1]),
        id=found[2],
        type=found[3],
        source=source,
        run_count=int(count[1]) if count else None,
        complete=SHORTENED.search(state) is None,
        failed=re.search(r"outputs:.*\berror\b", state) is not None,
    )


def with_output(cell: ParsedCell, output: ParsedOutput) -> ParsedCell:
    """Return the cell with one more output."""
    return replace(
        cell,
        outputs=(*cell.outputs, output),
        failed=cell.failed or output.kind == "error",
    )
