"""Models that send invalid arguments: they get an explanation three times, then the turn ends."""

from __future__ import annotations

from jupyter_ai_shoulders.evaluation import checks
from jupyter_ai_shoulders.evaluation.case import Case
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, edit, read
from jupyter_ai_shoulders.evaluation.workspace_fixture import code, one_notebook
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, turn

_FIXTURE = one_notebook(code("a", "x = 1"))

_NAME = Case(
    name="unknown-tool-is-answered-with-the-nearest",
    about="A call of an unknown tool is answered with the name that was probably meant.",
    fixture=_FIXTURE,
    messages=("What is x?",),
    script=(turn(Call("read_notebok", {"path": PATH})), read(), turn(Say("x is 1."))),
    checks=(
        checks.turn_exits("final_response"),
        checks.refused("unknown_tool", "read_notebok", "Did you mean 'read_notebook'?"),
        checks.results(("read_notebok", "error"), ("read_notebook", "ok")),
        checks.nothing_changed(),
    ),
)

_TYPES = Case(
    name="wrong-types-and-extra-keys-are-repaired",
    about="Invalid arguments are answered with the schema, never executed, and then repaired.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(
        read(),
        turn(Call("edit_cell", {"path": PATH, "cell_id": 1, "source": ["x = 2"]})),
        turn(Call("edit_cell", {"path": PATH, "cell": "a", "cell_id": "a", "source": "x = 3"})),
        turn(edit("a", "x = 2")),
        turn(Say("x is 2.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.cell_reads(PATH, "a", "x = 2"),
        checks.refused("invalid_arguments", "cell_id: ", "source: ", '"properties"'),
        checks.refused("invalid_arguments", "cell: Extra inputs are not permitted"),
        checks.changes("Edit cell 1"),
        checks.calls_executed("read_notebook", "edit_cell"),
    ),
)

_JSON = Case(
    name="arguments-that-are-no-json-are-repaired",
    about="Truncated arguments and arguments that are not JSON are not executed but requested "
    "again.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(
        read(),
        turn(Call("edit_cell", '{"path": "work.ipynb", "cell_id": "a", "source": "x = ')),
        turn(Call("edit_cell", "x = 2")),
        turn(edit("a", "x = 2")),
        turn(Say("x is 2.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.cell_reads(PATH, "a", "x = 2"),
        checks.refused("invalid_arguments", "not a JSON object"),
        checks.changes("Edit cell 1"),
    ),
)

_NEVER = Case(
    name="mangled-calls-are-stopped-after-three-repairs",
    about="A model that makes only invalid calls is stopped, and nothing is executed.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(
        turn(Call("edit_cel", {"path": PATH})),
        turn(Call("edit_cell", {"path": 7})),
        turn(Call("edit_cell", "{")),
        turn(Call("edit_cell", {"path": PATH, "cell_id": "a", "text": "x = 2"})),
        turn(Say("never said")),
    ),
    checks=(
        checks.turn_exits("error"),
        checks.fails_with("loop_detected", "4 tool calls in a row could not be executed"),
        checks.steps(4),
        checks.calls_executed(),
        checks.nothing_changed(),
    ),
)

_COUNT = Case(
    name="repaired-calls-are-forgiven",
    about="A model that makes many invalid calls but repairs each is not stopped.",
    fixture=_FIXTURE,
    messages=("Count x up to 4.",),
    script=(
        read(),
        *(
            reply
            for number in (2, 3, 4)
            for reply in (
                turn(Call("edit_cell", {"path": PATH, "cell_id": "a", "text": f"x = {number}"})),
                turn(Call("edit_cell", f"x = {number}")),
                turn(edit("a", f"x = {number}")),
            )
        ),
        turn(Say("x is 4.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.cell_reads(PATH, "a", "x = 4"),
        checks.steps(11),
    ),
)

CASES = (_NAME, _TYPES, _JSON, _NEVER, _COUNT)
