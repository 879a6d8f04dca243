"""Parses simple file commands of a shell before they run: ``mv``, ``cp``, ``rm``, ``mkdir``.

Pure; used by ``files.undo.shell_undo``. A line that is not fully understood is reported as not
covered by undo: a wrong guess would promise a restore that is impossible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Verb = Literal["mv", "cp", "rm", "mkdir"]

_VERBS: Mapping[str, Verb] = {"mv": "mv", "cp": "cp", "rm": "rm", "mkdir": "mkdir"}
_FLAGS: Mapping[Verb, Mapping[str, str]] = {
    "mv": {"-f": "", "-v": "", "--force": "", "--verbose": ""},
    "cp": {"-f": "", "-v": "", "-p": "", "--force": "", "--verbose": "", "--preserve": ""},
    "rm": {"-f": "force", "-v": "", "--force": "force", "--verbose": ""},
    "mkdir": {"-p": "parents", "-v": "", "--parents": "parents", "--verbose": ""},
}
"""Flags that undo can ignore, and those it must handle."""
_OF_FOLDERS = frozenset({"-r", "-R", "-a", "-d", "--recursive", "--archive", "--dir"})
_LOOKING = frozenset(
    {
        *("ls", "cat", "pwd", "head", "tail", "wc", "grep", "echo", "which", "stat", "du"),
        *("df", "date", "uname", "whoami", "id", "true", "false", "sha256sum", "md5sum", "diff"),
        *("cmp", "basename", "dirname", "realpath", "readlink", "nproc", "free", "uptime", "ps"),
    }
)
"""Programs that change no file with any of their flags; ``sort``, ``find`` and ``file`` do."""
_BLANKS = " \t\n"
"""White space that a shell trims from a line: any other is part of a name."""
_WORDS = {
    "|": "a pipe",
    ">": "a redirect",
    "<": "a redirect",
    "*": "a glob",
    "?": "a glob",
    "[": "a glob",
    "{": "braces",
    "}": "braces",
    "$": "a variable",
    "`": "a command within it",
    "~": "a home directory",
    ";": "several commands without &&",
    "&": "a background command",
    "(": "a subshell",
    ")": "a subshell",
    "!": "a negation",
    "#": "a comment",
    "\n": "several lines",
    "\r": "several lines",
}


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One command: its effect and the files as they are spelled."""

    verb: Verb
    operands: tuple[str, ...]
    force: bool = False
    parents: bool = False


@dataclass(frozen=True, slots=True)
class UnsupportedCommand:
    """Why a line cannot be undone, in words for the user ("it has a pipe")."""

    reason: str


class _UnsupportedSyntax(Exception):
    """Raised with an ``UnsupportedCommand``."""


def parse_shell_line(line: str) -> tuple[ShellCommand, ...] | UnsupportedCommand:
    """Return the file commands of a line; none when it only reads."""
    try:
        commands = list(_commands(line))
        return tuple(found for words in commands if (found := _command(words)) is not None)
    except _UnsupportedSyntax as error:
        return UnsupportedCommand(str(error))


def _commands(line: str) -> Iterator[list[str]]:
    """Split a line at ``&&`` into words, as a shell would, and refuse all other syntax."""
    words: list[str] = []
    for word in _words(line.strip(_BLANKS)):
        if word is not None:
            words.append(word)
            continue
        if not words:
            raise _UnsupportedSyntax("it is not complete")
        yield words
        words = []
    if not words:
        raise _UnsupportedSyntax("it is not complete")
    yield words


def _words(line: str) -> Iterator[str | None]:
    """Return the words of a line; None represents ``&&``."""
    word: list[str] | None = None
    position = 0
    while position < len(line):
        sign = line[position]
        if sign in " \t" or line.startswith("&&", position):
            if word is not None:
                yield "".join(word)
            word = None
            if sign == "&":
                yield None
                position += 1
            position += 1
            continue
        text, position = _piece(line, position)
        word = [*(word or ()), text]
    if word is not None:
        yield "".join(word)


def _piece(line: str, position: int) -> tuple[str, int]:
    """Return the unquoted piece at a position, and where the next begins."""
    sign = line[position]
    if sign == "'":
        end = line.find("'", position + 1)
        if end < 0:
            raise _UnsupportedSyntax("a quote is open")
        return line[position + 1 : end], end + 1
    if sign == '"':
        return _double(line, position + 1)
    if sign == "\\":
        if position + 1 >= len(line) or line[position + 1] in "\r\n":
            raise _UnsupportedSyntax("it has several lines")
        return line[position + 1], position + 2
    if sign in _WORDS:
        raise _UnsupportedSyntax(f"it has {_WORDS[sign]}")
    return sign, position + 1


def _double(line: str, position: int) -> tuple[str, int]:
    text: list[str] = []
    while position < len(line):
        sign = line[position]
        if sign == '"':
            return "".join(text), position + 1
        if sign in "$`!":
            raise _UnsupportedSyntax(f"it has {_WORDS[sign]}")
        if sign == "\\" and line[position + 1 : position + 2] == "\n":
            raise _UnsupportedSyntax("it has several lines")
        if sign == "\\" and line[position + 1 : position + 2] in {'"', "\\", "$", "`"}:
            position += 1
        text.append(line[position])
        position += 1
    raise _UnsupportedSyntax("a quote is open")


def _command(words: Sequence[str]) -> ShellCommand | None:
    name, *rest = words
    if name in _LOOKING:
        return None
    verb = _VERBS.get(name)
    if verb is None:
        raise _UnsupportedSyntax(f"{name} may change anything")
    flags, operands = _arguments(verb, rest)
    if len(operands) < (2 if verb in {"mv", "cp"} else 1):
        raise _UnsupportedSyntax(f"{name} names too few files")
    return ShellCommand(verb, tuple(operands), "force" in flags, "parents" in flags)


def _arguments(verb: Verb, words: Sequence[str]) -> tuple[set[str], list[str]]:
    flags: set[str] = set()
    operands: list[str] = []
    only_operands = False
    for word in words:
        if only_operands or not word.startswith("-") or word == "-":
            operands.append(word)
        elif word == "--":
            only_operands = True
        else:
            flags |= {_flag(verb, flag) for flag in _single(word)}
    if any(not operand for operand in operands):
        raise _UnsupportedSyntax("it names a file without a name")
    return flags, operands


def _single(word: str) -> list[str]:
    """Return the flags that a word holds: ``-rf`` is two."""
    return [word] if word.startswith("--") else [f"-{letter}" for letter in word[1:]]


def _flag(verb: Verb, flag: str) -> str:
    if flag in _OF_FOLDERS and verb != "mkdir":
        raise _UnsupportedSyntax(f"{verb} {flag} works on directories")
    if flag not in _FLAGS[verb]:
        raise _UnsupportedSyntax(f"{verb} {flag} is not understood")
    return _FLAGS[verb][flag]
