"""Reads rows of SQLite tables from the leaf pages alone.

Used by ``storage.salvage.damaged_database``: rows stay readable when the header, the schema or the
inner pages are damaged, or the file is truncated.

Format: https://www.sqlite.org/fileformat2.html#b_tree_pages
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import NamedTuple

_TABLE_LEAF = 0x0D
_FILE_HEADER = 100
_LEAF_HEADER = 8
_INTEGER_BYTES = (0, 1, 2, 3, 4, 6, 8)
_CELLS = 4096
"""Maximum number of cells in a used page of 64 KiB; a damaged count may be larger."""

Value = int | bytes | None


class LeafRow(NamedTuple):
    """A row with its id: integers, texts and blobs as bytes; None for (unused) floats."""

    id: int
    values: tuple[Value, ...]


def leaf_rows(image: mmap.mmap, page_size: int) -> Iterator[LeafRow]:
    """Yield the rows of all tables, including those in unused pages."""
    for start in range(0, len(image) - page_size + 1, page_size):
        header = start + (_FILE_HEADER if start == 0 else 0)
        if image[header] == _TABLE_LEAF:
            yield from _page_rows(_Pages(image, page_size), start, header)


def leaf_ids(page: bytes) -> set[int]:
    """Return the ids of a page's rows; none if it is not a leaf of a table."""
    ids: set[int] = set()
    if page[:1] != bytes((_TABLE_LEAF,)):
        return ids
    count = int.from_bytes(page[3:5], "big")
    for at in range(_LEAF_HEADER, _LEAF_HEADER + 2 * min(count, _CELLS), 2):
        try:
            _, cell = _varint(page, int.from_bytes(page[at : at + 2], "big"))
            ids.add(_varint(page, cell)[0])
        except IndexError:
            continue
    return ids


class _Pages(NamedTuple):
    image: mmap.mmap
    size: int

    def number(self, at: int, length: int) -> int:
        return int.from_bytes(self.image[at : at + length], "big")

    def payload(self, at: int, length: int, end: int) -> bytes:
        """Return a cell's payload, following its overflow pages. Raises ``ValueError``."""
        longest = self.size - 35
        local = length
        if length > longest:
            least = (self.size - 12) * 32 // 255 - 23
            local = least + (length - least) % (self.size - 4)
            local = local if local <= longest else least
        if at + local > end or length > len(self.image):
            raise ValueError("The cell does not fit its page.")
        parts = [self.image[at : at + local]]
        left, page = length - local, self.number(at + local, 4)
        while left:
            start = (page - 1) * self.size
            if page < 2 or start + self.size > len(self.image):
                raise ValueError("The cell's overflow page does not exist.")
            page = self.number(start, 4)
            parts.append(self.image[start + 4 : start + 4 + min(left, self.size - 4)])
            left -= len(parts[-1])
        return b"".join(parts)


def _page_rows(pages: _Pages, start: int, header: int) -> Iterator[LeafRow]:
    end = start + pages.size
    count = min(pages.number(header + 3, 2), _CELLS)
    for index in range(count):
        pointer = header + _LEAF_HEADER + 2 * index
        try:
            yield _row(pages, start + pages.number(pointer, 2), end)
        except (ValueError, IndexError):
            continue  # the other cells of the page may be intact


def _row(pages: _Pages, at: int, end: int) -> LeafRow:
    """Return the row of a cell. Raises ``ValueError`` and ``IndexError`` when it is damaged."""
    length, at = _varint(pages.image, at)
    row_id, at = _varint(pages.image, at)
    payload = pages.payload(at, length, end)
    header_end, position = _varint(payload, 0)
    body = header_end
    values: list[Value] = []
    while position < header_end:
        kind, position = _varint(payload, position)
        value, body = _value(payload, kind, body)
        values.append(value)
    if body != length:
        raise ValueError("The row's columns do not fill its cell.")
    return LeafRow(row_id, tuple(values))


def _value(payload: bytes, kind: int, at: int) -> tuple[Value, int]:
    if kind in (8, 9):
        return kind - 8, at
    if kind < len(_INTEGER_BYTES):
        end = at + _INTEGER_BYTES[kind]
        return int.from_bytes(payload[at:end], "big", signed=True) if kind else None, end
    if kind == 7:
        return None, at + 8
    end = at + (kind - 12) // 2
    if kind < 12 or end > len(payload):
        raise ValueError("The row has a column that does not exist.")
    return payload[at:end], end


def _varint(data: mmap.mmap | bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return value << 8 | data[at + 8], at + 9
