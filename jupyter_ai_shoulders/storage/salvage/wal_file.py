"""Reads a SQLite write-ahead log without SQLite, even if damaged.

SQLite stops at the first frame that does not verify and silently drops the rest. That is right for
a tail torn by a crash, but a loss when a frame in the middle is damaged. ``storage.database``
checks which of the two it is before SQLite opens the file; ``storage.salvage.damaged_database``
reads the frames.

Format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

PAGE_SIZE = 4096
"""SQLite's default page size."""
_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_LITTLE, _BIG = 0x377F0682, 0x377F0683
_VERSION = 3007000
_MASK = 0xFFFFFFFF

Sums = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WalContent:
    """The content of a write-ahead log."""

    page_size: int = PAGE_SIZE
    pages: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """The newest committed content of each page, also of pages after the damage."""
    unverified: tuple[tuple[int, bytes], ...] = ()
    """Page and content of frames that do not verify; single rows in them may be intact."""
    is_damaged: bool = False
    """Whether committed frames follow one that does not verify."""


class _Frame(NamedTuple):
    page: int
    is_commit: bool
    salts: Sums
    sums: Sums
    head: bytes
    content: bytes


def read_wal(path: Path) -> WalContent:
    """Read the log; an absent or empty file has no content. Raises ``OSError``."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return WalContent()
    if len(data) < _HEADER.size + _FRAME.size + 512:
        return WalContent()
    magic, version, size, _, salt1, salt2, *stored = _HEADER.unpack_from(data)
    head = data[: _HEADER.size - 8]
    for big in (False, True):
        expected = _BIG if big else _LITTLE
        if magic == expected and version == _VERSION and _is_page_size(size):
            sums = _sums(head, (0, 0), big=big)
            if sums == (stored[0], stored[1]):
                return _content(list(_frames(data, size)), size, sums, (salt1, salt2), big=big)
    return _without_header(list(_frames(data, PAGE_SIZE)))


def _without_header(frames: list[_Frame]) -> WalContent:
    """Read the frames of a log with a damaged header: each is verified by the previous one."""
    for big in (False, True):
        for before, frame in itertools.pairwise(frames):
            if frame.salts == before.salts and _verifies(frame, before.sums, big=big):
                return _content(frames, PAGE_SIZE, None, frame.salts, big=big)
    return WalContent()


def _content(
    frames: list[_Frame], page_size: int, seed: Sums | None, salts: Sums, *, big: bool
) -> WalContent:
    """Collect the pages of committed transactions.

    A frame is verified by the sums stored in the frame before it, so the one after a damaged frame
    verifies too. Frames with other salts are left over from before the last reset.
    """
    pages: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    unverified: list[tuple[int, bytes]] = []
    bad = seed is None
    damaged = False
    for frame in frames:
        if frame.salts == salts and seed is not None and _verifies(frame, seed, big=big):
            pending[frame.page] = frame.content
            if frame.is_commit:
                pages |= pending
                pending = {}
                damaged = damaged or bad
        else:
            bad = True
            if frame.salts[0] == salts[0] or frame.salts[1] == salts[1]:
                unverified.append((frame.page, frame.content))
        seed = frame.sums
    return WalContent(page_size, pages, tuple(unverified), damaged)


def _frames(data: bytes, page_size: int) -> Iterator[_Frame]:
    step = _FRAME.size + page_size
    for at in range(_HEADER.size, len(data) - step + 1, step):
        page, commit, salt1, salt2, sum1, sum2 = _FRAME.unpack_from(data, at)
        content = data[at + _FRAME.size : at + step]
        yield _Frame(page, commit != 0, (salt1, salt2), (sum1, sum2), data[at : at + 8], content)


def _verifies(frame: _Frame, seed: Sums, *, big: bool) -> bool:
    return frame.page > 0 and frame.sums == _sums(frame.head + frame.content, seed, big=big)


def _sums(data: bytes, seed: Sums, *, big: bool) -> Sums:
    """Return SQLite's checksum, Fibonacci-weighted, continued from ``seed``."""
    first, second = seed
    words = iter(struct.unpack(f"{'>' if big else '<'}{len(data) // 4}I", data))
    for one, two in zip(words, words, strict=True):
        first = (first + one + second) & _MASK
        second = (second + two + first) & _MASK
    return first, second


def _is_page_size(size: int) -> bool:
    return 512 <= size <= 65536 and size & (size - 1) == 0
