"""What the index of words stores and looks up: words, parts of identifiers, characters of CJK.

SQLite's ``unicode61`` tokenizer finds words between spaces, punctuation and underscores. Parts of
other identifiers, and pairs of characters of scripts without spaces, are written out as further
words, in the index and in queries alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_WORD = re.compile(r"[^\W_]+")
_IDENTIFIER = re.compile(r"\w+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
"""Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
GRAM = 2
"""Characters of such a script that are one word."""


def hidden_words(text: str) -> str:
    """Return the words of a text that the tokenizer does not find."""
    return " ".join(found for word in _WORD.findall(text) for found in _parts(word))


def query_terms(query: str) -> list[str]:
    """Return what to look up, in small letters, each once: identifiers, words, and their parts."""
    terms = dict.fromkeys(word.lower() for word in _IDENTIFIER.findall(query) if word.strip("_"))
    for word in _WORD.findall(query):
        terms |= dict.fromkeys(each.lower() for each in (word, *_parts(word)))
    return list(terms)


def is_unspaced(term: str) -> bool:
    """Return whether a term is of a script without spaces, and may be inside of a word."""
    return _UNSPACED.match(term) is not None


def _parts(word: str) -> Iterator[str]:
    runs = _UNSPACED.findall(word)
    for run in runs:
        yield from (run[at : at + GRAM] for at in range(max(len(run) - GRAM + 1, 1)))
    if runs or (word.isalpha() and (word.islower() or word.isupper() or word[1:].islower())):
        return
    starts = [0, *(at for at in range(1, len(word)) if _begins_part(word, at)), len(word)]
    if len(starts) > 2:
        yield from (word[start:end] for start, end in pairwise(starts))


def _begins_part(word: str, at: int) -> bool:
    """Return whether a part of ``trainTest2D`` or ``HTTPServer`` begins at a position."""
    before, here = word[at - 1], word[at]
    if before.isdigit() or here.isdigit():
        return before.isdigit() != here.isdigit()
    if not here.isupper():
        return False
    return not before.isupper() or word[at + 1 : at + 2].islower()


def unfinished_word(query: str) -> str:
    """Return the word at the end of a query, which may still be typed; empty if there is none."""
    found = _IDENTIFIER.findall(query)
    return found[-1] if found and query.endswith(found[-1]) and found[-1].strip("_") else ""
