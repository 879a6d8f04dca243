"""Static analysis of code for the hint on an approval; never a gate.

Pure and bounded; called by ``engine.calls.approvals``. Python cells may contain IPython syntax:
``!commands``, ``%magics``, cells of another language. Code that cannot be parsed is reported as
unknown.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import get_args

from jupyter_ai_shoulders.tools.code_analysis.effect_table import effect_index
from jupyter_ai_shoulders.tools.code_analysis.python_effects import python_effects
from jupyter_ai_shoulders.tools.code_analysis.shell_effects import Effects, command_effects
from jupyter_ai_shoulders.wire.events import EffectKind

MAX_CHARACTERS = 20_000
"""Characters of code that are analysed."""
MAX_NODES = 8_000
"""Syntax tree nodes that are analysed, within about 50 ms."""
MAX_DEPTH = 3
"""Nesting of code within magics and commands."""
_ORDER: tuple[EffectKind, ...] = get_args(EffectKind)
_COMMANDS = frozenset({"bash", "shell", "sh", "zsh"})
_PYTHON = frozenset({"python", "python3", "ipython"})
_CELL_HEAD = re.compile(r"^# cell \d+\n", re.MULTILINE)
"""The heading above each cell where several run."""
_CELL_MAGIC = re.compile(r"\s*%%(?P<name>!|\w+)(?P<line>[^\n]*)\n?(?P<body>.*)", re.DOTALL)
_ESCAPED = re.compile(
    r"(?P<indent>[ \t]*+)(?P<target>[\w.,\[\] \t()*]++=[ \t]*+)?"
    r"(?P<sign>!!|!|%%?|\?\??|,|;|/)(?P<rest>.*)",
    re.DOTALL,
)
_WORD_LINE = re.compile(r"(?P<name>[A-Za-z]\w*)[ \t]+(?P<rest>[^=!<>()+*/%^&|,\s].*)")
_TRIPLE = re.compile(r"\"{3}|'{3}")
_OPTIONS = re.compile(r"(?:\s*+-\w++(?:[= ]\d++)?)*+\s*+")


def code_effects(code: str, language: str | None) -> tuple[EffectKind, ...]:
    """Return the effects of code, most serious first; empty if none was found."""
    name = (language or "").lower()
    if name in _COMMANDS:
        return _ordered(command_effects(code, embedded_python_effects))
    if name not in _PYTHON:
        return ("unknown",)
    return _ordered(_cells(code, 0))


def embedded_python_effects(code: str) -> Effects:
    """Return the effects of Python code within a command."""
    return frozenset(_cells(code, 1))


def _ordered(found: Iterable[EffectKind]) -> tuple[EffectKind, ...]:
    seen = set(found)
    return tuple(effect for effect in _ORDER if effect in seen)


def _cells(code: str, depth: int) -> set[EffectKind]:
    if len(code) > MAX_CHARACTERS or depth > MAX_DEPTH:
        return {"unknown"}
    read = _CellReader(depth)
    for cell in _CELL_HEAD.split(code):
        read.cell(cell)
    return read.effects()


@dataclass(slots=True)
class _CellReader:
    """Collects the effects of cells; Python is parsed, other languages are handled at once."""

    depth: int
    found: set[EffectKind] = field(default_factory=set[EffectKind])
    trees: list[ast.Module] = field(default_factory=list[ast.Module])
    _nodes: int = 0

    def effects(self) -> set[EffectKind]:
        """Return the effects of all cells."""
        try:
            self.found |= python_effects(self.trees, self._command)
        except RecursionError:
            self.found.add("unknown")
        return self.found

    def cell(self, text: str) -> None:
        magic = _CELL_MAGIC.fullmatch(text)
        if magic is not None:
            self._cell_magic(magic["name"], magic["line"].strip(), magic["body"])
            return
        tree = _parsed(text)
        if tree is None:
            tree = _parsed(self._without_escapes(text))
            if tree is None:
                self.found.add("unknown")
                return
        else:
            self._word_lines(text)
        self._nodes += sum(1 for _ in ast.walk(tree))
        if self._nodes > MAX_NODES:
            self.found.add("unknown")
        else:
            self.trees.append(tree)

    def _command(self, line: str) -> Effects:
        return command_effects(line, embedded_python_effects if self.depth < MAX_DEPTH else None)

    def _cell_magic(self, name: str, line: str, body: str) -> None:
        kind = effect_index().cell_magics.get(name)
        match kind:
            case "plain":
                pass
            case "code":
                self.found |= _cells(body, self.depth + 1)
                self._statement("" if name == "capture" else line)
            case "python":
                self.found |= {"shell", *_cells(body, self.depth + 1)}
            case "shell":
                self.found |= {"shell", *self._command(body), *self._command(line)}
            case "writes_files":
                self.found.add("writes_files")
            case _:
                self.found.add("unknown")

    def _statement(self, line: str) -> None:
        """Analyse the code after a timing magic and its options."""
        options = _OPTIONS.match(line)
        rest = line[options.end() :] if options else line
        if rest:
            self.found |= _cells(rest, self.depth + 1)

    def _without_escapes(self, text: str) -> str:
        """Analyse IPython's additions to Python; return the code with Python in their place."""
        return "\n".join(map(self._without_escape, _logical_lines(text)))

    def _without_escape(self, line: str) -> str:
        escaped = _ESCAPED.fullmatch(line)
        if escaped is None:
            if line.rstrip().endswith("?") and not line.lstrip().startswith("#"):
                return ""  # a help request
            return "" if self._word_line(line) else line
        if _TRIPLE.search(escaped["rest"]):
            self.found.add("unknown")  # a string may contain it, or it may end one
        self._escape(escaped["sign"], escaped["rest"].strip())
        target = (escaped["target"] or "").rstrip()
        return f"{escaped['indent']}{f'{target} None' if target else 'pass'}"

    def _escape(self, sign: str, rest: str) -> None:
        if sign in {"!", "!!"}:
            self.found |= {"shell", *self._command(rest)}
        elif sign in {"%", "%%"}:
            name, _, line = rest.partition(" ")
            self._line_magic(name, line.strip())
        elif sign in {",", ";", "/"}:
            self.found |= _cells(f"{rest.partition(' ')[0]}(...)", self.depth + 1)

    def _line_magic(self, name: str, line: str) -> None:
        match effect_index().line_magics.get(name):
            case "plain":
                pass
            case "code":
                self._statement(line)
            case "shell":
                self.found |= {"shell", *self._command(line)}
            case "installs":
                self.found |= self._command(f"{name} {line}")
            case "writes_files":
                self.found.add("writes_files")
            case "deletes_files":
                self.found.add("deletes_files")
            case "outside_code":
                self.found.add("outside_code")
            case _:
                self.found.add("unknown")

    def _word_lines(self, text: str) -> None:
        for line in text.split("\n"):
            self._word_line(line)

    def _word_line(self, line: str) -> bool:
        """Analyse a magic without ``%``, such as ``pip install x``."""
        found = _WORD_LINE.fullmatch(line.strip())
        if found is None or found["name"] not in effect_index().line_magics:
            return False
        if re.match(r"(?:in|is|and|or|if|not|for)\b", found["rest"]):
            return False
        self._line_magic(found["name"], found["rest"])
        return True


def _parsed(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _logical_lines(text: str) -> Sequence[str]:
    """Return the lines, with continued lines of a shell escape joined."""
    lines: list[str] = []
    goes_on = False
    for line in text.split("\n"):
        if goes_on:
            lines[-1] = f"{lines[-1][:-1]} {line}"
        else:
            lines.append(line)
        goes_on = lines[-1].endswith("\\") and _ESCAPED.fullmatch(lines[-1]) is not None
    return lines
