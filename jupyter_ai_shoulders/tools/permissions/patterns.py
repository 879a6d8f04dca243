"""Patterns of permission rules: path globs and command prefixes.

Used by ``tools.permissions.rule_matching``. ``tools.permissions.command_rules`` decides which
commands an allowing rule covers.
"""

from __future__ import annotations

import functools
import re
import shlex

_SEPARATORS = re.compile(r"[;&|`(){}\n\r]+")
_GLOB_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|\[!?[^]]+\]")


def glob_matches(pattern: str, text: str, *, exact: bool = True) -> bool:
    """Match a whole path: ``*`` stays within a folder, ``**`` crosses folders."""
    return _compiled(pattern, exact).fullmatch(text) is not None


def escape_glob(path: str) -> str:
    """Return a pattern that matches exactly this path."""
    return re.sub(r"([*?[])", r"[\1]", path)


def command_matches(prefix: str, command: str) -> bool:
    """Return whether any part of a command line begins with the words of ``prefix``."""
    wanted = _words(prefix)
    return any(_has_prefix(_words(part), wanted) for part in _SEPARATORS.split(command))


def _has_prefix(words: list[str], wanted: list[str]) -> bool:
    return bool(wanted) and words[: len(wanted)] == wanted


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an unclosed quote
        return command.split()


@functools.lru_cache(maxsize=512)
def _compiled(pattern: str, exact: bool) -> re.Pattern[str]:
    parts: list[str] = []
    position = 0
    for token in _GLOB_TOKENS.finditer(pattern):
        parts += (re.escape(pattern[position : token.start()]), _translate(token.group()))
        position = token.end()
    parts.append(re.escape(pattern[position:]))
    return re.compile("".join(parts), re.DOTALL if exact else re.DOTALL | re.IGNORECASE)


def _translate(token: str) -> str:
    match token:
        case "**/":
            return "(?:[^/]+/)*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _:
            negated = token.startswith("[!")
            body = re.sub(r"([\\\[\]^&~|])", r"\\\1", token[2 if negated else 1 : -1])
            return f"[{'^' if negated else ''}{body}]"
