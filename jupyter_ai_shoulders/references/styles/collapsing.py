"""Shortening of the works in one citation: numbers as ranges, years of the same authors. Pure.

Used by ``references.styles.citeproc_elements``. The rules are those of the attribute ``collapse``
in the CSL specification.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"(\D*)(\d+)(\D*)")
_AUTHOR_YEAR = re.compile(r"(?P<author>.+?),? (?P<year>(?:\d{4}|n\.d\.)-?[a-z]?)")


def collapse_numbers(texts: Sequence[str], delimiter: str) -> str:
    """Return numbers in order, three and more in a row as a range: ``1–3,5``."""
    matches = [_NUMBER.fullmatch(text) for text in texts]
    if not all(matches):
        return delimiter.join(texts)
    numbered = sorted((int(match[2]), match[0]) for match in matches if match)
    parts: list[str] = []
    start = 0
    for at in range(1, len(numbered) + 1):
        if at < len(numbered) and numbered[at][0] == numbered[at - 1][0] + 1:
            continue
        run = [text for _, text in numbered[start:at]]
        parts.extend([f"{run[0]}–{run[-1]}"] if len(run) > 2 else run)
        start = at
    return delimiter.join(parts)


def collapse_years(texts: Sequence[str], delimiter: str, within: str) -> str:
    """Return citations in order; neighbours of the same authors show their years only."""
    result = ""
    previous = ""
    for text in texts:
        match = _AUTHOR_YEAR.fullmatch(text)
        author = match["author"] if match else ""
        if match and author == previous:
            result += within + match["year"]
        else:
            result += (delimiter if result else "") + text
        previous = author
    return result
