"""Compares new outputs of a cell with the stored ones.

Used by ``notebook.execution.verification``. Pure. Ignores what differs in every run: execution
counts, addresses in memory, names of temporary files, random ids. Compares the rest, each stream as
a whole.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from jupyter_ai_shoulders.notebook.outputs.text import error_line, join_text, plain_text
from jupyter_ai_shoulders.wire.base import Json, JsonObject

SHOWN = 160
"""Characters shown of a line that differs."""
_VOLATILE = (
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "0x…"),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "…"),
    (re.compile(r"\b[0-9a-fA-F]{32}\b"), "…"),
    (re.compile(r"\S*ipykernel_\d+[/\\]\d+\.py"), "<cell>"),
    (re.compile(r"Cell In ?\[\d+\]|In \[\d+\]|<ipython-input-[^>]+>"), "Cell In […]"),
    (re.compile(r"\bT_[0-9a-f]{5}"), "T_…"),
)
_WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """One output that differs, with the first line that differs."""

    kind: str
    before: str | None
    """None when there was no such output."""
    after: str | None


def output_differences(
    stored: Sequence[JsonObject], fresh: Sequence[JsonObject]
) -> tuple[OutputDifference, ...]:
    """Return the differences between stored and fresh outputs, each kind of text once."""
    before, after = list(_comparable(stored)), list(_comparable(fresh))
    names = dict.fromkeys(kind for kind, _ in (*before, *after))
    return tuple(
        change
        for name in names
        for old, new in zip_longest(_of_kind(before, name), _of_kind(after, name))
        if (change := _change(name, old, new)) is not None
    )


def _of_kind(outputs: Iterable[tuple[str, str]], kind: str) -> list[str]:
    return [text for found, text in outputs if found == kind]


def _change(kind: str, old: str | None, new: str | None) -> OutputDifference | None:
    if old == new:
        return None
    if old is None or new is None:
        return OutputDifference(kind, _first_line(old), _first_line(new))
    lines = zip_longest(old.splitlines(), new.splitlines())
    one, other = next((pair for pair in lines if pair[0] != pair[1]), (old, new))
    return OutputDifference(kind, _first_line(one or ""), _first_line(other or ""))


def _first_line(text: str | None) -> str | None:
    if text is None:
        return None
    line = text.partition("\n")[0]
    return line if len(line) <= SHOWN else line[:SHOWN] + " …"


def _comparable(outputs: Sequence[JsonObject]) -> Iterator[tuple[str, str]]:
    """Yield the outputs by kind: each stream as a whole, then the visible text of the rest."""
    for name in ("stdout", "stderr"):
        texts = [join_text(out.get("text")) for out in outputs if out.get("name") == name]
        if texts:
            yield name, _steady("".join(texts))
    for output in outputs:
        data = output.get("data")
        if output.get("output_type") == "error":
            yield "error", _steady(error_line(output))
        elif isinstance(data, dict):
            yield from ((mime, _content(mime, value)) for mime, value in sorted(data.items()))


def _content(mime: str, value: Json) -> str:
    if mime == _WIDGET:
        return "a widget"
    if mime.startswith("image/") and mime != "image/svg+xml":
        digest = hashlib.sha256("".join(join_text(value).split()).encode()).hexdigest()
        return f"a picture ({digest[:8]})"
    is_text = isinstance(value, str | list) and not mime.endswith("json")
    return _steady(join_text(value) if is_text else json.dumps(value, sort_keys=True))


def _steady(text: str) -> str:
    text = plain_text(text)
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
