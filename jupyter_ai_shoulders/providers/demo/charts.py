"""Parses the user's words into a chart request, and writes a chart as matplotlib code.

Pure; used by the ``plot`` skill.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.providers.demo.code_analysis import definers, names, python_string
from jupyter_ai_shoulders.providers.demo.dataframes import all_columns, closest_name, normal
from jupyter_ai_shoulders.providers.demo.notebook import ParsedNotebook

ChartKind = Literal["histogram", "bars", "line", "scatter"]

QUOTED = re.compile(
    r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|‘([^’\n]+)’"
    r"|(?<!\w)'([^'\n]+)'(?!\w)"
)
GROUP = re.compile(
    r"\b(?:one colou?r (?:per|for each|for every)|colou?red by|colou?r(?:ed)? (?:by|per)|grouped by"
    r"|split by|for each|per|by)\s+(?:the\s+)?(?:column\s+)?"
    r"(?P<name>[`\"'“‘]?[\w .()/-]+?[`\"'”’]?)"
    r"(?=\s*(?:$|[,.;:!?]|\n|\bin\b|\bof\b|\bfrom\b|\bas\b|\bbelow\b|\bplease\b|\band\b))",
    re.IGNORECASE,
)
PHRASE_ENDS = re.compile(
    r"[,;:!?\n]|\.(?:\s|$)|\b(?:in|of|from|for|below|under|please|as|with|using|on|after|one|"
    r"grouped|colou?red|split|per|by|plot|chart|graph|histogram|column|columns)\b",
    re.IGNORECASE,
)
HOW_MANY = re.compile(r"\bhow many\b|\b(?:number|counts?) of\b", re.IGNORECASE)
PAIR = re.compile(r"\b(?:against|versus|vs\.?|over|and|as a function of)\b", re.IGNORECASE)
VERB = re.compile(
    r"\b(?:plot|chart|graph|draw|histogram|visuali[sz]e|scatter(?:plot)?|distribution|show|columns?)\b",
    re.IGNORECASE,
)
FILLERS = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "me",
        "my",
        "this",
        "that",
        "some",
        "new",
        "cell",
        "plot",
        "chart",
        "graph",
        "draw",
        "histogram",
        "bar",
        "bars",
        "line",
        "scatter",
        "scatterplot",
        "column",
        "columns",
        "distribution",
        "show",
        "visualize",
        "visualise",
        "values",
        "please",
        "and",
        "data",
        "dataframe",
        "add",
        "make",
        "create",
        "can",
        "you",
        "could",
        "would",
        "like",
        "want",
        "i",
        "to",
        "for",
        "from",
        "in",
        "on",
        "it",
        "is",
        "its",
        "how",
        "dataset",
        "frame",
        "df",
        "below",
        "here",
        "now",
    ]
)
MAX_WORDS = 6


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """The requested chart, in the user's words; the second column is the horizontal axis."""

    columns: tuple[str, ...]
    kind: ChartKind
    group: str | None
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class NoSuchColumn:
    """A name that matches no column."""

    name: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of one or two columns; ``group`` is a column or (True) a variable."""

    frame: str
    columns: tuple[str, ...]
    kind: ChartKind
    group: tuple[str, bool] | None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns the code uses."""
        grouped = () if self.group is None or self.group[1] else (self.group[0],)
        return (*self.columns, *grouped)

    @property
    def spoken(self) -> str:
        """The chart in words."""
        words = " against ".join(f"`{column}`" for column in self.columns)
        by = f", one colour per `{self.group[0]}`" if self.group else ""
        return f"{words} of `{self.frame}`{by}"


def parse_chart_request(words: str, notebook: ParsedNotebook) -> ChartRequest:
    """Return the requested chart."""
    known = all_columns(notebook)
    found = GROUP.search(words)
    group = None if found is None else unquoted(found["name"])
    rest = words if found is None else words[: found.start()] + " ; " + words[found.end() :]
    columns = tuple(spoken_columns(rest, known))[:2]
    if group is not None and HOW_MANY.search(words):
        return ChartRequest((group,), "bars", None)
    quoted = QUOTED.search(rest) is not None
    said = without_names(words, [*columns, *([] if group is None else [group])], known)
    return ChartRequest(columns, kind_of(said, len(columns)), group, quoted)


def without_names(words: str, names: Sequence[str], known: Sequence[str]) -> str:
    """Return the words without the names: a column called "lines" does not request a line chart."""
    for name in names:
        if len(name.split()) > 1 or name in known:
            words = words.replace(name, " ")
    return words


def resolve_chart(
    wish: ChartRequest,
    frame: str,
    columns: Sequence[str],
    notebook: ParsedNotebook,
    *,
    certain: bool,
) -> Chart | NoSuchColumn:
    """Return the chart, or the first name that matches no column.

    ``certain``: ``columns`` is complete. Otherwise a name the user has quoted is taken literally.
    """
    found: list[str] = []
    for name in wish.columns:
        column = meant(name, columns, exact=wish.quoted and not certain)
        if column is None:
            return NoSuchColumn(name)
        found.append(column)
    group = None if wish.group is None else group_of(wish.group, columns, notebook)
    if isinstance(group, NoSuchColumn):
        return group
    return Chart(frame, tuple(found), wish.kind, group)


def meant(name: str, columns: Sequence[str], *, exact: bool) -> str | None:
    """Return the column a name refers to; ``exact``: the name itself, known or not."""
    return name if exact or name in columns else closest_name(name, columns)


def group_of(
    name: str, columns: Sequence[str], notebook: ParsedNotebook
) -> tuple[str, bool] | NoSuchColumn:
    """Return the grouping column or variable, and whether it is a variable."""
    column = closest_name(name, columns)
    if column is not None:
        return column, False
    variable = re.sub(r"\W+", "_", name.strip())
    return (variable, True) if definers(variable, notebook.code) else NoSuchColumn(name)


def unquoted(text: str) -> str:
    """Return a name without the quotes around it."""
    return text.strip().strip("`\"'“”‘’").strip()


def kind_of(words: str, count: int) -> ChartKind:
    """Return the requested kind of chart."""
    if re.search(r"\b(lines?|over time|time series|trend)\b", words, re.IGNORECASE):
        return "line"
    if count == 2:
        return "scatter"
    if re.search(r"\b(bars?|counts?|how many|frequenc\w+)\b", words, re.IGNORECASE):
        return "bars"
    return "histogram"


def mentioned(words: str, known: Sequence[str]) -> list[str]:
    """Return the mentioned names, in order: quoted ones, else known columns and near misses."""
    quoted = [unquoted(next(filter(None, found))) for found in QUOTED.findall(words)]
    if quoted:
        return list(dict.fromkeys(quoted))
    text, found = f" {normal(words)} ", dict[int, str]()
    for column in sorted(known, key=lambda column: -len(normal(column))):
        at = text.find(f" {normal(column)} ") if normal(column) else -1
        if at >= 0:
            found[at] = column
            said = len(normal(column))
            text = text[: at + 1] + "·" * said + text[at + 1 + said :]
    return [found[at] for at in sorted(found)]


def spoken_columns(words: str, known: Sequence[str]) -> list[str]:
    """Return the mentioned columns: quoted or known ones, else a guess, on each side of a pair."""
    verb = VERB.search(words)
    sides = PAIR.split(words[verb.end() :] if verb else words, maxsplit=1)
    if len(sides) == 1 or QUOTED.search(words):
        return mentioned(words, known) or guessed(sides[0])
    return [name for side in sides for name in (mentioned(side, known) or guessed(side))[:1]]


def guessed(text: str) -> list[str]:
    """Return a possible name in a text, or nothing."""
    name = name_in(text)
    return [name] if name else []


def name_in(text: str) -> str:
    """Return the first words that may be a name."""
    for phrase in PHRASE_ENDS.split(text):
        said = [word for word in re.findall(r"[\w()/%-]+", phrase) if word.lower() not in FILLERS]
        if said:
            return " ".join(said[:MAX_WORDS])
    return ""


def chart_code(chart: Chart, notebook: ParsedNotebook) -> str:
    """Return the code that draws the chart."""
    imported = any("plt" in names(cell.source).defined for cell in notebook.code)
    head = [] if imported else ["import matplotlib.pyplot as plt", ""]
    draw = {"histogram": histogram, "bars": bars, "line": line, "scatter": scatter}[chart.kind]
    lines = [*head, "fig, ax = plt.subplots(figsize=(7, 4))", *draw(chart)]
    if chart.group and chart.kind != "bars":
        lines.append(f"ax.legend(title={python_string(chart.group[0])})")
    title = " against ".join(chart.columns)
    by = f" by {chart.group[0]}" if chart.group else ""
    return "\n".join([*lines, f"ax.set_title({python_string(title + by)})", "plt.show()"])


def column(chart: Chart, position: int, rows: str | None = None) -> str:
    """Return the expression of a column."""
    return f"{rows or chart.frame}[{python_string(chart.columns[position])}]"


def grouped(chart: Chart) -> str:
    """Return the head of a loop over the groups."""
    assert chart.group is not None
    key = chart.group[0] if chart.group[1] else python_string(chart.group[0])
    return f"for name, rows in {chart.frame}.groupby({key}):"


def labels(horizontal: str, vertical: str) -> list[str]:
    """Return the lines that label the axes."""
    return [
        f"ax.set_xlabel({python_string(horizontal)})",
        f"ax.set_ylabel({python_string(vertical)})",
    ]


def histogram(chart: Chart) -> list[str]:
    """Return the lines of a histogram."""
    if chart.group:
        drawing = (
            f"    ax.hist({column(chart, 0, 'rows')}.dropna(), bins=20, alpha=0.6, label=name)"
        )
        return [grouped(chart), drawing, *labels(chart.columns[0], "rows")]
    drawing = f"ax.hist({column(chart, 0)}.dropna(), bins=20)"
    return [drawing, *labels(chart.columns[0], "rows")]


def bars(chart: Chart) -> list[str]:
    """Return the lines of a bar chart of counts."""
    drawing = f"{column(chart, 0)}.value_counts().plot.bar(ax=ax)"
    return [drawing, *labels(chart.columns[0], "rows")]


def line(chart: Chart) -> list[str]:
    """Return the lines of a line chart."""
    two = len(chart.columns) == 2
    order = f".sort_values({python_string(chart.columns[1])})" if two else ""
    rows = f"rows{order}" if chart.group else f"{chart.frame}{order}"
    data = f"ordered[{python_string(chart.columns[0])}]"
    given = f"ordered[{python_string(chart.columns[1])}], {data}" if two else data
    indent, label = ("    ", ", label=name") if chart.group else ("", "")
    drawing = [f"{indent}ordered = {rows}", f"{indent}ax.plot({given}{label})"]
    head = [grouped(chart)] if chart.group else []
    horizontal = chart.columns[1] if two else "row"
    return [*head, *drawing, *labels(horizontal, chart.columns[0])]


def scatter(chart: Chart) -> list[str]:
    """Return the lines of a scatter plot, the first column upwards."""
    ends = labels(chart.columns[1], chart.columns[0])
    if chart.group:
        data = f"{column(chart, 1, 'rows')}, {column(chart, 0, 'rows')}"
        return [grouped(chart), f"    ax.scatter({data}, s=20, label=name)", *ends]
    return [f"ax.scatter({column(chart, 1)}, {column(chart, 0)}, s=20)", *ends]
