"""Versions: hashes by which both sides name the exact text they have seen.

The page computes the same values (``labextension/src/wire/versions.ts``); one fixture table,
``tests/wire/fixtures/versions.json``, is checked in both languages.
"""

from __future__ import annotations

import hashlib

from jupyter_ai_shoulders.wire.ids import Version

CELL_VERSION_DIGITS = 16
ABSENT = Version("absent")
"""The version of a cell that is not there (effects of ``add_cell`` and ``delete_cell``)."""


def well_formed(text: str) -> str:
    """Return ``text`` with each lone surrogate replaced by U+FFFD, as ``TextEncoder`` does.

    A surrogate pair spelt as two code units becomes the one character it stands for.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cell_version(source: str) -> Version:
    """Return the first 16 hex digits of SHA-256 over the UTF-8 of a cell's source."""
    return Version(text_version(source)[:CELL_VERSION_DIGITS])


def text_version(text: str) -> Version:
    r"""Return SHA-256 over a text in UTF-8 as hex; every line of it ends in ``\n``."""
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        encoded = well_formed(text).encode("utf-8")
    return file_version(encoded)


def file_version(content: bytes) -> Version:
    """Return SHA-256 over a file's bytes as hex."""
    return Version(hashlib.sha256(content).hexdigest())
