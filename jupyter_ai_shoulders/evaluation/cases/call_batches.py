"""Several calls in one step: run in the model's order; a denial skips the rest."""

from __future__ import annotations

import json

from jupyter_ai_shoulders.evaluation import checks
from jupyter_ai_shoulders.evaluation.case import Case, User
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, add, edit, read, run
from jupyter_ai_shoulders.evaluation.workspace_fixture import (
    NotebookFixture,
    WorkspaceFixture,
    code,
    one_notebook,
)
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, turn
from jupyter_ai_shoulders.wire.events import ApprovalDecision, ApprovalRequest

_FIXTURE = one_notebook(code("a", "x = 1"), code("b", "print(x)"))


def allows_edits(request: ApprovalRequest) -> ApprovalDecision:
    """Allow changes of text, but no runs."""
    return "allow" if request.tool == "edit_cell" else "deny"


_DENIAL = Case(
    name="denial-skips-the-rest",
    about="Calls allowed before a denial run, later calls are skipped, and the turn ends.",
    fixture=_FIXTURE,
    messages=("Set x to 2, run it, and add a cell.",),
    script=(read(), turn(edit("a", "x = 2"), run("b"), add("y = 1"), run("a"))),
    mode="ask",
    user=User(decides=allows_edits),
    checks=(
        checks.turn_exits("tool_rejected"),
        checks.results(
            ("read_notebook", "ok"),
            ("edit_cell", "ok"),
            ("run_cell", "denied"),
            ("add_cell", "skipped"),
            ("run_cell", "skipped"),
        ),
        checks.approvals_asked("edit_cell", "run_cell"),
        checks.sources(PATH, "x = 2", "print(x)"),
        checks.changes("Edit cell 1"),
    ),
)

_READS = Case(
    name="equal-reads-are-made-once",
    about="Reads of one step run together; a repeated read runs once and is answered twice, in the "
    "model's order.",
    fixture=_FIXTURE,
    messages=("What is in the notebook?",),
    script=(
        turn(
            Call("read_notebook", {"path": PATH}),
            Call("read_notebook", {"path": PATH, "cells": ["b"]}),
            Call("read_notebook", {"path": PATH}),
        ),
        turn(Say("x is 1 and printed.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.results(*[("read_notebook", "ok")] * 3),
        checks.calls_executed("read_notebook", "read_notebook"),
        checks.no_notices_but(),
    ),
)

_ORDER = Case(
    name="edit-and-run-in-one-step",
    about="A run after an edit in the same step runs the edited cell, and its approval shows the "
    "edited code.",
    fixture=_FIXTURE,
    messages=("Set x to 5 and run both.",),
    script=(
        read(),
        turn(edit("a", "x = 5"), run("a"), run("b")),
        turn(Say("It prints 5.")),
    ),
    inspects=("x",),
    checks=(
        checks.turn_exits("final_response"),
        checks.in_kernel("x", "5"),
        checks.output_has(PATH, "b", "5\n"),
        checks.approvals_asked("run_cell", "run_cell"),
    ),
)

_COMPLETE = Case(
    name="nothing-runs-after-complete",
    about="Calls after complete in the same step are skipped, without asking about them.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(
        read(),
        turn(
            edit("a", "x = 2"),
            Call(
                "complete", {"summary": "Cell 1 assigns 2 to x instead of 1; cell 2 was not run."}
            ),
            run("a"),
        ),
    ),
    checks=(
        checks.turn_exits("ended_by_tool"),
        checks.results(
            ("read_notebook", "ok"),
            ("edit_cell", "ok"),
            ("complete", "ok"),
            ("run_cell", "skipped"),
        ),
        checks.approvals_asked(),
        checks.cell_reads(PATH, "a", "x = 2"),
    ),
)

_RULES = {
    "version": 1,
    "disabled": ["delete_cell"],
    "rules": [
        {"action": "allow", "tool": "run_cell", "match": {"notebook": PATH}},
        {"action": "deny", "tool": "run_all_cells"},
    ],
}
_RULED = Case(
    name="rules-of-the-user-hold",
    about="A call that a rule allows runs without asking, one that a rule denies does not run, and "
    "a disabled tool is neither offered nor executed.",
    fixture=WorkspaceFixture(
        {PATH: NotebookFixture((code("a", "x = 1"),)), ".shoulders/tools.json": json.dumps(_RULES)}
    ),
    messages=("Run cell 1, then all, then delete it.",),
    script=(
        turn(run("a")),
        turn(Call("run_all_cells", {"path": PATH})),
        turn(Call("delete_cell", {"path": PATH, "cell_id": "a"})),
        turn(Say("Cell 1 ran; the rest your rules forbid.")),
    ),
    kind="run",
    inspects=("x",),
    checks=(
        checks.turn_exits("final_response"),
        checks.approvals_asked(),
        checks.results(("run_cell", "ok"), ("run_all_cells", "denied"), ("delete_cell", "error")),
        checks.refused("disabled", "switched off"),
        checks.in_kernel("x", "1"),
        checks.changes("Run cell 1"),
        checks.never_offered("delete_cell"),
    ),
)

_PLAN = Case(
    name="planned-reads-count-as-read",
    about="A plan reads two notebooks in one step of the model, and the cells it showed can be "
    "edited.",
    fixture=WorkspaceFixture(
        {
            PATH: NotebookFixture((code("a", "x = 1"),)),
            "b.ipynb": NotebookFixture((code("b", "y"),)),
        }
    ),
    messages=("Set x to 2 if y is there.",),
    script=(
        turn(
            Call(
                "run_plan",
                {
                    "steps": [
                        {"tool": "read_notebook", "args": {"path": PATH}},
                        {"tool": "read_notebook", "args": {"path": "b.ipynb"}},
                    ]
                },
            )
        ),
        turn(edit("a", "x = 2")),
        turn(Say("x is 2.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.request_has(2, "x = 1", "id=b"),
        checks.cell_reads(PATH, "a", "x = 2"),
        checks.results(("run_plan", "ok"), ("edit_cell", "ok")),
        checks.steps(3),
    ),
)

CASES = (_PLAN, _DENIAL, _READS, _ORDER, _COMPLETE, _RULED)
