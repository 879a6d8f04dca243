"""Finds dataframes and their columns in a notebook's code and outputs, without running anything.

Pure; used by the ``plot`` skill and by ``diagnosis``.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.providers.demo.code_analysis import parsed
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook

FRAME_CALLS = re.compile(
    r"^(read_(csv|excel|json|parquet|feather|table|sql\w*|html|pickle|fwf|stata)|DataFrame|from_dict"
    r"|from_records|load_dataset|concat|merge|crosstab|pivot_table|json_normalize)$"
)
BUNCH_CALLS = re.compile(r"^(load|fetch)_\w+$")
FRAME_METHODS = frozenset(
    [
        "head",
        "tail",
        "describe",
        "info",
        "groupby",
        "merge",
        "join",
        "pivot_table",
        "sort_values",
        "dropna",
        "fillna",
        "assign",
        "query",
        "copy",
        "drop",
        "rename",
        "reset_index",
        "set_index",
        "melt",
        "sample",
        "astype",
        "drop_duplicates",
        "nlargest",
        "nsmallest",
        "columns",
        "dtypes",
        "iloc",
        "loc",
        "corr",
        "isna",
        "isnull",
        "set_axis",
    ]
)
KEEPS_COLUMNS = frozenset(
    [
        "copy",
        "dropna",
        "fillna",
        "query",
        "sort_values",
        "reset_index",
        "head",
        "tail",
        "sample",
        "drop_duplicates",
        "astype",
        "assign",
    ]
)
TAKES_COLUMNS = frozenset({"groupby", "sort_values", "set_index", "value_counts"})
SPELLINGS = (("colour", "color"), ("grey", "gray"), ("centre", "center"), ("metre", "meter"),
             ("litre", "liter"), ("fibre", "fiber"), ("behaviour", "behavior"),
             ("labour", "labor"))  # fmt: skip
NEAR = 0.74


@dataclass(slots=True)
class DataFrameInfo:
    """A variable that holds a dataframe, as far as the code shows."""

    name: str
    defined_in: int | None = None
    last_used_in: int = 0
    uses: int = 0
    columns: dict[str, None] = field(default_factory=dict[str, None])

    def add(self, columns: Iterable[str]) -> None:
        """Add columns."""
        self.columns.update(dict.fromkeys(columns))


def find_frames(notebook: ParsedNotebook) -> dict[str, DataFrameInfo]:
    """Return the dataframes of a notebook by variable name, in the order they appear."""
    finder = DataFrameFinder()
    for cell in notebook.code:
        tree = parsed(cell.source)
        if tree is not None:
            finder.learn(cell, tree)
    return finder.frames


@dataclass(slots=True)
class DataFrameFinder:
    """Collects dataframes and data sets, cell by cell."""

    frames: dict[str, DataFrameInfo] = field(default_factory=dict[str, DataFrameInfo])
    bunches: set[str] = field(default_factory=set[str])
    imported: set[str] = field(default_factory=set[str])

    def learn(self, cell: ParsedCell, tree: ast.Module) -> None:
        """Process the next cell: definitions first, then uses."""
        nodes = list(ast.walk(tree))
        for node in nodes:
            self.note_definition(node, cell)
        for node in nodes:
            self.note_use(node, cell)
        self.note_output(cell, tree)

    def note_definition(self, node: ast.AST, cell: ParsedCell) -> None:
        """Process an import, an assignment, or a method that only dataframes have."""
        match node:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                self.imported.update(a.asname or a.name.partition(".")[0] for a in aliases)
            case ast.Assign(value=value, targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.note_assignment(target.id, value, cell)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in FRAME_METHODS:
                if name not in self.bunches | self.imported:
                    self.frames.setdefault(name, DataFrameInfo(name, cell.number))
            case _:
                return

    def note_assignment(self, name: str, value: ast.expr, cell: ParsedCell) -> None:
        """Record the kind of value of an assigned variable."""
        if is_bunch(value):
            self.bunches.add(name)
        elif is_frame(value, self.frames, self.bunches):
            frame = self.frames.setdefault(name, DataFrameInfo(name))
            frame.defined_in = cell.number if frame.defined_in is None else frame.defined_in
            frame.add(columns_of(value, self.frames))

    def note_use(self, node: ast.AST, cell: ParsedCell) -> None:
        """Collect columns from a dataframe's attributes, index and methods that take columns."""
        match node:
            case ast.Name(id=name) if name in self.frames:
                self.frames[name].uses += 1
                self.frames[name].last_used_in = cell.number
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.frames:
                self.frames[name].add(strings_in(index))
            case ast.Call(func=ast.Attribute(attr=method) as called_on) if method in TAKES_COLUMNS:
                owner = self.frames.get(root_name(called_on))
                if owner is not None:
                    owner.add(text for argument in node.args for text in strings_in(argument))
            case _:
                return

    def note_output(self, cell: ParsedCell, tree: ast.Module) -> None:
        """Collect columns from a displayed dataframe."""
        last = tree.body[-1] if tree.body else None
        owner = self.frames.get(root_name(last.value)) if isinstance(last, ast.Expr) else None
        for output in cell.outputs:
            if owner is not None and output.kind == "execute_result":
                owner.add(table_header(output.text))


def is_bunch(value: ast.expr) -> bool:
    """Return whether a value is a data set of scikit-learn that holds a dataframe."""
    return isinstance(value, ast.Call) and BUNCH_CALLS.match(called(value)) is not None


def is_frame(value: ast.expr, frames: dict[str, DataFrameInfo], bunches: set[str]) -> bool:
    """Return whether a value is a dataframe."""
    match value:
        case ast.Call(func=ast.Attribute(attr=method, value=owner)) if method in KEEPS_COLUMNS:
            return is_frame(owner, frames, bunches)
        case ast.Call():
            return FRAME_CALLS.match(called(value)) is not None
        case ast.Attribute(attr="data" | "frame"):
            return is_bunch(value.value) or root_name(value.value) in bunches
        case ast.Subscript():
            return is_frame(value.value, frames, bunches) and not isinstance(
                value.slice, ast.Constant
            )
        case ast.Name(id=name):
            return name in frames
        case _:
            return False


def columns_of(value: ast.expr, frames: dict[str, DataFrameInfo]) -> Iterator[str]:
    """Yield the columns of a new dataframe, as far as the code shows."""
    match value:
        case ast.Call() if called(value) == "DataFrame":
            for argument in [*value.args, *(keyword.value for keyword in value.keywords)]:
                if isinstance(argument, ast.Dict):
                    yield from (s for key in argument.keys if key for s in strings_in(key))
            for keyword in value.keywords:
                if keyword.arg == "columns":
                    yield from strings_in(keyword.value)
        case ast.Subscript():
            yield from strings_in(value.slice)
        case ast.Call(func=ast.Attribute(value=inner)):
            owner = root_name(inner)
            if owner in frames:
                yield from frames[owner].columns
        case _:
            return


def called(call: ast.Call) -> str:
    """Return the last name of the called function."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def root_name(node: ast.expr) -> str:
    """Return the variable a chain of attributes and calls begins with."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
            return root_name(inner)
        case _:
            return ""


def strings_in(node: ast.AST) -> Iterator[str]:
    """Yield the string constants of an index: one, or a list of them."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                yield from strings_in(item)
        case _:
            return


def table_header(text: str) -> list[str]:
    """Return the column names of a dataframe printed as text, wrapped or not."""
    lines = text.split("\n")
    heads = [
        line.rstrip("\\ ")
        for number, line in enumerate(lines)
        if line.startswith(" ") and line.strip() and (number == 0 or not lines[number - 1].strip())
    ]
    found = [name for head in heads for name in re.split(r"\s{2,}", head.strip())]
    if len(heads) == 1 and len(found) == 1:
        found = found[0].split()
    return [name for name in found if name not in {"...", "\\"}]


def all_columns(notebook: ParsedNotebook) -> list[str]:
    """Return every column known of any dataframe."""
    known: dict[str, None] = {}
    for frame in find_frames(notebook).values():
        known.update(frame.columns)
    return list(known)


def normal(text: str) -> str:
    """Return a name as people say it: lower case, words apart, one spelling."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    words = re.sub(r"[^a-z0-9]+", " ", words.lower()).strip()
    for british, american in SPELLINGS:
        words = words.replace(british, american)
    return words


def closest_name(name: str, known: Sequence[str]) -> str | None:
    """Return the known name meant by one: the same words, more words, or nearly the same."""
    by_normal = {normal(candidate): candidate for candidate in reversed(known)}
    if normal(name) in by_normal:
        return by_normal[normal(name)]
    words = set(normal(name).split())
    longer = [column for said, column in by_normal.items() if words and words <= set(said.split())]
    if len(longer) == 1:
        return longer[0]
    near = difflib.get_close_matches(normal(name), list(by_normal), 1, NEAR)
    return by_normal[near[0]] if near else None
