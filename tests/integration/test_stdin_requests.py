"""Code that asks for input: the user answers, never the model, and the text is not stored."""

from __future__ import annotations

import json

from tests.integration.notebook_session import STEP_WAIT_SECONDS, NotebookSession
from tests.simulator_process import says

SECRET = "hunter2-is-typed"


def test_input_is_asked_answered_once_and_kept_nowhere(desk: NotebookSession) -> None:
    desk.warm(
        a=f"import getpass\nword = getpass.getpass('Word? ')\nprint(len(word))\n{desk.waiting()}"
    )
    desk.ask(desk.run(), says("It has 16 letters."), says("Done."))
    asked = desk.until("stdin-request")
    assert (asked["prompt"], asked["password"]) == ("Word? ", True)
    assert desk.answer(asked["call_id"], SECRET) == 202
    assert desk.answer(asked["call_id"], "again") == 409
    desk.let()
    desk.until("turn-end")
    assert [e["answered"] for e in desk.of("stdin-answer")] == [True]
    assert desk.outputs().endswith("16\n")
    assert SECRET not in json.dumps(desk.upstream.requests())
    state = desk.lab.root / ".shoulders"
    kept = [path for path in state.rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []


def test_step_waits_for_the_user_however_long_that_takes(desk: NotebookSession) -> None:
    later = f"threading.Timer({2 * STEP_WAIT_SECONDS}, print, ('Still there.',)).start()"
    desk.warm(a=f"import threading\n{later}\nprint(input('Name? '))")
    desk.ask(desk.run(), says("Hello."), says("Done."))
    asked = desk.until("stdin-request")
    settled = desk.of("tool-result")  # none, unless the machine was too slow to ask in time
    assert desk.api.get(f"sessions/{desk.session}")["status"] == "waiting"
    desk.printed("Still there.\n")
    assert desk.of("tool-result") == settled
    assert desk.answer(asked["call_id"], "Ada") == 202
    desk.until("turn-end")
    assert desk.outputs() == "Still there.\nAda\n"


def test_input_of_a_run_that_outlasts_its_call_is_asked_too(desk: NotebookSession) -> None:
    desk.warm(a=f"{desk.waiting()}print(input('Name? '))")
    desk.ask(desk.run(), says("I wait."), says("Hello."))
    desk.until("text-end")
    desk.let()
    asked = desk.until("stdin-request")
    assert desk.answer(asked["call_id"], "Ada") == 202
    desk.until("turn-end")
    assert desk.of("run-end")[0]["status"] == "ok"
    assert desk.outputs() == "Ada\n"


def test_cancel_ends_a_question_and_interrupts_its_code_alone(desk: NotebookSession) -> None:
    desk.warm(a="kept = 7\ninput('Name? ')", b="print(kept)")
    desk.ask(desk.run(), says("I wait."))
    asked = desk.until("stdin-request")
    desk.api.post(f"sessions/{desk.session}/cancel", {})
    desk.until("stdin-answer")
    assert [e["answered"] for e in desk.of("stdin-answer")] == [False]
    assert desk.answer(asked["call_id"], "too late") == 409
    desk.ask(desk.run("b"), says("Seven."), says("Done."))
    desk.until("turn-end")
    assert desk.outputs("b") == "7\n"


def test_kernel_that_dies_while_it_asks_ends_the_question(desk: NotebookSession) -> None:
    wait = desk.waiting().replace("\n", "\n    ")
    death = f"def die():\n    {wait}os._exit(1)\n"
    begin = "import threading\nthreading.Thread(target=die).start()\n"
    desk.warm(a=f"{death}{begin}input('Name? ')")
    desk.ask(desk.run(), says("It died."), says("Done."))
    desk.until("stdin-request")
    desk.let()
    desk.until("turn-end")
    assert [e["answered"] for e in desk.of("stdin-answer")] == [False]
    ends = [*desk.of("tool-result"), *desk.of("run-end")]
    assert ends[-1]["result"]["error"]["code"] == "kernel_died"


def test_question_nobody_can_answer_is_an_error_at_once(desk: NotebookSession) -> None:
    desk.warm(a="input('Name? ')")
    desk.ask(desk.run(), says("It cannot ask."), says("Done."), interactive=False, kind="run")
    desk.until("turn-end")
    ends = [*desk.of("tool-result"), *desk.of("run-end")]
    assert desk.of("stdin-request") == []
    assert "put the value into the code" in ends[-1]["result"]["error"]["hint"]


def test_question_is_over_after_a_kill_and_said_so(desk: NotebookSession) -> None:
    desk.warm(a="input('Name? ')")
    desk.ask(desk.run(), says("I wait."), says("I ask again."))
    asked = desk.until("stdin-request")
    outlasted = desk.of("tool-result") != []  # the machine was too slow to ask in time
    desk.lab.kill()
    desk.lab.start()
    notice = desk.until("notice")
    assert [e["answered"] for e in desk.of("stdin-answer")] == [False]
    became = "was still running" if outlasted else "had started"
    assert f"“Run cell 1” {became}" in notice["text"]
    assert desk.answer(asked["call_id"], "too late") == 409
    desk.api.post(f"sessions/{desk.session}/resume", {"decision": "resume"})
    desk.until("turn-end")
    assert [e["status"] for e in desk.of("run-end" if outlasted else "tool-result")] == ["unknown"]
