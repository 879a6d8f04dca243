"""The names of Word documents."""

from __future__ import annotations

SUFFIXES = (".docx", ".docm")


def is_word(path: str) -> bool:
    """Return whether a path names a Word document that can be read and edited."""
    return path.lower().endswith(SUFFIXES)
