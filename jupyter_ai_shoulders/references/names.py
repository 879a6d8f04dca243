"""Names of authors in BibTeX: parsed as BibTeX does, and written. Pure.

The parts of a name: https://ctan.org/pkg/tamethebeast, section 11.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jupyter_ai_shoulders.references.latex_text import decoded, escaped

_SPLIT = re.compile(r"[{}]|\s+and(?=\s)", re.IGNORECASE)
_COMMA = re.compile(r"[{},]")
AUTHOR_LIMIT = 500
"""Most names of a work that are read."""


@dataclass(frozen=True, slots=True)
class PersonName:
    """A person, or an organisation: then ``given`` is empty and ``is_organisation`` set."""

    family: str
    given: str = ""
    suffix: str = ""
    is_organisation: bool = False

    @property
    def shown(self) -> str:
        """The name as people read it."""
        return " ".join(part for part in (self.given, self.family, self.suffix) if part)


def parse_names(value: str) -> tuple[PersonName, ...]:
    """Return the names in a value of ``author`` or ``editor``; ``others`` is left out."""
    names = (part.strip() for part in _split(value, _SPLIT)[:AUTHOR_LIMIT])
    return tuple(_name(name) for name in names if name and name.lower() != "others")


def bibtex_names(names: tuple[PersonName, ...]) -> str:
    """Return names as the value of a field."""
    return " and ".join(map(_bibtex, names))


def name_from_text(text: str) -> PersonName:
    """Return a name given as ``Family, Given`` or ``Given Family``."""
    return _name(" ".join(text.replace("{", "").replace("}", "").split()))


def _bibtex(name: PersonName) -> str:
    family = escaped(name.family)
    if name.is_organisation or not name.given:
        return f"{{{family}}}"
    if re.search(r"\sand\s", f" {family} ", re.IGNORECASE):
        family = f"{{{family}}}"
    parts = [family, escaped(name.suffix)] if name.suffix else [family]
    return ", ".join((*parts, escaped(name.given)))


def _name(text: str) -> PersonName:
    if text.startswith("{") and text.endswith("}") and text.count("{") == 1:
        return PersonName(decoded(text), is_organisation=True)
    parts = [decoded(part) for part in _split(text, _COMMA, ",")]
    if len(parts) >= 3:
        return PersonName(parts[0], " ".join(parts[2:]), parts[1])
    if len(parts) == 2:
        return PersonName(parts[0], parts[1])
    words = _words(text)
    if len(words) == 1:
        return PersonName(decoded(text))
    particle = next((n for n, word in enumerate(words[:-1]) if word[:1].islower()), None)
    start = len(words) - 1 if particle is None else particle
    family, given = " ".join(words[start:]), " ".join(words[:start])
    return PersonName(decoded(family), decoded(given))


def _words(text: str) -> list[str]:
    """Return the words of a name; what is in braces is part of one word."""
    words: list[str] = []
    depth = 0
    for piece in text.split():
        if depth > 0:
            words[-1] = f"{words[-1]} {piece}"
        else:
            words.append(piece)
        depth += piece.count("{") - piece.count("}")
    return words or [text]


def _split(text: str, marks: re.Pattern[str], separator: str = "") -> list[str]:
    """Split where a mark that is no brace stands outside of braces."""
    parts: list[str] = []
    depth = start = 0
    for mark in marks.finditer(text):
        if mark[0] == "{":
            depth += 1
        elif mark[0] == "}":
            depth -= 1
        elif depth == 0 and (not separator or mark[0] == separator):
            parts.append(text[start : mark.start()])
            start = mark.end()
    return [*parts, text[start:]]
