"""Turns of the terminal chat: streaming, questions, Ctrl+C, and recovery after a crash."""

from __future__ import annotations

import json
import re
import signal
import sys

import pytest

from jupyter_ai_shoulders.client import Client
from tests.cli.chat.pseudo_terminal import CTRL_C, CTRL_D, DENY, PASTE, SECONDS, Start
from tests.cli.conftest import Terminal
from tests.simulator_process import calls, notebook, says

pytestmark = [
    pytest.mark.timeout(SECONDS + 40),
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX"),
]

STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def test_an_answer_streams_and_steers_no_dumb_terminal(alone: Terminal, start: Start) -> None:
    alone.plays(says("# Sum\n**Forty**-two \x1b[2J\u202e.\r\nDone."))
    chat = start()
    greeting = chat.sees()
    said = chat.does("What is it?")
    chat.presses(CTRL_D)

    assert chat.ends() == 0
    assert "simulated" in greeting
    assert "# Sum\n**Forty**-two \\x1b[2J\\u202e.\nDone.\n" in f"{said}\n"
    assert "\x1b" not in chat.shown.getvalue()


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
    assert COLOUR.search(said)
    assert STYLE.sub("", said).strip() == "**Forty**-two"
    assert client.list(kind="chat")[0].source == "cli"


def test_a_narrow_terminal_without_colours_breaks_lines_between_words(
    attached: Terminal, start: Start
) -> None:
    attached.plays(says("Every one of these words is whole, whatever the width of the screen."))
    chat = start(term="xterm", columns=30, env={"NO_COLOR": "1"})
    chat.sees(PASTE)
    chat.types("Talk.")
    said = chat.sees("the screen.")
    chat.sees(PASTE)
    chat.presses(CTRL_D)

    assert chat.ends() == 0
    assert said.endswith("Every one of these words is\nwhole, whatever the width of\n")
    assert not [code for code in COLOUR.findall(said) if code not in {"\x1b[0m", "\x1b[m"}]


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
    asked = chat.sees(DENY)
    chat.types("what")
    chat.sees("Type one of the letters")
    chat.sees(DENY)
    chat.types("y")
    chat.sees("never.txt")
    chat.sees(DENY)
    chat.types("n not that one")  # the turn continues with the reason
    question = chat.sees("your own words: ")
    chat.types("2")
    chat.sees("Done.")
    chat.sees()
    chat.types("/quit")

    assert chat.ends() == 0
    assert '│   "path": "made.txt"' in asked
    assert "│ a\\x1b\\u202eb" in asked
    assert "\x1b" not in asked
    assert "\u202e" not in asked
    assert "[y]es once" in asked
    assert (attached.root / "made.txt").read_text() == write["content"]
    assert "Always allows: write_file, on made.txt" in asked.replace("│ ", "")
    assert not (attached.root / "never.txt").exists()
    assert "Which?\n  1. Red\n  2. Blue" in question
    told = json.dumps(attached.upstream.requests()[-1]["body"]["messages"])
    assert "not that one" in told
    assert "Blue" in told


def test_a_long_call_is_shown_whole_on_demand_and_always_asks_no_more(
    alone: Terminal, start: Start
) -> None:
    content = "".join(f"line {number}\n" for number in range(100))
    alone.configure({"titles": False})
    alone.plays(
        calls("write_file", {"path": "long.txt", "content": content}),
        calls("write_file", {"path": "long.txt", "content": "x"}),
        says("Both."),
    )
    chat = start()
    chat.sees()
    chat.types("Write.")
    cut = chat.sees("[v]iew all of it: ")
    chat.types("v")
    whole = chat.sees("[v]iew all of it: ")
    chat.types("a")
    chat.sees("Both.")
    chat.sees()
    chat.types("/quit")

    assert chat.ends() == 0
    assert "│ line 39" in cut
    assert "│ line 40" not in cut
    assert "60 more lines" in cut
    assert "│ line 99" in whole
    assert "[a]lways" in cut
    assert (alone.root / "long.txt").read_text() == "x"


def test_a_running_cell_is_given_its_input_and_a_password_is_not_shown(
    attached: Terminal, start: Start
) -> None:
    path = attached.root / "asks.ipynb"
    asks = "import getpass\nprint(input('Name? ') * 2, len(getpass.getpass('Key? ')))"
    source = f"{asks}\nprint('x ' * 3000)"
    path.write_text(notebook(("a", source)))
    attached.plays(calls("run_cell", {"path": path.name, "cell_id": "a"}), says("Ran."))
    chat = start("--mode", "bypass")
    chat.sees()
    chat.types("Run it.")
    chat.sees("Name? ")
    chat.types("Ada")
    chat.sees("Key? ")
    chat.types("hunter2")
    printed = chat.sees("Ran.")
    chat.sees()
    chat.types("/quit")

    assert chat.ends() == 0
    assert "AdaAda 7\n" in printed
    assert "More output is not shown here" in printed
    assert "AdaAda 7" in path.read_text()
    assert "hunter2" not in chat.shown.getvalue()


def test_ctrl_c_stops_the_turn_and_a_second_one_leaves(alone: Terminal, start: Start) -> None:
    alone.configure({"titles": False})
    alone.plays(
        says("word " * 50, ending="stall", ending_after=20),
        calls("write_file", {"path": "never.txt", "content": "x"}),
    )
    chat = start()
    chat.sees()
    chat.types("Count.")
    chat.sees("word ")
    chat.presses(CTRL_C)
    stopped = chat.sees()
    chat.types("Write.")
    chat.sees(DENY)
    chat.presses(CTRL_C)
    unasked = chat.sees()
    chat.presses(CTRL_C)
    chat.sees("leaves.")
    chat.sees()
    chat.presses(CTRL_C)

    assert chat.ends() == 130
    assert "The turn was cancelled." in stopped
    assert "The turn was cancelled." in unasked
    assert not (alone.root / "never.txt").exists()


def test_a_killed_chat_offers_to_resume_its_turn(alone: Terminal, start: Start) -> None:
    alone.plays(calls("write_file", {"path": "late.txt", "content": "x"}), says("Resumed."))
    killed = start()
    killed.sees()
    killed.types("Write late.")
    killed.sees(DENY)
    killed.dies(signal.SIGKILL)

    chat = start()
    offered = chat.sees("later: ")
    chat.types("r")
    chat.sees(DENY)
    chat.types("y")
    chat.sees("Resumed.")
    chat.sees()
    chat.types("/quit")

    assert chat.ends() == 0
    assert "> Write late." in offered
    assert "The turn was interrupted" in offered
    assert (alone.root / "late.txt").read_text() == "x"


def test_a_turn_on_a_server_outlives_a_chat_that_is_killed_or_left(
    attached: Terminal, start: Start
) -> None:
    attached.plays(calls("write_file", {"path": "lived.txt", "content": "x"}), says("Went on."))
    killed = start()
    killed.sees()
    killed.types("Outlive me.")
    killed.sees(DENY)
    killed.dies(signal.SIGKILL)

    left = start()
    waiting = re.findall(r"Outlive me\. \(waiting\): /open (\S+)", left.sees())
    left.types(f"/open {waiting[0]}")
    left.sees(DENY)
    left.presses(CTRL_D)
    said = left.sees("chat resumes it")
    left_with = left.ends()

    chat = start("--session", waiting[0])
    chat.sees("> Outlive me.")
    chat.sees(DENY)
    chat.types("y")
    chat.sees("Went on.")
    chat.sees()
    chat.types("/quit")

    assert (chat.ends(), left_with) == (0, 0)
    assert "stays open" in said
    assert (attached.root / "lived.txt").read_text() == "x"
