"""IPython's transformation of a cell to Python, without IPython.

Used by ``notebook.analysis.name_analysis``: magics and shell lines are removed from a cell so that
the rest parses; the names they bind are kept. The server never imports IPython.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PYTHON_BODIES = frozenset({"time", "timeit", "capture", "prun", "memit", "snakeviz"})
"""Cell magics that run the cell's body as code of the user's namespace."""
SEPARATE_BODIES = frozenset({"timeit", "prun"})
"""Those whose assignments stay in their own scope."""
OPAQUE_MAGICS = frozenset({"run", "pylab", "load", "loadpy", "macro", "reset", "reset_selective"})
"""Line magics that may bind or remove unknown names; ``store -r`` is another."""
_CELL_MAGIC = re.compile(r"%%(\w[\w.!-]*)[ \t]*(.*)")
_LINE_MAGIC = re.compile(r"[ \t]*%{1,2}(\w[\w.-]*)[ \t]*(.*)")
_ASSIGNED = re.compile(r"([ \t]*)([^=!%\n#'\"()]+?)[ \t]*=[ \t]*([%!])(?![=%])(.*)")
_HELP = re.compile(
    r"[ \t]*(?:\?{1,2}[ \t]*[%\w.*\[\]]+|%{0,2}[\w.*\[\]]+[ \t]*\?{1,2})[ \t]*;?[ \t]*"
)
_MENTIONED = re.compile(r"\{[ \t]*([^\W\d]\w*)|\$\{?([^\W\d]\w*)")
_NAME = re.compile(r"[^\W\d]\w*")
_SUSPECT = re.compile(r"^[ \t]*[%!?,;/]|\?[ \t]*;?[ \t]*$|=[ \t]*[%!]", re.MULTILINE)


@dataclass(slots=True)
class PlainCell:
    """A cell's Python; ``binds`` and ``mentions`` are the names in its magics."""

    code: str
    binds: set[str] = field(default_factory=set[str])
    mentions: set[str] = field(default_factory=set[str])
    opaque: bool = False
    """Whether a magic may have bound unknown names."""
    separate: bool = False
    """Whether the code's bindings stay inside the magic that runs it."""


def plain_cell(source: str) -> PlainCell:
    """Return the Python of a cell; a cell in another language has none."""
    if not _SUSPECT.search(source):
        return PlainCell(source)
    found = _CELL_MAGIC.match(source.lstrip("\n \t")) if source.lstrip().startswith("%%") else None
    if found is None:
        return _without_magics(source)
    return _cell_magic(found[1], found[2], source.lstrip().partition("\n")[2])


def _cell_magic(name: str, arguments: str, body: str) -> PlainCell:
    if name not in PYTHON_BODIES:
        cell = PlainCell("", mentions=_mentioned(arguments), opaque=name in {"cython", "run"})
        cell.binds |= set(re.findall(r"(?:--out|--err|--proc|-o)[ =]([^\W\d]\w*)", arguments))
        return cell
    statement = ""
    if name in SEPARATE_BODIES:  # the line is the setup, or code to be timed
        statement = re.sub(r"^(?:-\w+[ \t]*\d*[ \t]*)+", "", arguments)
    cell = _without_magics(f"{statement}\n{body}" if statement else body)
    if name == "capture":
        cell.binds |= {word for word in arguments.split() if _NAME.fullmatch(word)}
    cell.separate = name in SEPARATE_BODIES
    return cell


def _without_magics(source: str) -> PlainCell:
    """Replace each magic by valid Python; multi-line strings stay as they are."""
    cell = PlainCell("")
    lines = source.split("\n")
    kept: list[str] = []
    quote: str | None = None
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if quote is None and _SUSPECT.search(line):
            while line.endswith("\\") and position < len(lines) and _is_magic(line):
                line = line[:-1] + lines[position]
                position += 1
            line = _plain_line(line, cell)
        kept.append(line)
        quote = _open_quote(line, quote)
    cell.code = "\n".join(kept)
    return cell


def _is_magic(line: str) -> bool:
    return line.lstrip()[:1] in {"%", "!"} or _ASSIGNED.fullmatch(line.rstrip("\\")) is not None


def _plain_line(line: str, cell: PlainCell) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    stripped = line.lstrip()
    if stripped.startswith("!"):
        cell.mentions |= _mentioned(stripped)
        return f"{indent}pass"
    if found := _ASSIGNED.fullmatch(line):
        cell.mentions |= _mentioned(found[4])
        inner = _line_magic(found[4], cell) if found[3] == "%" else "None"
        return f"{found[1]}{found[2]} = {inner or 'None'}"
    if _HELP.fullmatch(line) and "?" in line:
        return f"{indent}pass"
    if found := _LINE_MAGIC.fullmatch(line):
        return f"{indent}{_line_magic(f'{found[1]} {found[2]}', cell) or 'pass'}"
    return line


def _line_magic(text: str, cell: PlainCell) -> str | None:
    """Record a line magic; return the code it runs in the user's namespace, if any."""
    name, _, arguments = text.partition(" ")
    cell.mentions |= _mentioned(arguments)
    cell.opaque |= name in OPAQUE_MAGICS or (name == "store" and "-r" in arguments)
    if name in SEPARATE_BODIES:
        cell.mentions |= set(_NAME.findall(arguments))
    return arguments.strip() if name == "time" and arguments.strip() else None


def _mentioned(text: str) -> set[str]:
    """Return the names that a magic's line reads: ``{name}`` and ``$name``."""
    return {first or second for first, second in _MENTIONED.findall(text)}


def _open_quote(line: str, quote: str | None) -> str | None:
    """Return the triple quote that is still open after a line."""
    position = 0
    while position < len(line):
        if quote is not None:
            end = line.find(quote, position)
            if end < 0:
                return quote
            position, quote = end + 3, None
            continue
        character = line[position]
        if character == "#":
            return None
        if line.startswith(('"""', "'''"), position):
            quote = line[position : position + 3]
            position += 3
        elif character in "'\"":
            position = _after_string(line, position + 1, character)
        else:
            position += 1
    return quote


def _after_string(line: str, position: int, quote: str) -> int:
    while position < len(line) and line[position] != quote:
        position += 2 if line[position] == "\\" else 1
    return position + 1
