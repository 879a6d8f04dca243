"""Completes code at a caret with text that occurs in the context.

Pure; used by ``one_shot``. A completion is the rest of an earlier line, a column or a method of a
dataframe in the context, or a name that occurs in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jupyter_ai_shoulders.providers.demo.dataframes import FRAME_METHODS, DataFrameInfo, find_frames
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook

MAX_COMPLETIONS = 5
MIN_NAME = 2
"""Characters of a name before it is completed."""
COLUMN_BEGUN = re.compile(r"(?P<frame>\w+)\[(?P<quote>['\"])(?P<begun>[^'\"\]]*)$")
ATTRIBUTE_BEGUN = re.compile(r"(?P<owner>\w+)\.(?P<begun>\w*)$")
NAME_BEGUN = re.compile(r"(?<![\w.'\"])(?P<begun>[A-Za-z_]\w*)$")


def completions(before: str, after: str, context: str = "") -> list[str]:
    """Return up to five texts to insert between ``before`` and ``after``, best first."""
    rest = after.partition("\n")[0].strip()
    found: dict[str, None] = {}
    for text in proposals(before, context):
        shown = text.rstrip()
        if rest and shown.endswith(rest):
            shown = shown[: -len(rest)]
        if shown.strip():
            found[shown] = None
        if len(found) == MAX_COMPLETIONS:
            break
    return list(found)


def proposals(before: str, context: str) -> Iterator[str]:
    """Yield possible continuations, likeliest first."""
    line = before.rpartition("\n")[2]
    earlier = [*context.split("\n"), *before.split("\n")[:-1]]
    frames = frames_in(f"{context}\n{before.rpartition(chr(10))[0]}")
    yield from columns(line, frames)
    yield from rests_of_lines(line, earlier)
    yield from attributes(line, frames, earlier)
    yield from following_lines(line, before, earlier)
    yield from rests_of_names(line, earlier)


def frames_in(code: str) -> dict[str, DataFrameInfo]:
    """Return the dataframes of a piece of code; lines that are not Python are skipped."""
    lines = [ParsedCell(number, str(number), "code", line, None, complete=True, failed=False)
             for number, line in enumerate(code.split("\n"), start=1)]  # fmt: skip
    whole = ParsedCell(0, "whole", "code", code, None, complete=True, failed=False)
    return find_frames(ParsedNotebook("", "", (whole, *lines)))


def columns(line: str, frames: dict[str, DataFrameInfo]) -> Iterator[str]:
    """Yield the rest of a column's name inside an index."""
    begun = COLUMN_BEGUN.search(line)
    frame = frames.get(begun["frame"]) if begun else None
    if begun and frame:
        for column in frame.columns:
            if column.startswith(begun["begun"]) and begun["quote"] not in column:
                yield f"{column[len(begun['begun']) :]}{begun['quote']}]"


def rests_of_lines(line: str, earlier: list[str]) -> Iterator[str]:
    """Yield the rest of earlier lines with the same beginning, latest first."""
    begun = line.lstrip()
    if len(begun) < MIN_NAME:
        return
    for other in reversed(earlier):
        text = other.strip()
        if text.startswith(begun) and len(text) > len(begun):
            yield text[len(begun) :]


def attributes(line: str, frames: dict[str, DataFrameInfo], earlier: list[str]) -> Iterator[str]:
    """Yield the rest of an attribute: one the context uses on this name, else a dataframe's."""
    found = ATTRIBUTE_BEGUN.search(line)
    if found is None:
        return
    owner, begun = found["owner"], found["begun"]
    used = re.findall(rf"\b{re.escape(owner)}\.({re.escape(begun)}\w+)", "\n".join(earlier))
    known = [*dict.fromkeys(reversed(used))]
    if owner in frames:
        known += sorted(FRAME_METHODS)
    yield from (name[len(begun) :] for name in known if name.startswith(begun))


def following_lines(line: str, before: str, earlier: list[str]) -> Iterator[str]:
    """On an empty line, yield the lines that followed a line like the one above."""
    lines = before.split("\n")
    above = lines[-2].strip() if len(lines) > 1 else ""
    if line.strip() or not above:
        return
    stripped = [other.strip() for other in earlier]
    for position in range(len(stripped) - 2, -1, -1):
        if stripped[position] == above and stripped[position + 1]:
            yield stripped[position + 1]


def rests_of_names(line: str, earlier: list[str]) -> Iterator[str]:
    """Yield the rest of names in the context."""
    begun = NAME_BEGUN.search(line)
    if begun is None or len(begun["begun"]) < MIN_NAME:
        return
    known = re.findall(rf"\b{re.escape(begun['begun'])}\w+", "\n".join(earlier))
    yield from (name[len(begun["begun"]) :] for name in reversed(known))
