"""The line that an approval shows is the command that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from jupyter_ai_shoulders.tools.external_agents.command_line import command_line
from jupyter_ai_shoulders.tools.external_agents.running_command import RunningCommand


@pytest.mark.parametrize(
    ("command", "arguments", "environment", "folder", "line"),
    [
        pytest.param("ls -la | wc", (), {}, "", "ls -la | wc", id="a line"),
        pytest.param("ls", ("a b", "$HOME"), {}, "", "ls 'a b' '$HOME'", id="quoted words"),
        pytest.param("make", (), {"A": "1 2"}, "", "export A='1 2'; make", id="variables"),
        pytest.param("make", (), {}, "sub dir", "cd 'sub dir' && make", id="folder"),
        pytest.param("a;b", ("c",), {}, ".", "'a;b' c", id="no injection by the program"),
    ],
)
def test_command_line_does_what_was_requested(
    command: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    line: str,
) -> None:
    assert command_line(command, arguments, environment, folder) == line


def test_only_the_newest_output_is_kept() -> None:
    command = RunningCommand(output_limit=5)
    for piece in ("abc", "dé", "fgh"):
        command.add_output(piece)

    assert (command.output().text, command.output().truncated) == ("éfgh", True)


async def test_the_first_end_counts() -> None:
    command = RunningCommand()
    command.end(3)
    command.end(None)

    assert await command.wait() == 3
