"""Parses the user's instruction files: removes comments, limits the size, and splits scoped rules.

Pure; used by ``engine.request.context_sources`` on what the ``Environment`` port read. A file may
hold several rules: text after a front matter block applies in its scope, text before the first
block always applies::

    Use metric units.

    ---
    globs: ["reports/*.ipynb", "*.Rmd"]
    languages: [r]
    ---
    Use the tidyverse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

INSTRUCTIONS_FILE = "_instructions.md"
SYSTEM_FILE = ".shoulders/system.md"
OTHER_FILES = (".hermes.md", "HERMES.md", "AGENTS.md", "CLAUDE.md", ".cursorrules")
"""The first of these files that exists is read as well."""

FILE_LIMIT = 20_000
"""Bytes shown of one file: three quarters from its head, the rest from its end."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"^(?:```|~~~)")
_KEYS = {"globs": "globs", "glob": "globs", "languages": "languages", "language": "languages"}
_REMARKS = frozenset({"name", "title", "description", "author", "date", "version", "alwaysapply"})
"""Keys in files of other assistants that do not restrict the scope here."""
_HINT = "Rules are scoped with `globs` and `languages`, each a word or a list of words."
_BLOCK_LIMIT = 40
"""Maximum lines of a front matter block."""


@dataclass(frozen=True, slots=True)
class ScopedInstructions:
    """Instructions for some documents only; empty scopes do not restrict."""

    text: str
    globs: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    def applies(self, documents: Sequence[str], language: str | None) -> bool:
        """Return whether an open document or the notebook's language matches the scope."""
        if self.languages and (language or "").lower() not in self.languages:
            return False
        if not self.globs:
            return True
        from pathspec import GitIgnoreSpec

        spec = GitIgnoreSpec.from_lines(self.globs)
        return any(spec.match_file(path) for path in documents)

    @property
    def scope(self) -> str:
        """The scope as text."""
        return ", ".join([*self.globs, *self.languages])


@dataclass(frozen=True, slots=True)
class ParsedInstructions:
    """One parsed file."""

    always: str
    rules: tuple[ScopedInstructions, ...] = ()
    problems: tuple[str, ...] = ()


class _InvalidFrontMatter(Exception):
    """Describes an unusable front matter block to the user."""


def read_instructions(text: str, source: str) -> ParsedInstructions:
    """Return the parsed file; an unreadable block is left out with its rule."""
    shown = head_and_tail(_COMMENT.sub("", text.removeprefix("\ufeff")), FILE_LIMIT)
    pieces = list(_pieces(shown.splitlines()))
    rules: list[ScopedInstructions] = []
    problems: list[str] = []
    for line, block, body in pieces[1:]:
        try:
            scope = _scope(block)
        except _InvalidFrontMatter as error:
            problems.append(f"{source}, line {line}: {error} {_HINT}")
            continue
        if body:
            rules.append(
                ScopedInstructions(body, scope.get("globs", ()), scope.get("languages", ()))
            )
    return ParsedInstructions(pieces[0][2], tuple(rules), tuple(problems))


def head_and_tail(text: str, limit: int) -> str:
    """Return ``text``, or its head and tail of ``limit`` UTF-8 bytes with a note between them."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return text
    head = encoded[: limit * 3 // 4].decode("utf-8", "ignore")
    tail = encoded[-(limit // 4) :].decode("utf-8", "ignore")
    left_out = len(encoded) - limit
    return f"{head}\n[… {left_out} bytes left out …]\n{tail}"


def _pieces(lines: Sequence[str]) -> Iterable[tuple[int, str, str]]:
    """Yield (line, block, text after it); the first has no block."""
    start, block, body = 1, "", list[str]()
    number, fenced = 0, False
    while number < len(lines):
        line = lines[number]
        fenced ^= _FENCE.match(line) is not None
        end = None if fenced else _block_end(lines, number)
        if end is None:
            body.append(line)
            number += 1
            continue
        yield start, block, "\n".join(body).strip()
        start, block, body = number + 1, "\n".join(lines[number + 1 : end]), []
        number = end + 1
    yield start, block, "\n".join(body).strip()


def _block_end(lines: Sequence[str], start: int) -> int | None:
    """Return the last line of the front matter that starts here, None where none starts.

    A block starts at the top, or after an empty line with a known key in its first line, so that a
    horizontal rule is not mistaken for one.
    """
    if lines[start].rstrip() != "---" or (start > 0 and lines[start - 1].strip()):
        return None
    following = lines[start + 1 : start + 2]
    if not following or not _is_key(following[0], at_top=start == 0):
        return None
    for number in range(start + 1, min(start + _BLOCK_LIMIT, len(lines))):
        if lines[number].rstrip() == "---":
            return number
    return None


def _is_key(line: str, *, at_top: bool) -> bool:
    key, colon, _ = line.partition(":")
    return bool(colon) and (at_top or key.strip().lower() in _KEYS)


def _scope(block: str) -> dict[str, tuple[str, ...]]:
    import yaml

    try:
        given = yaml.safe_load(block)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _InvalidFrontMatter("This front matter is not valid YAML.") from error
    if not isinstance(given, dict):
        raise _InvalidFrontMatter("This front matter has no keys.")
    scope: dict[str, tuple[str, ...]] = {}
    for key, value in cast("dict[object, Any]", given).items():
        name = _KEYS.get(str(key).lower())
        if name is None and str(key).lower() in _REMARKS:
            continue
        if name is None:
            raise _InvalidFrontMatter(f"`{str(key)[:40]}` is not a key of a rule.")
        scope[name] = _words(str(key), value)
    if "globs" in scope:
        _check_globs(scope["globs"])
    if "languages" in scope:
        scope["languages"] = tuple(word.lower() for word in scope["languages"])
    return scope


def _words(key: str, value: Any) -> tuple[str, ...]:
    """Return a list from one word, words separated by commas, or a list."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        raise _InvalidFrontMatter(f"`{key}` is neither a word nor a list of words.")
    words = [item.strip() for item in cast("list[object]", items) if isinstance(item, str)]
    if len(words) != len(cast("list[object]", items)) or not all(words):
        raise _InvalidFrontMatter(f"`{key}` is neither a word nor a list of words.")
    return tuple(words)


def _check_globs(globs: tuple[str, ...]) -> None:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines(globs)
    except ValueError as error:
        raise _InvalidFrontMatter("`globs` holds a pattern that cannot be read.") from error
