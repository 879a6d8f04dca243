"""Effects of a command line found in its text: a hint for approvals, never a gate.

Pure and bounded; used by ``tools.code_analysis.effects``. Parsing follows bash, but every part of a
chain, pipe or substitution counts as a separate command. Effects that cannot be seen are reported
as unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from jupyter_ai_shoulders.tools.permissions.command_rules import ShellWord, is_read_only
from jupyter_ai_shoulders.tools.permissions.programs import load_program_table, without_version
from jupyter_ai_shoulders.wire.events import EffectKind

Effects = frozenset[EffectKind]
PythonAnalyzer = Callable[[str], Effects]
"""Analyses the code of ``python -c``."""

MAX_CHARACTERS = 20_000
"""Characters of a line that are analysed."""
MAX_DEPTH = 4
"""Maximum depth of nested commands."""
MAX_WORDS = 100
"""Analysed words after a program that starts other programs."""
_ENDS = frozenset(";&|()\n`")
_EXPANDED = frozenset("$*?[{~")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_QUIET_TARGET = re.compile(r"\s*(?:&\s*[\d-]|/dev/(?:null|stdout|stderr)\b)")
_SUBSTITUTION = re.compile(r"\$\(|`")


def command_effects(
    line: str, analyze_python: PythonAnalyzer | None = None, depth: int = 0
) -> Effects:
    """Return the effects of a command line."""
    if len(line) > MAX_CHARACTERS or depth > MAX_DEPTH:
        return frozenset({"unknown"})
    split = _Splitter(line)
    split.run()
    found: set[EffectKind] = set(split.effects)
    for command in split.commands:
        found |= _of_command(command, analyze_python, depth)
    for nested in split.nested:
        found |= command_effects(nested, analyze_python, depth + 1)
    return frozenset(found)


@dataclass(slots=True)
class _Splitter:
    """Splits a line into the words of its commands."""

    line: str
    commands: list[list[ShellWord]] = field(default_factory=list[list[ShellWord]])
    effects: set[EffectKind] = field(default_factory=set[EffectKind])
    nested: list[str] = field(default_factory=list[str])
    _words: list[ShellWord] = field(default_factory=list[ShellWord])
    _text: str = ""
    _active: list[int] = field(default_factory=list[int])
    _inside: bool = False
    _position: int = 0

    def run(self) -> None:
        while self._position < len(self.line):
            self._step(self.line[self._position])
        self._end_command()

    def _step(self, sign: str) -> None:
        self._position += 1
        if sign in "'\"":
            self._quoted(sign)
        elif sign == "\\":
            self._escaped()
        elif sign in " \t\r":
            self._end_word()
        elif sign in _ENDS:
            self._end_command()
        elif sign in "<>":
            self._redirect(sign)
        elif sign == "#" and not self._inside:
            end = self.line.find("\n", self._position)
            self._position = len(self.line) if end < 0 else end
        else:
            self._add(sign, active=sign in _EXPANDED)

    def _quoted(self, quote: str) -> None:
        end = self._position
        while end < len(self.line) and self.line[end] != quote:
            end += 2 if quote == '"' and self.line[end] == "\\" else 1
        if end >= len(self.line):
            self.effects.add("unknown")  # the quote is not closed
        text = self.line[self._position : end]
        self._position = end + 1
        self._add(text, active=quote == '"' and ("$" in text or "`" in text))
        if quote == '"':
            self.nested += _SUBSTITUTION.split(text)[1:]

    def _escaped(self) -> None:
        escaped = self.line[self._position : self._position + 1]
        self._position += 1
        if escaped != "\n":
            self._add(escaped, active=False)

    def _redirect(self, sign: str) -> None:
        if self._text.isdecimal():  # the number of a stream
            self._text, self._active, self._inside = "", [], False
        self._end_word()
        if sign == "<":
            return
        rest = self.line[self._position :].lstrip(">|")
        quiet = _QUIET_TARGET.match(rest)
        if quiet is None:
            self.effects.add("writes_files")
        else:
            self._position = len(self.line) - len(rest) + quiet.end()

    def _add(self, text: str, *, active: bool) -> None:
        if active:
            self._active.append(len(self._text))
        self._text, self._inside = self._text + text, True

    def _end_word(self) -> None:
        if self._inside:
            self._words.append(ShellWord(self._text, tuple(self._active)))
        self._text, self._active, self._inside = "", [], False

    def _end_command(self) -> None:
        self._end_word()
        if self._words:
            self.commands.append(self._words)
        self._words = []


def _of_command(
    words: Sequence[ShellWord], look: PythonAnalyzer | None, depth: int
) -> set[EffectKind]:
    if [word.text for word in words] in _ENDLESS:
        return {"long_loop"}
    words = _after_prefixes(words)
    if not words:
        return set()
    if words[0].active:
        return {"dynamic_code"}
    return _of_started(words, look, depth)


def _of_started(
    words: Sequence[ShellWord], look: PythonAnalyzer | None, depth: int
) -> set[EffectKind]:
    table = _table()
    name = without_version(words[0].text.rpartition("/")[2])
    if depth > MAX_DEPTH:
        return {"unknown"}
    if name in table.carriers:
        return _of_carrier(name, words, look, depth)
    if name in table.shells:
        return _of_shell(name, words, look, depth)
    given = _after_option(words, "-c") if name == "python" and look is not None else None
    if given is None or look is None:
        return _of_program(name, words)
    return {"dynamic_code"} if given.active else set(look(given.text))


_ENDLESS = (["while", "true"], ["while", ":"], ["until", "false"])


def _of_carrier(
    name: str, words: Sequence[ShellWord], look: PythonAnalyzer | None, depth: int
) -> set[EffectKind]:
    """Return the effects of a program that starts other programs, from each of its words."""
    table = _table()
    found = _rows(name, words)
    started = bool(found) or len(words) == 1
    if len(words) > MAX_WORDS:
        found.add("unknown")
    for position in range(1, min(len(words), MAX_WORDS)):
        inner = without_version(words[position].text.rpartition("/")[2])
        if inner != "." and inner not in table.carriers and _has_known_effects(inner):
            started = True
            found |= _of_command(words[position:], look, depth + 1)
    if not started:
        found.add("outside_code")
    return found


def _of_shell(
    name: str, words: Sequence[ShellWord], look: PythonAnalyzer | None, depth: int
) -> set[EffectKind]:
    if name == "eval":
        given: ShellWord | None = ShellWord(
            " ".join(word.text for word in words[1:]),
            tuple(place for word in words[1:] for place in word.active),
        )
    else:
        given = next(
            (
                words[position + 1]
                for position, word in enumerate(words[:-1])
                if word.text.startswith("-") and word.text.endswith("c")
            ),
            None,
        )
    if given is None:
        return {"outside_code"}
    found = set(command_effects(given.text, look, depth + 1))
    if given.active:
        found.add("dynamic_code")
    return found


def _of_program(name: str, words: Sequence[ShellWord]) -> set[EffectKind]:
    table = _table()
    if name in table.plain or is_read_only(words):
        return set()
    told = _rows(name, words)
    effect = table.exact.get(name)
    if effect == "installs":
        return told | _of_installer(words)
    effect = effect or "outside_code"
    if not (told if effect == "outside_code" else "deletes_files" in told):
        told.add(effect)
    return told


def _of_installer(words: Sequence[ShellWord]) -> set[EffectKind]:
    installers = _table().installers
    given = next((word.text for word in words[1:]), "")
    subcommand = next((word.text for word in words[1:] if not word.text.startswith("-")), given)
    if {given, subcommand} & set(installers.reading):
        return set()
    return {"outside_code"} if subcommand in installers.running else {"installs"}


def _rows(name: str, words: Sequence[ShellWord]) -> set[EffectKind]:
    """Return the table's effects of a program with its subcommands and options."""
    texts = [word.text for word in words[1:]]
    return {effect for effect, rest in _table().effects.get(name, ()) if _has(texts, rest)}


def _has(texts: Sequence[str], wanted: Sequence[str]) -> bool:
    if not wanted:
        return True
    if len(wanted) > 1:
        length = len(wanted)
        return any(list(texts[at : at + length]) == list(wanted) for at in range(len(texts)))
    option = wanted[0]
    if option.startswith("--") or (option.startswith("-") and len(option) > 2):
        return any(text == option or text.startswith(f"{option}=") for text in texts)
    if option.startswith("-"):
        return any(re.match(rf"-\w*{re.escape(option[1])}", text) for text in texts)
    return option in [text for text in texts if not text.startswith("-")][:2]


def _after_option(words: Sequence[ShellWord], option: str) -> ShellWord | None:
    places = (at for at, word in enumerate(words[:-1]) if word.text == option)
    at = next(places, None)
    return None if at is None else words[at + 1]


def _after_prefixes(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """Return the words from the program on, without assignments and shell keywords before it."""
    keywords = _table().keywords
    count = 0
    while count < len(words) and (
        words[count].text in keywords or _ASSIGNMENT.match(words[count].text)
    ):
        count += 1
    return words[count:]


def _has_known_effects(name: str) -> bool:
    table = _table()
    return name in table.exact or name in table.effects or name in table.shells


@dataclass(frozen=True, slots=True)
class _Installing:
    reading: frozenset[str]
    running: frozenset[str]


@dataclass(frozen=True, slots=True)
class _ProgramEffects:
    """The effects of the table, by program."""

    effects: dict[str, tuple[tuple[EffectKind, tuple[str, ...]], ...]]
    exact: dict[str, EffectKind]
    carriers: frozenset[str]
    keywords: frozenset[str]
    plain: frozenset[str]
    shells: frozenset[str]
    installers: _Installing


@cache
def _table() -> _ProgramEffects:
    table = load_program_table()
    effects: dict[str, list[tuple[EffectKind, tuple[str, ...]]]] = {}
    for row in table.effects:
        for command in row.commands:
            name, *rest = command.split()
            effects.setdefault(name, []).append((row.effect, tuple(rest)))
    return _ProgramEffects(
        {name: tuple(rows) for name, rows in effects.items()},
        dict(_exact_effects()),
        frozenset(table.carriers),
        frozenset(table.keywords),
        frozenset(table.plain),
        frozenset(table.shells),
        _Installing(frozenset(table.installers.reading), frozenset(table.installers.running)),
    )


def _exact_effects() -> Iterator[tuple[str, EffectKind]]:
    for row in load_program_table().exact:
        for name in row.programs:
            yield name, row.effect
