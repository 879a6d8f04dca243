"""Sets of files told by name or by place, compared as file systems compare that ignore case.

Used by ``core.secret_files`` and ``core.self_running_files``, whose lists are data files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import translate


class PathPatterns:
    """Patterns of file names, and places (``.config/gh``) with all below them.

    A place is found wherever its parts follow each other in a path.
    """

    def __init__(self, files: Iterable[str], places: Iterable[str]) -> None:
        self._names = re.compile("|".join(translate(name.casefold()) for name in files) or r"(?!)")
        self._places: dict[str, list[tuple[str, ...]]] = {}
        """The parts of each place, by the first part."""
        for place in places:
            parts = tuple(place.casefold().split("/"))
            self._places.setdefault(parts[0], []).append(parts)

    def match(self, parts: Sequence[str]) -> bool:
        """Return whether a path, as ``plain_parts`` returns it, names a file of the set."""
        return self.in_place(parts) or self._names.match(parts[-1]) is not None

    def in_place(self, parts: Sequence[str]) -> bool:
        """Return whether a path is, or is below, one of the places."""
        for at, part in enumerate(parts):
            for place in self._places.get(part, ()):
                if tuple(parts[at : at + len(place)]) == place:
                    return True
        return False


def plain_parts(path: str) -> list[str]:
    """Return the parts of a path (with ``/``) in the one spelling that is compared."""
    return list(map(_plain, path.strip("/").split("/")))


def _plain(name: str) -> str:
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
