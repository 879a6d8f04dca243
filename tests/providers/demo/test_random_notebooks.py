"""The demo in random notebooks: names, columns and orders."""

from __future__ import annotations

import keyword
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.providers.demo.charts import FILLERS, PAIR, PHRASE_ENDS, VERB
from jupyter_ai_shoulders.providers.demo.code_analysis import BUILTINS
from jupyter_ai_shoulders.providers.demo.known_imports import import_for
from tests.providers.demo.fake_notebook import DemoConversation, Notebook

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WELL_KNOWN = [
    "math",
    "json",
    "re",
    "itertools",
    "Counter",
    "Path",
    "partial",
    "np_like",
    "defaultdict",
]


SPOKEN = (FILLERS, BUILTINS, frozenset(keyword.kwlist))
PHRASES = (PAIR, VERB, PHRASE_ENDS)


def is_free(name: str) -> bool:
    """Whether a name has no meaning in Python, in libraries, or in a request."""
    spoken = any(name in known for known in SPOKEN) or any(p.fullmatch(name) for p in PHRASES)
    return not spoken and import_for(name) is None


variables = st.text(LETTERS, min_size=4, max_size=9).filter(is_free)
words = st.text(LETTERS, min_size=4, max_size=8).filter(is_free)
columns = st.one_of(
    st.builds("{}_{}".format, words, words),
    st.builds("{} {}".format, words, words),
    words,
    st.builds("{}_{}_mm".format, words, words),
)
paths = st.builds("{}/{}.ipynb".format, words, words)
fillers = st.lists(st.builds("{} = {}".format, variables, st.integers(0, 99)), max_size=3)
few = settings(max_examples=30, deadline=None)


def notebook(cells: list[str], **more: object) -> Notebook:
    return Notebook({f"id{n}": source for n, source in enumerate(cells)}, **more)  # pyright: ignore[reportArgumentType]: fields of Notebook


@few
@given(st.sampled_from(WELL_KNOWN).filter(import_for), variables, fillers, paths, st.booleans())
def test_missing_import_is_fixed(
    name: str, variable: str, filler: list[str], path: str, ran: bool
) -> None:
    broken = f"{variable} = {name}"
    made = notebook([*filler, broken, *filler], path=path)
    if ran:
        made.run(f"id{len(filler)}")
    answer = DemoConversation(made).ask("this is broken, please fix it")
    assert made.cells[f"id{len(filler)}"] == f"{import_for(name)}\n{broken}"
    assert made.variables[variable] is not None
    assert "works now" in answer
    others = [source for key, source in made.cells.items() if key != f"id{len(filler)}"]
    assert others == [*filler, *filler]


@few
@given(variables, variables, st.integers(0, 7), fillers)
def test_mistyped_variable_is_fixed(name: str, result: str, at: int, filler: list[str]) -> None:
    cut = at % (len(name) - 1)
    typo = name[:cut] + name[cut + 1 :] if len(name) > 5 else name + name[-1]
    assume(is_free(typo) and typo not in {name, result} and result != name)
    assume(all(typo not in source for source in filler))
    made = notebook([f"{name} = [1, 2]", f"{result} = len({typo}) + sum({typo})", *filler])
    made.run("id0")
    made.run("id1")
    DemoConversation(made).ask(f"Fix the NameError in cell 2 of {made.path}")
    assert made.variables.get(result) == 5
    assert made.cells["id1"] == f"{result} = len({name}) + sum({name})"


@few
@given(st.lists(variables, min_size=3, max_size=5, unique=True))
def test_cells_are_run_in_the_order_they_need(chain: list[str]) -> None:
    sources = [f"{chain[0]} = 1"]
    sources += [f"{name} = {before} + 1" for before, name in pairwise(chain)]
    made = notebook(sources)
    last = f"id{len(sources) - 1}"
    made.run(last)
    answer = DemoConversation(made).ask("why? fix this error", active=last)
    assert made.variables[chain[-1]] == len(chain)
    assert made.cells == {f"id{n}": source for n, source in enumerate(sources)}
    assert "works now" in answer


ASKS = [
    "Plot the column `{}`",
    'please plot "{}" of my data',
    "can you draw a histogram of {}",
    "Plot {} in a new cell",
    "I'd like a chart of the {}, please",
]


@few
@given(
    st.lists(columns, min_size=2, max_size=5, unique_by=lambda name: name.replace("_", " ")),
    variables,
    words,
    st.sampled_from(ASKS),
    st.booleans(),
)
def test_named_column_is_plotted(
    names: list[str], frame: str, file: str, ask: str, ran: bool
) -> None:
    assume(frame not in " ".join(names) and not any(part in ask for part in names))
    table = {name: [1, 2, 3] for name in names}
    made = notebook(
        [
            "import pandas as pd",
            f"{frame} = pd.read_csv('{file}.csv')",
            f"len({frame}.head().data)",
        ],
        tables={f"{file}.csv": table},
    )
    if ran:
        made.run("id0")
        made.run("id1")
    wanted = names[0]
    spoken = wanted if "`" in ask or '"' in ask else wanted.replace("_", " ")
    answer = DemoConversation(made).ask(ask.format(spoken))
    new = [source for key, source in made.cells.items() if key.startswith("new")]
    assert len(new) == 1, answer
    assert f'{frame}["{wanted}"]' in new[0]
    assert "hist" in made.drawn
    assert answer.startswith("Done: ")


@few
@given(
    st.lists(columns, min_size=3, max_size=5, unique_by=lambda name: name.replace("_", " ")),
    variables,
    st.sampled_from(
        ["{} against {}, one colour per {}", "{} vs {} by {}", "{} vs. {} coloured by {}"]
    ),
)
def test_two_columns_and_a_group_are_plotted(names: list[str], frame: str, form: str) -> None:
    assume(frame not in " ".join(names))
    table = {name: [1, 2, 3] for name in names}
    made = notebook(
        [f"import pandas as pd\n{frame} = pd.read_csv('t.csv')"], tables={"t.csv": table}
    )
    answer = DemoConversation(made).ask("plot " + form.format(*names))
    drawn = " ".join(made.cells.values())
    assert f'{frame}.groupby("{names[2]}")' in drawn, answer
    assert f'rows["{names[1]}"], rows["{names[0]}"]' in drawn


@few
@given(st.lists(columns, min_size=2, max_size=4, unique=True), variables)
def test_wrong_column_in_code_is_fixed(names: list[str], frame: str) -> None:
    wanted = names[0]
    typo = wanted[:-1] + ("z" if wanted[-1] != "z" else "y")
    assume(typo not in names)
    table = {name: [1, 2, 3] for name in names}
    made = notebook(
        [
            f"import pandas as pd\n{frame} = pd.read_csv('t.csv')",
            f"print({frame}['{wanted}'])",
            f"print({frame}['{typo}'])",
        ],
        tables={"t.csv": table},
    )
    for cell in ("id0", "id1", "id2"):
        made.run(cell)
    answer = DemoConversation(made).ask("fix it")
    assert made.cells["id2"] == f'print({frame}["{wanted}"])'
    assert "works now" in answer


@pytest.mark.parametrize("ask", ["fix it", "plot it", "outline it", "hello"])
@few
@given(st.lists(st.text("ab=%!\n ()'[].:#", max_size=30), max_size=5))
def test_any_notebook_gets_an_answer(ask: str, sources: list[str]) -> None:
    made = notebook(sources)
    assert DemoConversation(made).ask(ask, active="id0")
