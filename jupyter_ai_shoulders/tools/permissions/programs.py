"""What programs do, for rules that allow commands: ``program_index.json``, which names its sources.

Used by ``tools.permissions.command_rules``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from jupyter_ai_shoulders.wire.events import EffectKind

_VERSION = re.compile(r"(?<=[a-zA-Z+])-?[0-9]+(?:\.[0-9]+)*$")


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DataSource(_Row):
    """Where facts of the table come from."""

    name: str
    url: str


class ReadOnlyCommand(_Row):
    """A program, or a subcommand of one, that only reads and prints."""

    command: str
    refused: tuple[str, ...] = ()
    """Options with which it writes a file, or runs or loads something."""
    operands: str | None = None
    """Regular expression of the operands (words that are not options); None: any."""

    @property
    def words(self) -> tuple[str, ...]:
        """The program and its subcommand."""
        return tuple(self.command.split())


class ExactMatchPrograms(_Row):
    """Programs whose rule covers one command line only, and the reason that is shown."""

    because: str
    effect: EffectKind
    """What the line of an approval shows of them."""
    programs: tuple[str, ...]


class EffectfulCommands(_Row):
    """Programs, subcommands or options with an effect that tells more than their program."""

    effect: EffectKind
    commands: tuple[str, ...]


class Installers(_Row):
    """Subcommands of programs that install."""

    reading: tuple[str, ...]
    running: tuple[str, ...]
    """They run a program of the project."""


class ProgramTable(_Row):
    """What ``program_index.json`` holds."""

    about: str
    sources: tuple[DataSource, ...]
    reading: tuple[ReadOnlyCommand, ...]
    exact: tuple[ExactMatchPrograms, ...]
    effects: tuple[EffectfulCommands, ...]
    carriers: tuple[str, ...]
    """They start the command that follows them."""
    keywords: tuple[str, ...]
    """Words of the shell that a command follows."""
    plain: tuple[str, ...]
    """Builtins that touch nothing."""
    shells: tuple[str, ...]
    """They run the command after ``-c``."""
    installers: Installers


def load_program_table() -> ProgramTable:
    """Return the table as the file has it."""
    text = (
        files("jupyter_ai_shoulders.tools.permissions").joinpath("programs.json").read_text("utf-8")
    )
    return ProgramTable.model_validate_json(text)


@dataclass(frozen=True, slots=True)
class ProgramIndex:
    """The table, by program."""

    reading: dict[tuple[str, ...], ReadOnlyCommand]
    reasons: dict[str, str]

    def find_read_only(self, words: Sequence[str]) -> ReadOnlyCommand | None:
        """Return the entry that a command line begins with: the one with most words."""
        for count in (3, 2, 1):
            found = self.reading.get(tuple(words[:count])) if len(words) >= count else None
            if found is not None:
                return found
        return None

    def exact_match_reason(self, program: str) -> str | None:
        """Return why a program's rule covers one line only; it may have a path or a version."""
        name = program.rpartition("/")[2]
        return self.reasons.get(name) or self.reasons.get(without_version(name))


def without_version(name: str) -> str:
    """Return a program's name without the version it ends with."""
    return _VERSION.sub("", name)


@cache
def program_index() -> ProgramIndex:
    """Return the table, read once."""
    table = load_program_table()
    return ProgramIndex(
        {entry.words: entry for entry in table.reading},
        {name: row.because for row in table.exact for name in row.programs},
    )
