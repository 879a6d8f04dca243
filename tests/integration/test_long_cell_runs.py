"""Cells that outlast their call: the turn continues, waits, and is woken by their end."""

from __future__ import annotations

from tests.integration.notebook_session import NotebookSession
from tests.simulator_process import calls, says

DONE = "Cell 1 of the notebook was run: it computes the totals per month and prints them as text."


def test_turn_waits_for_a_run_and_goes_on_by_itself_when_it_ends(desk: NotebookSession) -> None:
    desk.write(a=f"print('early', flush=True)\n{desk.waiting()}print('late')")
    desk.ask(desk.run(), says("I wait for it."), says("It has ended."))
    desk.until("text-end")
    desk.let()
    desk.until("turn-end")

    (result,) = desk.of("tool-result")
    (ended,) = desk.of("run-end")
    assert result["status"] == ended["status"] == "ok"
    assert result["run"] == ended["run"]
    assert result["result"]["data"]["status"] == "running"
    assert ended["result"]["data"]["status"] == "ok"
    assert [e["exit"] for e in desk.of("turn-end")] == ["final_response"]
    assert [e["step"] for e in desk.of("step-start")] == [1, 2, 3]
    told = desk.last_request()
    assert "that you started has ended: status ok" in told
    assert "early" in told
    assert "late" in told
    assert desk.outputs() == "early\nlate\n"
    assert desk.api.get(f"sessions/{desk.session}")["status"] == "idle"


def test_run_that_ends_while_the_model_speaks_is_told_in_the_next_step(
    desk: NotebookSession,
) -> None:
    desk.write(a=f"{desk.waiting()}print('late')")
    slow = says(" ".join(["word"] * 100), event_delay=0.02)
    desk.ask(desk.run(), slow, says("It has ended."))
    desk.until("text-delta", 3)
    desk.let()
    desk.until("turn-end")

    kinds = [e["type"] for e in desk.seen]
    assert kinds.index("text-end") < kinds.index("run-end") < kinds.index("turn-end")
    assert kinds.count("step-start") == 3
    assert [e["exit"] for e in desk.of("turn-end")] == ["final_response"]


def test_message_sent_while_a_run_is_waited_for_is_answered_at_once(desk: NotebookSession) -> None:
    desk.write(a=f"{desk.waiting()}print('late')")
    desk.ask(desk.run(), says("I wait."), says("Hello."), says("It has ended."))
    desk.until("text-end")
    desk.api.send(desk.session, "Are you there?", message="m2")
    desk.until("text-end", 2)
    assert desk.of("run-end") == []
    assert "Are you there?" in desk.last_request()
    desk.let()
    desk.until("turn-end")
    assert len(desk.of("run-end")) == 1
    assert len(desk.of("turn-start")) == 1


def test_complete_waits_for_what_still_runs(desk: NotebookSession) -> None:
    desk.write(a=f"{desk.waiting()}print('late')")
    done = calls("complete", {"summary": DONE})
    desk.ask(desk.run(), done, says("Now it is done."))
    desk.until("tool-result", 2)
    desk.let()
    desk.until("turn-end")
    assert [e["exit"] for e in desk.of("turn-end")] == ["final_response"]
    assert desk.outputs() == "late\n"


def test_cancel_interrupts_a_run_that_is_waited_for(desk: NotebookSession) -> None:
    desk.write(a=f"kept = 7\nprint('early', flush=True)\n{desk.waiting()}", b="print(kept)")
    desk.ask(desk.run(), says("I wait."))
    desk.until("text-end")
    desk.printed("early")
    desk.api.post(f"sessions/{desk.session}/cancel", {})
    ended = desk.until("run-end")
    assert ended["status"] == "cancelled"
    assert [e["exit"] for e in desk.of("turn-end")] == ["cancelled"]
    assert desk.outputs().startswith("early\n")
    desk.ask(desk.run("b"), says("Seven."), says("Done."))
    desk.until("turn-end")
    assert desk.outputs("b") == "7\n"


def test_all_cells_go_on_after_the_call(desk: NotebookSession) -> None:
    desk.write(a="print('one')", b=desk.waiting(), c="print('three')")
    desk.ask(calls("run_all_cells", {"path": desk.path}), says("I wait."), says("All ran."))
    desk.until("text-end")
    desk.let()
    desk.until("turn-end")
    (result,), (ended,) = desk.of("tool-result"), desk.of("run-end")
    statuses = [
        [cell["status"] for cell in event["result"]["data"]["cells"]] for event in (result, ended)
    ]
    assert statuses[0][-1] == "running"
    assert statuses[1] == ["ok", "ok", "ok"]
    assert desk.outputs("c") == "three\n"


def test_second_cell_queues_behind_a_run_and_outlasts_its_call_too(desk: NotebookSession) -> None:
    desk.write(a=f"{desk.waiting()}x = 1", b="print(x + 1)")
    desk.ask(desk.run("a"), desk.run("b"), says("I wait."), says("One."), says("Both."))
    desk.until("text-end")
    second = desk.of("tool-result")[1]
    assert "not begun yet" in second["result"]["warning"]
    desk.let()
    desk.until("turn-end")
    assert [e["status"] for e in desk.of("run-end")] == ["ok", "ok"]
    assert desk.outputs("b") == "2\n"


def test_run_is_unknown_after_a_kill_and_the_model_is_told_so(desk: NotebookSession) -> None:
    desk.write(a=f"{desk.waiting()}print('late')")
    desk.ask(desk.run(), says("I wait."), says("I look at the cell first."))
    desk.until("usage-update", 2)  # the reply is complete
    desk.lab.kill()
    desk.lab.start()
    desk.until("run-end")
    (notice,) = [e for e in desk.of("notice") if e["code"] == "interrupted"]
    assert "“Run cell 1” was still running" in notice["text"]
    assert desk.of("run-end")[0]["status"] == "unknown"
    assert desk.api.get(f"sessions/{desk.session}")["status"] == "interrupted"
    desk.api.post(f"sessions/{desk.session}/resume", {"decision": "resume"})
    desk.until("turn-end")
    assert len(desk.of("tool-start")) == 1
    assert "its outcome is unknown" in desk.last_request()


def test_result_for_now_has_the_output_so_far_and_the_handle(desk: NotebookSession) -> None:
    desk.warm(a=f"print('early', flush=True)\ninput('Go on? ')\n{desk.waiting()}")
    desk.ask(desk.run(), says("I wait."), says("Done."))
    asked = desk.until("stdin-request")  # printed before it; its step waits for the answer
    in_time = desk.of("tool-result") == []  # or the machine was too slow to ask
    assert desk.answer(asked["call_id"], "Yes.") == 202
    result = desk.until("tool-result")
    told = "".join(part["text"] for part in result["content"])
    assert result["run"] in told
    assert ("early" in told) or not in_time
    desk.until("text-end")
    desk.let()
    desk.until("turn-end")
