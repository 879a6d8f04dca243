"""Sets of files given by name or location, compared as on case-insensitive file systems.

Used by ``core.sensitive_files.secret_files`` and ``core.sensitive_files.protected_files``, whose
lists are data files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import translate

_WILD = re.compile(r"[*?\[]")


class PathPatterns:
    """Patterns of file names, and locations (``.config/gh``) with everything below them.

    A location matches wherever its components follow each other in a path.
    """

    def __init__(self, files: Iterable[str], locations: Iterable[str]) -> None:
        self._names: set[str] = set()
        beginnings, endings, others = list[str](), list[str](), list[str]()
        for name in map(str.casefold, files):
            if not _WILD.search(name):
                self._names.add(name)
            elif not _WILD.search(name[:-1]) and name.endswith("*"):
                beginnings.append(name[:-1])
            elif not _WILD.search(name[1:]) and name.startswith("*"):
                endings.append(name[1:])
            else:
                others.append(translate(name))
        self._beginnings, self._endings = tuple(beginnings), tuple(endings)
        self._others = re.compile("|".join(others) or r"(?!)")
        self._locations: dict[str, list[tuple[str, ...]]] = {}
        """The components of each location, by the first component."""
        for location in locations:
            parts = tuple(location.casefold().split("/"))
            self._locations.setdefault(parts[0], []).append(parts)

    def match(self, parts: Sequence[str]) -> bool:
        """Return whether a path, in the form of ``plain_parts``, names a file of the set."""
        return self.is_in_location(parts) or self.match_name(parts[-1])

    def match_name(self, name: str) -> bool:
        """Return whether a pattern of file names matches."""
        return (
            name in self._names
            or name.endswith(self._endings)
            or name.startswith(self._beginnings)
            or self._others.match(name) is not None
        )

    def begins_location(self, parts: Sequence[str]) -> bool:
        """Return whether a component is the first one of a location."""
        return any(part in self._locations for part in parts)

    def is_in_location(self, parts: Sequence[str]) -> bool:
        """Return whether a path is, or is below, one of the locations."""
        for at, part in enumerate(parts):
            if part in self._locations:
                for location in self._locations[part]:
                    if tuple(parts[at : at + len(location)]) == location:
                        return True
        return False


def plain_parts(path: str) -> list[str]:
    """Return the normalised components of a path (with ``/``) for comparison."""
    return list(map(plain_name, path.strip("/").split("/")))


def plain_name(name: str) -> str:
    """Normalise a name as case-insensitive file systems do (APFS, NTFS, HFS+).

    They fold compatible characters and ignore some invisible ones. Windows drops final dots and
    blanks, and takes the text after a colon for a stream of the file.
    """
    if name.isascii():
        folded = name
    else:
        folded = unicodedata.normalize("NFKC", name)
        folded = "".join(
            character for character in folded if unicodedata.category(character) != "Cf"
        )
    return folded.casefold().partition(":")[0].rstrip(". ") or name
