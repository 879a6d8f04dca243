"""Code that asks for input: the user answers, never the model, and the text is not stored."""

from __future__ import annotations

import json

from tests.integration.notebook_session import STEP_WAIT_SECONDS, NotebookSession
from tests.simulator_process import says

SECRET = "hunter2-is-typed"


def test_input_is_asked_answered_once_and_kept_nowhere(session: NotebookSession) -> None:
    session.warm(
        a=f"import getpass\nword = getpass.getpass('Word? ')\nprint(len(word))\n{session.waiting()}"
    )
    session.ask(session.run(), says("It has 16 letters."), says("Done."))
    asked = session.until("stdin-request")
    assert (asked["prompt"], asked["password"]) == ("Word? ", True)
    assert session.answer(asked["call_id"], SECRET) == 202
    assert session.answer(asked["call_id"], "again") == 409
    session.let()
    session.until("turn-end")
    assert [e["answered"] for e in session.of("stdin-answer")] == [True]
    assert session.outputs().endswith("16\n")
    assert SECRET not in json.dumps(session.upstream.requests())
    state = session.lab.root / ".shoulders"
    kept = [path for path in state.rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []


def test_step_waits_for_the_user_however_long_that_takes(session: NotebookSession) -> None:
    later = f"threading.Timer({2 * STEP_WAIT_SECONDS}, print, ('Still there.',)).start()"
    session.warm(a=f"import threading\n{later}\nprint(input('Name? '))")
    session.ask(session.run(), says("Hello."), says("Done."))
    asked = session.until("stdin-request")
    settled = session.of("tool-result")  # none, unless the machine was too slow to ask in time
    assert session.api.get(f"sessions/{session.session}")["status"] == "waiting"
    session.printed("Still there.\n")
    assert session.of("tool-result") == settled
    assert session.answer(asked["call_id"], "Ada") == 202
    session.until("turn-end")
    assert session.outputs() == "Still there.\nAda\n"


def test_input_of_a_run_that_outlasts_its_call_is_asked_too(session: NotebookSession) -> None:
    session.warm(a=f"{session.waiting()}print(input('Name? '))")
    session.ask(session.run(), says("I wait."), says("Hello."))
    session.until("text-end")
    session.let()
    asked = session.until("stdin-request")
    assert session.answer(asked["call_id"], "Ada") == 202
    session.until("turn-end")
    assert session.of("run-end")[0]["status"] == "ok"
    assert session.outputs() == "Ada\n"


def test_cancel_ends_a_question_and_interrupts_its_code_alone(session: NotebookSession) -> None:
    session.warm(a="kept = 7\ninput('Name? ')", b="print(kept)")
    session.ask(session.run(), says("I wait."))
    asked = session.until("stdin-request")
    session.api.post(f"sessions/{session.session}/cancel", {})
    session.until("stdin-answer")
    assert [e["answered"] for e in session.of("stdin-answer")] == [False]
    assert session.answer(asked["call_id"], "too late") == 409
    session.ask(session.run("b"), says("Seven."), says("Done."))
    session.until("turn-end")
    assert session.outputs("b") == "7\n"


def test_kernel_that_dies_while_it_asks_ends_the_question(session: NotebookSession) -> None:
    wait = session.waiting().replace("\n", "\n    ")
    death = f"def die():\n    {wait}os._exit(1)\n"
    begin = "import threading\nthreading.Thread(target=die).start()\n"
    session.warm(a=f"{death}{begin}input('Name? ')")
    session.ask(session.run(), says("It died."), says("Done."))
    session.until("stdin-request")
    session.let()
    session.until("turn-end")
    assert [e["answered"] for e in session.of("stdin-answer")] == [False]
    ends = [*session.of("tool-result"), *session.of("run-end")]
    assert ends[-1]["result"]["error"]["code"] == "kernel_died"


def test_question_nobody_can_answer_is_an_error_at_once(session: NotebookSession) -> None:
    session.warm(a="input('Name? ')")
    session.ask(session.run(), says("It cannot ask."), says("Done."), interactive=False, kind="run")
    session.until("turn-end")
    ends = [*session.of("tool-result"), *session.of("run-end")]
    assert session.of("stdin-request") == []
    assert "put the value into the code" in ends[-1]["result"]["error"]["hint"]


def test_question_is_over_after_a_kill_and_said_so(session: NotebookSession) -> None:
    session.warm(a="input('Name? ')")
    session.ask(session.run(), says("I wait."), says("I ask again."))
    asked = session.until("stdin-request")
    outlasted = session.of("tool-result") != []  # the machine was too slow to ask in time
    session.lab.kill()
    session.lab.start()
    notice = session.until("notice")
    assert [e["answered"] for e in session.of("stdin-answer")] == [False]
    became = "was still running" if outlasted else "had started"
    assert f"“Run cell 1” {became}" in notice["text"]
    assert session.answer(asked["call_id"], "too late") == 409
    session.api.post(f"sessions/{session.session}/resume", {"decision": "resume"})
    session.until("turn-end")
    assert [e["status"] for e in session.of("run-end" if outlasted else "tool-result")] == [
        "unknown"
    ]
