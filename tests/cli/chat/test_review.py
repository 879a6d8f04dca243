"""Changes and proposals in the terminal chat: shown, decided on, and undone."""

from __future__ import annotations

import sys

import pytest

from tests.cli.chat.pseudo_terminal import SECONDS, ChatProcess, Start
from tests.cli.conftest import Terminal
from tests.simulator_process import calls, notebook, says

pytestmark = [
    pytest.mark.timeout(SECONDS + 40),
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX"),
]


@pytest.fixture(params=["alone", "attached"])
def terminal(request: pytest.FixtureRequest) -> Terminal:
    """Both engines; the model gets no requests for titles."""
    terminal: Terminal = request.getfixturevalue(request.param)
    if request.param == "alone":
        terminal.configure({"titles": False})
    return terminal


def begun(start: Start, *arguments: str) -> ChatProcess:
    """A chat without pending edits of other tests, which may share the server."""
    chat = start("--mode", "bypass", *arguments)
    chat.sees()
    chat.does("/keep all")
    chat.does("/dismiss all")
    return chat


def test_changes_are_shown_kept_and_undone(terminal: Terminal, start: Start) -> None:
    made = {name: terminal.root / f"review-{name}.txt" for name in ("one", "two", "long")}
    contents = {"one": "first\x1b[2J\n", "two": "second\n", "long": "line\n" * 50}
    terminal.plays(
        *(
            calls("create_file", {"path": made[name].name, "content": contents[name]})
            for name in ("one", "two")
        ),
        says("Made."),
        calls("create_file", {"path": made["long"].name, "content": contents["long"]}),
        says("Long."),
    )
    chat = begun(start)
    nothing = chat.does("/review")
    said = chat.does("Make two.")
    unseen = chat.does("/undo 2")
    unclear = chat.does("/keep")
    kept = chat.does("/keep 1")
    wrong = chat.does("/apply 2") + chat.does("/keep 1") + chat.does("/apply")
    undone = chat.does("/undo 2")
    over = chat.does("/review")
    chat.does("Make a long one.")
    listed = chat.does("/review")
    whole = chat.does("/review 1")
    made["long"].write_text("mine\n")
    refused = chat.does("/undo 1")
    chat.does("/review")
    again = chat.does("/keep")
    chat.types("/quit")

    assert chat.ends() == 0
    assert "Nothing to review." in nothing
    assert "· 2 changes to review: /review" in said
    assert "1. review-one.txt · new\n│ @@ -0,0 +1 @@\n│ +first\\x1b[2J" in unseen
    assert "2. review-two.txt · new\n" in unseen
    assert "then type /undo with the numbers" in unseen
    assert "/keep 1, numbered as in /review, or all" in unclear
    assert "Kept: review-one.txt" in kept
    assert "2 is a change: use /keep or /undo." in wrong
    assert "There is no number 1;" in wrong
    assert "There is nothing to apply." in wrong
    assert "Undone: review-two.txt" in undone
    assert "Nothing to review." in over
    assert "│" not in listed
    assert whole.count("│ +line") == 50
    assert "has changed since you saw the edit" in refused
    assert "Kept: review-long.txt" in again
    assert made["one"].read_text() == contents["one"]
    assert not made["two"].exists()
    assert made["long"].read_text() == "mine\n"


def test_proposals_are_applied_and_dismissed(terminal: Terminal, start: Start) -> None:
    text, book = terminal.root / "proposed.txt", terminal.root / "proposed.ipynb"
    text.write_text("red\nround\n")
    book.write_text(notebook(("a", "colour = 'red'\nprint(colour)")))
    terminal.plays(
        calls(
            "create_proposal",
            {
                "path": text.name,
                "old_string": "red",
                "new_string": "blue",
                "reason": "Nicer.",
            },
        ),
        calls(
            "create_proposal",
            {"path": book.name, "cell_id": "a", "old_string": "red", "new_string": "blue"},
        ),
        says("Proposed."),
    )
    chat = begun(start)
    said = chat.does("Propose.")
    shown = chat.does("/review")
    wrong = chat.does("/undo 1")
    dismissed = chat.does("/dismiss 2")
    text.write_text("red\nsquare\n")
    applied = chat.does("/apply")
    over = chat.does("/dismiss all")
    chat.types("/quit")

    assert chat.ends() == 0
    assert "· 2 proposals to review: /review" in said
    assert "1. proposed.txt · proposed: Nicer.\n│ @@ -1,2 +1,2 @@\n│ -red\n│ +blue" in shown
    assert "2. proposed.ipynb “colour = 'red'” · proposed" in shown
    assert "No newline" not in shown
    assert "1 is a proposal: use /apply or /dismiss." in wrong
    assert "“colour = 'red'”: dismissed" in dismissed
    assert "proposed.txt: applied; what you changed in other lines stays" in applied
    assert "There is nothing to dismiss." in over
    assert text.read_text() == "blue\nsquare\n"
    assert "blue" not in book.read_text()


def test_the_last_turn_is_undone_and_that_taken_back(terminal: Terminal, start: Start) -> None:
    made, book = terminal.root / "turn.txt", terminal.root / "turn.ipynb"
    book.write_text(notebook(("a", "x = 1")))
    terminal.plays(
        calls("create_file", {"path": made.name, "content": "mine\n"}),
        calls("add_cell", {"path": book.name, "source": "y = 2"}),
        says("Done."),
    )
    chat = begun(start)
    early = chat.does("/undo turn") + chat.does("/redo")
    chat.does("Write.")
    unneeded = chat.does("/redo")
    undone = chat.does("/undo turn")
    there = (made.exists(), "y = 2" in book.read_text())
    again = chat.does("/undo turn")
    back = chat.does("/redo")
    chat.types("/quit")

    assert chat.ends() == 0
    assert early.count("has not started") == 2
    assert "The last turn was not undone." in unneeded
    assert "turn.txt: file moved to the trash" in undone
    assert "turn.ipynb: 1 cell removed" in undone
    assert there == (False, False)
    assert "already undone; /redo" in again
    assert "turn.txt: file restored" in back
    assert made.read_text() == "mine\n"
    assert "y = 2" in book.read_text()


def test_what_awaits_review_is_told_at_the_start(alone: Terminal, start: Start) -> None:
    alone.configure({"titles": False})
    alone.plays(calls("create_file", {"path": "left.txt", "content": "x\n"}), says("Made."))
    first = start("--mode", "bypass")
    first.sees()
    first.does("Make it.")
    first.types("/quit")
    left_with = first.ends()

    chat = start()
    greeting = chat.sees()
    undone = chat.does("/undo all")
    chat.types("/quit")

    assert (left_with, chat.ends()) == (0, 0)
    assert "· 1 change to review: /review" in greeting
    assert "Undone: left.txt" in undone
    assert not (alone.root / "left.txt").exists()
