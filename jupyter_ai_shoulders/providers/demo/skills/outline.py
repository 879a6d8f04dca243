"""Outlines a notebook: its sections, the purpose of their cells, libraries and failures."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.providers.demo.code_analysis import imports, parsed
from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.dataframes import BUNCH_CALLS, called
from jupyter_ai_shoulders.providers.demo.known_imports import PACKAGE_NAMES
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook
from jupyter_ai_shoulders.providers.demo.skill_protocol import Skill
from jupyter_ai_shoulders.providers.demo.skills.notebook_steps import listed, read

HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$", re.MULTILINE)
DOINGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^(read_\w+|load_dataset|open|loadtxt|genfromtxt)$"), "loads data"),
    (BUNCH_CALLS, "loads data"),
    (re.compile(r"^(dropna|fillna|drop_duplicates|to_numeric)$"), "cleans data"),
    (re.compile(r"^(merge|concat|join)$"), "combines tables"),
    (re.compile(r"^(groupby|pivot_table|agg|crosstab|value_counts)$"), "groups and counts"),
    (re.compile(r"^(train_test_split)$"), "splits the data for a test"),
    (re.compile(r"^(fit|fit_transform|fit_predict)$"), "fits a model"),
    (re.compile(r"^(predict|predict_proba|transform)$"), "applies a model"),
    (re.compile(r"^\w*(score|report|confusion_matrix)$"), "measures a model"),
    (
        re.compile(r"^(plot|hist|scatter|bar|barh|boxplot|imshow|subplots|lineplot|\w+plot)$"),
        "plots",
    ),
    (re.compile(r"^(to_csv|to_excel|to_parquet|savefig|dump|save)$"), "saves results"),
    (re.compile(r"^(describe|info|head|tail|sample)$"), "looks at the data"),
    (re.compile(r"^(DataFrame|from_dict|from_records|json_normalize)$"), "builds a table"),
)
MAX_TITLE = 80


@dataclass(slots=True)
class Section:
    """A heading and the cells below it."""

    title: str
    cells: list[ParsedCell] = field(default_factory=list[ParsedCell])


def outline(task: Task) -> Skill:
    """Describe the notebook."""
    notebook = yield from read(task, outputs=False, say="I'll read the notebook.")
    if not any(cell.source.strip() for cell in notebook.cells):
        return f"**`{notebook.path}`** is empty: there is nothing to outline yet."
    lines = [first_line(notebook), ""]
    lines += [section_line(section, notebook.foreign) for section in sections(notebook)]
    libraries = [] if notebook.foreign else packages(notebook)
    if libraries:
        lines += ["", f"Libraries: {', '.join(libraries)}."]
    lines += state_lines(notebook, can_fix=notebook.foreign is None)
    return "\n".join(lines)


def first_line(notebook: ParsedNotebook) -> str:
    """Return the notebook's name, title and size."""
    count, code = len(notebook.cells), len(notebook.code)
    cells = "1 cell" if count == 1 else f"{count} cells"
    title = next((found for cell in notebook.cells for found in headings(cell)), None)
    named = f" – {title}" if title else ""
    return f"**`{notebook.path}`**{named} ({cells}, {code} with code)"


def headings(cell: ParsedCell) -> list[str]:
    """Return the headings of a text cell."""
    if cell.type != "markdown":
        return []
    return [found[1][:MAX_TITLE] for found in HEADING.findall(cell.source)]


def sections(notebook: ParsedNotebook) -> list[Section]:
    """Return the sections by headings; code before the first heading is a section of its own."""
    found = [Section("Beginning")]
    for cell in notebook.cells:
        found += [Section(title) for title in headings(cell)]
        if cell.is_code and cell.source.strip():
            found[-1].cells.append(cell)
    first_is_title = len(found) > 1 and not found[1].cells
    skipped = [found[0]] if not found[0].cells else []
    if first_is_title and len(found) > 2:
        skipped.append(found[1])
    return [section for section in found if not any(section is skip for skip in skipped)]


def section_line(section: Section, foreign: str | None) -> str:
    """Return one line of the outline; for another language, only the length of the code."""
    if not section.cells:
        return f"- **{section.title}**: text only"
    told = [
        f"{size(cell, foreign) if foreign else does(cell)} (cell {cell.number})"
        for cell in section.cells
    ]
    return f"- **{section.title}**: {', '.join(told)}"


def size(cell: ParsedCell, language: str) -> str:
    """Return how much code a cell has."""
    lines = cell.source.count("\n") + 1
    return f"{lines} line{'s' * (lines != 1)} of {language}"


def does(cell: ParsedCell) -> str:
    """Return the purpose of a cell, in a few words."""
    tree = parsed(cell.source)
    if tree is None or not tree.body:
        return "runs something that is not plain Python"
    called_names = [called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = dict.fromkeys(
        words for pattern, words in DOINGS if any(pattern.match(name) for name in called_names)
    )
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    doings = [*found][:3] + [f"defines `{name}`" for name in defined[:2]]
    return joined(doings) if doings else otherwise(tree)


def otherwise(tree: ast.Module) -> str:
    """Return the purpose of a cell that calls nothing known."""
    if all(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body):
        return "imports libraries"
    targets = [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    return f"computes `{targets[-1]}`" if targets else "shows a result"


def joined(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def packages(notebook: ParsedNotebook) -> list[str]:
    """Return the libraries used, by their package names."""
    used = imports([cell.source for cell in notebook.code])
    return [PACKAGE_NAMES.get(name, name) for name in used if name not in sys.stdlib_module_names]


def state_lines(notebook: ParsedNotebook, *, can_fix: bool) -> Iterator[str]:
    """Yield notable facts about the state: errors, cells not run."""
    failed = [cell for cell in notebook.code if cell.failed]
    if failed:
        verb = "shows" if len(failed) == 1 else "show"
        offer = "; say *fix it* and I'll try" if can_fix else ""
        yield f"\n{listed(failed).capitalize()} {verb} an error{offer}."
    waiting = [cell for cell in notebook.code if cell.run_count is None and cell.source.strip()]
    if waiting:
        verb = "has" if len(waiting) == 1 else "have"
        yield f"\n{listed(waiting).capitalize()} {verb} not been run yet."
