"""Splits the bytes of a text, as they are read, into numbered parts that overlap. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterable
from dataclasses import dataclass

OVERLAP_LINES = 10
"""Lines that a part repeats of the one before, so that nothing is cut in the middle."""
LONGEST_LINE = 20_000
"""Characters of a line that are read."""


class NotText(Exception):
    """The document has bytes that no text has."""


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Consecutive lines, each with its number in front."""

    first_line: int
    last_line: int
    text: str


def numbered_lines(chunks: Iterable[bytes]) -> Generator[str]:
    """Yield the lines of a UTF-8 text with their numbers, without their ends.

    Raises ``NotText``. Holds one chunk and the beginning of one line.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    number, rest = 0, ""
    for chunk in chunks:
        if b"\0" in chunk:
            raise NotText
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in lines:
            number += 1
            yield _numbered(number, line)
        rest = rest[: LONGEST_LINE + 1]
    rest += decoder.decode(b"", final=True)
    if rest:
        yield _numbered(number + 1, rest)


def document_parts(lines: Iterable[str], room: int) -> Generator[DocumentPart]:
    """Yield parts of at most ``room`` characters, at least one line each."""
    held: list[str] = []
    size, number, fresh = 0, 0, 0
    for line in lines:
        number += 1
        if fresh and size + len(line) + 1 > room:
            yield DocumentPart(number - len(held), number - 1, "\n".join(held))
            overlap = held[-OVERLAP_LINES:]
            kept = overlap if sum(map(len, overlap)) < room // 4 else []
            held, size, fresh = [*kept], sum(len(text) + 1 for text in kept), 0
        held.append(line)
        size += len(line) + 1
        fresh += 1
    if fresh:
        yield DocumentPart(number - len(held) + 1, number, "\n".join(held))


def _numbered(number: int, line: str) -> str:
    text = line.removesuffix("\r")
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]}…"
    return f"{number}: {text}"
