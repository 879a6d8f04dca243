"""Diagnoses a missing file: finds the intended path among those in the notebook or a listing.

Pure; used by ``diagnosis`` and the ``notebook_steps`` skill module.
"""

from __future__ import annotations

import ast
import difflib
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from jupyter_ai_shoulders.providers.demo.code_analysis import parsed, with_string
from jupyter_ai_shoulders.providers.demo.diagnosis_results import Diagnosis, Edit, Unknown
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook

FILE_ERROR = re.compile(r"^FileNotFoundError: .*?(['\"])(?P<path>[^'\"]+)\1")
PATH_TEXT = re.compile(r"[\w.()@+ -]*(?:/[\w.()@+ -]+)*\.[A-Za-z]\w{0,9}\b")
NEAR = 0.72
MAX_LISTED = 5


def missing_path(error: str) -> str | None:
    """Return the path that an error reports as missing."""
    found = FILE_ERROR.match(error)
    return found["path"] if found else None


def missing_file(
    notebook: ParsedNotebook, cell: ParsedCell, path: str, listed: Sequence[str] | None
) -> Diagnosis:
    """Return the diagnosis of a missing file.

    ``listed`` are the paths a tool has listed, relative to the notebook's folder; None without a
    listing.
    """
    known = list(listed if listed is not None else shown_paths(notebook, cell))
    near = nearest(path, known)
    source = with_string(cell.source, path, near) if near else cell.source
    if near is None or source == cell.source:
        return Unknown(advice(path, known, looked=listed is not None))
    where = "exists" if listed is not None else "the notebook shows elsewhere"
    return Edit(source, f"there is no file `{path}`", f"changed it to `{near}`, which {where}")


def nearest(path: str, known: Iterable[str]) -> str | None:
    """Return the intended path: the same name in another folder, else a similar name."""
    candidates = sorted({posixpath.normpath(one) for one in known} - {posixpath.normpath(path)})
    name, ending = posixpath.basename(path), posixpath.splitext(path)[1].lower()
    same = [one for one in candidates if posixpath.basename(one).lower() == name.lower()]
    if len(same) == 1:
        return same[0]
    alike = [one for one in candidates if posixpath.splitext(one)[1].lower() == ending]
    names = {posixpath.basename(one): one for one in reversed(alike)}
    near = difflib.get_close_matches(name, list(names), 1, NEAR)
    return names[near[0]] if near else None


def shown_paths(notebook: ParsedNotebook, failing: ParsedCell) -> Iterator[str]:
    """Yield the paths in other cells' code and outputs."""
    for cell in notebook.code:
        if cell.id != failing.id and cell.error is None:
            yield from paths_in_code(cell.source)
        for output in cell.outputs:
            if output.kind in {"stream", "execute_result"}:
                yield from paths_in_text(output.text)


def paths_in_code(source: str) -> Iterator[str]:
    """Yield the string constants that are paths."""
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and PATH_TEXT.fullmatch(value):
            yield value


def paths_in_text(text: str) -> list[str]:
    """Return the words of a text, such as a listing, that look like paths."""
    return [found.strip() for found in PATH_TEXT.findall(text) if found.strip()]


def advice(path: str, known: Sequence[str], *, looked: bool) -> str:
    """Return advice where no path is similar."""
    head = f"There is no file `{path}`, seen from the folder of the notebook."
    if not looked:
        return (
            f"{head} To look for a similar name I would need to list files, and I have no tool for "
            "that here. Show me what is there, for example with `import os; os.listdir()` in a "
            "cell, and ask me again."
        )
    ending = posixpath.splitext(path)[1].lower()
    others = [one for one in known if posixpath.splitext(one)[1].lower() == ending][:MAX_LISTED]
    named = ", ".join(f"`{one}`" for one in others)
    return f"{head} None has a similar name." + (f" There is {named}." if named else "")
