"""Models that claim work they did not do: the record shows the actual actions."""

from __future__ import annotations

from jupyter_ai_shoulders.evaluation import checks
from jupyter_ai_shoulders.evaluation.case import Case
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, edit, read, run
from jupyter_ai_shoulders.evaluation.workspace_fixture import code, one_notebook
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, turn

_FIXTURE = one_notebook(code("a", "x = 1"), code("b", "print(missing)"))

_CLAIM = Case(
    name="claimed-edit-is-not-listed",
    about="A model claims an edit it did not make: its text is kept, but the conversation lists no "
    "change and the notebook is unchanged.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(read(), turn(Say("I have set x to 2 in cell 1 and saved the notebook."))),
    checks=(
        checks.turn_exits("final_response"),
        checks.says("I have set x to 2"),
        checks.changes(),
        checks.nothing_changed(),
        checks.calls_executed("read_notebook"),
    ),
)

_FAILED = Case(
    name="claimed-success-of-a-failed-run",
    about="A model calls a failed run a success: the call is recorded as failed, with its error.",
    fixture=_FIXTURE,
    messages=("Run cell 2.",),
    script=(turn(run("b")), turn(Say("Cell 2 ran without errors."))),
    checks=(
        checks.turn_exits("final_response"),
        checks.results(("run_cell", "error")),
        checks.changes(),
        checks.output_has(PATH, "b", "NameError"),
        checks.request_has(2, "NameError: name 'missing' is not defined"),
    ),
)

_PLACEHOLDER = Case(
    name="complete-needs-a-summary",
    about="A placeholder summary of complete is refused, and a meaningful one accepted.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(
        read(),
        turn(edit("a", "x = 2")),
        turn(Call("complete", {"summary": "Done. Everything looks good!"})),
        turn(
            Call("complete", {"summary": "Cell 1 assigns 2 to x instead of 1; cell 2 was not run."})
        ),
    ),
    checks=(
        checks.turn_exits("ended_by_tool"),
        checks.summary_says("Cell 1 assigns 2 to x"),
        checks.results(
            ("read_notebook", "ok"),
            ("edit_cell", "ok"),
            ("complete", "error"),
            ("complete", "ok"),
        ),
        checks.changes("Edit cell 1"),
    ),
)

_CAP = Case(
    name="claims-until-the-step-cap",
    about="At the step limit the summary for the user lists the actual actions, not the model's "
    "claims.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(
        turn(Say("Editing cell 1."), Call("read_notebook", {"path": PATH})),
        turn(Say("Edited; checking."), Call("read_notebook", {"path": PATH, "cells": ["a"]})),
        turn(Say("All edits are in."), Call("read_notebook", {"path": PATH, "cells": ["b"]})),
    ),
    step_limit=3,
    checks=(
        checks.turn_exits("step_cap"),
        checks.summary_says("nothing was changed"),
        checks.nothing_changed(),
    ),
)

_OLD_STRING = Case(
    name="replacement-of-what-is-not-there",
    about="Replacing a text that the cell does not contain changes nothing and returns an error.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(
        read(),
        turn(
            Call(
                "edit_cell",
                {"path": PATH, "cell_id": "a", "old_string": "x = 0", "new_string": "x = 2"},
            )
        ),
        turn(Say("x is 2 now.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.refused("not_found", "nothing was changed", "x = 1"),
        checks.nothing_changed(),
    ),
)

CASES = (_CLAIM, _FAILED, _PLACEHOLDER, _CAP, _OLD_STRING)
