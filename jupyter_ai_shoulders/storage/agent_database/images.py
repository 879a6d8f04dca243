"""The content of a database at one moment, and the difference between two, for undo.

For the worker: standard library only. The version of a content is the SHA-256 of its pages without
SQLite's counters, so a database that is restored has its earlier version again. A difference is a
file ``<operation id>``: a line of JSON, then the earlier pages, compressed::

    {"before": "<sha256>", "after": "<sha256>", "size": 8192, "page": 4096}
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.storage.agent_database.failures import RequestFailed
from jupyter_ai_shoulders.storage.agent_database.opening import fsync_folder

_COUNTERS = ((18, b"\1\1"), (24, bytes(4)), (40, bytes(4)), (92, bytes(8)))
"""Fields of the header that differ between equal contents: the journal mode, the counters of
changes and of schemas, and SQLite's own version (https://www.sqlite.org/fileformat2.html).
"""
_NUMBER = 4
"""Bytes of a page's number."""


@dataclass(frozen=True, slots=True)
class Image:
    """All pages of a database."""

    content: bytes

    @property
    def version(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def page_size(self) -> int:
        size = int.from_bytes(self.content[16:18], "big")
        return 65_536 if size == 1 else size


@dataclass(frozen=True, slots=True)
class DifferenceHeader:
    """Versions before and after a change, and the earlier size in bytes."""

    before: str
    after: str
    size: int
    page: int


def image_of(connection: sqlite3.Connection) -> Image:
    """Return what a connection sees, its own uncommitted changes included."""
    content = bytearray(connection.serialize())
    for start, value in _COUNTERS:
        content[start : start + len(value)] = value
    return Image(bytes(content))


def write_difference(before: Image, after: Image, folder: Path, name: str) -> DifferenceHeader:
    """Store durably what makes ``before`` from ``after``; return its header."""
    size = before.page_size
    header = DifferenceHeader(before.version, after.version, len(before.content), size)
    if folder.is_symlink():  # it came with the folder, and the oldest files are removed
        raise RequestFailed(
            "unusable", f"{folder.name} is a link, so nothing was changed.", "Remove the link."
        )
    folder.mkdir(mode=0o700, exist_ok=True)
    temporary = folder / f".{name}"
    packer = zlib.compressobj(1)
    with temporary.open("wb") as file:
        file.write(json.dumps(asdict(header)).encode() + b"\n")
        for start in range(0, len(before.content), size):
            page = before.content[start : start + size]
            if page != after.content[start : start + size]:
                file.write(packer.compress((start // size).to_bytes(_NUMBER, "big") + page))
        file.write(packer.flush())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / name)
    fsync_folder(folder)
    crash_point("agent_database.difference.written")
    return header


def read_header(folder: Path, name: str) -> DifferenceHeader | None:
    """Return the header of a difference, None if none is stored."""
    try:
        with (folder / name).open("rb") as file:
            return DifferenceHeader(**json.loads(file.readline()))
    except (OSError, ValueError, TypeError):
        return None


def earlier_image(now: Image, folder: Path, name: str) -> Image:
    """Return the content before a change. Raises ``RequestFailed``."""
    header = read_header(folder, name)
    if header is None:
        raise _missing()
    if now.version != header.after:
        raise RequestFailed(
            "changed",
            "The agent's database has been changed since, so this change was not taken back.",
            "Take back the later changes first, the newest first.",
        )
    with (folder / name).open("rb") as file:
        file.readline()
        try:
            pages = zlib.decompress(file.read())
        except zlib.error as error:
            raise _missing() from error
    content = bytearray(now.content[: header.size].ljust(header.size, b"\0"))
    step = _NUMBER + header.page
    for at in range(0, len(pages), step):
        start = int.from_bytes(pages[at : at + _NUMBER], "big") * header.page
        content[start : start + header.page] = pages[at + _NUMBER : at + step]
    earlier = Image(bytes(content))
    if earlier.version != header.before:
        raise _missing()
    return earlier


def remove_oldest(folder: Path, most: int, keep: str) -> None:
    """Remove the oldest differences while they have more than ``most`` bytes together."""
    found = sorted(((path.stat(), path) for path in folder.iterdir()), key=lambda e: e[0].st_mtime)
    total = sum(each.st_size for each, _ in found)
    for facts, path in found:
        if total <= most:
            return
        if path.name != keep:
            with suppress(FileNotFoundError):
                path.unlink()
            total -= facts.st_size


def _missing() -> RequestFailed:
    return RequestFailed(
        "missing", "The content before this change is no longer stored, so it stays."
    )
