"""Finds the names that Python code defines, uses and imports, without running it.

Used by the skills. Cells may contain magics and shell lines; code that does not parse has no names.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell

BUILTINS = frozenset(dir(builtins)) | {
    "display",
    "get_ipython",
    "In",
    "Out",
    "_",
    "__",
    "___",
    "_i",
    "_ii",
    "_iii",
    "_dh",
    "exit",
    "quit",
    "__file__",
    "__name__",
    "__doc__",
}
WHOLE_IMPORT = re.compile(r"%%|(?:import|from) [^(\\]*[^(\\,\s]\s*$")
PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")
MAGIC_LINE = re.compile(r"^(\s*)(?:[%!?]|\w[\w.]*\?{1,2}\s*$)")
ASSIGNED_MAGIC = re.compile(r"^(\s*[\w, ]+\s*=)\s*[%!]")
HIDES_NAMES = re.compile(
    r"^\s*%(run|pylab|load)\b|^%%capture\s+\w|\bexec\(|\bglobals\(", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class CodeNames:
    """The module-level names a piece of code defines, and the global names it uses."""

    defined: frozenset[str]
    used: frozenset[str]
    more: bool = False
    """Whether the cell may define invisible names: a star import, ``%run``, ``exec``."""


NOTHING = CodeNames(frozenset(), frozenset())


def plain(source: str) -> str:
    """Return the source with magics and shell lines replaced; line numbers stay the same."""
    lines = source.split("\n")
    if lines[0].startswith("%%") and not lines[0].startswith(PYTHON_MAGICS):
        return ""
    return "\n".join(harmless(line) for line in lines)


def harmless(line: str) -> str:
    """Return a Python line in place of a magic; assigned names stay assigned."""
    assigned = ASSIGNED_MAGIC.match(line)
    if assigned:
        return f"{assigned[1]} None"
    return MAGIC_LINE.sub(r"\1pass  # ", line)


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree, or None when the code does not parse."""
    try:
        return ast.parse(plain(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deep
        return None


def names(source: str) -> CodeNames:
    """Return the names a cell defines and uses."""
    tree = parsed(source)
    table = None if tree is None else scopes(source)
    if tree is None or table is None:
        return NOTHING
    defined = {symbol.get_name() for symbol in table.get_symbols() if is_bound(symbol)}
    used = {name for name in global_uses(table) if name not in BUILTINS}
    star = any(
        isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)
    )
    more = star or HIDES_NAMES.search(source) is not None
    return CodeNames(frozenset(defined), frozenset(used), more)


def scopes(source: str) -> symtable.SymbolTable | None:
    """Return the scopes of code that parses; None where they are contradictory."""
    try:
        return symtable.symtable(plain(source), "cell", "exec")
    except (SyntaxError, RecursionError):  # such as two arguments of the same name
        return None


def is_bound(symbol: symtable.Symbol) -> bool:
    """Return whether a name is bound here."""
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()


def global_uses(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names read in a scope and its inner scopes, without names defined only
    there.
    """
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from global_uses(child)


def undefined(source: str) -> frozenset[str]:
    """Return the names a cell uses but does not define itself."""
    found = names(source)
    return found.used - found.defined


def first_used(names_used: frozenset[str], source: str) -> str:
    """Return the name that occurs first in the code."""
    found = [
        (node.lineno, node.col_offset, node.id)
        for node in ast.walk(parsed(source) or ast.Module([], []))
        if isinstance(node, ast.Name) and node.id in names_used
    ]
    return min(found)[2] if found else min(names_used)


def imports(sources: Sequence[str]) -> list[str]:
    """Return the top-level packages imported, in order, without repeats."""
    found: dict[str, None] = {}
    for source in sources:
        for node in ast.walk(parsed(source) or ast.Module([], [])):
            if isinstance(node, ast.Import):
                found.update((alias.name.partition(".")[0], None) for alias in node.names)
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found[node.module.partition(".")[0]] = None
    return list(found)


def definers(name: str, cells: Sequence[ParsedCell]) -> list[ParsedCell]:
    """Return the cells that define a name, in order."""
    return [cell for cell in cells if name in names(cell.source).defined]


def is_import_of(name: str, source: str) -> str | None:
    """Return the import statement that binds a name, if there is one."""
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name.partition(".")[0]) == name:
                    single = ast.Import([alias])
                    if isinstance(node, ast.ImportFrom):
                        single = ast.ImportFrom(node.module, [alias], node.level)
                    return ast.unparse(single)
    return None


def needed_before(cell: ParsedCell, cells: Sequence[ParsedCell]) -> list[ParsedCell]:
    """Return the cells above that define names a cell uses, directly or not; in order."""
    wanted, needed = set(undefined(cell.source)), list[ParsedCell]()
    for earlier in reversed([other for other in cells if other.number < cell.number]):
        found = names(earlier.source)
        if found.defined & wanted:
            needed.insert(0, earlier)
            wanted = (wanted - found.defined) | undefined(earlier.source)
    return needed


def with_import(source: str, statement: str) -> str:
    """Return the source with an import added at the top, below a cell magic and other imports."""
    lines = source.split("\n")
    at = 0
    while at < len(lines) and WHOLE_IMPORT.match(lines[at]):
        at += 1
    return "\n".join([*lines[:at], statement, *lines[at:]])


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line, in characters."""

    line: int
    start: int
    end: int


def replaced(source: str, spans: Sequence[Span], text: str) -> str:
    """Return the source with every span replaced."""
    lines = source.split("\n")
    for span in sorted(spans, key=lambda span: (span.line, span.start), reverse=True):
        line = lines[span.line]
        lines[span.line] = line[: span.start] + text + line[span.end :]
    return "\n".join(lines)


def name_spans(source: str, name: str) -> list[Span]:
    """Return where a name occurs as a variable."""
    found = [
        node
        for node in ast.walk(parsed(source) or ast.Module([], []))
        if isinstance(node, ast.Name) and node.id == name
    ]
    return [span_of(node, source) for node in found]


def string_spans(source: str, text: str) -> list[Span]:
    """Return where a string constant with this text occurs on one line."""
    found = [
        node
        for node in ast.walk(parsed(source) or ast.Module([], []))
        if isinstance(node, ast.Constant) and node.value == text and node.lineno == node.end_lineno
    ]
    return [span_of(node, source) for node in found]


def span_of(node: ast.Name | ast.Constant | ast.Attribute, source: str) -> Span:
    """Return a node's span; Python counts columns in bytes."""
    line = source.split("\n")[node.lineno - 1].encode()
    start = len(line[: node.col_offset].decode())
    end = len(line[: node.end_col_offset or 0].decode())
    return Span(node.lineno - 1, start, end)


def renamed(source: str, old: str, new: str) -> str:
    """Return the source with one variable's name replaced."""
    return replaced(source, name_spans(source, old), new)


def with_string(source: str, old: str, new: str) -> str:
    """Return the source with one string constant replaced."""
    return replaced(source, string_spans(source, old), python_string(new))


def python_string(text: str) -> str:
    """Return a string constant in double quotes where that needs no escapes."""
    return (
        f'"{text}"' if text.isprintable() and '"' not in text and "\\" not in text else repr(text)
    )
