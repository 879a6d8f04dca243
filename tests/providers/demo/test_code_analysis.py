"""Tests of parsing code and rendered notebooks without running anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.notebook.render import render_notebook
from jupyter_ai_shoulders.providers.demo.code_analysis import (
    names,
    needed_before,
    plain,
    renamed,
    undefined,
    with_import,
    with_string,
)
from jupyter_ai_shoulders.providers.demo.dataframes import closest_name, find_frames, table_header
from jupyter_ai_shoulders.providers.demo.known_imports import import_for
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook, parse_notebook
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import NotebookCell


def cells(*sources: str) -> tuple[ParsedCell, ...]:
    return tuple(
        ParsedCell(number, f"c{number}", "code", source, None, complete=True, failed=False)
        for number, source in enumerate(sources, start=1)
    )


UNDEFINED = {
    "plain use": ("print(x)", {"x"}),
    "assigned": ("x = 1\nprint(x)", set[str]()),
    "imported": ("import numpy as np\nnp.sum", set[str]()),
    "inside a function": ("def f(a):\n    return a + b", {"b"}),
    "comprehension": ("[i * k for i in range(3)]", {"k"}),
    "lambda": ("f = lambda a: a + c", {"c"}),
    "class": ("class A(Base):\n    n = 1\n    def m(self):\n        return d", {"Base", "d"}),
    "attribute and keyword": ("f(key=1).y", {"f"}),
    "loop and with": ("for i in s:\n    with open(i) as g:\n        g", {"s"}),
    "magic": ("%matplotlib inline\n!ls\nx = !ls\nprint(x)", set[str]()),
    "help": ("pd.DataFrame?\nprint(y)", {"y"}),
    "cell magic of Python": ("%%time\nprint(z)", {"z"}),
    "cell magic of another language": ("%%bash\necho $HOME", set[str]()),
    "syntax error": ("print(x", set[str]()),
    "display is there": ("display(1); _", set[str]()),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_undefined_names_are_found(name: str) -> None:
    source, expected = UNDEFINED[name]
    assert undefined(source) == expected


@pytest.mark.parametrize("source", ["from x import *", "%run other.py", "%%capture out\n1"])
def test_code_that_hides_names_is_known_to(source: str) -> None:
    assert names(source).more


@given(st.text(alphabet="ab=%!?\n ()'\\", max_size=40))
def test_making_magics_harmless_keeps_line_numbers(source: str) -> None:
    made = plain(source)
    assert made == "" or made.count("\n") == source.count("\n")


IMPORTS = {
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "stats": "from scipy import stats",
    "train_test_split": "from sklearn.model_selection import train_test_split",
    "json": "import json",
    "Path": "from pathlib import Path",
    "df": None,
}


@pytest.mark.parametrize("name", IMPORTS)
def test_well_known_names_have_an_import(name: str) -> None:
    assert import_for(name) == IMPORTS[name]


def test_import_is_added_below_what_must_stay_on_top() -> None:
    source = "%%time\nfrom __future__ import annotations\nimport os\nfrom x import (\n    y,\n)\nz"
    expected = source.replace("import os\n", "import os\nimport math\n")
    assert with_import(source, "import math") == expected


def test_only_variables_are_renamed() -> None:
    source = "é = dfx['dfx'].dfx + f(dfx=dfx)  # dfx"
    assert renamed(source, "dfx", "df") == "é = df['dfx'].dfx + f(dfx=df)  # dfx"


def test_only_whole_strings_are_replaced() -> None:
    assert with_string("a['x'] + 'xx' + x", "x", "y z") == "a[\"y z\"] + 'xx' + x"


def test_needed_cells_are_followed_through_others() -> None:
    made = cells("a = 1", "unused = 2", "b = a", "import math", "c = b + math.pi", "print(c)")
    assert [cell.number for cell in needed_before(made[-1], made)] == [1, 3, 4, 5]


def test_latest_definition_is_the_one_needed() -> None:
    made = cells("a = 1", "a = 2", "print(a)")
    assert [cell.number for cell in needed_before(made[-1], made)] == [2]


def test_frames_and_columns_are_found_in_code() -> None:
    notebook = ParsedNotebook(
        "a.ipynb",
        "",
        cells(
            "import pandas as pd\nfrom sklearn.datasets import load_iris",
            "raw = pd.read_csv('x.csv')\nraw['late'] = 1",
            "clean = raw.dropna().query('late')\nsmall = clean[['late', 'b']]",
            "made = pd.DataFrame({'k': [1], 'l': [2]})",
            "iris = load_iris(as_frame=True)\nflowers = iris.frame\ntarget = iris.target",
            "other.groupby('g').head()",
            "x = clean['b']\nn = len(raw)",
        ),
    )
    frames = find_frames(notebook)
    assert {name: list(frame.columns) for name, frame in frames.items()} == {
        "raw": ["late"],
        "clean": ["late", "b"],
        "small": ["late", "b"],
        "made": ["k", "l"],
        "flowers": [],
        "other": ["g"],
    }


def test_columns_are_read_from_a_printed_table() -> None:
    wrapped = "   species  bill length  \\\n0   Adelie         39.1   \n\n   sex  \n0    m  "
    assert table_header(wrapped) == ["species", "bill length", "sex"]


NAMES = ["Body Mass (g)", "bill_length_mm", "colorIntensity", "sex", "flipper_length_mm"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("body mass", "Body Mass (g)"),
        ("colour intensity", "colorIntensity"),
        ("bil_length_mm", "bill_length_mm"),
        ("SEX", "sex"),
        ("length", None),
        ("temperature", None),
    ],
)
def test_names_as_people_say_them_are_matched(said: str, meant: str | None) -> None:
    assert closest_name(said, NAMES) == meant


source_texts = st.text(alphabet="ab\n\\- '\"#é", max_size=60)


@given(st.lists(source_texts, max_size=6), st.booleans())
def test_rendered_notebook_is_read_back(sources: list[str], ran: bool) -> None:
    made = tuple(
        NotebookCell(
            id=CellId(f"c{number}"),
            cell_type="code" if number % 2 else "markdown",
            source=source,
            version=Version("0"),
            metadata={},
            execution_count=number if ran else None,
            output_summary=(),
            outputs=({"output_type": "stream", "name": "stdout", "text": source},) if ran else (),
        )
        for number, source in enumerate(sources, start=1)
    )
    snapshot = NotebookSnapshot('a "b".ipynb', "disk", made, {}, dirty=False)
    read = parse_notebook(render_notebook(snapshot).text)
    assert read is not None
    assert read.path == 'a "b".ipynb'
    assert [(cell.id, cell.source) for cell in read.cells if cell.complete] == [
        (cell.id, cell.source) for cell in made if cell.source.count("\n") < 20
    ]
