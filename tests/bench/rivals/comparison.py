"""The tables of the report: one row per program, one column per figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.figures import Spread, spread_text


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one program, in the order of the columns; None was not measured."""

    software: str
    values: tuple[Spread | None, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table."""

    columns: tuple[str, ...]
    """Each with its unit."""
    rows: Sequence[Row]
    missing: Sequence[str] = ()
    """Programs without a row, each with the reason."""

    def markdown(self) -> str:
        """Return the table, with what is missing below it."""
        head = [_line("software", *self.columns), f"|---|{'--:|' * len(self.columns)}"]
        body = [_line(row.software, *map(_text, row.values)) for row in self.rows]
        absent = [f"\nNot measured: {each}" for each in self.missing]
        return "\n".join([*head, *body, *absent])


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _text(value: Spread | None) -> str:
    return "–" if value is None else spread_text(value)
