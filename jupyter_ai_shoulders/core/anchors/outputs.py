"""Finds the output a task thread is attached to among its cell's current outputs. Pure.

Outputs are replaced by every run, and several may have the same text.
``labextension/src/threads/anchors/outputAnchors.ts`` has the same rules;
``tests/wire/fixtures/output_places.json`` holds cases for both. Used by the prompt of a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.anchors.text import Utf16Text
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.sessions import Anchor

QUOTED = 2_000
"""UTF-16 units quoted of an output."""


@dataclass(frozen=True, slots=True)
class LocatedOutput:
    """The index of an output in its cell, from 0; None when the cell has no outputs."""

    index: int | None
    certainty: Literal["exact", "approximate"]


def locate_output(quotes: Sequence[str], anchor: Anchor) -> LocatedOutput:
    """Return which output, each given by its quote, the anchor refers to.

    An output with the anchored quote is certain when it is the only one then and now, or has the
    same index among equally many. Everything else is an approximation.
    """
    known = anchor.output
    alike = _alike(quotes, anchor.quote)
    if not alike:
        index = 0 if known is None else known.index
        return LocatedOutput(min(index, len(quotes) - 1) if quotes else None, "approximate")
    is_known = len(alike) == (1 if known is None else known.alike)
    nth = 0 if known is None else known.nth
    return LocatedOutput(
        alike[min(nth, len(alike) - 1)],
        "exact" if is_known and nth < len(alike) else "approximate",
    )


def output_quote(output: JsonObject) -> str:
    """Return the text that identifies an output (nbformat 4); empty for a picture."""
    text = _text_of(output).strip()[: QUOTED + 1]
    units = Utf16Text(text)
    if units.length <= QUOTED:
        return text
    end = units.character_at(QUOTED)
    return text[: end if units.unit_at(end) == QUOTED else end + 1]  # do not split a character


def _alike(quotes: Sequence[str], quote: str) -> list[int]:
    same = [index for index, text in enumerate(quotes) if text == quote]
    if same or not quote:
        return same
    return [index for index, text in enumerate(quotes) if text.startswith(quote)]


def _text_of(output: JsonObject) -> str:
    match output.get("output_type"):
        case "stream":
            return _joined(output.get("text"))
        case "error":
            return f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
        case _:
            data = output.get("data")
            return _joined(data.get("text/plain")) if isinstance(data, dict) else ""


def _joined(text: Json) -> str:
    """Return a notebook text, given as one string or as lines."""
    if isinstance(text, list):
        return "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""
