"""Outlines of cells and files: their imports, and their definitions by name; used by ``context``.

Python is parsed; other languages, and Python that does not parse, are read line by line.
"""

from __future__ import annotations

import ast
import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.notebook.analysis.magics import plain_cell

DEFINITION_LINES = 16
"""Lines of a definition that are included."""
MAX_LINE_LENGTH = 300
MAX_SOURCE_LENGTH = 40_000
"""Characters; longer sources have no outline."""

_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|using\b|library\(|require\(|#include\b|use\s+\w)"
)
_DEFINED = re.compile(
    r"\s*(?:(?:export|async|pub|static|public|private)\s+)*"
    r"(?:(?:def|function|class|struct|fn|func|fun|const|let|var|val|data\s+class)\s+([A-Za-z_]\w*)"
    r"|([A-Za-z_.][\w.]*)\s*(?:<-|=(?![=>~])))"
)
_NAME = re.compile(r"[^\W\d]\w*")

_UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Errors of ``ast.parse``: half a statement, a NUL, brackets nested too deep."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outline:
    """The imports and definitions of one cell."""

    imports: tuple[str, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts by name; long ones are truncated."""


def names_in(text: str) -> frozenset[str]:
    """Return the words of a text that may be names."""
    return frozenset(_NAME.findall(text))


def build_outline(source: str, language: str) -> Outline:
    """Return the definitions and imports of a cell."""
    if len(source) > MAX_SOURCE_LENGTH:
        return Outline()
    parsed = _of_python(plain_cell(source).code) if language == "python" else None
    return _of_lines(source.split("\n")) if parsed is None else parsed


def _of_python(code: str) -> Outline | None:
    """Return the outline of parsed code; None for code that does not parse (truncated code)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statements = ast.parse(code).body
    except _UNPARSABLE as error:
        _log.debug("A text is read line by line, because it does not parse: %s", error)
        return None
    lines = code.split("\n")
    imports: list[str] = []
    definitions: dict[str, str] = {}
    for statement in statements:
        text = _shortened(lines[_first_line(statement) : statement.end_lineno])
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imports.append(text)
        for name in _bound(statement):
            definitions[name] = text
    return Outline(tuple(imports), definitions)


def _first_line(statement: ast.stmt) -> int:
    """Return the zero-based first line of a statement, including its decorators."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min(node.lineno for node in (statement, *statement.decorator_list)) - 1
    return statement.lineno - 1


def _bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Assign():
            for target in statement.targets:
                yield from _targets(target)
        case ast.AnnAssign():
            yield from _targets(statement.target)
        case _:
            pass


def _targets(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _of_lines(lines: Sequence[str]) -> Outline:
    imports = tuple(_shortened([line]) for line in lines if _IMPORT.match(line))
    definitions: dict[str, str] = {}
    for at, line in enumerate(lines):
        found = _DEFINED.match(line)
        if found is not None and not _IMPORT.match(line):
            definitions[found[1] or found[2]] = _shortened([*_block(lines, at)])
    return Outline(imports, definitions)


def _block(lines: Sequence[str], start: int) -> Iterator[str]:
    """Yield a line and the more deeply indented lines below it."""
    first = lines[start]
    yield first
    margin = len(first) - len(first.lstrip())
    for line in lines[start + 1 : start + DEFINITION_LINES + 1]:
        if not line.strip() or len(line) - len(line.lstrip()) <= margin:
            return
        yield line


def _shortened(lines: Sequence[str]) -> str:
    shown = [line[:MAX_LINE_LENGTH].rstrip() for line in lines[:DEFINITION_LINES]]
    if len(lines) > DEFINITION_LINES:
        shown.append("…")
    return "\n".join(shown)
