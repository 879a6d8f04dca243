"""The slash commands of the terminal chat, and where it refuses to begin."""

from __future__ import annotations

import re
import sys

import pytest

from tests.cli.chatting import SECONDS, Start
from tests.cli.conftest import Terminal
from tests.upstream import says


@pytest.mark.timeout(SECONDS + 40)
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_slash_commands(attached: Terminal, start: Start) -> None:
    attached.plays(says("One."), says("Two."))
    chat = start()
    chat.sees()
    does = chat.does

    assert "no command /jump" in does("/jump")
    assert "/compact" in does("/help")
    assert "not begun" in does("/export")
    chat.types("/model")
    listed = chat.sees("keeps simulated): ")
    number = re.findall(r"(\d+)\. simulated ·", listed)[0]
    assert "claude-opus-5-5" in listed
    assert listed.count("There is no key for Anthropic.") == 1
    assert "Model: simulated" in does(number)
    assert "Mode: plan" in does("/mode plan")
    assert "no mode fast" in does("/mode fast")
    assert "One." in does("First words.")
    assert "Two." in does("Second words.")
    assert "There is no model" in does("/model nothing")
    assert "Written to told.md" in does("/export told.md")
    assert "could not be written" in does("/export told.md")
    assert "format" in does("/export told.pdf")
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


def test_2_a_pipe_is_no_terminal(alone: Terminal) -> None:
    said = alone.says("chat")

    assert (said.code, said.out) == (2, "")
    assert "jupyter shoulders run" in said.err
