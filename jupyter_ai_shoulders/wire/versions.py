"""Versions: hashes that identify the exact text the server and a page have seen.

The page computes the same values (``labextension/src/wire/versions.ts``); both are tested with
``tests/wire/fixtures/versions.json``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from jupyter_ai_shoulders.wire.ids import CellId, Version

CELL_VERSION_DIGITS = 16
ABSENT = Version("absent")
"""The version of a missing cell (effects of ``add_cell`` and ``delete_cell``)."""


def well_formed(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, as ``TextEncoder`` does.

    A surrogate pair in two code units becomes one character.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cell_version(source: str) -> Version:
    """Return the first 16 hex digits of the SHA-256 of a cell's source in UTF-8."""
    return Version(text_version(source)[:CELL_VERSION_DIGITS])


def list_version(cells: Iterable[tuple[CellId, Version]]) -> Version:
    """Return the version of a list of cells: which cells, with which sources, in which order."""
    return cell_version("\n".join(f"{cell_id} {version}" for cell_id, version in cells))


def text_version(text: str) -> Version:
    r"""Return the SHA-256 of a text in UTF-8 in hex; every line must end in ``\n``."""
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        encoded = well_formed(text).encode("utf-8")
    return file_version(encoded)


def file_version(content: bytes) -> Version:
    """Return the SHA-256 of a file's bytes in hex."""
    return Version(hashlib.sha256(content).hexdigest())
