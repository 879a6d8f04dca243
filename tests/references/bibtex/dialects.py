"""Generated BibTeX files as real programs and people write them, for tests of edits by span.

Each file is made from a seed: a program's layout, what stands between entries, an encoding, line
ends, and sometimes something broken. Layouts follow the exports of JabRef, BibDesk, Zotero with and
without Better BibTeX, Mendeley, Google Scholar, DBLP, and files by hand.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

VALUES = (
    "{A plain title}",
    "{The {DNA} of {{Nested}} Braces}",
    '"A quoted title"',
    '"With {"}quotes{"} inside"',
    r'"Accents: {\"o}, {\ss}, \'{e}"',
    r"{Escaped \{braces\} and 100\% \& more}",
    "{Lines\n    that go\n\ton}",
    'jan # "~1"',
    "acm # { Transactions}",
    "1999",
    "jan",
    "{}",
    '""',
    "{Mail to x@y.org, and a = sign}",
    "{Ünïcödé of all kinds – “quoted”}",
    "{50% of #things_ with $x^2$}",
    "{https://example.org/a_b?c=d%20e#f}",
    "  {spaces around}  ",
    "{trailing backslash command \\TeX}",
    "{(parentheses) and [brackets]}",
    '"comma, inside, quotes"',
)
LATIN_VALUES = (*(value for value in VALUES if value.isascii()), "{Käse à la carte}")
TYPES = (
    "article", "Book", "INPROCEEDINGS", "misc", "phdthesis", "techreport", "online", "dataset",
    "software", "thesis", "report", "mvcollection", "incollection", "unpublished", "patent",
)  # fmt: skip
NAMES = (
    "author", "Title", "JOURNAL", "year", "volume", "number", "pages", "month", "note", "doi",
    "url", "date", "journaltitle", "bdsk-url-1", "mendeley-tags", "__markedentry", "file",
    "abstract", "keywords", "date-added", "langid", "crossref",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """How a program lays out an entry."""

    open: str
    close: str
    field: Callable[[str, str], str]
    separator: str
    end: str
    trailing_comma: bool


LAYOUTS: dict[str, Layout] = {
    "jabref": Layout("{", "}", lambda n, v: f"  {n:<12} = {v}", ",\n", ",\n", True),
    "bibdesk": Layout("{", "}", lambda n, v: f"\t{n.title()} = {v}", ",\n", "", False),
    "zotero": Layout("{", "}", lambda n, v: f"\t{n} = {v}", ",\n", ",\n", True),
    "better-bibtex": Layout("{", "}", lambda n, v: f"  {n} = {v}", ",\n", "\n", False),
    "mendeley": Layout("{", "}", lambda n, v: f"{n} = {v}", ",\n", "\n", False),
    "scholar": Layout("{", "}", lambda n, v: f"  {n}={v}", ",\n", "\n", False),
    "dblp": Layout("{", "}", lambda n, v: f"  {n:<9}= {v}", ",\n", "\n", False),
    "parentheses": Layout("(", ")", lambda n, v: f"  {n} = {v}", ",\n", "\n", False),
    "one-line": Layout("{", "}", lambda n, v: f"{n}={v}", ", ", "", False),
    "leading-commas": Layout("{", "}", lambda n, v: f" {n} = {v}", "\n  ,", "\n", False),
    "wide": Layout("{", "}", lambda n, v: f"\n\n    {n}\n      =\n   {v}", " ,", "\n", False),
    "tabs": Layout("{", "}", lambda n, v: f"\t\t{n}\t=\t{v}", "\t,\n", ",\n\t", True),
}
BETWEEN = (
    "",
    "\n",
    "\n\n\n",
    "% a comment with @ and { inside\n",
    "Free text between entries, as BibTeX allows.\n",
    "@comment{ignored, title = {no}}\n",
    "@Comment{jabref-meta: databaseType:bibtex;}\n",
    '@preamble{ "\\newcommand{\\noopsort}[1]{} " # {more} }\n',
    '@string{acm = "ACM"}\n',
    "@STRING(lncs = {Lecture Notes})\n",
    '@comment{BibDesk Static Groups{\n<?xml version="1.0"?>\n<plist/>\n}}\n',
    "%% This BibTeX bibliography file was created using BibDesk.\n",
    "\t \n",
    "// another comment = {x}\n",
)
BROKEN = (
    "@article{nocomma,\n  title = {A}\n  year = 2000\n}\n",
    "@article{unterminated,\n  title = {A,\n  year = 2000\n\n",
    "@article{,\n  title = {No key}\n}\n",
    "@article{novalue,\n  title = ,\n}\n",
    "@article{twice,\n  title = {A},\n  Title = {B}\n}\n",
    "@article{noequals,\n  title {A}\n}\n",
    "@article{a key with spaces,\n  title = {A}\n}\n",
    "@misc{dangling, title}\n",
)
ENCODINGS = ("utf-8", "utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16-le", "utf-16-be")
NEWLINES = ("\n", "\n", "\r\n", "\r")


@dataclass(frozen=True, slots=True)
class GeneratedFile:
    """A file; ``keys`` are those of its whole entries, ``broken`` the number of broken ones."""

    name: str
    content: bytes
    keys: tuple[str, ...]
    broken: int


def generated_files(layout: str, count: int = 25) -> Iterator[GeneratedFile]:
    """Yield files of a layout in all encodings."""
    first = sorted(LAYOUTS).index(layout)
    yield from (generated_file(first + number * len(LAYOUTS)) for number in range(count))


def generated_file(seed: int) -> GeneratedFile:
    """Return the file of a seed."""
    chance = random.Random(seed)
    dialect = sorted(LAYOUTS)[seed % len(LAYOUTS)]
    encoding = ENCODINGS[seed // len(LAYOUTS) % len(ENCODINGS)]
    newline = chance.choice(NEWLINES)
    values = LATIN_VALUES if encoding in {"latin-1", "cp1252"} else VALUES
    keys: list[str] = []
    parts = [chance.choice(BETWEEN)]
    broken = 0
    for number in range(chance.randint(1, 6)):
        key = f"key{number}" if number < 4 else chance.choice(keys)  # a duplicate at times
        key = key if chance.random() < 0.7 else f"{key}:x/y-{number}"
        keys.append(key)
        parts += entry(chance, LAYOUTS[dialect], key, values), "\n", chance.choice(BETWEEN)
        if chance.random() < 0.15:
            parts.append(chance.choice(BROKEN))
            broken += 1
    parts += entry(chance, LAYOUTS[dialect], "last", values), chance.choice(("", "\n"))
    text = "".join(parts).replace("\n", newline)
    name = f"{seed}-{dialect}-{encoding}-{'crlf' if newline == chr(13) + chr(10) else 'lf'}"
    return GeneratedFile(name, encoded(text, encoding), (*keys, "last"), broken)


def encoded(text: str, encoding: str) -> bytes:
    """Return the bytes of a file; UTF-16 has its byte order mark."""
    if encoding in {"latin-1", "cp1252"} and text.isascii():
        text = f"% é\n{text}"
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    return (mark + text).encode(encoding)


def entry(chance: random.Random, layout: Layout, key: str, values: tuple[str, ...]) -> str:
    """Return an entry."""
    names = chance.sample(NAMES, chance.randint(1, 7))
    fields = layout.separator.join(layout.field(name, chance.choice(values)) for name in names)
    begin = "" if layout.separator in {", ", "\n  ,", " ,"} else "\n"
    space = chance.choice(("", " ")) if layout.open == "{" else ""
    end = layout.end
    if layout.trailing_comma and "," not in end:
        end = f",{end}"
    return f"@{chance.choice(TYPES)}{space}{layout.open}{key},{begin}{fields}{end}{layout.close}"
