"""What can be written behind ``%ai``, and in ``%%ai``."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.kernel.command import Command, WrongUse, parse


@pytest.mark.parametrize(
    ("line", "cell", "command"),
    [
        ("", None, Command("help")),
        ("help", None, Command("help")),
        ("cost", None, Command("cost")),
        ("models", None, Command("models")),
        ("new", None, Command("new")),
        ("-n", None, Command("new", new=True)),
        ("Why?", None, Command(prompt="Why?")),
        ("cost of living?", None, Command(prompt="cost of living?")),
        ("fix", None, Command("fix")),
        ("fix but keep the loop", None, Command("fix", prompt="but keep the loop")),
        ("fix", "1 / 0\n", Command("fix", code="1 / 0\n")),
        ("explain", None, Command("explain")),
        ("explain", "x = 1", Command("explain", code="x = 1")),
        ("explain the sky", None, Command(prompt="explain the sky")),
        ("", "One\nTwo\n", Command(prompt="One\nTwo")),
        ("help", "me", Command(prompt="help\nme")),
        ("", "  \n", Command("help")),
        ("-m fast Hi there", None, Command(prompt="Hi there", model="fast")),
        ("--model=fast -f json", "Hi", Command(prompt="Hi", model="fast", format="json")),
        ("-o x -n -t Hi", None, Command(prompt="Hi", output="x", new=True, tools=True)),
        ("-- -1 is what?", None, Command(prompt="-1 is what?")),
        ("Hi -m fast", None, Command(prompt="Hi -m fast")),
        ("-f code fix", None, Command("fix", format="code")),
    ],
)
def test_a_line_is_understood(line: str, cell: str | None, command: Command) -> None:
    assert parse(line, cell) == command


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--modle fast Hi", "Did you mean --model?"),
        ("-x Hi", "no option -x"),
        ("-m", "-m needs a value"),
        ("--format=pdf Hi", "there are markdown, code"),
        ("-o 1x Hi", "'1x' is no name"),
    ],
)
def test_what_is_wrong_is_named(line: str, message: str) -> None:
    with pytest.raises(WrongUse, match=message):
        parse(line)
