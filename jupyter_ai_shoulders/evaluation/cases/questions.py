"""Questions and plans of the agent: clarify, todo, and modes without a user to answer."""

from __future__ import annotations

from jupyter_ai_shoulders.evaluation import checks
from jupyter_ai_shoulders.evaluation.case import Case, User, of_script
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, add, edit, read, run
from jupyter_ai_shoulders.evaluation.workspace_fixture import (
    NotebookFixture,
    WorkspaceFixture,
    code,
    one_notebook,
)
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, turn

_FIXTURE = one_notebook(code("a", "x = 1"), code("b", "print(x)"))
_QUESTION = Call(
    "clarify",
    {
        "question": "Which cell?",
        "options": ["Cell 1", "Cell 2", "Cell 1"],
        "allow_multiple": True,
    },
)

_CLARIFY = Case(
    name="question-is-answered",
    about="The turn waits for the user's choices, which become the call's result; then it "
    "continues.",
    fixture=_FIXTURE,
    messages=("Put a comment on it.",),
    script=(
        read(),
        turn(_QUESTION),
        turn(edit("a", "x = 1  # one"), edit("b", "print(x)  # two")),
        turn(Say("Both have a comment.")),
    ),
    user=User(answers=(("Cell 1", "Cell 2"),)),
    checks=(
        checks.turn_exits("final_response"),
        checks.request_has(3, "Cell 1, Cell 2"),
        checks.sources(PATH, "x = 1  # one", "print(x)  # two"),
    ),
)

_UNANSWERED = Case(
    name="question-waits",
    about="A question without an answer keeps the turn open, without a result.",
    fixture=_FIXTURE,
    messages=("Put a comment on it.",),
    script=(turn(_QUESTION),),
    checks=(checks.turn_exits(), checks.turn_waits(), checks.results(), checks.nothing_changed()),
)

_BY_MESSAGE = Case(
    name="question-is-answered-by-a-message",
    about="A message sent while a question is pending is its answer, in the same turn.",
    fixture=_FIXTURE,
    messages=("Put a comment on it.", "The first, please"),
    script=(
        read(),
        turn(_QUESTION),
        turn(edit("a", "x = 1  # one")),
        turn(Say("Cell 1 has a comment.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.request_has(3, "The first, please"),
        checks.sources(PATH, "x = 1  # one", "print(x)"),
    ),
)

_NOBODY = Case(
    name="question-in-a-background-run",
    about="In a session without a user, a question ends the turn and is part of the result.",
    fixture=_FIXTURE,
    messages=("Put a comment on it.",),
    script=(read(), turn(_QUESTION)),
    kind="run",
    checks=(
        checks.turn_exits("ended_by_tool"),
        checks.summary_says("Which cell? (Cell 1 / Cell 2)"),
        checks.nothing_changed(),
    ),
)

_RUN = Case(
    name="background-run-works-around-a-denial",
    about="In a background run a call that would ask is refused, and the model continues with "
    "permitted calls.",
    fixture=_FIXTURE,
    messages=("Set x to 2 and run cell 2.",),
    script=(
        read(),
        turn(edit("a", "x = 2")),
        turn(run("b")),
        turn(Say("x is 2. Cell 2 was not run: that needs your approval.")),
    ),
    kind="run",
    checks=(
        checks.turn_exits("final_response"),
        checks.cell_reads(PATH, "a", "x = 2"),
        checks.approvals_asked(),
        *of_script(
            checks.refused("approval_required", "runs code"),
            checks.results(("read_notebook", "ok"), ("edit_cell", "ok"), ("run_cell", "denied")),
            checks.changes("Edit cell 1"),
        ),
    ),
    real=True,
)

_PLAN = Case(
    name="plan-mode-only-reads",
    about="In plan mode only read tools are offered, and calls of others are refused.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(
        read(),
        turn(edit("a", "x = 2")),
        turn(Say("I would set x to 2 in cell 1.")),
    ),
    mode="plan",
    checks=(
        checks.turn_exits("final_response"),
        checks.nothing_changed(),
        checks.approvals_asked(),
        *of_script(
            checks.offered_reads_only(),
            checks.refused("denied", "In plan mode only reading is allowed"),
            checks.calls_executed("read_notebook"),
        ),
    ),
    real=True,
)

_TODO = Case(
    name="checklist-is-replaced-as-a-whole",
    about="The checklist is that of the last call; a text without items changes nothing.",
    fixture=_FIXTURE,
    messages=("Add a cell that sets y, and one that sets z. Keep a checklist.",),
    script=(
        turn(Call("todo", {"markdown": "My plan:\n- [ ] set y\n  - [ ] set z"})),
        turn(add("y = 2"), Call("todo", {"markdown": "- [x] set y\n- [ ] set z"})),
        turn(Call("todo", {"markdown": "set y, set z"})),
        turn(add("z = 3"), Call("todo", {"markdown": "- [x] set y\n- [x] set z"})),
        turn(Say("Both are set.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.todo(("set y", True), ("set z", True)),
        checks.sources(PATH, "x = 1", "print(x)", "y = 2", "z = 3"),
        checks.changes("Add code cell", "Add code cell"),
    ),
)

_SWITCHED_OFF = Case(
    name="tools-switched-off",
    about="If tools are switched off, none are offered, and a call gets an error immediately.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(turn(edit("a", "x = 2")), turn(Say("I cannot edit here; write x = 2 in cell 1."))),
    tools="disabled",
    checks=(
        checks.turn_exits("final_response"),
        checks.nothing_changed(),
        checks.approvals_asked(),
        checks.never_offered("edit_cell"),
        *of_script(checks.refused("disabled", "switched off"), checks.calls_executed()),
    ),
    real=True,
)

_INSTRUCTED = Case(
    name="instructions-of-the-project",
    about="The text in _instructions.md is part of every turn's instructions; its comments are "
    "not.",
    fixture=WorkspaceFixture(
        {
            PATH: NotebookFixture((code("a", "x = 1"),)),
            "_instructions.md": "Answer in rhymes. <!-- not yet: in French -->\n",
        }
    ),
    messages=("What is x?",),
    script=(read(), turn(Say("x is one, and that is fun."))),
    checks=(
        checks.turn_exits("final_response"),
        checks.system_prompt_has(1, "Answer in rhymes."),
        checks.system_prompt_has(2, "Answer in rhymes."),
        checks.nothing_changed(),
    ),
)

CASES = (
    _CLARIFY,
    _UNANSWERED,
    _BY_MESSAGE,
    _NOBODY,
    _RUN,
    _PLAN,
    _TODO,
    _SWITCHED_OFF,
    _INSTRUCTED,
)
