"""Checks and rebuilds the first 100 bytes of a SQLite database.

All other pages are readable without them, but SQLite refuses the whole file when they are damaged.
Used by ``storage.database`` before it opens a file, and by ``storage.salvage.damaged_database`` for
its copy.

Format: https://www.sqlite.org/fileformat2.html#the_database_header
"""

from __future__ import annotations

import struct

SIZE = 100
_MAGIC = b"SQLite format 3\0"
_FRACTIONS = bytes((64, 32, 32))
_UTF8 = 1
_SCHEMA_FORMAT = 4
_NO_WAL = 1
_WAL = 2


def is_sound(header: bytes) -> bool:
    """Return whether the fields that are equal in all our databases are correct."""
    return (
        len(header) == SIZE
        and header.startswith(_MAGIC)
        and page_size(header) is not None
        and header[18] in (_NO_WAL, _WAL)
        and header[19] == header[18]
        and header[20] == 0
        and header[21:24] == _FRACTIONS
        and header[44:48] in (bytes(4), _SCHEMA_FORMAT.to_bytes(4, "big"))
        and header[56:60] in (bytes(4), _UTF8.to_bytes(4, "big"))
        and not any(header[72:92])
    )


def page_size(header: bytes) -> int | None:
    """Return the page size, or None if the header does not state it."""
    if len(header) < 18:
        return None
    size = int.from_bytes(header[16:18], "big")
    size = 1 << 16 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else None


def rebuild_header(size: int, pages: int) -> bytes:
    """Return the header of a database with this page size and number of pages, without a WAL."""
    counter = 1
    return struct.pack(
        ">16sHBBBBBB12I20xII",
        _MAGIC,
        size & 0xFFFF or 1,
        _NO_WAL,
        _NO_WAL,
        0,
        *_FRACTIONS,
        counter,
        pages,
        0,  # no free pages for a reader to know
        0,
        counter,
        _SCHEMA_FORMAT,
        0,
        0,
        _UTF8,
        0,
        0,
        0,
        counter,
        0,
    )
