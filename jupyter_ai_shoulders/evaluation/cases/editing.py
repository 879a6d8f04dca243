"""Work in a notebook: finding, editing, running, and preserving the user's changes."""

from __future__ import annotations

from pathlib import Path

from jupyter_ai_shoulders.evaluation import checks
from jupyter_ai_shoulders.evaluation.case import Case, Message, User, of_script
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, edit, read, run
from jupyter_ai_shoulders.evaluation.workspace_fixture import (
    code,
    markdown,
    one_notebook,
    printed,
    user_edits,
)
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, turn
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.messages import CellAttachment

_BROKEN = (
    "The last cell fails with a NameError. The dictionary of cell 2 should be named counts as "
    "before; mend cell 2, and run cells 2 and 3."
)
_COUNTS = 'counts = {"north": 3, "south": 4}'
_RENAMED = Case(
    name="fix-by-rename",
    about="A name changed in an early cell is corrected there, and the later cell runs.",
    fixture=one_notebook(
        markdown("title", "# Bikes"),
        code("load", 'bike_count = {"north": 3, "south": 4}'),
        code("total", "total = sum(counts.values())\nprint(total)"),
    ),
    messages=(_BROKEN,),
    script=(
        read(),
        turn(run("load"), run("total")),
        turn(
            Call(
                "edit_cell",
                {
                    "path": PATH,
                    "cell_id": "load",
                    "old_string": "bike_count",
                    "new_string": "counts",
                },
            )
        ),
        turn(run("load"), run("total")),
        turn(Say("Cell 2 names the dictionary counts again; cell 3 prints 7.")),
    ),
    inspects=("total", "counts"),
    checks=(
        checks.turn_exits("final_response"),
        checks.cell_reads(PATH, "load", _COUNTS),
        checks.cell_reads(PATH, "total", "total = sum(counts.values())\nprint(total)"),
        checks.output_has(PATH, "total", "7\n"),
        checks.in_kernel("total", "7"),
        checks.in_kernel("counts", "{'north': 3, 'south': 4}"),
        checks.approved_before_run("run_cell"),
        checks.steps_at_most(12),
        *of_script(
            checks.changes("Run cell 2", "Edit cell 2", "Run cell 2", "Run cell 3"),
            checks.request_has(3, "NameError: name 'counts' is not defined"),
            checks.request_has(5, "finished: ok", "7"),
            checks.steps(5),
            checks.no_notices_but(),
        ),
    ),
    real=True,
)

_ROUNDS = 12
_TWELVE = Case(
    name="edit-run-twelve-rounds",
    about="Repeated edits and runs with changing results are progress, not a loop.",
    fixture=one_notebook(code("try", "value = 0\nprint(value)")),
    messages=("Raise value step by step until it prints 12; run the cell after each edit.",),
    script=(
        read(),
        *(
            reply
            for number in range(1, _ROUNDS + 1)
            for reply in (turn(edit("try", f"value = {number}\nprint(value)")), turn(run("try")))
        ),
        turn(Say("It prints 12.")),
    ),
    step_limit=40,
    inspects=("value",),
    checks=(
        checks.turn_exits("final_response"),
        checks.in_kernel("value", "12"),
        checks.output_has(PATH, "try", "12\n"),
        checks.approvals_asked(kind="loop"),
        *of_script(
            checks.approvals_asked(*["run_cell"] * _ROUNDS),
            checks.no_notices_but(),
            checks.steps(2 * _ROUNDS + 2),
            checks.tokens_at_most(5_000),
        ),
    ),
)

_ORDER = Case(
    name="added-cells-keep-their-order",
    about="Several cells added below the same cell keep the requested order.",
    fixture=one_notebook(code("first", "a = 1"), code("last", "z = 26")),
    messages=("Add cells that set b to 2 and c to 3, in this order, right below the first cell.",),
    script=(
        read(),
        turn(
            Call("add_cell", {"path": PATH, "source": "b = 2", "after": "first"}),
            Call("add_cell", {"path": PATH, "source": "c = 3", "after": "first"}),
        ),
        turn(Say("Two cells added below the first.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.sources(PATH, "a = 1", "b = 2", "c = 3", "z = 26"),
        checks.approvals_asked(),
    ),
    real=True,
)

_UNREAD = Case(
    name="unread-cell-is-shown-first",
    about="A cell the model has not read is not edited; it is shown, and can then be edited.",
    fixture=one_notebook(code("a", "x = 1"), code("b", "y = 2")),
    messages=("Set x to 10.",),
    script=(turn(edit("a", "x = 5")), turn(edit("a", "x = 10")), turn(Say("x is 10."))),
    checks=(
        checks.turn_exits("final_response"),
        checks.only_line_changed(PATH, "x = 1", "x = 10"),
        *of_script(
            checks.refused("not_read", "x = 1"),
            checks.results(("edit_cell", "error"), ("edit_cell", "ok")),
            checks.changes("Edit cell 1"),
        ),
    ),
    real=True,
)


def _user_sets_x(root: Path) -> None:
    user_edits(root, PATH, "a", "x = 99  # mine")


_STALE = Case(
    name="stale-cell-becomes-a-proposal",
    about="A cell the user changed after the model read it gets a proposal instead of an edit, and "
    "other cells of the same step are edited.",
    fixture=one_notebook(code("a", "x = 1"), code("b", "y = 2")),
    messages=("Add 1 to each value.",),
    script=(
        read(),
        turn(edit("a", "x = 2"), edit("b", "y = 3")),
        turn(Say("y is 3; you changed x in the meantime, so 2 is a proposal there.")),
    ),
    user=User(actions_before_request={2: _user_sets_x}),
    checks=(
        checks.cell_has(PATH, "a", "# mine"),
        *of_script(
            checks.turn_exits("final_response"),
            checks.sources(PATH, "x = 99  # mine", "y = 3"),
            checks.proposed(PATH, "a", "x = 1", "x = 2"),
            checks.refused("stale", "nothing was overwritten", "x = 99  # mine"),
            checks.changes("Edit cell 2"),
        ),
    ),
    real=True,
)

_DELETED = Case(
    name="stale-cell-is-not-deleted",
    about="A cell the user has changed is not deleted by a model that has read only its old text.",
    fixture=one_notebook(code("a", "x = 1"), code("b", "y = 2")),
    messages=("Delete the first cell.",),
    script=(
        read(),
        turn(Call("delete_cell", {"path": PATH, "cell_id": "a"})),
        turn(Say("You changed it in the meantime, so I kept it. Should I delete it anyway?")),
    ),
    user=User(actions_before_request={2: _user_sets_x}),
    checks=(
        checks.turn_exits("final_response"),
        checks.sources(PATH, "x = 99  # mine", "y = 2"),
        checks.refused("stale", "x = 99  # mine"),
        checks.changes(),
    ),
)

_PROTECTED = Case(
    name="protected-cell-stays",
    about="A cell protected by its metadata is not edited in any mode.",
    fixture=one_notebook(code("a", "SEED = 1", editable=False), code("b", "y = 2")),
    messages=("Set SEED to 2.",),
    script=(read(), turn(edit("a", "SEED = 2")), turn(Say("Cell 1 is protected, so it stays."))),
    checks=(
        checks.turn_exits("final_response"),
        checks.same_file(PATH),
        *of_script(checks.refused("cell_protected"), checks.changes()),
    ),
    mode="bypass",
    real=True,
)

_APPROVED = Case(
    name="closed-notebook-asks-before-it-is-edited",
    about="In mode ask, a notebook that is not open is edited only when allowed, and every other "
    "byte of the file is unchanged.",
    fixture=one_notebook(
        markdown("text", "Grüße"),
        code("a", "x = 1", printed("1\n"), tags=["keep"]),
        code("b", "y = 2"),
    ),
    messages=("Set x to 5.",),
    script=(read(), turn(edit("a", "x = 5")), turn(Say("x is 5."))),
    mode="ask",
    checks=(
        checks.turn_exits("final_response"),
        checks.only_line_changed(PATH, "x = 1", "x = 5"),
        checks.approved_before_run("edit_cell"),
        *of_script(checks.approvals_asked("edit_cell", kind="mode")),
    ),
    real=True,
)

_ATTACHED = Case(
    name="attached-cell-counts-as-read",
    about="A cell the user attached can be edited without reading it again.",
    fixture=one_notebook(code("a", "x = 1"), code("b", "y = 2")),
    messages=(
        Message("Set this to 7.", (CellAttachment(kind="cell", path=PATH, cell_id=CellId("a")),)),
    ),
    script=(turn(edit("a", "x = 7")), turn(Say("x is 7."))),
    checks=(
        checks.turn_exits("final_response"),
        checks.sources(PATH, "x = 7", "y = 2"),
        *of_script(checks.request_has(1, "x = 1"), checks.steps(2)),
    ),
    real=True,
)

CASES = (
    _RENAMED,
    _TWELVE,
    _ORDER,
    _UNREAD,
    _STALE,
    _DELETED,
    _PROTECTED,
    _APPROVED,
    _ATTACHED,
)
