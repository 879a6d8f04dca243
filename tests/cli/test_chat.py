"""The terminal chat as people use it: the real program in a pseudo-terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pexpect
import pytest

from jupyter_ai_shoulders.client import Client
from tests.cli.conftest import Terminal
from tests.upstream import calls, notebook, says

LONG = 40
"""Seconds until a test gives up; nothing waits so long."""
CTRL_C, CTRL_D = "\x03", "\x04"
PROMPT = "\r\n> "
PASTE = "\x1b[?2004h"
"""prompt_toolkit writes it when it begins to read a line."""
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Chat:
    """The program, and what it has shown."""

    process: Any
    """A ``pexpect.spawn`` of text; its annotations are incomplete."""

    def sees(self, text: str = PROMPT) -> str:
        """Wait for a text, without one for the prompt; return all that came before it."""
        self.process.expect_exact(text)
        return str(self.process.before).replace("\r\n", "\n")

    def types(self, line: str) -> None:
        """Type a line."""
        self.process.send(f"{line}\r")

    def ends(self) -> int:
        """Wait for the end; return the exit code."""
        self.process.expect(pexpect.EOF)
        self.process.wait()
        assert self.process.exitstatus is not None, self.process.signalstatus
        return self.process.exitstatus


Start = Callable[..., Chat]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts chats, which end with the test."""
    begun: list[Any] = []

    def started(*arguments: str, term: str = "dumb") -> Chat:
        env: Any = {**os.environ, "TERM": term, "PROMPT_TOOLKIT_NO_CPR": "1"}
        process = cast("Any", pexpect.spawn)(
            sys.executable,
            ["-m", "jupyter_ai_shoulders.cli", "chat", *arguments],
            env=env,
            encoding="utf-8",
            timeout=LONG,
            dimensions=(50, 200),
        )
        begun.append(process)
        return Chat(process)

    yield started
    for process in begun:
        process.close(force=True)


def test_an_answer_streams_and_steers_no_dumb_terminal(alone: Terminal, start: Start) -> None:
    alone.plays(says("# Sum\n**Forty**-two \x1b[2J\u202e."))
    chat = start()
    greeting = chat.sees()
    chat.types("What is it?")
    said = chat.sees()
    chat.process.send(CTRL_D)

    assert chat.ends() == 0
    assert "simulated" in greeting
    assert "# Sum\n**Forty**-two \\x1b[2J\\u202e.\n" in f"{said}\n"
    assert "\x1b" not in greeting + said


def test_an_answer_has_styles_in_a_terminal_that_has_them(
    attached: Terminal, client: Client, start: Start
) -> None:
    attached.plays(says("# Sum\n**Forty**-two \x1b[2J."))
    chat = start(term="xterm")
    chat.sees(PASTE)
    chat.types("What is it?")
    chat.sees("Sum")
    said = chat.sees("\\x1b[2J")
    chat.sees(PASTE)
    chat.types("/quit")

    assert chat.ends() == 0
    assert "\x1b[" in said
    assert STYLE.sub("", said).strip() == "**Forty**-two"
    assert client.list(kind="chat")[0].source == "cli"


def test_a_call_is_allowed_denied_and_a_question_answered(attached: Terminal, start: Start) -> None:
    write = {"path": "made.txt", "content": "a\x1b\u202eb"}
    attached.plays(
        calls("write_file", write),
        calls("write_file", {"path": "never.txt", "content": "x"}),
        calls("clarify", {"question": "Which?", "options": ["Red", "Blue"]}),
        says("Done."),
    )
    chat = start()
    chat.sees()
    chat.types("Write.")
    asked = chat.sees("Allow write_file? ")
    chat.sees(": ")
    chat.types("what")
    chat.sees("Type one of the letters")
    chat.sees("[n]o: ")
    chat.types("y")
    chat.sees("never.txt")
    chat.sees("[n]o: ")
    chat.types("n not that one")
    refused = chat.sees()
    chat.types("Go on.")
    question = chat.sees("your own words: ")
    chat.types("2")
    chat.sees("Done.")
    chat.sees()
    chat.types("/quit")

    assert chat.ends() == 0
    assert '"path": "made.txt"' in asked
    assert "\\u202eb" in asked
    assert "\x1b" not in asked
    assert "\u202e" not in asked
    assert (attached.root / "made.txt").read_text() == write["content"]
    assert "a call was refused" in refused
    assert not (attached.root / "never.txt").exists()
    assert "Which?\n  1. Red\n  2. Blue" in question
    told = json.dumps(attached.upstream.requests()[-1]["body"]["messages"])
    assert "not that one" in told
    assert "Blue" in told


def test_a_running_cell_is_given_its_input(attached: Terminal, start: Start) -> None:
    path = attached.root / "asks.ipynb"
    path.write_text(notebook(("a", "print(input('Name? ') * 2)")))
    attached.plays(calls("run_cell", {"path": path.name, "cell_id": "a"}), says("Ran."))
    chat = start("--mode", "bypass")
    chat.sees()
    chat.types("Run it.")
    chat.sees("Name? ")
    chat.types("Ada")
    chat.sees("Ran.")
    chat.sees()
    chat.types("/quit")

    assert chat.ends() == 0
    assert "AdaAda" in path.read_text()


def test_ctrl_c_stops_the_turn_and_a_second_one_leaves(alone: Terminal, start: Start) -> None:
    stalled = says("word " * 50, ending="stall", ending_after=20)
    alone.plays(stalled, stalled)
    chat = start()
    chat.sees()
    chat.types("Count.")
    chat.sees("word ")
    chat.process.send(CTRL_C)
    stopped = chat.sees()
    chat.process.send(CTRL_C)
    chat.sees("leaves.")
    chat.sees()
    chat.process.send(CTRL_C)

    assert chat.ends() == 130
    assert "The turn was cancelled." in stopped


def test_a_killed_chat_offers_to_resume_its_turn(alone: Terminal, start: Start) -> None:
    alone.plays(calls("write_file", {"path": "late.txt", "content": "x"}), says("Resumed."))
    killed = start()
    killed.sees()
    killed.types("Write late.")
    killed.sees("[n]o: ")
    killed.process.kill(signal.SIGKILL)
    killed.process.wait()

    chat = start()
    offered = chat.sees("later: ")
    chat.types("r")
    chat.sees("[n]o: ")
    chat.types("y")
    chat.sees("Resumed.")
    chat.sees()
    chat.types("/quit")

    assert chat.ends() == 0
    assert "> Write late." in offered
    assert "The turn was interrupted." in offered
    assert (alone.root / "late.txt").read_text() == "x"


def test_slash_commands(attached: Terminal, start: Start) -> None:
    attached.plays(says("One."), says("Two."))
    chat = start()

    def does(line: str) -> str:
        chat.types(line)
        return chat.sees()

    chat.sees()
    assert "no command /jump" in does("/jump")
    assert "/compact" in does("/help")
    assert "not begun" in does("/export")
    chat.types("/model")
    listed = chat.sees("keeps simulated): ")
    number = re.findall(r"(\d+)\. simulated ·", listed)[0]
    assert "Model: simulated" in does(number)
    assert "Mode: plan" in does("/mode plan")
    assert "One." in does("First words.")
    assert "Two." in does("Second words.")
    assert "Written to told.md" in does("/export told.md")
    assert "could not be written" in does("/export told.md")
    assert "This conversation: " in does("/cost")
    assert "write_file (write)" in does("/tools")
    assert "begins with your next message" in does("/new")
    assert "  1. " in does("/sessions")
    chat.types("/open 1")
    chat.sees("> First words.")
    chat.sees("> Second words.")
    assert "Two." in chat.sees()
    chat.types("/quit")

    assert chat.ends() == 0
    assert "One." in (attached.root / "told.md").read_text()


def test_a_pipe_is_no_terminal(alone: Terminal) -> None:
    said = alone.says("chat")

    assert said.code == 2
    assert "jupyter shoulders run" in said.err
