"""The slash commands of the terminal chat, and when it refuses to start."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from jupyter_ai_shoulders.cli.chat.slash_commands import COMMANDS
from tests.cli.chat.pseudo_terminal import CTRL_C, DENY, PASTE, SECONDS, Start
from tests.cli.conftest import Terminal
from tests.simulator_process import calls, says


@pytest.mark.timeout(SECONDS + 40)
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_slash_commands(attached: Terminal, start: Start) -> None:
    attached.plays(says("One."), says("Two."))
    chat = start()
    chat.sees()
    does = chat.does

    assert "no command /jump" in does("/jump")
    assert "/compact" in does("/help")
    assert "not started" in does("/export")
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
    assert "Your next message starts a new conversation" in does("/new")
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


@pytest.mark.timeout(SECONDS + 40)
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_a_narrow_terminal_has_whole_words_and_columns(alone: Terminal, start: Start) -> None:
    alone.plays(calls("create_file", {"path": "narrow.txt", "content": "x"}))
    chat = start(columns=40)
    chat.sees()
    told = chat.does("/help")
    wrong = chat.does("/HELP\tme") + chat.does("/no such")
    chat.types("Write.")
    asked = chat.sees(DENY)
    chat.presses(CTRL_C)
    chat.sees()
    chat.types("/quit")

    assert chat.ends() == 0
    assert f"\n/new            start another\n{' ' * 16}conversation\n" in told
    assert f"\n/new            start another\n{' ' * 16}conversation\n" in wrong
    assert "There is no command /no; /help lists" in wrong
    assert max(map(len, asked.splitlines())) <= 40
    assert "\nAllow create_file? [y]es once" in asked
    assert "[f\n]" not in asked


@pytest.mark.timeout(SECONDS + 40)
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_several_lines_that_are_pasted_are_one_message(alone: Terminal, start: Start) -> None:
    alone.configure({"titles": False})
    alone.plays(says("One message."))
    chat = start(term="xterm")
    chat.sees(PASTE)
    chat.types("\x1b[200~first\n漢字 second\x1b[201~")
    chat.sees("message.")
    chat.sees(PASTE)
    chat.types("/quit")

    assert chat.ends() == 0
    asked = [request["body"]["messages"][-1] for request in alone.upstream.requests()]
    assert "first\\n漢字 second" in json.dumps(asked[0], ensure_ascii=False)


def test_the_guide_tells_every_command() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guide.md").read_text(encoding="utf-8")

    rows = "".join(line for line in guide.splitlines() if line.startswith("| `/"))
    assert [each.usage for each in COMMANDS.values() if f"`{each.usage}`" not in rows] == []
