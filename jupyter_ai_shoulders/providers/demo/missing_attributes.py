"""Diagnoses a missing attribute: a mistyped dataframe method or column, or a removed NumPy type.

Pure; used by ``diagnosis``.
"""

from __future__ import annotations

import ast
import difflib
import re

from jupyter_ai_shoulders.providers.demo.code_analysis import Span, parsed, replaced, span_of
from jupyter_ai_shoulders.providers.demo.dataframes import FRAME_METHODS, all_columns, closest_name
from jupyter_ai_shoulders.providers.demo.diagnosis_results import Diagnosis, Edit, Unknown
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook

ATTRIBUTE_ERROR = re.compile(
    r"^AttributeError: (?:(?P<module>module)|(?:type object)?) ?'(?P<owner>[\w.]+)'(?: object)? "
    r"has no attribute '(?P<name>\w+)'"
)
OLD_NUMPY = {"float": "float", "int": "int", "bool": "bool", "object": "object", "str": "str"}
"""Aliases of Python types that NumPy 1.24 removed (release notes)."""
MORE_METHODS = frozenset(
    ["value_counts", "isin", "mean", "sum", "median", "std", "plot", "hist", "shape", "unique",
     "nunique", "to_csv", "agg", "apply", "map", "index", "values"]
)  # fmt: skip
NEAR = 0.75


def missing_attribute(notebook: ParsedNotebook, cell: ParsedCell, error: str) -> Diagnosis | None:
    """Return the diagnosis of a missing attribute, or None for another error."""
    found = ATTRIBUTE_ERROR.match(error)
    if found is None:
        return None
    owner, name = found["owner"], found["name"]
    if found["module"]:
        return old_numpy(cell, owner, name) or Unknown(
            f"The library `{owner}` has no `{name}`: look for a typo, or for its name in the "
            "installed version. I have no rule for it."
        )
    if owner in {"DataFrame", "Series"}:
        return frame_attribute(notebook, cell, owner, name)
    return Unknown(general(owner, name))


def old_numpy(cell: ParsedCell, owner: str, name: str) -> Edit | None:
    """Return the edit for a type name that NumPy no longer has."""
    if owner != "numpy" or name not in OLD_NUMPY:
        return None
    spans = [
        whole
        for node in attributes(cell.source, name)
        if isinstance(node.value, ast.Name) and node.value.id in {"np", "numpy"}
        for whole in [span_of(node, cell.source)]
    ]
    if not spans:
        return None
    return Edit(
        replaced(cell.source, spans, OLD_NUMPY[name]),
        f"NumPy no longer has `{name}`, which was only another name of Python's own",
        f"changed it to `{OLD_NUMPY[name]}`",
    )


def frame_attribute(notebook: ParsedNotebook, cell: ParsedCell, owner: str, name: str) -> Diagnosis:
    """Diagnose a missing method or column of a dataframe by near names."""
    columns = [column for column in all_columns(notebook) if column.isidentifier()]
    near = closest_name(name, columns) if columns else None
    if near is None or near == name:
        known = FRAME_METHODS | MORE_METHODS
        found = difflib.get_close_matches(name, sorted(known), 1, NEAR)
        near = found[0] if found and name not in known else None
    spans = [end_of(node, cell.source) for node in attributes(cell.source, name)]
    if near is None or not spans:
        return Unknown(
            f"A {owner} has no method or column `{name}`. `append` and `ix`, for example, were "
            "taken out of pandas; for a column, look at `list(df.columns)`."
        )
    source = replaced(cell.source, spans, near)
    return Edit(source, f"a {owner} has no `{name}`", f"changed it to `{near}`, which it has")


def general(owner: str, name: str) -> str:
    """Return the explanation for other objects."""
    if owner == "NoneType":
        return (
            f"Something is `None` where an object with `.{name}` was expected. Often a function or "
            "a method with `inplace=True` was assigned, which returns nothing. I have no rule that "
            "fixes this one."
        )
    return (
        f"A `{owner}` has no attribute `{name}`: look for a typo, or a different type than you "
        "expect. I have no rule that fixes this one."
    )


def attributes(source: str, name: str) -> list[ast.Attribute]:
    """Return the accesses of an attribute of this name, each on one line."""
    return [
        node
        for node in ast.walk(parsed(source) or ast.Module([], []))
        if isinstance(node, ast.Attribute) and node.attr == name and node.lineno == node.end_lineno
    ]


def end_of(node: ast.Attribute, source: str) -> Span:
    """Return the span of an attribute's name, after the dot."""
    whole = span_of(node, source)
    return Span(whole.line, whole.end - len(node.attr), whole.end)
