"""Parses a line or cell of ``%ai``. Pure; called by ``magics``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal, cast, get_args

Format = Literal["markdown", "code", "html", "json", "image", "text"]
Action = Literal["ask", "fix", "explain", "cost", "models", "new", "search", "help"]

FORMATS: tuple[str, ...] = get_args(Format)
_ALONE: frozenset[str] = frozenset({"cost", "models", "new", "help"})
_FLAGS = {"-n": "new", "--new": "new", "-t": "tools", "--tools": "tools"}
_VALUES = {
    "-m": "model",
    "--model": "model",
    "-f": "format",
    "--format": "format",
    "-o": "output",
    "--output": "output",
}


_QUESTION = re.compile(r"^(\s*)%ai\s+(\S.*\?)\s*$")


@dataclass(frozen=True, slots=True)
class MagicCommand:
    """One use of the magic."""

    action: Action = "ask"
    prompt: str = ""
    """For ``fix`` and ``explain``: a remark; for ``search``: the words."""
    code: str | None = None
    """The cell's code, for ``%%ai fix`` and ``%%ai explain``."""
    model: str | None = None
    format: Format = "markdown"
    output: str | None = None
    """The variable that gets the answer's text."""
    new: bool = False
    tools: bool = False


class MagicUsageError(ValueError):
    """The line cannot be parsed; the message says what is allowed."""


def parse_magic(line: str, cell: str | None = None) -> MagicCommand:
    """Return the parsed command. Raises ``MagicUsageError``.

    Options come before the text. The first word may be an action: ``fix`` with or without a remark,
    ``explain`` alone or before a cell's code, ``search`` before its words, the others alone.
    """
    command, rest = _options(line)
    word, _, remark = rest.partition(" ")
    if word == "fix" or (word == "explain" and not remark):
        action = cast("Action", word)
        return replace(command, action=action, prompt=remark.strip(), code=cell)
    if word == "search" and remark and cell is None:
        return replace(command, action="search", prompt=remark.strip())
    if word in _ALONE and not remark and cell is None:
        return replace(command, action=cast("Action", word))
    prompt = "\n".join(filter(None, (rest, (cell or "").strip())))
    if prompt:
        return replace(command, prompt=prompt)
    if command.new and cell is None:
        return replace(command, action="new")
    return replace(command, action="help")


def _options(line: str) -> tuple[MagicCommand, str]:
    """Return the options at the start of the line, and the text after them."""
    given: dict[str, str | bool] = {}
    rest = line.strip()
    while rest.startswith("-"):
        word, _, after = rest.partition(" ")
        name, has_value, value = word.partition("=")
        rest = after.strip()
        if word == "--":
            break
        if word in _FLAGS:
            given[_FLAGS[word]] = True
        elif name in _VALUES:
            if not has_value:
                value, _, rest = rest.partition(" ")
            given[_VALUES[name]] = _checked(name, value)
        else:
            raise _unknown(word)
    return MagicCommand(**cast("dict[str, Any]", given)), rest.strip()


def _checked(name: str, value: str) -> str:
    option = _VALUES[name]
    if not value:
        raise MagicUsageError(f"{name} needs a value. %ai help shows the options.")
    if option == "format" and value not in FORMATS:
        raise MagicUsageError(f"There is no format {value!r}; there are {', '.join(FORMATS)}.")
    if option == "output" and not value.isidentifier():
        raise MagicUsageError(f"{value!r} is no name of a variable.")
    return value


def _unknown(word: str) -> MagicUsageError:
    known = [*_FLAGS, *_VALUES]
    near = get_close_matches(word, known, n=1)
    meant = f" Did you mean {near[0]}?" if near else " %ai help shows the options."
    return MagicUsageError(
        f"There is no option {word}.{meant} A text that begins so goes behind --."
    )


def keep_question_marks(lines: list[str]) -> list[str]:
    """Rewrite ``%ai … ?`` as a call of the magic, which IPython would take for a help request.

    Multi-line strings, which may hold such text, are left alone.
    """
    if any(quotes in line for line in lines for quotes in ('"""', "'''")):
        return lines
    return [_call(line) for line in lines]


def _call(line: str) -> str:
    found = _QUESTION.match(line)
    if found is None:
        return line
    return f"{found[1]}get_ipython().run_line_magic('ai', {found[2]!r})\n"
