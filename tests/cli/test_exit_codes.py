"""Every exit code of ``run``, with a server and without one."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from jupyter_ai_shoulders.cli.main import main
from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.wire.usage import PutBudget
from tests.cli.conftest import TINY, Terminal
from tests.client.conftest import PRICED
from tests.simulator_process import calls, says

WRITE = calls("write_file", {"path": "refused.txt", "content": "x"})


class Unread(io.StringIO):
    """A pipe without a reader."""

    def write(self, s: str, /) -> int:
        raise BrokenPipeError


SUMMARY = "The list was sorted by date and checked against the file."


def test_0_final_answer(terminal: Terminal) -> None:
    terminal.plays(says("Forty-two."))

    said = terminal.says("run", "What is it?")

    assert (said.code, said.out) == (0, "Forty-two.\n")


def test_0_complete(terminal: Terminal) -> None:
    terminal.plays(calls("complete", {"summary": SUMMARY}))

    said = terminal.says("run", "Sort.")

    assert said.code == 0
    assert SUMMARY in said.err


def test_1_error(terminal: Terminal) -> None:
    terminal.plays({"parts": [], "failure": {"status": 400, "message": "no such thing"}})

    said = terminal.says("run", "Hi")

    assert (said.code, said.out) == (1, "")
    assert "no such thing" in said.err


def test_1_no_key(alone: Terminal) -> None:
    said = alone.says("run", "Hi", "--model", "claude-opus-5-5")

    assert said.code == 1
    assert "ANTHROPIC_API_KEY" in said.err


def test_1_nobody_reads_what_a_run_says(alone: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    alone.plays(says("Hi."))
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", Unread())
        code = main(["run", "Hi", "--json", *alone.where])

    assert code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Hi", "--model", "nothing"], "no model 'nothing'"),
        (["Hi", "--notebook", "nothing.ipynb"], "no file nothing.ipynb"),
        (["Hi", "--notebook", "/etc/hostname"], "not in the workspace"),
        (["Hi", "--session", "ses_nothing"], "ses_nothing"),
        (["  "], "prompt is empty"),
        (["Hi", "--mode", "fast"], "invalid choice: 'fast'"),
        ([], "required: prompt"),
    ],
)
def test_2_usage(terminal: Terminal, arguments: list[str], message: str) -> None:
    said = terminal.says("run", *arguments)

    assert (said.code, said.out) == (2, "")
    assert message in said.err


def test_3_approval_required(terminal: Terminal) -> None:
    terminal.plays(WRITE, says("I may not."))

    said = terminal.says("run", "Write.")

    assert (said.code, said.out) == (3, "I may not.\n")
    assert "--mode" in said.err
    assert not (terminal.root / "refused.txt").exists()


def test_3_a_conversation_that_waits_for_approval(attached: Terminal, client: Client) -> None:
    attached.plays(WRITE)
    session = client.new_session(kind="chat")

    said = attached.says("run", "Write.", "--session", session.id)

    assert said.code == 3
    assert "waits for your approval of write_file" in said.err


def test_4_budget_on_a_server(attached: Terminal, client: Client) -> None:
    attached.plays(says("Never."))
    client.connection.send("PUT", "budget", PutBudget(month_micro_usd=0))
    try:
        said = attached.says("run", "Hi", "--model", PRICED)
    finally:
        client.connection.send("PUT", "budget", PutBudget(month_micro_usd=10**12))

    assert (said.code, said.out) == (4, "")
    assert "Raise it" in said.err


def test_4_budget_of_the_administrator_holds_without_a_server(alone: Terminal) -> None:
    alone.configure({"budget_month_usd": 0.0})
    alone.plays(says("Never."))

    said = alone.says("run", "Hi", "--model", PRICED)

    assert (said.code, said.out) == (4, "")
    assert "administrator" in said.err
    assert "POST" not in {request["method"] for request in alone.upstream.requests()}


def test_5_context_overflow(alone: Terminal) -> None:
    said = alone.says("run", "word " * 20_000, "--model", TINY)

    assert said.code == 5
    assert "tokens" in said.err


def test_6_step_cap(terminal: Terminal) -> None:
    steps = [calls("todo", {"markdown": f"- [ ] step {n}"}) for n in range(9)]
    terminal.plays(*steps)

    said = terminal.says("run", "Go on.", "--toolset", "document")

    assert said.code == 6
    assert "--session" in said.err


def test_7_question_pending(terminal: Terminal) -> None:
    terminal.plays(calls("clarify", {"question": "Which file?"}), says("Thanks."))

    said = terminal.says("run", "Tidy.")
    session = re.findall(r"--session (\S+)", said.err)[0]
    answered = terminal.says("run", "The first.", "--session", session)

    assert said.code == 7
    assert "The model asks: Which file?" in said.err
    assert (answered.code, answered.out) == (0, "Thanks.\n")


HEARING = """\
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "jupyter-shoulders"
runpy.run_module("jupyter_ai_shoulders.cli", run_name="__main__")
"""
"""Restores Ctrl+C, which a shell disables in its background processes."""


def test_130_cancelled(terminal: Terminal) -> None:
    terminal.plays(says("word " * 50, ending="stall", ending_after=20))
    process = subprocess.Popen(
        [sys.executable, "-c", HEARING, "run", "--json", "Count."],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
        cwd=terminal.root,
    )
    assert process.stdout is not None
    line = ""
    while "text-delta" not in line:
        line = process.stdout.readline()
        assert line, process.communicate()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    assert json.loads(out.splitlines()[-1])["exit"] == "cancelled"
    assert "cancelled" in err
    assert "Traceback" not in err


def test_events_are_json_on_request(terminal: Terminal) -> None:
    terminal.plays(says("Hi."))

    said = terminal.says("run", "Hi", "--json")

    events = [json.loads(line) for line in said.out.splitlines()]
    assert said.code == 0
    assert [event["type"] for event in events if event["type"].startswith("text-")] == [
        "text-start",
        "text-delta",
        "text-end",
    ]
    assert events[-1]["exit"] == "final_response"


def test_a_terminal_is_not_steered(terminal: Terminal) -> None:
    terminal.plays(says("a\x1b[2Jb\x07\x9bc"))

    said = terminal.says("run", "Hi")

    assert said.out == "a\\x1b[2Jb\\x07\\x9bc\n"


def test_help_tells_the_codes(alone: Terminal) -> None:
    said = alone.says("--help")

    assert said.code == 0
    assert "7 question pending" in said.out
