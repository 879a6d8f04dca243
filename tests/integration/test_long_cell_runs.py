"""Cells that outlast their call: the turn continues, waits, and is woken by their end."""

from __future__ import annotations

from tests.integration.notebook_session import NotebookSession
from tests.simulator_process import calls, says

DONE = "Cell 1 of the notebook was run: it computes the totals per month and prints them as text."


def test_turn_waits_for_a_run_and_goes_on_by_itself_when_it_ends(session: NotebookSession) -> None:
    session.write(a=f"print('early', flush=True)\n{session.waiting()}print('late')")
    session.ask(session.run(), says("I wait for it."), says("It has ended."))
    session.until("text-end")
    session.let()
    session.until("turn-end")

    (result,) = session.of("tool-result")
    (ended,) = session.of("run-end")
    assert result["status"] == ended["status"] == "ok"
    assert result["run"] == ended["run"]
    assert result["result"]["data"]["status"] == "running"
    assert ended["result"]["data"]["status"] == "ok"
    assert [e["exit"] for e in session.of("turn-end")] == ["final_response"]
    assert [e["step"] for e in session.of("step-start")] == [1, 2, 3]
    told = session.last_request()
    assert "that you started has ended: status ok" in told
    assert "early" in told
    assert "late" in told
    assert session.outputs() == "early\nlate\n"
    assert session.api.get(f"sessions/{session.session}")["status"] == "idle"


def test_run_that_ends_while_the_model_speaks_is_told_in_the_next_step(
    session: NotebookSession,
) -> None:
    session.write(a=f"{session.waiting()}print('late')")
    slow = says(" ".join(["word"] * 100), event_delay=0.02)
    session.ask(session.run(), slow, says("It has ended."))
    session.until("text-delta", 3)
    session.let()
    session.until("turn-end")

    kinds = [e["type"] for e in session.seen]
    assert kinds.index("text-end") < kinds.index("run-end") < kinds.index("turn-end")
    assert kinds.count("step-start") == 3
    assert [e["exit"] for e in session.of("turn-end")] == ["final_response"]


def test_message_sent_while_a_run_is_waited_for_is_answered_at_once(
    session: NotebookSession,
) -> None:
    session.write(a=f"{session.waiting()}print('late')")
    session.ask(session.run(), says("I wait."), says("Hello."), says("It has ended."))
    session.until("text-end")
    session.api.send(session.session, "Are you there?", message="m2")
    session.until("text-end", 2)
    assert session.of("run-end") == []
    assert "Are you there?" in session.last_request()
    session.let()
    session.until("turn-end")
    assert len(session.of("run-end")) == 1
    assert len(session.of("turn-start")) == 1


def test_complete_waits_for_what_still_runs(session: NotebookSession) -> None:
    session.write(a=f"{session.waiting()}print('late')")
    done = calls("complete", {"summary": DONE})
    session.ask(session.run(), done, says("Now it is done."))
    session.until("tool-result", 2)
    session.let()
    session.until("turn-end")
    assert [e["exit"] for e in session.of("turn-end")] == ["final_response"]
    assert session.outputs() == "late\n"


def test_cancel_interrupts_a_run_that_is_waited_for(session: NotebookSession) -> None:
    session.write(a=f"kept = 7\nprint('early', flush=True)\n{session.waiting()}", b="print(kept)")
    session.ask(session.run(), says("I wait."))
    session.until("text-end")
    session.printed("early")
    session.api.post(f"sessions/{session.session}/cancel", {})
    ended = session.until("run-end")
    assert ended["status"] == "cancelled"
    assert [e["exit"] for e in session.of("turn-end")] == ["cancelled"]
    assert session.outputs().startswith("early\n")
    session.ask(session.run("b"), says("Seven."), says("Done."))
    session.until("turn-end")
    assert session.outputs("b") == "7\n"


def test_all_cells_go_on_after_the_call(session: NotebookSession) -> None:
    session.write(a="print('one')", b=session.waiting(), c="print('three')")
    session.ask(calls("run_all_cells", {"path": session.path}), says("I wait."), says("All ran."))
    session.until("text-end")
    session.let()
    session.until("turn-end")
    (result,), (ended,) = session.of("tool-result"), session.of("run-end")
    statuses = [
        [cell["status"] for cell in event["result"]["data"]["cells"]] for event in (result, ended)
    ]
    assert len(statuses[0]) < 3 or statuses[0][-1] == "running"  # the call returned before all ran
    assert statuses[1] == ["ok", "ok", "ok"]
    assert session.outputs("c") == "three\n"


def test_second_cell_queues_behind_a_run_and_outlasts_its_call_too(
    session: NotebookSession,
) -> None:
    session.write(a=f"{session.waiting()}x = 1", b="print(x + 1)")
    session.ask(session.run("a"), session.run("b"), says("I wait."), says("One."), says("Both."))
    session.until("text-end")
    second = session.of("tool-result")[1]
    assert "not begun yet" in second["result"]["warning"]
    session.let()
    session.until("turn-end")
    assert [e["status"] for e in session.of("run-end")] == ["ok", "ok"]
    assert session.outputs("b") == "2\n"


def test_run_is_unknown_after_a_kill_and_the_model_is_told_so(session: NotebookSession) -> None:
    session.write(a=f"{session.waiting()}print('late')")
    session.ask(session.run(), says("I wait."), says("I look at the cell first."))
    session.until("usage-update", 2)  # the reply is complete
    session.lab.kill()
    session.lab.start()
    session.until("run-end")
    (notice,) = [e for e in session.of("notice") if e["code"] == "interrupted"]
    assert "“Run cell 1” was still running" in notice["text"]
    assert session.of("run-end")[0]["status"] == "unknown"
    assert session.api.get(f"sessions/{session.session}")["status"] == "interrupted"
    session.api.post(f"sessions/{session.session}/resume", {"decision": "resume"})
    session.until("turn-end")
    assert len(session.of("tool-start")) == 1
    assert "its outcome is unknown" in session.last_request()


def test_result_for_now_has_the_output_so_far_and_the_handle(session: NotebookSession) -> None:
    session.warm(a=f"print('early', flush=True)\ninput('Go on? ')\n{session.waiting()}")
    session.ask(session.run(), says("I wait."), says("Done."))
    asked = session.until("stdin-request")  # printed before it; its step waits for the answer
    in_time = session.of("tool-result") == []  # or the machine was too slow to ask
    assert session.answer(asked["call_id"], "Yes.") == 202
    result = session.until("tool-result")
    told = "".join(part["text"] for part in result["content"])
    assert result["run"] in told
    assert ("early" in told) or not in_time
    session.until("text-end")
    session.let()
    session.until("turn-end")
