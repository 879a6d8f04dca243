"""The demo's rules for errors other than names and keys, and its answer without a rule."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.providers.demo.diagnosis import diagnose
from jupyter_ai_shoulders.providers.demo.diagnosis_results import Edit, Unknown
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook
from tests.providers.demo import fake_notebook as fake
from tests.providers.demo.fake_notebook import TOOLS, DemoConversation


def cells(*sources: str) -> ParsedNotebook:
    made = [
        ParsedCell(number, f"c{number}", "code", source, None, complete=True, failed=False)
        for number, source in enumerate(sources, start=1)
    ]
    return ParsedNotebook("work/a.ipynb", "", tuple(made))


FIXES = {
    "file named nearly the same": (
        ["x = open('data/visits.csv')", "open('data/visit.csv')"],
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/visit.csv'",
        'open("data/visits.csv")',
    ),
    "file in another folder": (
        ["x = open('../in/visits.csv')", "open('visits.csv')"],
        "FileNotFoundError: [Errno 2] No such file or directory: 'visits.csv'",
        'open("../in/visits.csv")',
    ),
    "column of a group": (
        ["df.groupby('places')", "df.groupby('places')['place'].mean()"],
        "KeyError: 'Column not found: place'",
        "df.groupby('places')[\"places\"].mean()",
    ),
    "mistyped method": (
        ["df.haed()"],
        "AttributeError: 'DataFrame' object has no attribute 'haed'",
        "df.head()",
    ),
    "mistyped column as attribute": (
        ["df.head()['revenue']\ndf['revenue']", "df.revenu.sum() + df.revenu"],
        "AttributeError: 'DataFrame' object has no attribute 'revenu'",
        "df.revenue.sum() + df.revenue",
    ),
    "old NumPy type": (
        ["np.array([1], dtype=np.float)"],
        "AttributeError: module 'numpy' has no attribute 'float'.\n`np.float` was",
        "np.array([1], dtype=float)",
    ),
    "mistyped library": (
        ["import panda as pd\nfrom panda.io import x\npanda = 1"],
        "ModuleNotFoundError: No module named 'panda'",
        "import pandas as pd\nfrom pandas.io import x\npanda = 1",
    ),
    "module that moved": (
        ["from sklearn.cross_validation import train_test_split"],
        "ModuleNotFoundError: No module named 'sklearn.cross_validation'",
        "from sklearn.model_selection import train_test_split",
    ),
    "name that moved": (
        ["from collections.abc import Counter"],
        "ImportError: cannot import name 'Counter' from 'collections.abc' (abc.py)",
        "from collections import Counter",
    ),
}


@pytest.mark.parametrize("name", FIXES)
def test_error_with_a_rule_is_fixed(name: str) -> None:
    sources, error, expected = FIXES[name]
    notebook = cells(*sources)
    found = diagnose(notebook, notebook.cells[-1], error)
    assert isinstance(found, Edit), found
    assert found.source == expected


ADVICE = {
    "no file near": ("open('zebra.csv')", "FileNotFoundError: … 'zebra.csv'", "list files"),
    "path that is computed": ("open(name)", "FileNotFoundError: … 'visits.csv'", "list files"),
    "library that is not installed": (
        "import seaborn",
        "ModuleNotFoundError: No module named 'seaborn'",
        "%pip install seaborn",
    ),
    "method that is gone": (
        "df.append(1)",
        "AttributeError: 'DataFrame' object has no attribute 'append'",
        "taken out of pandas",
    ),
    "nothing where something was expected": (
        "df.head()",
        "AttributeError: 'NoneType' object has no attribute 'head'",
        "`inplace=True`",
    ),
    "attribute of an object": (
        "x.lenght",
        "AttributeError: 'Box' object has no attribute 'lenght'",
        "`Box` has no attribute `lenght`",
    ),
    "name a library does not have": (
        "math.sqroot(2)",
        "AttributeError: module 'math' has no attribute 'sqroot'",
        "`math` has no `sqroot`",
    ),
    "name that cannot be imported": (
        "from os import zebra",
        "ImportError: cannot import name 'zebra' from 'os' (os.py)",
        "does not offer `zebra`",
    ),
    "type": ("1 + ''", "TypeError: unsupported operand", "different type"),
    "unheard of": ("x", "StrangeError: …", "no rule for this kind"),
}


@pytest.mark.parametrize("name", ADVICE)
def test_error_without_a_rule_is_explained(name: str) -> None:
    source, error, words = ADVICE[name]
    notebook = cells(source)
    found = diagnose(notebook, notebook.cells[-1], error)
    assert isinstance(found, Unknown), found
    assert words in found.advice


def missing_file() -> fake.Notebook:
    notebook = fake.Notebook({"a": "print(open('sale.csv').read())"}, path="work/a.ipynb")
    notebook.run("a")
    return notebook


def test_files_are_listed_where_a_tool_is_offered() -> None:
    notebook = missing_file()
    notebook.files = "work/a.ipynb  2 kB\nwork/in/sales.csv  1 kB\nREADME.md"
    DemoConversation(notebook, (*TOOLS, "list_files")).ask("fix it")
    assert notebook.done[1].arguments == {}
    assert notebook.cells["a"] == 'print(open("in/sales.csv").read())'


def test_code_that_lists_files_runs_where_only_that_is_offered() -> None:
    notebook = missing_file()
    notebook.files = "sales.csv"
    DemoConversation(notebook, (*TOOLS, "run_code")).ask("fix it")
    assert "glob('**/*.csv')" in str(notebook.done[1].arguments["code"])
    assert notebook.cells["a"] == 'print(open("sales.csv").read())'


def test_explaining_runs_no_code() -> None:
    notebook = missing_file()
    answer = DemoConversation(notebook, (*TOOLS, "run_code")).ask("why does this fail?")
    assert [act.tool for act in notebook.done] == ["read_notebook"]
    assert "no tool for that here" in answer


def test_failed_listing_is_no_listing() -> None:
    notebook = missing_file()
    notebook.refuse = lambda act: "No." if act.tool == "list_files" else None
    answer = DemoConversation(notebook, (*TOOLS, "list_files")).ask("fix it")
    assert "I changed nothing" in answer


def test_output_that_shows_files_helps() -> None:
    cells = {
        "l": "print('data/visits_2026.csv', 'data/notes.txt')",
        "a": "open('data/visits2026.csv')",
    }
    notebook = fake.Notebook(cells)
    notebook.run("l")
    notebook.run("a")
    DemoConversation(notebook).ask("fix the FileNotFoundError")
    assert notebook.cells["a"] == 'open("data/visits_2026.csv")'


def test_the_cell_named_is_the_one_looked_at() -> None:
    notebook = fake.Notebook({"a": "x = 1", "b": "print(math.pi)"})
    notebook.run("b")
    assert DemoConversation(notebook).ask("fix cell 1") == (
        "I ran cell 1: it works. If another cell fails, run it and ask me."
    )
    assert "no error in cell 1" in DemoConversation(notebook).ask("why does cell 1 fail?")
    assert "There is no cell 7" in DemoConversation(notebook).ask("fix cell 7")


def test_the_error_named_is_the_one_fixed() -> None:
    notebook = fake.Notebook({"a": "print(math.pi)", "b": "1 / 0"})
    notebook.run("a")
    notebook.run("b")
    assert "works now" in DemoConversation(notebook).ask("fix the NameError")


def test_cells_that_were_run_are_not_run_again_for_one_below() -> None:
    cells = {"a": "x = [1]", "b": "print(total)", "c": "total = len(x)"}
    notebook = fake.Notebook(cells)
    notebook.run("a")
    notebook.run("b")
    talk = DemoConversation(notebook)
    assert "works now" in talk.ask("fix it")
    assert talk.done == ["read_notebook", "run_cell c", "run_cell b"]


def test_cells_run_in_a_kernel_that_is_gone_are_run_again() -> None:
    notebook = fake.Notebook({"a": "x = [1]", "b": "print(total)", "c": "total = len(x)"})
    notebook.run("a")
    notebook.variables.clear()
    notebook.run("b")
    talk = DemoConversation(notebook)
    assert "works now" in talk.ask("fix it")
    assert talk.done == ["read_notebook", *(f"run_cell {cell}" for cell in "cacb")]


def test_repair_that_does_not_help_is_told_and_not_repeated() -> None:
    notebook = fake.Notebook({"a": "df.haed()"})
    notebook.variables["df"] = type("DataFrame", (), {})()
    notebook.run("a")
    talk = DemoConversation(notebook)
    answer = talk.ask("fix it")
    assert talk.done == ["read_notebook", "edit_cell a", "run_cell a"]
    assert "It still fails, now with `AttributeError" in answer
