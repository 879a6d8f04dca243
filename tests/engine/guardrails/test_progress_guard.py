"""Guards against loops: repeated calls, repeated reads, listings without reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.engine.guardrails.loop_detection import (
    CallTrace,
    count_repetitions,
    count_repetitions_with,
)
from jupyter_ai_shoulders.engine.guardrails.progress_guard import (
    ALREADY_READ,
    NOT_FOUND,
    REPEATED,
    TRUNCATED,
    WANDERING,
    ProgressGuard,
)
from jupyter_ai_shoulders.tools.base import text_content
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.events import Risk, StepStart, ToolCall, ToolResult, TurnStart
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, ProviderId
from jupyter_ai_shoulders.wire.results import ResultKind, ResultMeta, ToolEnvelope


class Turn:
    """A turn built event by event."""

    def __init__(self) -> None:
        self.progress = ProgressGuard()
        self._calls = 0
        self.begin()

    def begin(self) -> None:
        self.progress = self.progress.after_event(
            TurnStart(
                message_id=MessageId("m"),
                model=ModelId("model"),
                provider=ProviderId("provider"),
                mode="ask",
                step_limit=25,
            )
        )

    def step(self) -> None:
        self.progress = self.progress.after_event(
            StepStart(step=1, limit=25, tokens_used=0, window=None)
        )

    def call(
        self,
        tool: str,
        text: str = "ok",
        *,
        arguments: JsonObject | None = None,
        risk: Risk = "read",
        kind: ResultKind = "cells",
        error: ErrorCode | None = None,
        truncated: bool = False,
    ) -> None:
        self._calls += 1
        call_id = CallId(f"c{self._calls}")
        asked = ToolCall(
            call_id=call_id,
            tool=tool,
            arguments=arguments or {},
            raw=None,
            invalid=None,
            risk=risk,
            external=False,
            title=tool,
            target=None,
        )
        info = ErrorInfo(code=error, message=text) if error else None
        envelope = ToolEnvelope(
            ok=error is None,
            kind=kind,
            data=None,
            error=info,
            meta=ResultMeta(truncated=truncated),
        )
        answered = ToolResult(
            call_id=call_id,
            tool=tool,
            status="error" if error else "ok",
            result=envelope,
            content=text_content(text),
            duration_ms=1,
        )
        self.progress = self.progress.after_event(asked).after_event(answered)

    def codes(self) -> list[str]:
        return [notice.code for notice in self.progress.notices()]


def run(turn: Turn, text: str, cell: str = "c") -> None:
    turn.step()
    turn.call("run_cell", text, arguments={"path": "n.ipynb", "cell_id": cell}, risk="execute")


def edit(turn: Turn, source: str) -> None:
    turn.step()
    arguments: JsonObject = {"path": "n.ipynb", "cell_id": "c", "source": source}
    turn.call("edit_cell", "edited", arguments=arguments, risk="write", kind="diff")


def test_the_same_call_with_the_same_result_is_remarked_asked_about_and_stopped():
    turn = Turn()
    seen: list[tuple[bool, bool, bool]] = []
    for number in range(5):
        run(turn, f"Cell 4 finished: ok · In[{number}] · 0.{number} s\nsame")
        progress = turn.progress
        again: JsonObject = {"path": "n.ipynb", "cell_id": "c"}
        seen.append(
            (
                REPEATED in turn.codes(),
                progress.should_ask("run_cell", again),
                progress.stop() is not None,
            )
        )
    assert seen == [
        (False, False, False),
        (False, False, False),
        (True, False, False),
        (False, True, False),
        (False, True, True),
    ]


def test_two_calls_in_turn_are_a_circle_too():
    turn = Turn()
    for _ in range(4):
        run(turn, "NameError", "a")
        run(turn, "NameError", "b")
    assert turn.progress.repeat_count == 4
    assert turn.progress.should_ask("run_cell", {"path": "n.ipynb", "cell_id": "a"})
    assert not turn.progress.should_ask("run_cell", {"path": "n.ipynb", "cell_id": "b"})
    run(turn, "NameError", "a")
    run(turn, "NameError", "b")
    assert turn.progress.stop() is not None


def test_a_circle_of_two_calls_is_remarked_once():
    turn = Turn()
    remarked: list[bool] = []
    for number in range(8):
        turn.step()
        run(turn, "NameError", "ab"[number % 2])
        remarked.append(REPEATED in turn.codes())
    assert remarked == [False] * 5 + [True] + [False] * 2


def test_editing_and_running_with_changing_results_is_never_stopped():
    turn = Turn()
    for number in range(12):
        edit(turn, f"x = {number}")
        run(turn, f"error {number}")
        assert turn.progress.stop() is None
        assert turn.progress.notices() == ()
        assert not turn.progress.should_ask("run_cell", {"path": "n.ipynb", "cell_id": "c"})


def test_edits_that_differ_between_equal_failures_are_no_circle():
    turn = Turn()
    for number in range(12):
        edit(turn, f"x = {number}")
        run(turn, "the same error")
        assert turn.progress.stop() is None
        assert REPEATED not in turn.codes()


def test_equal_calls_of_one_step_count_once():
    turn = Turn()
    turn.step()
    for _ in range(6):
        turn.call("read_notebook", "same", arguments={"path": "n.ipynb"})
    assert turn.progress.repeat_count == 1
    assert turn.progress.notices() == ()


def test_a_second_read_without_a_change_is_remarked():
    turn = Turn()
    for _ in range(2):
        turn.step()
        turn.call("read_notebook", "cells", arguments={"path": "n.ipynb"})
    assert turn.codes() == [ALREADY_READ]


def test_a_read_after_a_change_of_its_document_is_fresh():
    turn = Turn()
    turn.step()
    turn.call("read_notebook", "cells", arguments={"path": "n.ipynb"})
    edit(turn, "x = 1")
    turn.step()
    turn.call("read_notebook", "cells", arguments={"path": "n.ipynb"})
    assert turn.codes() == []


def test_a_change_of_another_document_leaves_a_read_held_but_a_run_does_not():
    turn = Turn()
    turn.step()
    turn.call("read_file", "text", arguments={"path": "a.py"}, kind="file")
    edit(turn, "x = 1")
    turn.step()
    turn.call("read_file", "text", arguments={"path": "a.py"}, kind="file")
    assert turn.codes() == [ALREADY_READ]
    run(turn, "ran")
    turn.step()
    turn.call("read_file", "text", arguments={"path": "a.py"}, kind="file")
    assert turn.codes() == []


def test_a_denied_run_makes_nothing_stale():
    turn = Turn()
    turn.step()
    turn.call("read_file", "text", arguments={"path": "a.py"}, kind="file")
    turn.step()
    turn.call("run_command", "no", risk="execute", error="denied")
    turn.step()
    turn.call("read_file", "text", arguments={"path": "a.py"}, kind="file")
    assert turn.codes() == [ALREADY_READ]


def test_nothing_but_the_last_listing_is_held_over_the_end_of_a_turn():
    turn = Turn()
    turn.step()
    turn.call("read_file", "text", arguments={"path": "a.py"}, kind="file")
    turn.call("list_files", "a.py", kind="listing")
    turn.begin()
    turn.step()
    turn.call("read_file", "text", arguments={"path": "a.py"}, kind="file")
    assert turn.codes() == []
    turn.call("list_files", "a.py", kind="listing")
    assert turn.codes() == [ALREADY_READ]


def test_two_listings_without_a_read_are_remarked_until_something_is_read():
    turn = Turn()
    turn.step()
    turn.call("list_files", "a", arguments={"path": "a"}, kind="listing")
    assert turn.codes() == []
    turn.step()
    turn.call("list_files", "b", arguments={"path": "b"}, kind="listing")
    assert turn.codes() == [WANDERING]
    turn.step()
    turn.call("read_file", "no", arguments={"path": "c"}, error="not_found")
    turn.step()
    turn.call("list_files", "d", arguments={"path": "d"}, kind="listing")
    assert WANDERING in turn.codes()
    turn.step()
    turn.call("read_file", "text", arguments={"path": "a.py"}, kind="file")
    turn.step()
    turn.call("list_files", "e", arguments={"path": "e"}, kind="listing")
    assert turn.codes() == []


def test_what_was_not_found_or_cut_is_remarked_once():
    turn = Turn()
    turn.step()
    turn.call("read_file", "no", arguments={"path": "c"}, error="not_found")
    turn.call("read_file", "no", arguments={"path": "d"}, error="not_found")
    turn.call("search_content", "many", kind="matches", truncated=True)
    assert turn.codes() == [NOT_FOUND, TRUNCATED]
    turn.step()
    assert turn.codes() == []


def test_calls_that_cannot_be_executed_are_repaired_three_times():
    turn = Turn()
    for number in range(4):
        assert turn.progress.stop() is None
        turn.step()
        turn.call("edit_cel", f"no {number}", error="unknown_tool")
    error = turn.progress.stop()
    assert error is not None
    assert "4 tool calls" in error.message


def test_a_good_call_ends_the_count_of_bad_ones():
    turn = Turn()
    for number in range(12):
        turn.step()
        turn.call("edit_cell", f"no {number}", error="invalid_arguments")
        if number % 3 == 2:
            turn.step()
            turn.call("read_notebook", f"cells {number}")
    assert turn.progress.stop() is None


TRACES = st.lists(st.builds(CallTrace, st.sampled_from("ab"), st.sampled_from("xy")), max_size=12)


@given(TRACES)
def test_rounds_agree_with_a_plain_count(traces: list[CallTrace]):
    def count(length: int) -> int:
        tail = traces[-length:]
        pieces = [traces[end - length : end] for end in range(len(traces), length - 1, -length)]
        found = 0
        for piece in pieces:
            if piece != tail:
                break
            found += 1
        return found

    expected = max(count(1), count(2)) if traces else 0
    assert count_repetitions(traces) == expected
    assert count_repetitions_with(traces, "c") == 1


def test_loading_tools_between_two_listings_is_no_reading():
    turn = Turn()
    turn.step()
    turn.call("list_files", "a", arguments={"path": "a"}, kind="listing")
    turn.step()
    turn.call("load_tools", "git_status: …", arguments={"category": "git"}, kind="text")
    turn.step()
    turn.call("list_files", "b", arguments={"path": "b"}, kind="listing")
    assert turn.codes() == [WANDERING]
