"""The demo's skills in ordinary notebooks, run by its pure planner."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_ai_shoulders.providers.demo.intents import parts_of
from jupyter_ai_shoulders.providers.demo.skill_protocol import SkillCall
from tests.providers.demo.fake_notebook import DemoConversation, Notebook

TABLE = {"sales.csv": {"region": ["a"], "net_revenue": [1], "units sold": [2]}}


def done(notebook: Notebook) -> list[str]:
    """Return the calls in short: ``run_cell b``."""
    return [
        " ".join(filter(None, (act.tool, str(act.arguments.get("cell_id") or ""))))
        for act in notebook.done
    ]


# Fixing


async def test_missing_import_is_added_to_the_cell_that_failed() -> None:
    notebook = Notebook({"a": "x = 1", "b": "y = math.sqrt(x)\nprint(y)"})
    notebook.run("a")
    notebook.run("b")
    answer = DemoConversation(notebook).ask("Please fix the error")
    assert notebook.cells["b"] == "import math\ny = math.sqrt(x)\nprint(y)"
    assert done(notebook) == ["read_notebook", "edit_cell b", "run_cell b"]
    assert answer == (
        "Cell 2 failed with `NameError: name 'math' is not defined`.\n"
        "- The cause: `math` was never imported; I added `import math` at the top.\n\n"
        "I ran cell 2 again: it works now."
    )


async def test_missing_import_is_found_before_anything_ran() -> None:
    notebook = Notebook({"a": "x = 4", "b": "from time import time", "c": "print(math.pi * x)"})
    notebook.run("a")
    answer = DemoConversation(notebook).ask("fix it", active="a")
    assert notebook.cells["c"].startswith("import math\n")
    assert "would have failed" in answer
    assert "works now" in answer


async def test_import_goes_below_a_cell_magic() -> None:
    notebook = Notebook({"a": "%%time\nprint(math.pi)"})
    DemoConversation(notebook).ask("fix it")
    assert notebook.cells["a"] == "%%time\nimport math\nprint(math.pi)"


async def test_import_is_written_as_the_notebook_writes_it() -> None:
    notebook = Notebook({"a": "print(m.pi)", "b": "import math as m"})
    DemoConversation(notebook).ask("fix it")
    assert notebook.cells["a"] == "import math as m\nprint(m.pi)"


async def test_mistyped_name_is_replaced_everywhere_but_in_strings() -> None:
    notebook = Notebook(
        {"a": "measurement = 3", "b": "print(mesurement, 'mesurement', mesurement)"}
    )
    notebook.run("a")
    notebook.run("b")
    answer = DemoConversation(notebook).ask("cell 2 does not work")
    assert notebook.cells["b"] == "print(measurement, 'mesurement', measurement)"
    assert "changed it to `measurement`" in answer


async def test_cells_above_run_first_when_they_never_did() -> None:
    notebook = Notebook({"a": "x = 2", "b": "unrelated = 1", "c": "y = x + 1", "d": "print(y)"})
    notebook.run("d")
    answer = DemoConversation(notebook).ask("fix this error", active="d")
    assert done(notebook) == ["read_notebook", "run_cell a", "run_cell c", "run_cell d"]
    assert notebook.cells["d"] == "print(y)"
    assert "I ran cells 1 and 3 first" in answer


async def test_name_defined_further_down_is_run_and_told() -> None:
    notebook = Notebook({"a": "print(total)", "b": "total = 5"})
    notebook.run("a")
    answer = DemoConversation(notebook).ask("fix it")
    assert done(notebook) == ["read_notebook", "run_cell b", "run_cell a"]
    assert "cell 2 should move above cell 1" in answer


async def test_second_error_is_fixed_too_and_no_third() -> None:
    source = "print(math.pi, json.dumps(1), random.random())"
    notebook = Notebook({"a": source})
    answer = DemoConversation(notebook).ask("fix it")
    assert notebook.cells["a"] == f"import math\nimport json\n{source}"
    assert "It still fails, now with `NameError: name 'random' is not defined`." in answer


async def test_near_column_is_used_for_a_key_error() -> None:
    source = "import pandas as pd\nsales = pd.read_csv('sales.csv')"
    notebook = Notebook(
        {"a": source, "b": "sales['net_revenue']", "c": "print(sales['net_revenu'])"}, TABLE
    )
    for cell in "abc":
        notebook.run(cell)
    answer = DemoConversation(notebook).ask("fix the KeyError")
    assert notebook.cells["c"] == 'print(sales["net_revenue"])'
    assert "works now" in answer


async def test_what_no_rule_fits_is_explained_and_left_alone() -> None:
    notebook = Notebook({"a": "1 / 0"})
    notebook.run("a")
    answer = DemoConversation(notebook).ask("fix it")
    assert done(notebook) == ["read_notebook"]
    assert "ZeroDivisionError" in answer
    assert "I changed nothing" in answer


async def test_missing_library_is_not_installed() -> None:
    notebook = Notebook({"a": "import no_such_library_anywhere"})
    notebook.run("a")
    answer = DemoConversation(notebook).ask("fix it")
    assert "%pip install no_such_library_anywhere" in answer
    assert done(notebook) == ["read_notebook"]


async def test_question_about_an_error_changes_nothing() -> None:
    notebook = Notebook({"a": "print(math.pi)"})
    notebook.run("a")
    answer = DemoConversation(notebook).ask("Why does this cell fail?", active="a")
    assert done(notebook) == ["read_notebook"]
    assert "`math` was never imported" in answer


async def test_active_cell_is_tried_when_nothing_looks_wrong() -> None:
    notebook = Notebook({"a": "x = 1", "b": "print(x.real)"})
    notebook.run("a")
    answer = DemoConversation(notebook).ask("fix it", active="b")
    assert done(notebook) == ["read_notebook", "run_cell b"]
    assert "it works" in answer


async def test_long_cells_are_read_whole_before_they_are_changed() -> None:
    source = "\n".join([f"value_{n} = {n}" for n in range(40)] + ["print(math.pi)"])
    notebook = Notebook({"a": source})
    notebook.run("a")
    DemoConversation(notebook).ask("fix it")
    assert notebook.cells["a"] == f"import math\n{source}"
    assert done(notebook)[:2] == ["read_notebook", "read_notebook"]


# Plotting


def sales(*more: str) -> Notebook:
    cells = {"a": "import pandas as pd\nsales = pd.read_csv('sales.csv')"}
    notebook = Notebook(cells | {f"m{n}": source for n, source in enumerate(more)}, TABLE)
    notebook.run("a")
    return notebook


async def test_column_is_plotted_in_a_new_cell_that_is_run() -> None:
    notebook = sales("sales['units sold']")
    answer = DemoConversation(notebook).ask("Plot the units sold")
    assert list(notebook.cells) == ["a", "m0", "new-2"]
    assert notebook.drawn == ["hist", "set_xlabel", "set_ylabel", "set_title"]
    assert 'sales["units sold"]' in notebook.cells["new-2"]
    assert answer == "Done: cell 3 plots `units sold` of `sales`."


async def test_quoted_column_needs_no_look_at_the_names() -> None:
    notebook = sales()
    DemoConversation(notebook).ask("Plot `net_revenue`")
    assert done(notebook) == ["read_notebook", "add_cell", "run_cell new-2"]


async def test_two_columns_and_a_group_become_a_coloured_scatter() -> None:
    notebook = sales()
    answer = DemoConversation(notebook).ask(
        "plot net revenue against units sold, one colour per region"
    )
    assert "scatter" in notebook.drawn
    assert 'sales.groupby("region")' in notebook.cells["new-2"]
    assert "`net_revenue` against `units sold`" in answer


CHARTS = {
    "plot units sold over net_revenue as a line": 'ordered["net_revenue"], ordered["units sold"]',
    "plot the trend of net_revenue": 'ax.plot(ordered["net_revenue"])',
    "a line of net_revenue against units sold per region": 'sales.groupby("region")',
    "bar chart of region": 'sales["region"].value_counts().plot.bar(ax=ax)',
    "histogram of net_revenue for each region": 'rows["net_revenue"].dropna()',
    "draw how many rows there are per region": 'sales["region"].value_counts()',
}


@pytest.mark.parametrize("ask", CHARTS)
async def test_kind_of_chart_follows_the_words(ask: str) -> None:
    notebook = sales("sales[['net_revenue', 'units sold', 'region']]")
    answer = DemoConversation(notebook).ask(f"plot: {ask}")
    assert answer.startswith("Done: ")
    assert CHARTS[ask] in notebook.cells["new-2"]


async def test_bars_are_drawn_when_a_column_holds_no_numbers() -> None:
    notebook = sales()
    notebook.fails["hist"] = TypeError("no numbers")
    answer = DemoConversation(notebook).ask("plot `region`")
    assert "plot.bar" in notebook.cells["new-2"]
    assert answer.startswith("Done: ")


async def test_error_without_a_rule_leaves_the_cell_and_says_so() -> None:
    notebook = sales()
    notebook.fails["hist"] = OSError("disk")
    answer = DemoConversation(notebook).ask("plot `region`")
    assert "it fails with `OSError: disk`" in answer
    assert "new-2" in notebook.cells


async def test_new_cell_is_found_when_the_tool_names_no_id() -> None:
    notebook = sales()
    notebook.names_new_cells = False
    assert DemoConversation(notebook).ask("plot `region`").startswith("Done: ")
    assert [act.tool for act in notebook.done].count("read_notebook") == 2


async def test_frame_named_in_the_request_is_used() -> None:
    notebook = sales("other = sales.copy()\nother.head()\nother.head()")
    notebook.run("m0")
    DemoConversation(notebook).ask("plot `region` of sales")
    assert 'sales["region"]' in notebook.cells["new-3"]


async def test_plot_without_a_column_asks_for_one() -> None:
    answer = DemoConversation(sales("sales['region']")).ask("plot my data")
    assert answer == "Which column of `sales` shall I plot? I know of `region`."


async def test_new_cell_goes_below_the_active_one_when_asked() -> None:
    notebook = sales("print(1)", "print(2)")
    DemoConversation(notebook).ask("plot `region` in a new cell below this one", active="m0")
    assert list(notebook.cells) == ["a", "m0", "new-2", "m1"]


async def test_wrong_quoted_column_is_replaced_by_the_near_one() -> None:
    notebook = sales()
    answer = DemoConversation(notebook).ask("Plot `net_revenu`")
    assert answer == "Done: cell 2 plots `net_revenue` of `sales`."


async def test_column_called_like_its_dataframe_is_plotted() -> None:
    source = "import pandas as pd\nsales = pd.DataFrame({'sales': [1], 'day': [2]})"
    notebook = Notebook({"a": source}, real=True)
    notebook.run("a")
    assert DemoConversation(notebook).ask("plot sales against day").startswith("Done: ")
    assert DemoConversation(notebook).ask("plot day against price of sales")


async def test_dataframe_named_beside_a_column_is_no_column() -> None:
    assert (
        DemoConversation(sales("sales['region']")).ask("plot region and sales").startswith("Done: ")
    )


async def test_unknown_column_leaves_no_cell_behind() -> None:
    notebook = sales()
    answer = DemoConversation(notebook).ask("Plot the temperature")
    assert list(notebook.cells) == ["a"]
    assert "no column like `temperature`" in answer
    assert "`net_revenue`" in answer


async def test_data_is_loaded_first_when_it_never_was() -> None:
    notebook = Notebook(
        {"a": "import pandas as pd", "b": "sales = pd.read_csv('sales.csv')"}, TABLE
    )
    answer = DemoConversation(notebook).ask("Plot `region`")
    assert done(notebook)[-3:] == ["run_cell a", "run_cell b", "run_cell new-1"]
    assert "I ran cells 1 and 2 first" in answer


async def test_plot_without_data_says_so() -> None:
    notebook = Notebook({"a": "x = 1"})
    assert "no dataframe" in DemoConversation(notebook).ask("plot x")


# Outlining


async def test_outline_tells_sections_libraries_and_state() -> None:
    cells = {
        "t": "# Sales of 2026",
        "h": "## Load",
        "a": "import pandas as pd\nfrom sklearn import svm\nimport os\ndf = pd.read_csv('x')",
        "m": "## Model",
        "b": "model.fit(df)\nmodel.score(df)",
        "e": "## Thoughts",
    }
    notebook = Notebook(cells, kinds=dict.fromkeys("thme", "markdown"))
    notebook.run("b")
    assert DemoConversation(notebook).ask("Can you outline this notebook?") == (
        "**`random.ipynb`** – Sales of 2026 (6 cells, 2 with code)\n\n"
        "- **Load**: loads data (cell 3)\n"
        "- **Model**: fits a model and measures a model (cell 5)\n"
        "- **Thoughts**: text only\n\n"
        "Libraries: pandas, scikit-learn.\n\n"
        "Cell 5 shows an error; say *fix it* and I'll try.\n\n"
        "Cell 3 has not been run yet."
    )


# Conversations


@pytest.mark.parametrize(
    "text", ["Hi", "hello there!", "What can you do?", "help", "Are you an AI?"]
)
async def test_greeting_says_what_it_is(text: str) -> None:
    answer = DemoConversation(Notebook({})).ask(text)
    assert answer.startswith("Hello! I am the **Demo (no AI model)**")


async def test_what_it_has_no_rule_for_is_said_plainly() -> None:
    answer = DemoConversation(Notebook({})).ask("Translate this to French")
    assert answer.startswith("I am the **Demo (no AI model)** and have no rule for that.")
    assert len(answer.split("\n\n")) == 2


IDEAS = json.loads(
    (Path(__file__).parents[3] / "labextension/src/chat/empty-state/demoIdeas.json").read_text(
        "utf-8"
    )
)
"""The requests that the panel offers while the demo answers."""


@pytest.mark.parametrize(
    "text",
    [*IDEAS["any"], *IDEAS["notebook"], *IDEAS["tour"], IDEAS["error"], IDEAS["table"]],
)
async def test_offered_request_has_a_rule(text: str) -> None:
    notebook = Notebook({"a": "x = 1"})
    answer = DemoConversation(notebook).ask(text.replace("%1", "1"), document=notebook.path)
    assert "no rule for that" not in answer


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (IDEAS["error"], "fix"),
        (IDEAS["table"], "profile"),
        *zip(IDEAS["tour"], ["fix", "plot", "profile"], strict=True),
    ],
)
def test_offered_request_is_understood(text: str, kind: str) -> None:
    assert parts_of(text.replace("%1", "1"))[0].kind == kind


@pytest.mark.parametrize("text", ["fix it", "plot `x`", "outline the notebook"])
async def test_without_an_open_notebook_it_asks_for_one(text: str) -> None:
    answer = DemoConversation(Notebook({})).ask(text, document=None)
    assert "Open the one you mean" in answer


async def test_notebook_may_be_named_in_the_text() -> None:
    notebook = Notebook({"a": "print(math.pi)"}, path="deep/random.ipynb")
    DemoConversation(notebook).ask("fix deep/random.ipynb please", document=None)
    assert notebook.done[0].arguments["path"] == "deep/random.ipynb"


async def test_second_request_starts_anew() -> None:
    notebook = sales("print(math.pi)")
    talk = DemoConversation(notebook)
    assert "works now" in talk.ask("fix it")
    assert "Done" in talk.ask("now plot `region`")
    assert "Hello" in talk.ask("hello")


async def test_yes_after_an_explanation_fixes_what_was_explained() -> None:
    notebook = Notebook({"a": "print(math.pi)"})
    notebook.run("a")
    talk = DemoConversation(notebook)
    talk.ask("why does this fail?", active="a")
    assert "works now" in talk.ask("Yes, please do it!", active="a")


async def test_go_on_repeats_the_request_before() -> None:
    talk = DemoConversation(sales())
    talk.ask("plot `region`")
    assert talk.ask("again").startswith("Done: ")
    assert "no rule for that" in DemoConversation(sales()).ask("go on")


# Refusals


def refuse(tool: str, text: str) -> Notebook:
    notebook = Notebook({"a": "print(math.pi)"})
    notebook.refuse = lambda act: text if act.tool == tool else None
    return notebook


REFUSALS = {
    "edit denied": (
        refuse("edit_cell", "The user did not allow this call."),
        "I did not edit cell 1: it was not allowed.",
    ),
    "run denied": (
        refuse("run_cell", "This needs an approval, and nobody is there to give one."),
        "I did not run cell 1: it was not allowed.",
    ),
    "conflict": (
        refuse(
            "edit_cell", "The cell was changed. Your version was put to the user as a proposal."
        ),
        "my change waits as a proposal",
    ),
    "page gone": (
        refuse("read_notebook", "The page that has it open does not respond."),
        "I could not read `random.ipynb`: The page that has it open does not respond.",
    ),
    "not found": (
        refuse("read_notebook", "There is no notebook at random.ipynb."),
        "There is no notebook at random.ipynb.",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_refusal_is_told_and_ends_the_attempt(name: str) -> None:
    notebook, words = REFUSALS[name]
    assert words in DemoConversation(notebook).ask("fix it")


async def test_what_was_done_before_a_refusal_is_told() -> None:
    notebook = refuse("run_cell", "The user did not allow this call.")
    assert DemoConversation(notebook).ask("fix it") == (
        "Cell 1 would have failed with `NameError: name 'math' is not defined`.\n"
        "- The cause: `math` was never imported; I added `import math` at the top.\n\n"
        "I did not run cell 1: it was not allowed."
    )


async def test_unfinished_plot_is_told() -> None:
    notebook = sales()
    notebook.refuse = lambda act: "Not allowed." if act.tool == "run_cell" else None
    answer = DemoConversation(notebook).ask("plot `region`")
    assert answer == (
        "I added cell 2 for the plot, but it is not finished. I did not run cell 2: it was not "
        "allowed."
    )


async def test_tool_that_is_switched_off_is_named() -> None:
    talk = DemoConversation(Notebook({"a": "print(math.pi)"}), tools=["read_notebook"])
    assert "`edit_cell`, which is switched off" in talk.ask("fix it")


async def test_conversation_that_went_another_way_is_not_guessed_at() -> None:
    notebook = Notebook({"a": "print(math.pi)"})
    talk = DemoConversation(notebook)
    talk.ask("fix it")
    del talk.messages[1:3]
    reply = talk.step()
    assert reply.act is None
    assert "do not cover" in reply.text


async def test_notice_on_a_result_is_no_new_request() -> None:
    notebook = Notebook({"a": "print(math.pi)"})
    notebook.refuse = lambda act: None
    talk = DemoConversation(notebook)
    talk.ask("fix it")
    results = talk.messages[2]
    assert results.role == "user"
    text = talk.messages[0].parts[0].model_copy(update={"text": "3 steps are left."})
    talk.messages[2:] = [results.model_copy(update={"parts": (*results.parts, text)})]
    assert talk.step().act == SkillCall(
        "edit_cell",
        {"path": "random.ipynb", "cell_id": "a", "source": "import math\nprint(math.pi)"},
        "Cell 1: `math` was never imported. I'll change that.",
    )
