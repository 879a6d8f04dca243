"""Bounded diffs of file changes, with warnings about risky changes. Pure.

Used by the tools that write files, for approvals and for ``dry_run``. Comparing long texts is slow,
so callers choose the thread.
"""

from __future__ import annotations

import ast
import difflib
import json
import posixpath
import tomllib

from jupyter_ai_shoulders.core.text_merge import LineChange, line_changes
from jupyter_ai_shoulders.tools.truncation import truncate
from jupyter_ai_shoulders.wire.base import JsonObject

WHOLE_TEXTS = 200_000
"""Characters of both texts up to which a result contains them whole, for the detail view."""
COMPARED_LINES = 20_000
"""Lines up to which two texts are compared line by line."""
CHECKED = 500_000
"""Most characters of a program or data file that are parsed to check its syntax."""
_MUCH = 0.5
_AROUND = 3


def bounded_diff(before: str, after: str) -> str:
    """Return the changed lines with context, shortened if there are very many."""
    old, new = _lines(before), _lines(after)
    if len(old) + len(new) > COMPARED_LINES:
        return _coarse(old, new)
    lines = difflib.unified_diff(old, new, lineterm="", n=_AROUND)
    return truncate("\n".join(list(lines)[2:]))


def change_data(path: str, before: str, after: str, diff: str) -> JsonObject:
    """Return a change of a file for the conversation's detail view."""
    if len(before) + len(after) <= WHOLE_TEXTS:
        return {"path": path, "before": before, "after": after}
    return {"path": path, "diff": diff}


def write_warnings(path: str, before: str | None, after: str) -> list[str]:
    """Return warnings about a text before it is written; ``before`` is None for a new file."""
    found = [*_removals(before, after)] if before is not None else []
    problem = parse_problem(path, after)
    if problem and (before is None or parse_problem(path, before) is None):
        found.append(f"It cannot be parsed any more: {problem}." if before else f"{problem}.")
    return found


def parse_problem(path: str, text: str) -> str | None:
    """Return why a Python, JSON or TOML file cannot be parsed; None for valid and other files."""
    suffix = posixpath.splitext(path)[1].lower()
    if len(text) > CHECKED or not text.strip():
        return None
    try:
        match suffix:
            case ".py":
                ast.parse(text)
            case ".json":
                json.loads(text)
            case ".toml":
                tomllib.loads(text)
            case _:
                return None
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "it is nested too deeply"
    return None


def _lines(text: str) -> list[str]:
    """Return lines; a last line without a line break is marked, as in diffs."""
    lines = text.split("\n")
    if not lines[-1]:
        return lines[:-1]
    return [*lines[:-1], f"{lines[-1]}\n\\ No newline at end of file"]


def _removals(before: str, after: str) -> list[str]:
    if before and not after.strip():
        return ["Nothing is left in the file."]
    old, new = _lines(before), _lines(after)
    if len(old) + len(new) > COMPARED_LINES:
        return []
    gone = sum(map(_removed, line_changes(before, after)))
    if gone > _MUCH * len(old) and gone > 5:
        return [f"{gone} of {len(old)} lines are removed or replaced."]
    return []


def _removed(change: LineChange) -> int:
    return change.end - change.start


def _coarse(old: list[str], new: list[str]) -> str:
    """Return the difference of two long texts as a single change."""
    head = next(
        (at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two),
        min(len(old), len(new)),
    )
    most = min(len(old), len(new)) - head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    mark = f"@@ -{head + 1},{len(gone)} +{head + 1},{len(come)} @@"
    return truncate(
        "\n".join([mark, *(f"-{line}" for line in gone), *(f"+{line}" for line in come)])
    )
