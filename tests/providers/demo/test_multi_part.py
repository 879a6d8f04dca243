"""Requests with several parts: the list, the summary, and open parts when steps run out."""

from __future__ import annotations

from jupyter_ai_shoulders.tools.conversation.complete import is_meaningful
from jupyter_ai_shoulders.tools.conversation.todo import checklist
from jupyter_ai_shoulders.wire.events import TodoItem
from tests.providers.demo.fake_notebook import LOOP_TOOLS, TOOLS, DemoConversation, Notebook

ASK = "Outline the notebook, then fix the error and profile sales"
SALES = "import pandas as pd\nsales = pd.DataFrame({'region': ['a', 'b']})"


def broken() -> Notebook:
    notebook = Notebook({"a": SALES, "b": "print(math.pi)"}, real=True)
    notebook.run("a")
    notebook.run("b")
    return notebook


def test_parts_are_done_in_order_with_a_list_and_a_summary() -> None:
    talk = DemoConversation(broken(), LOOP_TOOLS)
    talk.ask(ASK)
    assert talk.done == [
        "todo",
        "read_notebook",
        "todo",
        "read_notebook",
        "edit_cell b",
        "run_cell b",
        "todo",
        "read_notebook",
        "add_cell",
        "run_cell new-4",
        "todo",
        "complete",
    ]


def test_list_is_ticked_off_part_by_part() -> None:
    notebook = broken()
    DemoConversation(notebook, LOOP_TOOLS).ask(ASK)
    lists = [
        checklist(str(act.arguments["markdown"])) for act in notebook.done if act.tool == "todo"
    ]
    assert lists[0] == (
        TodoItem(text="Outline the notebook", done=False, depth=0),
        TodoItem(text="Fix the error", done=False, depth=0),
        TodoItem(text="Profile sales", done=False, depth=0),
    )
    assert [sum(item.done for item in one) for one in lists] == [0, 1, 2, 3]


def test_summary_says_what_came_of_each_part() -> None:
    notebook = broken()
    DemoConversation(notebook, LOOP_TOOLS).ask(ASK)
    summary = str(notebook.done[-1].arguments["summary"])
    assert is_meaningful(summary)
    assert summary.split("\n") == [
        "3 of 3 parts of the request are done.",
        "- Outline the notebook: **`random.ipynb`** (2 cells, 2 with code)",
        "- Fix the error: I ran cell 2 again: it works now.",
        "- Profile sales: `sales` has 2 rows and 1 column; no value is missing.",
    ]


def test_without_loop_tools_all_is_said_at_the_end() -> None:
    answer = DemoConversation(broken(), TOOLS).ask(ASK)
    assert "These are 3 things" in answer
    assert "it works now" in answer
    assert "`sales` has 2 rows" in answer


def test_part_that_cannot_be_done_stays_open_and_the_others_go_on() -> None:
    notebook = broken()
    talk = DemoConversation(notebook, LOOP_TOOLS)
    talk.ask("profile sales; plot the temperature of sales; outline the notebook")
    summary = str(notebook.done[-1].arguments["summary"])
    assert summary.startswith("2 of 3 parts")
    last = next(act for act in reversed(notebook.done) if act.tool == "todo")
    done = [item.done for item in checklist(str(last.arguments["markdown"]))]
    assert done == [True, False, True]


def test_denied_part_is_told_and_the_others_go_on() -> None:
    notebook = broken()
    notebook.refuse = lambda act: (
        "The user did not allow this call." if act.tool == "edit_cell" else None
    )
    DemoConversation(notebook, LOOP_TOOLS).ask("fix the error and outline the notebook")
    assert notebook.done[-1].tool == "complete"


def test_refused_summary_is_not_repeated() -> None:
    notebook = broken()
    notebook.refuse = lambda act: "Too little." if act.tool == "complete" else None
    talk = DemoConversation(notebook, LOOP_TOOLS)
    assert talk.ask(ASK).startswith("3 of 3 parts")
    assert talk.done.count("complete") == 1


def test_last_step_ends_with_what_was_done_and_what_is_left() -> None:
    talk = DemoConversation(broken(), LOOP_TOOLS, limit=5)
    answer = talk.ask(ASK)
    assert talk.taken == 5
    assert talk.done == ["todo", "read_notebook", "todo", "read_notebook"]
    assert "1 of 3 parts of the request are done." in answer
    assert "this turn has no steps left" in answer


def test_last_step_of_a_single_thing_tells_its_story() -> None:
    talk = DemoConversation(broken(), limit=3)
    answer = talk.ask("fix the error")
    assert talk.done == ["read_notebook", "edit_cell b"]
    assert "I added `import math` at the top" in answer
    assert "this turn has no steps left" in answer


def test_summary_may_be_the_last_step() -> None:
    talk = DemoConversation(broken(), LOOP_TOOLS, limit=12)
    talk.ask(ASK)
    assert talk.done[-1] == "complete"


def test_list_of_what_is_left_comes_from_the_notebook() -> None:
    notebook = Notebook({"a": "1 / 0", "b": "x = 1", "c": "y = 2", "e": ""})
    notebook.run("a")
    answer = DemoConversation(notebook, LOOP_TOOLS).ask("Make a todo list")
    assert notebook.done[-1].arguments == {
        "markdown": "- [ ] Fix cell 1 (ZeroDivisionError)\n- [ ] Run cells 2 and 3, not run yet"
    }
    assert answer.startswith("2 things are left in `random.ipynb`")
    assert "- [ ] Run cells 2 and 3, not run yet" in DemoConversation(notebook).ask(
        "What is left to do?"
    )


def test_list_of_what_is_left_does_not_replace_the_list_of_parts() -> None:
    notebook = broken()
    DemoConversation(notebook, LOOP_TOOLS).ask("Profile sales, then tell me what is left to do.")
    lists = [str(act.arguments["markdown"]) for act in notebook.done if act.tool == "todo"]
    assert len(lists) == 3
    assert all("Profile sales" in one for one in lists)


def test_very_long_request_is_done_in_part_and_says_so() -> None:
    notebook = broken()
    answer = DemoConversation(notebook).ask("\n".join(["outline it", "profile sales"] * 8))
    assert answer.startswith("These are 12 things (the first 12; ask again for the rest);")


def test_nothing_left_is_said() -> None:
    notebook = Notebook({"a": "x = 1"})
    notebook.run("a")
    assert (
        DemoConversation(notebook, LOOP_TOOLS).ask("make a todo list").startswith("Nothing is left")
    )
