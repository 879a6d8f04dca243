"""Tells whether a new statement repeats or contradicts an earlier one. Used by ``host.memory``.

Pure and cautious: a statement is replaced only if it says the same of the same subject with another
object, such as "Prefers seaborn for plots" and "Prefers plotly for plots". Others that are near are
listed, so that the model can replace them by their id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from jupyter_ai_shoulders.core.memory.memory_text import Statement

Likeness = Literal["repeats", "contradicts", "near"]

REPEATED = 0.75
"""Share of common words from which a statement with further words is a repetition."""
NEAR = 0.4
"""Share of common words from which statements are listed as near."""
MOST_NEAR = 5
_LONGEST_OBJECT = 3
"""Words of the object in which two statements about one subject differ."""

_WORD = re.compile(r"[^\W_]+(?:[.+#'-]+[^\W_]+|[+#]+)*")
_LABEL = re.compile(r"([^:.]{2,40}): +(.{1,60})\Z")
"""Such as "Plotting library: seaborn"; a longer text behind the colon may be one of several."""
_SMALL = frozenset(
    {
        *("a", "an", "the", "and", "or", "of", "for", "to", "in", "on", "at", "as", "by"),
        *("with", "from", "is", "are", "be", "it", "its", "that", "this", "these", "those"),
        *("my", "their", "his", "her", "they", "he", "she", "i", "we", "you", "user"),
        *("person", "please", "all", "any", "when"),
    }
)
_NEGATIONS = frozenset(
    {
        *("not", "no", "never", "don't", "doesn't", "dont", "doesnt", "isn't", "aren't"),
        *("without", "avoid", "avoids"),
    }
)
_LEADING = frozenset(
    {
        *("the", "user", "person", "they", "he", "she", "i", "we", "always", "usually"),
        *("generally", "please"),
    }
)
_PREFERENCES = frozenset(
    {
        *("prefer", "prefers", "preferred", "want", "wants", "use", "uses", "like"),
        *("likes", "write", "writes", "answer", "answers", "reply", "replies", "speak"),
        *("speaks", "format", "plot", "name", "call"),
    }
)
_BEFORE_OBJECT = frozenset(
    {
        *("in", "as", "with", "by", "to"),
    }
)


@dataclass(frozen=True, slots=True)
class Like:
    """An earlier statement that is like a new one."""

    statement: Statement
    likeness: Likeness


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case."""
    return tuple(_WORD.findall(text.casefold().replace("’", "'")))


def content_words(text: str) -> frozenset[str]:
    """Return the words that carry meaning, without plurals' ``s``."""
    kept = (word for word in words(text) if word not in _SMALL and word not in _NEGATIONS)
    return frozenset(map(_singular, kept))


def find_like(text: str, statements: Iterable[Statement]) -> list[Like]:
    """Return earlier statements that a new one repeats or contradicts, then those that are near."""
    found: dict[Likeness, list[tuple[float, Statement]]] = {
        "repeats": [],
        "contradicts": [],
        "near": [],
    }
    for statement in statements:
        likeness, share = _likeness(text, statement.text)
        if likeness is not None:
            found[likeness].append((share, statement))
    ranked: list[Like] = []
    for likeness, those in found.items():
        those.sort(key=lambda each: -each[0])
        ranked += (Like(statement, likeness) for _, statement in those[:MOST_NEAR])
    return ranked


def _likeness(new: str, old: str) -> tuple[Likeness | None, float]:
    first, second = content_words(new), content_words(old)
    share = len(first & second) / max(len(first | second), 1)
    if words(new) == words(old):
        return "repeats", 1.0
    if _same_label(new, old):
        return "contradicts", 1.0
    if share >= REPEATED and (first <= second or second <= first) and not _differs(first ^ second):
        negated = _is_negated(new) != _is_negated(old)
        return ("contradicts" if negated else "repeats"), share
    if _other_object(_predicate(new), _predicate(old)):
        return "contradicts", share
    return ("near", share) if share >= NEAR else (None, share)


def _differs(more: frozenset[str]) -> bool:
    """Return whether further words are names or numbers, which say something else."""
    return any(any(letter.isdigit() for letter in word) for word in more)


def _same_label(new: str, old: str) -> bool:
    first, second = _LABEL.match(new), _LABEL.match(old)
    return first is not None and second is not None and words(first[1]) == words(second[1])


def _predicate(text: str) -> tuple[str, ...]:
    """Return the words from the verb on: "The user prefers …" and "Prefers …" are alike."""
    predicate = words(text)
    while predicate and predicate[0] in _LEADING:
        predicate = predicate[1:]
    return predicate


def _other_object(new: Sequence[str], old: Sequence[str]) -> bool:
    """Return whether a preference differs in its object only."""
    if not new or not old or _singular(new[0]) != _singular(old[0]) or new[0] not in _PREFERENCES:
        return False
    changed = [
        each
        for each in SequenceMatcher(None, new, old, autojunk=False).get_opcodes()
        if each[0] != "equal" and each[1] > 0
    ]
    if len(changed) != 1:
        return False
    _, start, end, old_start, old_end = changed[0]
    sizes = (end - start, old_end - old_start)
    if not all(0 < size <= _LONGEST_OBJECT for size in sizes):
        return False
    rest = [word for word in new[end:] if word not in _SMALL]
    return (bool(rest) and start <= 2) or (not new[end:] and new[start - 1] in _BEFORE_OBJECT)


def _is_negated(text: str) -> bool:
    return not _NEGATIONS.isdisjoint(words(text))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
