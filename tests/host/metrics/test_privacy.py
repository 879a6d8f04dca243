"""No text of users, files or servers in metrics and spans, and no secret in step log lines."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.host.metrics.step_log import STEP_LOGGER, StepLog
from jupyter_ai_shoulders.host.metrics.turn_observer import TurnObserver
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, turn
from tests.host.metrics.event_scripts import events_with, published, session_with
from tests.host.metrics.observed_host import MODEL, observed
from tests.support.secret_samples import FIXED_PREFIX, secret

MARK = "Zq7xK"
PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[.*?\](?= \w+=)|[^ ]+)')


@settings(max_examples=60)
@given(text=st.text(), server=st.booleans())
def test_no_text_gets_into_metrics_or_spans(*, text: str, server: bool) -> None:
    """Every place that takes a text has one with a mark, which nothing of ours contains."""
    found = published(f"{MARK}{text}{MARK}", server=server)
    assert MARK not in found
    assert "overloaded" in found


def step_line(text: str, live: str = "") -> str:
    """Return the step log line of a turn with this text everywhere."""
    lines: list[str] = []
    redactor = Redactor([live] if live else [])
    log = StepLog(redactor.redact)
    logger = logging.getLogger(STEP_LOGGER)
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.INFO)
    try:
        observer = TurnObserver(SystemClock(), lambda _: session_with(text), [log])
        for event in events_with(text):
            if event.type in observer.handlers:
                observer.on_event(LoggedEvent(event, ""))
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
    (line,) = lines
    return line


@settings(max_examples=80)
@given(
    kind=st.sampled_from(sorted(FIXED_PREFIX)),
    seed=st.integers(0, 10_000),
    before=st.text(max_size=400),
    after=st.text(max_size=20),
)
def test_no_secret_gets_into_a_step_line(kind: str, seed: int, before: str, after: str) -> None:
    key = secret(FIXED_PREFIX[kind], Random(seed))
    line = step_line(f"{before} {key} {after}")
    assert "\n" not in line
    body = max(re.findall(r"\w+", key), key=len)
    assert body not in line
    assert "[redacted]" in line


@settings(max_examples=40)
@given(
    live=st.text("abcdefghijkmnpqrstuvwxyz0123456789-", min_size=16, max_size=60).filter(
        lambda key: len(set(key)) > 6
    ),
    before=st.integers(300, 398).map(lambda size: ("word " * 80)[:size]),
)
def test_no_configured_key_gets_into_a_step_line(live: str, before: str) -> None:
    """Also if its place is where the arguments are cut."""
    line = step_line(f"{before}{live}", live)
    assert live not in line
    assert live[:12] not in line.replace("[redacted]", "")


async def test_a_step_is_one_line_of_pairs(
    tmp_path: Path, isolated_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, STEP_LOGGER):
        async with observed(tmp_path, isolated_home) as host:
            call = Call("list_files", {"path": "."}, "call_a")
            session = await host.ask(turn(Say("I look."), call), "Done.")
    first, last = [record.getMessage() for record in caplog.records if record.name == STEP_LOGGER]
    word, _, pairs = first.partition(" ")
    values = {key: json.loads(value) for key, value in PAIR.findall(pairs)}
    assert word == "step"
    (made,) = values.pop("calls")
    assert {**values, "turn": "", "ms": 0, "model_ms": 0, "first_ms": 0} == {
        "session": session,
        "turn": "",
        "step": 1,
        "provider": "anthropic",
        "model": MODEL,
        "ms": 0,
        "attempts": 1,
        "model_ms": 0,
        "first_ms": 0,
        "input_tokens": 100,
        "output_tokens": 20,
        "stop": "next_step",
        "error": None,
    }
    (result,) = host.rows("tool-result")
    assert made == {
        "tool": "list_files",
        "status": "ok",
        "error": None,
        "ms": result["duration_ms"],
        "arguments": '{"path": "."}',
        "arguments_size": 13,
        "result_size": sum(len(part["text"]) for part in result["content"]),
    }
    assert 'stop="final_response"' in last
