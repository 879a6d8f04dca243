"""Sets of files told by name or by place, compared as file systems compare that ignore case.

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
    """Patterns of file names, and places (``.config/gh``) with all below them.

    A place is found wherever its parts follow each other in a path.
    """

    def __init__(self, files: Iterable[str], places: Iterable[str]) -> None:
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
        self._places: dict[str, list[tuple[str, ...]]] = {}
        """The parts of each place, by the first part."""
        for place in places:
            parts = tuple(place.casefold().split("/"))
            self._places.setdefault(parts[0], []).append(parts)

    def match(self, parts: Sequence[str]) -> bool:
        """Return whether a path, as ``plain_parts`` returns it, names a file of the set."""
        return self.in_place(parts) or self.match_name(parts[-1])

    def match_name(self, name: str) -> bool:
        """Return whether one of the patterns of file names matches."""
        return (
            name in self._names
            or name.endswith(self._endings)
            or name.startswith(self._beginnings)
            or self._others.match(name) is not None
        )

    def in_place(self, parts: Sequence[str]) -> bool:
        """Return whether a path is, or is below, one of the places."""
        for at, part in enumerate(parts):
            if part in self._places:
                for place in self._places[part]:
                    if tuple(parts[at : at + len(place)]) == place:
                        return True
        return False


def plain_parts(path: str) -> list[str]:
    """Return the parts of a path (with ``/``) in the one spelling that is compared."""
    return list(map(plain_name, path.strip("/").split("/")))


def plain_name(name: str) -> str:
    """Return a name as file systems compare it that ignore case (APFS, NTFS, HFS+).

    They fold compatible characters, ignore some that are not visible, and Windows drops dots and
    blanks at the end and takes what follows a colon for a stream of the file.
    """
    if name.isascii():
        seen = name
    else:
        folded = unicodedata.normalize("NFKC", name)
        seen = "".join(sign for sign in folded if unicodedata.category(sign) != "Cf")
    return seen.casefold().partition(":")[0].rstrip(". ") or name
