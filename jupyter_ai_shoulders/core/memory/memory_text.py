"""A memory file: Markdown that the user may edit, with one statement in each item of its lists.

Pure; used by ``host.memory``. The program writes the id, the date and the conversation of a
statement in a comment behind it. All other bytes of the file stay as they are::

    - Prefers seaborn for plots. <!-- 1f0c9a2e, 2026-11-29, ses_x -->
    - A statement that the user wrote by hand.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import InvalidRequest

PREFERENCES = "Preferences"
"""Heading of the statements that the settings page writes."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ITEM = re.compile(r"\ufeff?[-*+][ \t]+(?P<body>\S[^\r\n]*)")
_HEADING = re.compile(r"\ufeff?#{1,6}[ \t](?P<title>[^\r\n]*)")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_META = re.compile(
    r"<!--[ \t]*(?P<id>[0-9a-f]{8})(?:,[ \t]*(?P<date>\d{4}-\d{2}-\d{2}))?"
    r"(?:,[ \t]*(?P<session>[A-Za-z0-9_-]{1,64}))?[ \t]*-->\s*\Z"
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement; ``date`` and ``session`` are empty where the user wrote the line by hand."""

    id: str
    text: str
    date: str = ""
    session: str = ""
    section: str = ""
    """The heading above it."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A statement and its lines, which are ``start`` to ``end`` of the file."""

    statement: Statement
    start: int
    end: int


class MemoryText:
    """One version of a memory file; changes return another one."""

    def __init__(self, content: bytes) -> None:
        """Raises ``InvalidRequest`` for a file that is not text."""
        if b"\0" in content:
            raise InvalidRequest(
                "The memory file is not UTF-8 text, so it is neither used nor changed.",
                hint="Save it as UTF-8, or move it away.",
            )
        self.content = content
        self._lines: list[str] = _LINE.findall(content.decode("utf-8", "surrogateescape"))
        self._items = tuple(_items(self._lines))

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements in the order of the file."""
        return tuple(item.statement for item in self._items)

    def get(self, statement_id: str) -> Statement | None:
        """Return a statement, or None."""
        item = self._find(statement_id)
        return None if item is None else item.statement

    def source(self, statement_id: str) -> str | None:
        """Return the lines of a statement as they are in the file, or None."""
        item = self._find(statement_id)
        return None if item is None else "".join(self._lines[item.start : item.end])

    def before(self, statement_id: str) -> str | None:
        """Return the id of the statement above another one."""
        ids = [item.statement.id for item in self._items]
        place = ids.index(statement_id) if statement_id in ids else 0
        return ids[place - 1] if place else None

    def added(self, statement: Statement, after: str | None = None) -> MemoryText:
        """Return the text with a further statement, in its section."""
        return self.with_source(_line(statement, self._newline), statement.section, after)

    def with_source(self, lines: str, section: str = "", after: str | None = None) -> MemoryText:
        """Return the text with the lines of a statement, below ``after`` if that exists."""
        above = None if after is None else self._find(after)
        place = self._place(section) if above is None else above.end
        new = self._heading(section) if place is None else []
        return self._with(len(self._lines) if place is None else place, [*new, lines])

    def replaced(self, statement_id: str, statement: Statement) -> MemoryText:
        """Return the text with another statement in the place of one."""
        return self.with_replaced_source(statement_id, _line(statement, self._newline))

    def with_replaced_source(self, statement_id: str, lines: str) -> MemoryText:
        """Return the text with other lines in the place of a statement."""
        return self._changed(statement_id, [lines])

    def removed(self, statement_id: str) -> MemoryText:
        """Return the text without a statement."""
        return self._changed(statement_id, [])

    def _changed(self, statement_id: str, lines: list[str]) -> MemoryText:
        item = self._find(statement_id)
        if item is None:
            return self
        first = self._lines[item.start]
        mark = "\ufeff" if first.startswith("\ufeff") else ""
        rest = [*self._lines[: item.start], *lines, *self._lines[item.end :]]
        if mark and not "".join(rest).startswith(mark):
            rest.insert(0, mark)
        if lines and not self._lines[item.end - 1].endswith("\n"):
            rest[-1] = rest[-1].rstrip("\r\n")  # the file had no line break at its end
        return _joined(rest)

    def _with(self, place: int, lines: list[str]) -> MemoryText:
        before = "".join(self._lines[:place])
        gap = "" if not before or before.endswith("\n") or before == "\ufeff" else self._newline
        return _joined([before, gap, *lines, *self._lines[place:]])

    def _place(self, section: str) -> int | None:
        """Return the line for a new statement; None: at the end, below a new heading."""
        preferences = section == PREFERENCES
        last = [
            item.end
            for item in self._items
            if (item.statement.section == PREFERENCES) == preferences
        ]
        if last:
            return last[-1]
        heading = next(
            (place for place, title in _headings(self._lines) if title == PREFERENCES), None
        )
        if heading is None:
            return None if preferences else len(self._lines)
        return heading + 1 if preferences else heading

    def _heading(self, section: str) -> list[str]:
        newline = self._newline
        blank = "".join(self._lines).strip("\r\n\ufeff") != ""
        return [f"{newline if blank else ''}## {section}{newline}", newline]

    @property
    def _newline(self) -> str:
        windows = sum(line.endswith("\r\n") for line in self._lines)
        return "\r\n" if windows * 2 > len(self._lines) else "\n"

    def _find(self, statement_id: str) -> _Item | None:
        return next((item for item in self._items if item.statement.id == statement_id), None)


def _joined(lines: list[str]) -> MemoryText:
    return MemoryText("".join(lines).encode("utf-8", "surrogateescape"))


def _line(statement: Statement, newline: str) -> str:
    known = ", ".join(filter(None, (statement.id, statement.date, statement.session)))
    return f"- {statement.text} <!-- {known} -->{newline}"


def _items(lines: list[str]) -> Iterator[_Item]:
    taken: set[str] = set()
    section = ""
    place = 0
    prose = set(_prose(lines))
    while place < len(lines):
        start, place = place, place + 1
        if start not in prose:
            continue
        title = _heading_title(lines[start])
        section = section if title is None else title
        if _ITEM.match(lines[start]) is None:
            continue
        while place < len(lines) and _continues(lines[place]):
            place += 1
        statement = _statement(lines[start:place], section, taken)
        if statement is not None:
            taken.add(statement.id)
            yield _Item(statement, start, place)


def _prose(lines: list[str]) -> Iterator[int]:
    """Yield the numbers of the lines outside of code blocks and comments."""
    fence, comment = "", False
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if comment:
            comment = "-->" not in line
        elif fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif line.lstrip("\ufeff \t").startswith("<!--"):
            comment = "-->" not in line
        else:
            yield number


def _headings(lines: list[str]) -> Iterator[tuple[int, str]]:
    for number in _prose(lines):
        title = _heading_title(lines[number])
        if title is not None:
            yield number, title


def _heading_title(line: str) -> str | None:
    """Return the text of a heading, None for another line."""
    found = _HEADING.match(line)
    return None if found is None else found["title"].rstrip().rstrip("#").strip()


def _continues(line: str) -> bool:
    return line[:1] in {" ", "\t"} and line.strip() != ""


def _statement(lines: list[str], section: str, taken: set[str]) -> Statement | None:
    """Return the statement of an item's lines; None if there is nothing but comments."""
    body = "".join(lines).lstrip("\ufeff")[1:]
    meta = _META.search(body)
    shown = _COMMENT.sub(" ", body).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text = " ".join(shown.split())
    if not text:
        return None
    known = meta["id"] if meta else ""
    return Statement(
        known if known and known not in taken else _made_id(text, taken),
        text,
        (meta["date"] or "") if meta else "",
        (meta["session"] or "") if meta else "",
        section,
    )


def _made_id(text: str, taken: set[str]) -> str:
    """Return an id for a line without one: the same as long as its text is the same."""
    number = 0
    while (found := hashlib.sha256(f"{text}\0{number}".encode()).hexdigest()[:8]) in taken:
        number += 1
    return found
