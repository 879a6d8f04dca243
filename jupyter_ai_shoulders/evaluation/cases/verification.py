"""Work outside the cells: kernel inspection, scratch code and verification of notebooks."""

from __future__ import annotations

from jupyter_ai_shoulders.evaluation import checks
from jupyter_ai_shoulders.evaluation.case import Case, of_script
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, read, run
from jupyter_ai_shoulders.evaluation.workspace_fixture import code, one_notebook
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn

_COUNTS = '{"north": 3, "south": 4}'
_VERIFY = Call("verify_notebook", {"path": PATH})

_OUT_OF_ORDER = Case(
    name="prove-the-fix-of-a-rename",
    about="A name that no cell defines any more still runs in the current kernel; verifying finds "
    "the failing cell and confirms the fix.",
    fixture=one_notebook(
        code("load", f"bike_count = {_COUNTS}"),
        code("total", "total = sum(counts.values())\nprint(total)"),
    ),
    messages=("Does this notebook run from top to bottom? If not, mend cell 1.",),
    script=(
        read(),
        turn(Call("run_code", {"path": PATH, "code": f"counts = {_COUNTS}"})),
        turn(run("total")),
        read(),
        turn(_VERIFY),
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
        turn(_VERIFY),
        turn(Call("inspect_variables", {"path": PATH, "names": ["counts", "total"]})),
        turn(
            Call(
                "complete",
                {"summary": "Cell 1 makes counts again; both cells run in a fresh kernel."},
            )
        ),
    ),
    inspects=("total", "counts"),
    checks=(
        checks.turn_exits("ended_by_tool"),
        checks.cell_reads(PATH, "load", f"counts = {_COUNTS}"),
        checks.in_kernel("total", "7"),
        checks.approved_before_run("run_code"),
        checks.approved_before_run("verify_notebook"),
        *of_script(
            checks.results(
                ("read_notebook", "ok"),
                ("run_code", "ok"),
                ("run_cell", "ok"),
                ("read_notebook", "ok"),
                ("verify_notebook", "error"),
                ("edit_cell", "ok"),
                ("verify_notebook", "ok"),
                ("inspect_variables", "ok"),
                ("complete", "ok"),
            ),
            checks.request_has(5, "stale: uses `counts`, which no cell defines"),
            checks.request_has(6, "does not run in a fresh kernel", "name 'counts' is not defined"),
            checks.request_has(8, "all 2 code cells run in a fresh kernel"),
            checks.request_has(9, "counts: dict · 2 items of str → int", "total: int"),
        ),
    ),
)

CASES: tuple[Case, ...] = (_OUT_OF_ORDER,)
