"""Profiles a dataframe: adds a cell that counts, runs it, and reports what its output says.

Chosen by ``plan``. Nothing is said that the output does not show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from jupyter_ai_shoulders.providers.demo.code_analysis import (
    definers,
    imports,
    needed_before,
)
from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.dataframes import DataFrameInfo
from jupyter_ai_shoulders.providers.demo.diagnosis import NAME_ERROR
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook
from jupyter_ai_shoulders.providers.demo.skill_protocol import (
    CellRunResult,
    Recipe,
    Skill,
    SkillFailed,
)
from jupyter_ai_shoulders.providers.demo.skills.dataframe_choice import which_frame
from jupyter_ai_shoulders.providers.demo.skills.new_cell import add, place
from jupyter_ai_shoulders.providers.demo.skills.notebook_steps import (
    edit,
    listed,
    read_python,
    run,
    run_needed,
)

COUNTS = re.compile(r"^(\d{1,15}) rows, (\d{1,15}) columns, (\d{1,15}) missing values$")
ROW = re.compile(
    r"^(?P<name>.*?)\s{2,}(?P<type>\S.*?)\s{2,}(?P<missing>\d{1,15})(?:\s{2,}(?P<distinct>\d{1,15}))?$"
)
OTHER_FRAMES = frozenset({"polars", "pyspark", "dask", "cudf", "vaex"})
MAX_SHOWN = 15


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """One column as the output tells of it."""

    name: str
    type: str
    missing: int
    distinct: int | None


def profile(task: Task) -> Skill:
    """Count rows, columns, missing and distinct values of a dataframe."""
    notebook = yield from read_python(
        task, outputs=True, say="I'll look at the data in the notebook."
    )
    others = sorted(OTHER_FRAMES & set(used := imports([cell.source for cell in notebook.code])))
    if others and "pandas" not in used:
        raise SkillFailed(
            f"My profile is written for pandas; this notebook uses {' and '.join(others)}. "
            "I changed nothing."
        )
    frame = yield from which_frame(task, notebook, "profile")
    work = Profiling(notebook, frame.name)
    try:
        yield from work.begin(task, frame)
        yield from work.work()
    except SkillFailed as reason:
        raise reason.with_story(work.report_stopped(reason)) from reason
    if work.ended is None or work.ended.error is not None:
        raise SkillFailed(work.report())
    return work.report()


def profile_code(frame: str, *, distinct: bool = True) -> str:
    """Return the code; it defines no name."""
    counted = f", distinct={frame}.nunique()" if distinct else ""
    return (
        f'print(f"{{len({frame})}} rows, {{{frame}.shape[1]}} columns, '
        f'{{{frame}.isna().sum().sum()}} missing values")\n'
        f'{frame}.dtypes.astype(str).to_frame("type").assign(missing={frame}.isna().sum(){counted})'
    )


@dataclass(slots=True)
class Profiling:
    """State of profiling a dataframe: the cell, its run, and the sentences for the answer."""

    notebook: ParsedNotebook
    frame: str
    cell: ParsedCell | None = None
    ran: str = ""
    ended: CellRunResult | None = None

    def begin(self, task: Task, frame: DataFrameInfo) -> Recipe[None]:
        """Add the cell, unless it is there already, and run what it needs where that never ran."""
        code = profile_code(self.frame)
        there = [cell for cell in self.notebook.code if cell.source.strip() == code]
        if there:
            self.cell = there[0]
        else:
            after = place(task, self.notebook, frame)
            self.cell = yield from add(self.notebook, after, code, "profile")
        needed = needed_before(self.cell, self.notebook.code)
        if any(cell.run_count is None for cell in needed):
            yield from self.run_needed()

    def work(self) -> Recipe[None]:
        """Run the cell; repair it once."""
        assert self.cell is not None
        self.ended = yield from run(self.notebook, self.cell)
        if self.ended.error is not None and (yield from self.mend(self.ended.error)):
            self.ended = yield from run(self.notebook, self.cell)

    def mend(self, error: str) -> Recipe[bool]:
        """Do something about an error; return whether a rule fitted."""
        assert self.cell is not None
        name = NAME_ERROR.match(error)
        if name and not self.ran and definers(name[1], self.notebook.code):
            return bool((yield from self.run_needed()))
        if error.startswith("TypeError") and "unhashable" in error:
            source = profile_code(self.frame, distinct=False)
            say = "Some values cannot be compared; I'll leave the distinct ones uncounted."
            yield from edit(self.notebook, self.cell, source, say)
            self.cell = replace(self.cell, source=source)
            return True
        return False

    def run_needed(self) -> Recipe[list[ParsedCell]]:
        """Run the cells the data comes from."""
        assert self.cell is not None
        say = f"`{self.frame}` has no value in this kernel yet; I'll run the cells it comes from."
        ran = yield from run_needed(self.notebook, self.cell, say)
        self.ran = f" I ran {listed(ran)} first." if ran else ""
        return ran

    def report_stopped(self, reason: SkillFailed) -> str:
        """Return the answer when something was not possible on the way."""
        if self.cell is None:
            return str(reason)
        return f"The profile is cell {self.cell.number}, but it is not finished. {reason}"

    def report(self) -> str:
        """Return the answer."""
        assert self.cell is not None
        assert self.ended is not None
        number = self.cell.number
        if self.ended.error is not None:
            return (
                f"Cell {number} should profile `{self.frame}`, but it fails with "
                f"`{self.ended.error}`. I have no other rule for that; the cell is there for you "
                "to change or delete."
            )
        return "\n".join(told(self.frame, number, self.ended.printed)) + self.ran


def told(frame: str, number: int, printed: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the answer, from what the cell printed."""
    counts = next(filter(None, map(COUNTS.match, printed)), None)
    if counts is None:
        yield f"Cell {number} ran, but its output is not what I expected; look at it there."
        return
    rows, missing = int(counts[1]), int(counts[3])
    holes = "no value is missing" if missing == 0 else f"{counted(missing, 'value')} missing"
    yield (
        f"`{frame}` has {counted(rows, 'row')} and {counted(int(counts[2]), 'column')}; {holes}."
    )
    columns = list(column_lines(printed))
    yield ""
    yield from (f"- {column_words(column, rows)}" for column in columns[:MAX_SHOWN])
    left = int(counts[2]) - len(columns[:MAX_SHOWN])
    more = f"{counted(left, 'more column')} and the" if left > 0 and columns else "The"
    yield f"\n{more[:1].upper()}{more[1:]} table itself: see the output of cell {number}."


def counted(count: int, noun: str) -> str:
    """Return a count with its noun; ``1 row``, ``2 rows``, ``1 value is``."""
    plural = noun if count == 1 else f"{noun}s"
    verb = {"value": " is" if count == 1 else " are"}.get(noun, "")
    return f"{count:,} {plural}{verb}"


def column_lines(printed: Sequence[str]) -> Iterator[ColumnLine]:
    """Yield the columns of the table that was shown."""
    for line in printed:
        found = ROW.match(line)
        if found:
            distinct = found["distinct"]
            yield ColumnLine(
                found["name"].strip(),
                found["type"],
                int(found["missing"]),
                None if distinct is None else int(distinct),
            )


def column_words(column: ColumnLine, rows: int) -> str:
    """Return one column in words."""
    parts = [f"`{column.name}`: {column.type}"]
    if column.distinct is not None:
        parts.append(f"{column.distinct:,} distinct")
    if column.missing:
        share = f" ({column.missing / rows:.0%})" if rows else ""
        parts.append(f"**{column.missing:,} missing**{share}")
    return ", ".join(parts)
