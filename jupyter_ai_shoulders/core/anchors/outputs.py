"""Finding the output a task thread is about among those its cell has now (chapter 09). Pure.

Outputs come anew with every run, and several may read alike.
``labextension/src/threads/anchors/outputAnchors.ts`` is the same, and
``tests/wire/fixtures/output_places.json`` the table for both.
Used by the prompt of a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.anchors.text import Utf16Text
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.sessions import Anchor

QUOTED = 2_000
"""UTF-16 units of an output that are quoted."""


@dataclass(frozen=True, slots=True)
class LocatedOutput:
    """An output by its place among those of its cell, from 0; None where the cell has none."""

    index: int | None
    certainty: Literal["exact", "approximate"]


def locate_output(quotes: Sequence[str], anchor: Anchor) -> LocatedOutput:
    """Return which of some outputs, each given by its quote, is meant.

    One that is quoted alike is meant when it is the only one as it was then; of several, the one
    of the same place among as many. All else is the likeliest one.
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
    """Return the text an output of a notebook (nbformat 4) is known by; none of a picture."""
    text = _text_of(output).strip()[: QUOTED + 1]
    units = Utf16Text(text)
    if units.length <= QUOTED:
        return text
    end = units.character_at(QUOTED)
    return text[: end if units.unit_at(end) == QUOTED else end + 1]  # no half characters


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
    """Return a text of a notebook: one string, or its lines."""
    if isinstance(text, list):
        return "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""
