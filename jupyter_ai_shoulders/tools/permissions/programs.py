"""Table of programs and their effects, for rules that allow commands.

Reads ``programs.json``, which names its sources; used by ``tools.permissions.command_rules`` and by
the analysis of commands in ``tools.code_analysis``.
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
    """A source of the table's facts."""

    name: str
    url: str


class ReadOnlyCommand(_Row):
    """A program, or a subcommand of one, that only reads and prints."""

    command: str
    refused: tuple[str, ...] = ()
    """Options that make it write a file, or run or load something."""
    operands: str | None = None
    """Regular expression that its operands (words other than options) must match; None: any."""

    @property
    def words(self) -> tuple[str, ...]:
        """The program and its subcommand."""
        return tuple(self.command.split())


class ExactMatchPrograms(_Row):
    """Programs whose rules cover only one exact command line, with the displayed reason."""

    because: str
    effect: EffectKind
    """The effect shown on an approval."""
    programs: tuple[str, ...]


class EffectfulCommands(_Row):
    """Programs, subcommands or options with a more specific effect than their program."""

    effect: EffectKind
    commands: tuple[str, ...]


class Installers(_Row):
    """Subcommands that install packages."""

    reading: tuple[str, ...]
    running: tuple[str, ...]
    """They run a program of the project."""


class ProgramTable(_Row):
    """The content of ``programs.json``."""

    about: str
    sources: tuple[DataSource, ...]
    reading: tuple[ReadOnlyCommand, ...]
    exact: tuple[ExactMatchPrograms, ...]
    effects: tuple[EffectfulCommands, ...]
    carriers: tuple[str, ...]
    """Programs that start the command that follows them."""
    keywords: tuple[str, ...]
    """Shell keywords that precede a command."""
    plain: tuple[str, ...]
    """Shell builtins without effects."""
    shells: tuple[str, ...]
    """Shells, which run the command after ``-c``."""
    installers: Installers


def load_program_table() -> ProgramTable:
    """Read the table from its file."""
    text = (
        files("jupyter_ai_shoulders.tools.permissions").joinpath("programs.json").read_text("utf-8")
    )
    return ProgramTable.model_validate_json(text)


@dataclass(frozen=True, slots=True)
class ProgramIndex:
    """The table indexed by program."""

    reading: dict[tuple[str, ...], ReadOnlyCommand]
    reasons: dict[str, str]

    def find_read_only(self, words: Sequence[str]) -> ReadOnlyCommand | None:
        """Return the entry with the most words that a command line begins with."""
        for count in (3, 2, 1):
            found = self.reading.get(tuple(words[:count])) if len(words) >= count else None
            if found is not None:
                return found
        return None

    def exact_match_reason(self, program: str) -> str | None:
        """Return why a rule for a program covers only one line; it may have a path or version."""
        name = program.rpartition("/")[2]
        return self.reasons.get(name) or self.reasons.get(without_version(name))


def without_version(name: str) -> str:
    """Return a program's name without a version suffix."""
    return _VERSION.sub("", name)


@cache
def program_index() -> ProgramIndex:
    """Return the index, built once."""
    table = load_program_table()
    return ProgramIndex(
        {entry.words: entry for entry in table.reading},
        {name: row.because for row in table.exact for name in row.programs},
    )
