"""Profiling a dataframe with real pandas, and reporting only what the output shows."""

from __future__ import annotations

import pytest

from tests.providers.demo.fake_notebook import LOOP_TOOLS, DemoConversation, Notebook

DATA = """import pandas as pd
sales = pd.DataFrame({"region": ["north", "south", None], "units sold": [1, 2, 2]})"""


def sales(**more: object) -> Notebook:
    return Notebook({"a": DATA}, real=True, **more)  # pyright: ignore[reportArgumentType]: fields of Notebook


def test_profile_reports_what_its_cell_shows() -> None:
    notebook = sales()
    notebook.run("a")
    talk = DemoConversation(notebook)
    answer = talk.ask("Profile the data")
    assert talk.done == ["read_notebook", "add_cell", "run_cell new-2"]
    lines = answer.split("\n")
    assert lines[0] == "`sales` has 3 rows and 2 columns; 1 value is missing."
    assert lines[2].startswith("- `region`: ")
    assert lines[2].endswith(", 2 distinct, **1 missing** (33%)")
    assert lines[3] == "- `units sold`: int64, 2 distinct"
    assert lines[-1] == "The table itself: see the output of cell 2."


def test_profile_of_data_not_loaded_loads_it_first() -> None:
    answer = DemoConversation(sales()).ask("profile sales")
    assert answer.endswith("see the output of cell 2. I ran cell 1 first.")


def test_second_profile_uses_the_cell_there_is() -> None:
    notebook = sales()
    notebook.run("a")
    talk = DemoConversation(notebook)
    talk.ask("profile sales")
    talk.ask("profile sales")
    assert len(notebook.cells) == 2


def test_profile_defines_no_name() -> None:
    notebook = sales()
    notebook.run("a")
    before = set(notebook.variables)
    DemoConversation(notebook).ask("profile sales")
    assert set(notebook.variables) == before


def test_values_that_cannot_be_compared_are_left_out_after_one_repair() -> None:
    source = "import pandas as pd\nlists = pd.DataFrame({'l': [[1], [2]]})"
    notebook = Notebook({"a": source}, real=True)
    notebook.run("a")
    talk = DemoConversation(notebook)
    answer = talk.ask("profile lists")
    assert talk.done[-2:] == ["edit_cell new-2", "run_cell new-2"]
    assert "- `l`: object\n" in answer


def test_error_without_a_rule_is_told_once() -> None:
    notebook = Notebook({"a": "import pandas as pd\ntable = pd.read_csv('t')\ntable.head"})
    notebook.tables["t"] = {"x": [1]}
    talk = DemoConversation(notebook)
    answer = talk.ask("profile the table")
    assert "fails with `AttributeError" in answer or "fails with `TypeError" in answer
    assert talk.done.count("run_cell new-1") == 1


def test_wide_table_is_shortened_and_says_so() -> None:
    source = "import pandas as pd\nwide = pd.DataFrame({f'c{n}': [n] for n in range(40)})"
    notebook = Notebook({"a": source}, real=True)
    notebook.run("a")
    answer = DemoConversation(notebook).ask("profile wide")
    assert "40 columns; no value is missing." in answer
    assert answer.count("- `c") == 15
    assert "25 more columns and the table itself: see the output of cell 2." in answer


def test_output_that_is_not_the_profile_is_not_read_as_one() -> None:
    notebook = sales()
    notebook.run("a")
    talk = DemoConversation(notebook)
    talk.notebook.execute = lambda source: None
    assert "not what I expected" in talk.ask("profile sales")


def test_other_dataframe_libraries_are_declined() -> None:
    notebook = Notebook({"a": "import polars as pl\ndf = pl.read_csv('x')"})
    talk = DemoConversation(notebook)
    assert "this notebook uses polars" in talk.ask("profile df")
    assert talk.done == ["read_notebook"]


def test_profile_that_may_not_run_says_where_it_is() -> None:
    notebook = sales()
    notebook.run("a")
    notebook.refuse = lambda act: (
        "The user did not allow this call." if act.tool == "run_cell" else None
    )
    assert DemoConversation(notebook).ask("profile sales") == (
        "The profile is cell 2, but it is not finished. I did not run cell 2: it was not allowed."
    )


TWO = DATA + "\nstock = pd.DataFrame({'depot': [1]})"


def two(*answers: str) -> Notebook:
    notebook = Notebook({"a": TWO}, real=True, answers=[*answers])
    notebook.run("a")
    return notebook


@pytest.mark.parametrize("answer", ["stock", "The stock one please"])
def test_which_of_two_dataframes_is_asked(answer: str) -> None:
    notebook = two(answer)
    told = DemoConversation(notebook, LOOP_TOOLS).ask("profile my data")
    assert notebook.done[1].arguments == {
        "question": "Which dataframe shall I profile: `sales` or `stock`?",
        "options": ["sales", "stock"],
    }
    assert told.startswith("`stock` has 1 row and 1 column;")


def test_answer_that_is_no_dataframe_ends_the_attempt() -> None:
    notebook = two("both")
    answer = DemoConversation(notebook, LOOP_TOOLS).ask("profile my data")
    assert answer == "I do not know a dataframe `both` here. There is `sales` or `stock`."


def test_question_is_put_in_words_where_there_is_no_tool_for_it() -> None:
    talk = DemoConversation(two())
    assert talk.ask("profile my data") == "Which dataframe shall I profile: `sales` or `stock`?"
    assert talk.ask("stock").startswith("`stock` has 1 row")


def test_one_named_or_in_the_active_cell_needs_no_question() -> None:
    notebook = two()
    notebook.cells["b"] = "stock.head()"
    assert DemoConversation(notebook).ask("profile sales").startswith("`sales` has")
    assert DemoConversation(notebook).ask("profile the data", active="b").startswith("`stock` has")


def test_column_is_asked_for_and_the_answer_is_plotted() -> None:
    notebook = Notebook({"a": DATA}, answers=["units sold"])
    notebook.run("a")
    DemoConversation(notebook, LOOP_TOOLS).ask("plot my data")
    assert notebook.done[1].arguments["options"] == ["region", "units sold"]
    assert 'sales["units sold"]' in notebook.cells["new-2"]


def test_two_answers_in_words_belong_to_one_request() -> None:
    notebook = two()
    notebook.real = False
    talk = DemoConversation(notebook)
    assert talk.ask("plot my data").startswith("Which dataframe shall I plot")
    assert talk.ask("sales").startswith("Which column of `sales`")
    talk.ask("units sold")
    assert any('sales["units sold"]' in source for source in notebook.cells.values())


def test_other_request_than_the_answer_is_taken_as_itself() -> None:
    talk = DemoConversation(two())
    talk.ask("profile my data")
    assert talk.ask("outline the notebook").startswith("**`random.ipynb`**")


def test_which_of_two_open_notebooks_is_asked() -> None:
    notebook = Notebook({"a": "x = 1"}, path="b.ipynb", answers=["b.ipynb"])
    talk = DemoConversation(notebook, LOOP_TOOLS)
    talk.ask("outline the notebook", document=None, opened=["a.ipynb", "b.ipynb"])
    assert notebook.done[0].arguments["options"] == ["a.ipynb", "b.ipynb"]
    assert notebook.done[1].arguments == {"path": "b.ipynb"}
    asked = DemoConversation(notebook).ask(
        "outline it", document=None, opened=["a.ipynb", "b.ipynb"]
    )
    assert asked == "Which notebook do you mean? Open are `a.ipynb`, `b.ipynb`."
