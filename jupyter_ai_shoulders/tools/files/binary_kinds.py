"""Describes a non-text file from its first bytes and its name. Pure."""

from __future__ import annotations

import mimetypes

_BEGINNINGS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"(\xb5/\xfd", "a zstd file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"ARROW1", "an Arrow file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"RIFF", "an audio, video or picture file"),
    (b"%PDF-", "a PDF"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
)


def describe_kind(path: str, head: bytes) -> str:
    """Return the kind of a file, with an article: ``a gzip file``, ``a binary file``."""
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return kind
    guessed = mimetypes.guess_type(path)[0]
    return f"a binary file (by its name {guessed})" if guessed else "a binary file"
