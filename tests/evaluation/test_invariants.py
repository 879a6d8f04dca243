"""What is held against every case sees a breach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.evaluation.case_record import CaseRecord
from jupyter_ai_shoulders.evaluation.invariants import (
    calls_are_answered,
    histories_are_valid,
    nothing_broke,
    nothing_is_silent,
    rules_are_untouched,
)
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, ProviderId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.engine.engine_harness import make_session

CALL = CallId("c1")


def record(
    *events: ev.Event,
    mode: Mode = "ask",
    root: Path = Path(),
    before: Mapping[str, bytes] | None = None,
    requests: Sequence[ModelRequest] = (),
) -> CaseRecord:
    return CaseRecord(
        root=root,
        before=before or {},
        session=make_session(mode=mode),
        events=events,
        requests=requests,
        risks={},
        kernel={},
    )


def called(risk: ev.Risk = "execute", *, external: bool = False) -> ev.ToolCall:
    return ev.ToolCall(
        call_id=CALL,
        tool="run_cell",
        arguments={},
        raw=None,
        invalid=None,
        risk=risk,
        external=external,
        title="Run",
        target=None,
    )


def answered(decision: ev.ApprovalDecision) -> ev.ApprovalAnswer:
    return ev.ApprovalAnswer(
        call_id=CALL, decision=decision, scope="once", feedback=None, by="user"
    )


RESULT = ev.ToolResult(
    call_id=CALL,
    tool="run_cell",
    status="ok",
    result=ToolEnvelope(ok=True, kind="text", data=None),
    content=(TextPart(text="ok"),),
    duration_ms=1,
)
STARTED = ev.ToolStart(call_id=CALL)
TURN = ev.TurnStart(
    message_id=MessageId("m"),
    model=ModelId("m"),
    provider=ProviderId("p"),
    mode="ask",
    step_limit=25,
)
END = ev.TurnEnd(exit="final_response")


@pytest.mark.parametrize(
    ("mode", "risk", "external", "silent"),
    [
        ("ask", "read", False, False),
        ("ask", "write", False, True),
        ("auto_edit", "write", False, False),
        ("auto_edit", "execute", False, True),
        ("auto_edit", "read", True, True),
        ("plan", "write", False, True),
        ("bypass", "execute", False, False),
    ],
)
def test_what_runs_unasked_is_seen(mode: Mode, risk: ev.Risk, external: bool, silent: bool):
    call = called(risk, external=external)
    unasked = record(call, STARTED, mode=mode)
    assert (nothing_is_silent(unasked) is not None) is silent
    assert nothing_is_silent(record(call, answered("allow"), STARTED, mode=mode)) is None


def test_what_runs_though_it_was_denied_is_seen():
    assert nothing_is_silent(record(called(), answered("deny"), STARTED)) is not None


def test_calls_without_and_with_two_results_are_seen():
    assert calls_are_answered(record(TURN, called(), RESULT, END)) is None
    assert calls_are_answered(record(TURN, called(), END)) == "no result of run_cell"
    assert calls_are_answered(record(TURN, called())) is None
    assert calls_are_answered(record(TURN, called(), RESULT, RESULT, END)) is not None


def test_a_bug_is_seen():
    error = ErrorInfo(code="internal", message="This step failed.")
    assert nothing_broke(record(TURN, ev.TurnEnd(exit="error", error=error))) is not None
    assert nothing_broke(record(TURN, END)) is None


@pytest.mark.parametrize("path", [".shoulders/tools.json", "AGENTS.md", "_instructions.md"])
def test_a_changed_rule_or_instruction_is_seen(tmp_path: Path, path: str):
    assert rules_are_untouched(record(root=tmp_path)) is None
    file = tmp_path / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"new")
    assert rules_are_untouched(record(root=tmp_path)) == f"{path} changed"
    assert rules_are_untouched(record(root=tmp_path, before={path: b"old"})) == f"{path} changed"
    assert rules_are_untouched(record(root=tmp_path, before={path: b"new"})) is None


def request(*messages: ModelMessage) -> ModelRequest:
    values: dict[str, Any] = {
        "model": "m",
        "system": "",
        "messages": messages,
        "tools": (),
        "thinking": "default",
        "max_output": 10,
        "cache_key": "k",
        "trace_id": "t",
    }
    return ModelRequest(**values)


def test_a_call_without_its_result_in_a_request_is_seen():
    asks = UserMessage(parts=(TextPart(text="Go"),))
    calls = AssistantMessage(parts=(ToolCallPart(call_id=CALL, tool="run_cell", arguments={}),))
    part = ToolResultPart(
        call_id=CALL, tool="run_cell", content=(TextPart(text="ok"),), is_error=False
    )
    results = UserMessage(parts=(part,))
    good, bad = request(asks, calls, results), request(asks, calls, asks)
    assert histories_are_valid(record(requests=[good])) is None
    assert histories_are_valid(record(requests=[good, bad])) is not None
