"""The command lines that an allowing rule or a grant covers.

A line must be one plain command. A rule for a read-only program also covers other arguments; a rule
for any other program covers one exact line. Pure except for the table of
``tools.permissions.programs``; used by ``tools.permissions.rule_matching``,
``tools.permissions.grants`` and ``tools.permissions.file_format``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.tools.permissions.programs import ReadOnlyCommand, program_index
from jupyter_ai_shoulders.wire.events import CommandReach

_PIECE = re.compile(
    r"""(?P<blank>[ \t]+)
      | '(?P<single>[^'\0]*)'
      | "(?P<double>[^"$`\\\0]*)"
      | (?P<bare>[^\s\x00-\x1f\x7f'";&|<>`$(){}\\]+)""",
    re.VERBOSE,
)
"""Part of a plain command, as bash reads it. Only blanks count as plain white space."""
_GLOB = "*?["
_ACTIVE = frozenset(f"{_GLOB}~!")
"""Characters that the shell interprets unless they are quoted."""
_JOIN_PIECES = re.compile(r"""'[^']*'|"[^"]*"|&&|[^'"&;\n]+|.|\n""")
_GIT_WRITES = frozenset(
    {
        *("add", "am", "apply", "branch", "checkout", "cherry-pick", "clean", "clone", "commit"),
        *("fetch", "gc", "init", "merge", "mv", "notes", "pull", "push", "rebase", "reset"),
        *("restore", "revert", "rm", "stash", "status", "switch", "tag"),
    }
)
"""Git commands that change files, the index, branches or objects, but no settings or hooks."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)


@dataclass(frozen=True, slots=True)
class ShellWord:
    """A word of a command line, unquoted."""

    text: str
    active: tuple[int, ...] = ()
    """Positions of characters that the shell interprets; words that differ here differ in meaning.
    """

    @property
    def is_glob(self) -> bool:
        """Whether the shell replaces it by file names."""
        return any(self.text[position] in _GLOB for position in self.active)


def parse_plain_command(line: str) -> tuple[ShellWord, ...] | None:
    """Return the words of a line that is one plain command, else None.

    Unquoted pipes, chains, redirects, substitutions, variables, braces, escapes and comments are
    not plain.
    """
    line = line.strip(" \t\n")
    words: list[ShellWord] = []
    text, active, inside, position = "", list[int](), False, 0
    while position < len(line):
        piece = _PIECE.match(line, position)
        if piece is None or (not inside and line[position] == "#"):
            return None
        position = piece.end()
        if piece.lastgroup == "blank":
            words.append(ShellWord(text, tuple(active)))
            text, active, inside = "", [], False
            continue
        added = piece.group(piece.lastgroup or 0)
        if piece.lastgroup == "bare":
            active += _active(added, len(text), first=not inside)
        text, inside = text + added, True
    return (*words, ShellWord(text, tuple(active))) if line else None


def _active(text: str, start: int, *, first: bool) -> list[int]:
    found = [start + position for position, sign in enumerate(text) if sign in _ACTIVE]
    assigned = _ASSIGNMENT.match(text) if first else None
    return found if assigned is None else [*found, start + assigned.end() - 1]


def allow_rule_covers(rule: str, line: str) -> bool:
    """Return whether an allowing rule covers this line."""
    wanted, words = parse_plain_command(rule), parse_plain_command(line)
    if not wanted or not words:
        return False
    if words == wanted:
        return True
    reader = _reader(words)
    return (
        reader is not None
        and len(reader.words) <= len(wanted)
        and words[: len(wanted)] == wanted
        and _only_reads(reader, words)
    )


def has_command_prefix(line: str, command: str) -> bool:
    """Return whether a line is one plain command that begins with the words of ``command``."""
    wanted, words = parse_plain_command(command), parse_plain_command(line)
    return bool(wanted) and bool(words) and words[: len(wanted)] == wanted


def is_plain_git(line: str) -> bool:
    """Return whether a line consists only of git commands that write in the repository.

    They are joined by ``&&`` or ``;``; none sets options of git itself or its configuration.
    """
    commands = [""]
    for piece in _JOIN_PIECES.findall(line.strip("; \t\n")):
        if piece in {"&&", ";", "\n"}:
            commands.append("")
        else:
            commands[-1] += piece
    return all(map(_is_git_write, commands))


def _is_git_write(line: str) -> bool:
    words = [word.text for word in parse_plain_command(line) or ()]
    return len(words) > 1 and words[0] == "git" and words[1] in _GIT_WRITES


def command_reach(line: str) -> CommandReach | None:
    """Return the reach of the narrowest rule that covers a line; None if no rule can."""
    words = parse_plain_command(line)
    if not words:
        return None
    reader = _reader(words)
    if reader is not None and _only_reads(reader, words):
        return CommandReach(command=reader.command, exact=False)
    return CommandReach(command=line.strip(" \t\n"), exact=True)


def is_read_only(words: Sequence[ShellWord]) -> bool:
    """Return whether a plain command is a read-only program with harmless arguments."""
    reader = _reader(words)
    return reader is not None and _only_reads(reader, words)


def exactness_note(rule: str) -> str | None:
    """Return the note for an allowing rule that covers at most one line."""
    words = parse_plain_command(rule)
    if not words:
        return "Matches no command: a rule that allows covers single plain commands."
    reader = _reader(words)
    if reader is not None and _only_reads(reader, words):
        return None
    program = next((word.text for word in words if not _ASSIGNMENT.match(word.text)), "")
    reason = program_index().exact_match_reason(program)
    because = f": {program.rpartition('/')[2]} {reason}" if reason else ""
    return f"Matches only this exact command{because}."


def _reader(words: Sequence[ShellWord]) -> ReadOnlyCommand | None:
    return program_index().find_read_only([word.text for word in words])


def _only_reads(reader: ReadOnlyCommand, words: Sequence[ShellWord]) -> bool:
    return all(_is_harmless(reader, word) for word in words[len(reader.words) :])


def _is_harmless(reader: ReadOnlyCommand, word: ShellWord) -> bool:
    """Return whether an argument is neither a refused option nor an operand with an effect."""
    text = word.text
    if word.is_glob and (text.startswith("-") or 0 in word.active):
        return False  # its expansion may be an option
    if text.startswith("-") and text != "-":
        return not _is_refused(text, reader.refused)
    if reader.operands is None:
        return True
    return not word.is_glob and re.fullmatch(reader.operands, text, re.DOTALL) is not None


def _is_refused(text: str, refused: Sequence[str]) -> bool:
    """Return whether a word is a refused option, also abbreviated or among short options."""
    if text.startswith("--"):
        name = text.partition("=")[0]
        return len(name) > 2 and any(option.startswith(name) for option in refused)
    letters = {option[1] for option in refused if len(option) == 2}
    return any(letter in letters for letter in text[1:])
