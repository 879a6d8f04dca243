"""Names of BibTeX as names of CSL-JSON. Pure; used by ``references.styles.csl_items``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jupyter_ai_shoulders.references.styles.bibtex_text import plain_text

_AND = re.compile(r"\s+and\s+", re.IGNORECASE)


def csl_names(text: str) -> list[dict[str, str]]:
    """Return the people of a field such as ``author``, in order.

    Names in braces are organisations. ``others`` at the end is left out: styles abbreviate long
    lists themselves. Particles follow BibTeX: words in lower case before the family name.
    """
    people = [part.strip() for part in split_outside_braces(text, _AND)]
    return [_name(person) for person in people if person and person.lower() != "others"]


def split_outside_braces(text: str, separator: re.Pattern[str]) -> list[str]:
    """Split a text where the separator is outside of braces."""
    parts: list[str] = []
    start = 0
    for match in separator.finditer(text):
        before = text[: match.start()]
        if before.count("{") == before.count("}"):
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _name(person: str) -> dict[str, str]:
    """Return one name."""
    if person.startswith("{") and person.endswith("}") and _is_one_group(person):
        return {"literal": plain_text(person)}
    parts = [part.strip() for part in split_outside_braces(person, re.compile(","))]
    if len(parts) == 1:
        given, particle, family = _given_particle_family(_words(parts[0]))
        suffix = ""
    else:
        particle, family = _particle_family(_words(parts[0]))
        given = _words(parts[-1])
        suffix = parts[1] if len(parts) > 2 else ""
    fields = {
        "family": " ".join(family),
        "given": " ".join(given),
        "non-dropping-particle": " ".join(particle),
        "suffix": suffix,
    }
    plain = {name: plain_text(value) for name, value in fields.items() if value}
    return plain if "family" in plain else {"literal": plain_text(person)}


def _is_one_group(text: str) -> bool:
    """Return whether the first brace is closed by the last one."""
    depth = 0
    for position, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            return position == len(text) - 1
    return False


def _words(text: str) -> list[str]:
    return [word for word in split_outside_braces(text, re.compile(r"[\s~]+")) if word]


def _given_particle_family(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Split ``First von Last``."""
    particles = [at for at in range(len(words) - 1) if _is_particle(words[at])]
    if not particles:
        return list(words[:-1]), [], list(words[-1:])
    first, last = particles[0], particles[-1]
    return list(words[:first]), list(words[first : last + 1]), list(words[last + 1 :])


def _particle_family(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split ``von Last``."""
    last = max((at for at in range(len(words) - 1) if _is_particle(words[at])), default=-1)
    return list(words[: last + 1]), list(words[last + 1 :])


def _is_particle(word: str) -> bool:
    """Return whether the first letter outside of braces and commands is in lower case."""
    letter = next(_letters(word), "")
    return letter.islower()


def _letters(word: str) -> Iterator[str]:
    plain = plain_text(word) if word.startswith(("{\\", "\\")) else word
    if not plain.startswith("{"):
        yield from (character for character in plain if character.isalpha())
