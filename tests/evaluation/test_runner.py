"""The harness itself: it sees what is wrong, runs real providers too, and reports plainly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.evaluation import Case, CaseReport, Report, User, code, evaluate
from jupyter_ai_shoulders.evaluation import checks as check
from jupyter_ai_shoulders.evaluation.__main__ import chosen, main
from jupyter_ai_shoulders.evaluation.case import of_script, with_nudges, without_nudges
from jupyter_ai_shoulders.evaluation.cases.injection_follower import follow_injection, order
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, edit, read, run
from jupyter_ai_shoulders.evaluation.recorded_models import SCRIPTED
from jupyter_ai_shoulders.evaluation.workspace_fixture import one_notebook, user_edits
from jupyter_ai_shoulders.testing.scripted_provider import Gate, Say, turn
from jupyter_ai_shoulders.wire.ids import ModelId

DEMO = ModelId("demo")


def case(**changes: Any) -> Case:
    """A case that reads a notebook and passes."""
    values: dict[str, Any] = {
        "name": "plain",
        "about": "Reads.",
        "fixture": one_notebook(code("a", "x = 1")),
        "messages": ("What is x?",),
        "script": (read(), turn(Say("x is 1."))),
        "checks": (check.turn_exits("final_response"),),
    }
    return Case(**{**values, **changes})


async def only(given: Case, *, model: ModelId = SCRIPTED, nudges: bool = True) -> CaseReport:
    report = await evaluate([given], model=model, nudges=[nudges])
    return report.cases[0]


async def test_a_case_that_holds_passes_with_its_numbers():
    found = await only(case())
    assert found == CaseReport("plain", True, (), "final_response", 2, 240, found.seconds)
    assert found.passed


async def test_what_does_not_hold_is_said_with_what_was_found():
    wrong = case(checks=(check.turn_exits("step_cap"), check.cell_reads(PATH, "a", "x = 2")))
    found = await only(wrong)
    assert found.problems == (
        "exits step_cap: the exits were ['final_response'] []",
        "cell a of work.ipynb: it was 'x = 1', not 'x = 2'",
    )


WRONG = (
    check.turn_exits("cancelled"),
    check.turn_waits(),
    check.fails_with("internal"),
    check.summary_says("much"),
    check.steps(1),
    check.steps_at_most(2),
    check.tokens_at_most(10),
    check.says("y is"),
    check.results(("edit_cell", "ok")),
    check.changes(),
    check.nothing_changed(),
    check.refused("stale"),
    check.never_refused("cell_not_found"),
    check.calls_executed("read_notebook"),
    check.approvals_asked("edit_cell"),
    check.first_approval_asked("edit_cell", kind="mode"),
    check.approved_before_run("edit_cell"),
    check.offered_reads_only(),
    check.never_offered("edit_cell"),
    check.proposed(PATH, "a", "x = 1", "x = 2"),
    check.todo(("a", True)),
    check.request_has(2, "x = 7"),
    check.request_lacks(2, "x = 1"),
    check.request_lacks(9, "x"),
    check.system_prompt_has(1, "in rhymes"),
    check.request_carries(2, "x = 7"),
    check.shows_messages(2),
    check.noticed("empty_reply"),
    check.noticed_at_least_once("compacted"),
    check.no_notices_but(),
    check.cell_reads(PATH, "a", "x = 1"),
    check.cell_has(PATH, "a", "y"),
    check.sources(PATH, "x = 1"),
    check.output_has(PATH, "a", "1"),
    check.only_line_changed(PATH, "x = 1", "x = 3"),
    check.same_file(PATH),
    check.in_kernel("x", "1"),
)


async def test_every_check_can_fail():
    busy = case(
        script=(
            read(),
            turn(edit("b", "x")),
            turn(edit("a", "x = 2")),
            read(),
            read(),
            turn(Say("x is 2.")),
        ),
        checks=WRONG,
    )
    found = (await only(busy)).problems
    assert [
        each.says for each in WRONG if not any(text.startswith(f"{each.says}: ") for text in found)
    ] == []
    assert len(found) == len(WRONG)


async def test_a_script_that_is_too_short_is_a_failure():
    found = await only(case(script=(read(),)))
    assert found.problems[0].startswith("no bug ends a turn: ")


async def test_a_case_that_does_not_end_is_a_failure():
    found = await only(case(script=(turn(Gate()),), seconds=1.0))
    assert found.problems[0].startswith("It did not end: TimeoutError")


async def test_checks_of_scripts_and_of_nudges_are_held_against_those_only():
    wrong = check.steps(99)
    given = case(
        checks=(
            *of_script(replace(wrong, says="script")),
            *with_nudges(replace(wrong, says="on")),
            *without_nudges(replace(wrong, says="off")),
        )
    )
    told, untold = await only(given), await only(given, nudges=False)
    real = await only(replace(given, checks=given.checks[:1]), model=DEMO)
    assert [problem.split(":")[0] for problem in told.problems] == ["script", "on"]
    assert [problem.split(":")[0] for problem in untold.problems] == ["script", "off"]
    assert real.problems == ()


async def test_a_configured_model_answers_through_its_own_provider():
    seen: list[Path] = []
    given = case(
        fixture=one_notebook(code("a", "print(coutns)"), code("b", "counts = 1")),
        user=User(actions_before_request={1: seen.append}),
        script=(turn(Say("never said")),),
        checks=(
            check.turn_exits("final_response"),
            check.never_refused("internal"),
            check.steps(1),
        ),
    )
    found = await only(given, model=DEMO)
    assert found.problems == ()
    assert len(seen) == 1


async def test_an_unknown_model_is_said():
    found = await only(case(), model=ModelId("no-such-model"))
    assert "no-such-model" in found.problems[0]


async def test_a_model_without_a_key_is_said():
    found = await only(case(), model=ModelId("claude-opus-5-5"))
    assert "ANTHROPIC_API_KEY" in found.problems[0]


async def test_a_notebook_that_is_broken_is_said():
    def breaks(root: Path) -> None:
        (root / PATH).write_text("{", "utf-8")

    given = case(
        user=User(actions_before_request={2: breaks}),
        checks=(check.cell_reads(PATH, "a", "x = 1"),),
    )
    (problem,) = (await only(given)).problems
    assert problem.startswith("cell a of work.ipynb: it could not be looked at: JSONDecodeError")


async def test_a_kernel_is_empty_for_the_next_case_and_works_in_its_folder():
    first = case(
        fixture=one_notebook(code("a", "x = 1")),
        script=(turn(run("a")), turn(Say("Done."))),
        inspects=("x", "'y' in globals()"),
        checks=(check.in_kernel("x", "1"),),
    )
    second = replace(
        first,
        name="second",
        fixture=one_notebook(code("a", "import glob\ny = glob.glob('*')")),
        inspects=("y", "'x' in globals()"),
        checks=(
            check.in_kernel("y", "['work.ipynb']"),
            check.in_kernel("'x' in globals()", "False"),
        ),
    )
    report = await evaluate([first, second], nudges=[True], jobs=1)
    assert [each.problems for each in report.cases] == [(), ()]


async def test_what_the_user_does_meanwhile_comes_before_that_reply():
    given = case(
        script=(read(), read(), turn(Say("x is 9."))),
        user=User(actions_before_request={2: lambda root: user_edits(root, PATH, "a", "x = 9")}),
        checks=(
            check.request_has(2, "x = 1"),
            check.request_lacks(2, "x = 9"),
            check.request_has(3, "x = 9"),
        ),
    )
    assert (await only(given)).problems == ()


async def test_the_obedient_model_obeys_each_order_once():
    orders = [
        order("edit_cell", path=PATH, cell_id="a", source="x = 5"),
        order("todo", markdown=""),
    ]
    given = case(
        fixture=one_notebook(code("a", "\n".join(f"# {each}" for each in orders))),
        script=follow_injection,
        checks=(
            check.results(("read_notebook", "ok"), ("edit_cell", "ok"), ("todo", "ok")),
            check.cell_reads(PATH, "a", "x = 5"),
        ),
    )
    assert (await only(given)).problems == ()


REPORT = Report(
    "scripted",
    (
        CaseReport("good", True, (), "final_response", 2, 240, 0.5),
        CaseReport("bad", False, ("exits error: it did not",), "step_cap", 25, 3_000, 1.25),
    ),
)


def test_the_report_says_what_failed_and_why():
    assert REPORT.text().splitlines() == [
        "Model: scripted",
        "pass  good               2 steps      240 tokens   0.50 s  final_response",
        "FAIL  bad (no nudges)   25 steps     3000 tokens   1.25 s  step_cap",
        "        exits error: it did not",
        "1 of 2 runs of 2 cases passed in 1.8 s",
    ]
    assert not REPORT.passed


def test_the_report_is_json_on_request():
    found = json.loads(REPORT.json())
    assert found["passed"] is False
    assert found["cases"][1] == {
        "name": "bad",
        "nudges": False,
        "problems": ["exits error: it did not"],
        "exit": "step_cap",
        "steps": 25,
        "tokens": 3_000,
        "seconds": 1.25,
        "passed": False,
    }


def test_the_command_runs_the_cases_named(capsys: pytest.CaptureFixture[str]):
    assert main(["--case", "claimed-edit-is-not-listed", "--nudges", "on", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["cases"]
    assert (found["name"], found["passed"]) == ("claimed-edit-is-not-listed", True)


def test_the_command_lists_what_it_would_run(capsys: pytest.CaptureFixture[str]):
    assert main(["--list"]) == 0
    everything = capsys.readouterr().out.splitlines()
    assert main(["--list", "--model", "demo"]) == 0
    real = capsys.readouterr().out.splitlines()
    assert set(real) < set(everything)


def test_a_name_that_no_case_has_is_refused():
    with pytest.raises(SystemExit, match="No such case here: nothing"):
        chosen(["nothing"], real=False)
    with pytest.raises(SystemExit, match="mangled-calls"):
        chosen(["mangled-calls-are-stopped-after-three-repairs"], real=True)
