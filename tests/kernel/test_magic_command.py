"""The syntax of ``%ai`` and ``%%ai``."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.kernel.magic_command import MagicCommand, MagicUsageError, parse_magic


@pytest.mark.parametrize(
    ("line", "cell", "command"),
    [
        ("", None, MagicCommand("help")),
        ("help", None, MagicCommand("help")),
        ("cost", None, MagicCommand("cost")),
        ("models", None, MagicCommand("models")),
        ("new", None, MagicCommand("new")),
        ("-n", None, MagicCommand("new", new=True)),
        ("Why?", None, MagicCommand(prompt="Why?")),
        ("cost of living?", None, MagicCommand(prompt="cost of living?")),
        ("search load data", None, MagicCommand("search", prompt="load data")),
        ("search", None, MagicCommand(prompt="search")),
        ("search", "this", MagicCommand(prompt="search\nthis")),
        ("fix", None, MagicCommand("fix")),
        ("fix but keep the loop", None, MagicCommand("fix", prompt="but keep the loop")),
        ("fix", "1 / 0\n", MagicCommand("fix", code="1 / 0\n")),
        ("explain", None, MagicCommand("explain")),
        ("explain", "x = 1", MagicCommand("explain", code="x = 1")),
        ("explain the sky", None, MagicCommand(prompt="explain the sky")),
        ("", "One\nTwo\n", MagicCommand(prompt="One\nTwo")),
        ("help", "me", MagicCommand(prompt="help\nme")),
        ("", "  \n", MagicCommand("help")),
        ("-m fast Hi there", None, MagicCommand(prompt="Hi there", model="fast")),
        ("--model=fast -f json", "Hi", MagicCommand(prompt="Hi", model="fast", format="json")),
        ("-o x -n -t Hi", None, MagicCommand(prompt="Hi", output="x", new=True, tools=True)),
        ("-- -1 is what?", None, MagicCommand(prompt="-1 is what?")),
        ("Hi -m fast", None, MagicCommand(prompt="Hi -m fast")),
        ("-f code fix", None, MagicCommand("fix", format="code")),
    ],
)
def test_a_line_is_understood(line: str, cell: str | None, command: MagicCommand) -> None:
    assert parse_magic(line, cell) == command


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
    with pytest.raises(MagicUsageError, match=message):
        parse_magic(line)
