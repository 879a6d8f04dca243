"""Adds a cell that plots a dataframe's columns, runs it, and repairs it when that fails.

``charts`` works out the chart. When the column names are uncertain, the new cell first prints them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from jupyter_ai_shoulders.providers.demo.charts import (
    Chart,
    ChartRequest,
    NoSuchColumn,
    chart_code,
    parse_chart_request,
    resolve_chart,
)
from jupyter_ai_shoulders.providers.demo.code_analysis import definers, needed_before, with_import
from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.dataframes import DataFrameInfo
from jupyter_ai_shoulders.providers.demo.diagnosis import COLUMN_ERROR, KEY_ERROR, NAME_ERROR
from jupyter_ai_shoulders.providers.demo.known_imports import import_for
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook
from jupyter_ai_shoulders.providers.demo.skill_protocol import (
    CellRunResult,
    Recipe,
    Skill,
    SkillCall,
    SkillFailed,
)
from jupyter_ai_shoulders.providers.demo.skills.clarify import ask
from jupyter_ai_shoulders.providers.demo.skills.dataframe_choice import which_frame
from jupyter_ai_shoulders.providers.demo.skills.new_cell import add, place
from jupyter_ai_shoulders.providers.demo.skills.notebook_steps import (
    edit,
    listed,
    read_python,
    run,
    run_needed,
)

MAX_ROUNDS = 5
MAX_REPAIRS = 1
"""Changes of the new cell because of an error, not counting a look-up of the column names."""


def plot(task: Task) -> Skill:
    """Draw the requested chart in a new cell."""
    say = "I'll look at the data in the notebook."
    notebook = yield from read_python(task, outputs=True, say=say)
    wish = parse_chart_request(task.words, notebook)
    frame = yield from which_frame(task, notebook, "plot", wish.columns)
    wish = without_frame(wish, frame)
    if not wish.columns:
        wish = replace(wish, columns=((yield from which_column(task, frame)),), quoted=False)
    drawing = Drawing(notebook, wish, frame.name)
    try:
        yield from drawing.begin(task, frame)
        yield from drawing.work()
    except SkillFailed as reason:
        raise reason.with_story(drawing.report_stopped(reason)) from reason
    if drawing.error is not None or drawing.chart is None:
        raise SkillFailed(drawing.report())
    return drawing.report()


def without_frame(wish: ChartRequest, frame: DataFrameInfo) -> ChartRequest:
    """Return the request without the dataframe's own name, unless a column has that name too."""
    if frame.name in frame.columns:
        return wish
    columns = tuple(name for name in wish.columns if name != frame.name)
    alone = len(columns) < 2 and wish.kind == "scatter"
    return replace(wish, columns=columns, kind="histogram" if alone else wish.kind)


def which_column(task: Task, frame: DataFrameInfo) -> Recipe[str]:
    """Ask for the column."""
    known = ", ".join(f"`{column}`" for column in frame.columns)
    hint = f" I know of {known}." if known else ""
    question = f"Which column of `{frame.name}` shall I plot?"
    return (yield from ask(task, question, list(frame.columns), hint))


def listing_code(frame: str) -> str:
    """Return code that prints the names of a dataframe's columns."""
    return f'print(*{frame}.columns, sep="\\n")'


@dataclass(slots=True)
class Drawing:
    """State of making a plot: the new cell, its runs, and the sentences for the answer.

    ``chart`` is None while the cell only prints the names of columns.
    """

    notebook: ParsedNotebook
    wish: ChartRequest
    frame: str
    cell: ParsedCell | None = None
    chart: Chart | None = None
    ran: str = ""
    error: str | None = None
    repairs: int = 0

    def begin(self, task: Task, frame: DataFrameInfo) -> Recipe[None]:
        """Add the cell, and run what it needs where that never ran."""
        settled = resolve_chart(
            self.wish, self.frame, list(frame.columns), self.notebook, certain=False
        )
        self.chart = settled if isinstance(settled, Chart) else None
        after = place(task, self.notebook, frame)
        self.cell = yield from add(self.notebook, after, self.source(), "plot")
        needed = needed_before(self.cell, self.notebook.code)
        if any(cell.run_count is None for cell in needed):
            yield from self.run_needed()

    def work(self) -> Recipe[None]:
        """Run the cell; mend it while a rule fits."""
        for _ in range(MAX_ROUNDS):
            ended = yield from run(self.notebook, self.new_cell, "")
            self.error = ended.error
            if ended.error is None and self.chart is not None:
                return
            if ended.error is None:
                yield from self.draw_known(ended)
            elif self.repairs == MAX_REPAIRS or not (yield from self.mend(ended.error)):
                return

    @property
    def new_cell(self) -> ParsedCell:
        """The cell that was added."""
        assert self.cell is not None
        return self.cell

    def source(self) -> str:
        """Return what the cell should hold now."""
        if self.chart is None:
            return listing_code(self.frame)
        return chart_code(self.chart, self.notebook)

    def draw_known(self, listing: CellRunResult) -> Recipe[None]:
        """Draw what was meant, now that the names of the columns are known."""
        columns = [line.strip() for line in listing.printed if line.strip()]
        settled = resolve_chart(self.wish, self.frame, columns, self.notebook, certain=True)
        if isinstance(settled, NoSuchColumn):
            path = self.notebook.path
            yield SkillCall("delete_cell", {"path": path, "cell_id": self.new_cell.id})
            self.cell = None
            names = ", ".join(f"`{column}`" for column in columns)
            raise SkillFailed(
                f"`{self.frame}` has no column like `{settled.name}`; it has {names}. I took my "
                "cell out again. Which one shall I plot?"
            )
        self.chart = settled
        yield from self.change(self.source(), f"I'll plot {settled.spoken}.")

    def mend(self, error: str) -> Recipe[bool]:
        """Do something about an error; return whether a rule fitted."""
        name, key = NAME_ERROR.match(error), KEY_ERROR.match(error) or COLUMN_ERROR.match(error)
        if name:
            return (yield from self.mend_name(name[1]))
        if self.chart is None:
            return False
        if key and key[2] in self.chart.names:
            self.chart = None
            say = f"`{self.frame}` has no column `{key[2]}`; I'll look at its names."
            yield from self.change(self.source(), say)
            return True
        if self.chart.kind == "histogram" and error.startswith(("TypeError", "ValueError")):
            self.chart = replace(self.chart, kind="bars")
            self.repairs += 1
            yield from self.change(self.source(), "These are not numbers; I'll draw bars.")
            return True
        return False

    def mend_name(self, name: str) -> Recipe[bool]:
        """Run the cells that define a name, or import it."""
        if definers(name, self.notebook.code):
            return bool((yield from self.run_needed()))
        statement = import_for(name)
        if statement is None:
            return False
        self.repairs += 1
        changed = with_import(self.new_cell.source, statement)
        yield from self.change(changed, "An import is missing.")
        return True

    def run_needed(self) -> Recipe[list[ParsedCell]]:
        """Run the cells the new one needs."""
        say = f"`{self.frame}` has no value in this kernel yet; I'll run the cells it comes from."
        ran = yield from run_needed(self.notebook, self.new_cell, say)
        self.ran = f" I ran {listed(ran)} first." if ran else ""
        return ran

    def change(self, source: str, say: str) -> Recipe[None]:
        """Give the new cell other source."""
        yield from edit(self.notebook, self.new_cell, source, say)
        self.cell = replace(self.new_cell, source=source)

    def report_stopped(self, reason: SkillFailed) -> str:
        """Return the answer when something was not possible on the way."""
        if self.cell is None:
            return str(reason)
        return f"I added cell {self.cell.number} for the plot, but it is not finished. {reason}"

    def report(self) -> str:
        """Return the answer."""
        number = self.new_cell.number
        wanted = self.chart.spoken if self.chart else f"`{self.wish.columns[0]}`"
        if self.error is not None or self.chart is None:
            stopped = "I fixed it once and stop here" if self.repairs else "I have no rule for that"
            return (
                f"I added cell {number} to plot {wanted}, but it fails with `{self.error}`. "
                f"{stopped}; the cell is there for you to change."
            )
        return f"Done: cell {number} plots {wanted}.{self.ran}"
