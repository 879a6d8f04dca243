"""Parses a BibTeX file into entries with spans, and problems with lines.

``parse_bibliography`` blocks (0.1 s for 1 000 entries): call it in a thread. Broken entries are
reported and never changed. bibtexparser is imported on first use; it is part of the extra
``references``.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.errors import InvalidRequest, TooLarge
from jupyter_ai_shoulders.references.bibtex.fields import (
    BrokenEntry,
    EntrySpans,
    ValuePiece,
    entry_spans,
    is_same_field,
    value_pieces,
)

if TYPE_CHECKING:
    from bibtexparser.model import Block, Entry, ParsingFailedBlock

CHARACTER_LIMIT = 16 << 20
"""Longest text that is parsed."""
PROBLEM_LIMIT = 1_000
"""Most problems that are listed for a file."""
_MONTHS = "january february march april may june july august september october november december"
MONTHS: Mapping[str, str] = {name[:3]: name.capitalize() for name in _MONTHS.split()}
"""Strings that every style of BibTeX defines."""
_KEY = re.compile(r"@\w*[ \t]*[{(]\s*([^\s,{}()=]+)\s*,")
_RESOLVED_LIMIT = 100_000
"""Longest value in characters; strings can name each other many times."""


@dataclass(frozen=True, slots=True)
class BibEntry:
    """An entry; ``start`` and ``end`` are its span in the file's text."""

    key: str
    type: str
    """In lower case."""
    start: int
    end: int
    line: int
    """From 1."""
    spans: EntrySpans
    values: Mapping[str, str]
    """Values by lower-case name, in BibTeX, with strings resolved."""
    is_duplicate: bool
    """Whether an earlier entry has the same key."""


@dataclass(frozen=True, slots=True)
class BrokenPlace:
    """Something that is no entry; ``key`` is the one it may have, else empty."""

    line: int
    message: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Bibliography:
    """The content of a BibTeX file."""

    text: str
    entries: tuple[BibEntry, ...] = ()
    broken: tuple[BrokenPlace, ...] = ()

    def find(self, key: str) -> BibEntry | None:
        """Return the first entry with a key; BibTeX does not tell upper from lower case apart."""
        folded = key.casefold()
        inexact = None
        for entry in self.entries:
            if entry.key == key:
                return entry
            if inexact is None and entry.key.casefold() == folded:
                inexact = entry
        return inexact


def parse_bibliography(text: str) -> Bibliography:
    r"""Return the content of a file; ``text`` has ``\n`` for every line end.

    Raises ``InvalidRequest`` (bibtexparser is not installed), ``TooLarge``.
    """
    if len(text) > CHARACTER_LIMIT:
        raise TooLarge(
            f"The bibliography has {len(text) >> 20} million characters;"
            f" up to {CHARACTER_LIMIT >> 20} million are read.",
            hint="Divide the file.",
        )
    blocks = _blocks(text)
    return _Reader(text).read(blocks)


def _blocks(text: str) -> list[Block]:
    try:
        from bibtexparser.splitter import Splitter
    except ModuleNotFoundError as error:
        raise InvalidRequest(
            "Bibliographies need the package bibtexparser, which is not installed.",
            hint="Install it: pip install 'jupyter-ai-shoulders[references]'",
        ) from error
    # What it logs for each broken entry is reported as a problem of the file instead.
    logging.getLogger("bibtexparser.splitter").setLevel(logging.CRITICAL)
    return Splitter(text).split().blocks


@dataclass(slots=True)
class _Reader:
    """Turns blocks of bibtexparser, which are in the order of the file, into entries."""

    text: str
    lines: list[int] = field(default_factory=list[int])
    strings: dict[str, str] = field(default_factory=lambda: dict(MONTHS))
    entries: list[BibEntry] = field(default_factory=list["BibEntry"])
    broken: list[BrokenPlace] = field(default_factory=list["BrokenPlace"])
    keys: set[str] = field(default_factory=set[str])
    position: int = 0

    def read(self, blocks: list[Block]) -> Bibliography:
        from bibtexparser.model import Entry, ParsingFailedBlock, String

        self.lines = [0, *(match.end() for match in re.finditer("\n", self.text))]
        for block in blocks:
            inner = getattr(block, "ignore_error_block", None)
            if isinstance(block, Entry):
                self._entry(block)
            elif isinstance(block, ParsingFailedBlock) and isinstance(inner, Entry):
                self._entry(inner)  # a key or a field that occurs twice
            elif isinstance(block, String):
                self._string(block.key, block.value, block.start_line)
            elif isinstance(block, ParsingFailedBlock) and not isinstance(inner, String):
                self._failed(block)
        self.broken.sort(key=lambda place: place.line)
        return Bibliography(self.text, tuple(self.entries), tuple(self.broken[:PROBLEM_LIMIT]))

    def _entry(self, block: Entry) -> None:
        raw, line = block.raw or "", block.start_line or 0
        start = self.text.find(raw, max(self.position, self.lines[min(line, len(self.lines) - 1)]))
        if not raw or start < 0:
            self._add_broken(line, "The entry could not be located.", raw)
            return
        self.position = start + len(raw)
        try:
            spans = entry_spans(raw)
            _compare(spans, block, raw)
            values = dict(self._values(spans))
        except BrokenEntry as error:
            place = bisect_right(self.lines, start + error.offset) - 1
            self._add_broken(place, str(error), raw)
            return
        folded = spans.key.casefold()
        self.entries.append(
            BibEntry(
                key=spans.key,
                type=spans.type.lower(),
                start=start,
                end=self.position,
                line=bisect_right(self.lines, start),
                spans=spans,
                values=values,
                is_duplicate=folded in self.keys,
            )
        )
        self.keys.add(folded)

    def _values(self, spans: EntrySpans) -> Iterator[tuple[str, str]]:
        names: set[str] = set()
        for found in spans.fields:
            name = found.name.lower()
            if name in names:
                raise BrokenEntry(f"The field {name} occurs twice.", found.start)
            names.add(name)
            yield name, self._resolved(found.pieces)

    def _resolved(self, pieces: tuple[ValuePiece, ...]) -> str:
        if len(pieces) == 1 and pieces[0].kind != "bare":
            return pieces[0].text
        parts = (
            self.strings.get(piece.text.lower(), piece.text) if piece.kind == "bare" else piece.text
            for piece in pieces
        )
        return "".join(parts)[:_RESOLVED_LIMIT]

    def _string(self, key: str, value: str, line: int | None) -> None:
        try:
            self.strings[key.strip().lower()] = self._resolved(value_pieces(value))
        except BrokenEntry as error:
            self._add_broken(line or 0, str(error), "")

    def _failed(self, block: ParsingFailedBlock) -> None:
        reason = str(getattr(block.error, "abort_reason", "")) or "The entry cannot be read."
        self._add_broken(block.start_line or 0, reason, block.raw or "")

    def _add_broken(self, line: int, message: str, raw: str) -> None:
        key = _KEY.match(raw)
        self.broken.append(BrokenPlace(line + 1, message, key[1] if key else ""))


def _compare(spans: EntrySpans, block: Entry, raw: str) -> None:
    """Raise ``BrokenEntry`` if bibtexparser read other fields than the spans show."""
    same = block.key == spans.key and len(block.fields) == len(spans.fields)
    if not same or not all(
        is_same_field(ours, raw, theirs.key, theirs.value)
        for ours, theirs in zip(spans.fields, block.fields, strict=True)
    ):
        raise BrokenEntry("The entry is ambiguous: braces or quotation marks do not match.", 0)
