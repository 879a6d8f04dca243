"""One measured figure beside its floor, and the tables they are printed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Literal, assert_never

from tests.bench.timing import Sample


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some samples, with the quartiles between which half of them lie."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal for a figure: a bound on our value alone, or against the floor."""

    kind: Literal["at most", "added", "times", "at least times"]
    limit: float

    def is_met(self, ours: float, floor: float | None) -> bool:
        """Judge by the medians."""
        below = 0.0 if floor is None else floor
        match self.kind:
            case "at most":
                return ours <= self.limit
            case "added":
                return ours - below <= self.limit
            case "times":
                return ours <= self.limit * below
            case "at least times":
                return ours >= self.limit * below
            case _:
                assert_never(self.kind)

    def text(self, unit: str) -> str:
        """Return the goal as the table's cell."""
        match self.kind:
            case "at most":
                return f"≤ {self.limit:g} {unit}"
            case "added":
                return f"≤ floor + {self.limit:g} {unit}"
            case "times":
                return f"≤ {self.limit:g} × floor"
            case "at least times":
                return f"≥ {self.limit:g} × floor"
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of a table: ours beside the floor, in one unit. No goal: for information."""

    name: str
    unit: str
    ours: Spread
    floor: Spread | None = None
    goal: Goal | None = None
    cpu: float | None = None
    """CPU milliseconds of ours, and below of the floor."""
    floor_cpu: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over the floor."""
        if self.floor is None or self.floor.middle == 0:
            return None
        return self.ours.middle / self.floor.middle

    @property
    def added(self) -> float | None:
        """Ours less the floor."""
        return None if self.floor is None else self.ours.middle - self.floor.middle

    @property
    def met(self) -> bool | None:
        """Whether the goal is met, None without one."""
        if self.goal is None:
            return None
        return self.goal.is_met(self.ours.middle, self.floor.middle if self.floor else None)


def timed(
    name: str, ours: Sequence[Sample], floor: Sequence[Sample], goal: Goal | None = None
) -> Figure:
    """Return a figure in milliseconds from the samples of both."""
    return Figure(
        name,
        "ms",
        spread([sample.ms for sample in ours]),
        spread([sample.ms for sample in floor]),
        goal,
        median(sample.cpu for sample in ours),
        median(sample.cpu for sample in floor),
    )


def spread(samples: Sequence[float]) -> Spread:
    """Return median and quartiles."""
    if len(samples) == 1:
        return single(samples[0])
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return Spread(median(samples), low, high)


def single(value: float) -> Spread:
    """Return a value that was measured once, or calculated."""
    return Spread(value, value, value)


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a Markdown table, ratios first."""
    rows = [
        "| figure | ours / floor | ours − floor | ours | floor | CPU ours / floor | goal | met |",
        "|---|--:|--:|--:|--:|--:|---|---|",
    ]
    return "\n".join([*rows, *map(_row, figures)])


def _row(figure: Figure) -> str:
    cells = (
        figure.name,
        _number(figure.ratio),
        f"{_number(figure.added)} {figure.unit}" if figure.floor else "",
        f"{spread_text(figure.ours)} {figure.unit}",
        f"{spread_text(figure.floor)} {figure.unit}" if figure.floor else "",
        _cpu(figure),
        figure.goal.text(figure.unit) if figure.goal else "",
        {True: "yes", False: "**no**", None: ""}[figure.met],
    )
    return f"| {' | '.join(cells)} |"


def _cpu(figure: Figure) -> str:
    if figure.cpu is None:
        return ""
    floor = "–" if figure.floor_cpu is None else _number(figure.floor_cpu)
    return f"{_number(figure.cpu)} / {floor} ms"


def spread_text(value: Spread) -> str:
    """Return the median, with the quartiles in brackets where they differ."""
    if value.low == value.high:
        return _number(value.middle)
    return f"{_number(value.middle)} ({_number(value.low)}–{_number(value.high)})"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.2g}"
