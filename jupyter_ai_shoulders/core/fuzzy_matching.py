"""Ranks paths by a typed query, as editors do. Pure; used by ``host.context.mentions``.

A path matches if it contains the query's characters in order, ignoring case. Better matches come
first: the whole name (with or without its ending), a beginning of the name, a part of it, a part of
the path, then characters scattered in the name or over the path, close together first. Equal ones
are sorted by depth and path.

The names of a folder are one text, so that most queries are answered by ``str.find``. Each rank is
searched only while there are fewer matches than wanted.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop
from itertools import chain, groupby, islice

_END = "\0"
"""Before, between and after the names of a folder; no name contains it."""


@dataclass(frozen=True, slots=True)
class FolderNames:
    """The entries of one folder; names of sub-folders end in ``/``."""

    folder: str
    """The path with a final ``/``, empty for the root, in lower case."""
    names: str
    """The names in lower case, sorted, each preceded by ``_END``, with another one at the end."""
    original_folder: str
    original_names: str
    name_letters: int
    letters: int
    """Sets of the characters of the names, and of the paths; see ``_letters``."""

    @property
    def order(self) -> tuple[int, str]:
        """Where the folder's entries come among equal matches: by depth, then by path."""
        return self.folder.count("/"), self.folder

    def original(self, at: int) -> str:
        """Return the path of the name at a position of ``names``."""
        names = self.original_names
        if len(names) == len(self.names):
            return self.original_folder + names[at + 1 : names.index(_END, at + 1)]
        # lower case of some letters has two characters
        return self.original_folder + names.split(_END)[self.names.count(_END, 0, at) + 1]

    def positions(self, text: str) -> Generator[int]:
        """Yield where a text occurs in ``names``; ``_END`` alone only before a name."""
        end = len(self.names) - (text == _END)
        at = self.names.find(text, 0, end)
        while at >= 0:
            yield at
            at = self.names.find(text, at + 1, end)

    def start_of_name(self, at: int) -> int:
        """Return the position of the name around a position."""
        return self.names.rindex(_END, 0, at + 1)

    def name(self, start: int) -> str:
        """Return the name at a position."""
        return self.names[start + 1 : self.names.index(_END, start + 1)]


def folder_names(folder: str, names: Iterable[str]) -> FolderNames:
    """Return the entries of a folder given by its path without a final ``/``."""
    ordered = sorted((name.lower(), name) for name in names)
    path = f"{folder}/" if folder else ""
    lowered = path.lower()
    lower = _END.join(["", *(name for name, _ in ordered), ""])
    upper = _END.join(["", *(name for _, name in ordered), ""])
    same = lowered == path, lower == upper  # equal texts are kept once
    return _folder(lowered, lower, lowered if same[0] else path, lower if same[1] else upper)


def in_order(folders: Iterable[FolderNames]) -> list[FolderNames]:
    """Sort folders for ``best_matches``; those that differ only by case become one."""
    ordered = sorted(folders, key=lambda each: each.order)
    return [_merged(list(same)) for _, same in groupby(ordered, key=lambda each: each.folder)]


def best_matches(query: str, folders: Sequence[FolderNames], limit: int) -> list[str]:
    """Return the best matches, best first; without a query the paths nearest to the root.

    ``folders`` are sorted by ``in_order``.
    """
    wanted = "".join(query.split()).lower()
    if _END in wanted:
        return []
    found: dict[_Hit, None] = {}
    letters = _letters(wanted)
    possible = [
        (number, each) for number, each in enumerate(folders) if each.letters & letters == letters
    ]
    ranks = chain(
        _in_names(wanted, possible),
        _in_paths(wanted, possible),
        _scattered(wanted, possible, found, limit),
    )
    for hit in ranks:
        found[hit] = None
        if len(found) == limit:
            break
    return [folders[number].original(at) for number, at in found]


_Hit = tuple[int, int]
"""A match: the number of its folder, and the position of its name there."""
_Folders = Sequence[tuple[int, FolderNames]]
"""Folders with their numbers."""


def _merged(same: list[FolderNames]) -> FolderNames:
    if len(same) == 1:
        return same[0]
    paths = [
        (name.lower(), f"{each.original_folder}{name}")
        for each in same
        for name in each.original_names.split(_END)[1:-1]
    ]
    paths.sort()
    lower = _END.join(["", *(name for name, _ in paths), ""])
    # a longer text, so that ``original`` counts
    upper = _END.join(["", *(path for _, path in paths), ""])
    return _folder(same[0].folder, lower, "", upper)


def _folder(folder: str, names: str, original_folder: str, original_names: str) -> FolderNames:
    letters = _letters(names)
    both = letters | _letters(folder)
    return FolderNames(folder, names, original_folder, original_names, letters, both)


def _letters(text: str) -> int:
    """Return a set of characters as bits; several characters share one."""
    bits = 0
    for letter in set(text):
        bits |= 1 << (ord(letter) & 63)
    return bits


def _in_names(wanted: str, folders: _Folders) -> Iterator[_Hit]:
    """Yield names that contain the text: whole ones, beginnings, others."""
    if "/" in wanted:
        return
    holding = [(number, each) for number, each in folders if wanted in each.names]
    whole = tuple(f"{_END}{wanted}{end}" for end in (_END, "/", "."))
    for number, each in holding if wanted else ():
        if whole[0] in each.names or whole[1] in each.names or whole[2] in each.names:
            yield from ((number, at) for at in _whole_names(whole, each))
    for number, each in holding:
        for at in each.positions(_END + wanted):
            yield number, at
    for number, each in holding if wanted else ():
        for at in each.positions(wanted):
            yield number, each.start_of_name(at)


def _whole_names(whole: Sequence[str], folder: FolderNames) -> list[int]:
    """Return where a name, with or without its ending, is the text."""
    found = {at for text in whole for at in folder.positions(text)}
    size = len(whole[0]) - 1
    return sorted(at for at in found if "." not in folder.name(at)[size:])


def _in_paths(wanted: str, folders: _Folders) -> Iterator[_Hit]:
    """Yield paths that contain the text."""
    head, slash, tail = wanted.rpartition("/")
    for number, each in folders:
        if wanted in each.folder:
            for at in each.positions(_END):
                yield number, at
        elif slash and tail:
            if each.folder.endswith(f"{head}/"):
                for at in each.positions(_END + tail):
                    yield number, at
        elif slash:
            for at in each.positions("/"):
                start = each.start_of_name(at)
                if (each.folder + each.name(start)).endswith(wanted):
                    yield number, start


def _scattered(
    wanted: str, folders: _Folders, found: Mapping[_Hit, None], limit: int
) -> Iterator[_Hit]:
    """Yield names, then paths, that contain the characters in order, closest together first.

    ``found`` are the better matches; called when all of those are known.
    """
    if len(wanted) < 2:
        return
    if "/" not in wanted:
        yield from _scattered_in_names(wanted, folders, found, limit - len(found))
    yield from _scattered_in_paths(wanted, folders, found, limit - len(found))


class _Closest:
    """The matches whose characters are closest together, at most ``count``."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._heap: list[tuple[int, int, int]] = []
        """Negative, so that the worst is first."""

    def admits(self, spread: int) -> bool:
        """Return whether a later match with this distance could be one of them."""
        return len(self._heap) < self._count or spread < -self._heap[0][0]

    def add(self, spread: int, number: int, at: int) -> None:
        item = (-spread, -number, -at)
        if len(self._heap) < self._count:
            heappush(self._heap, item)
        else:
            heappushpop(self._heap, item)

    def __iter__(self) -> Iterator[_Hit]:
        return iter([(-number, -at) for _, number, at in sorted(self._heap, reverse=True)])


def _scattered_in_names(
    wanted: str, folders: _Folders, found: Mapping[_Hit, None], count: int
) -> Iterator[_Hit]:
    closest, pattern, letters = _Closest(count), _letters_in_order(wanted), _letters(wanted)
    for number, each in folders:
        if not closest.admits(len(wanted)):  # all have one gap of one character
            break
        if each.name_letters & letters == letters:
            for match in pattern.finditer(each.names):
                spread = match.end(1) - match.start() - 1
                start = each.start_of_name(match.start())
                if closest.admits(spread) and (number, start) not in found:
                    closest.add(spread, number, start)
    yield from closest


def _scattered_in_paths(
    wanted: str, folders: _Folders, found: Mapping[_Hit, None], count: int
) -> Iterator[_Hit]:
    """Search the folders in which a match could be closest first."""
    closest = _Closest(count)
    numbered = dict(folders)
    for least, number, used, before in sorted(_reachable(wanted, folders)):
        if len(wanted) > used and not closest.admits(least - 1):
            break  # an equal match in an earlier folder would be better
        each = numbered[number]
        if used == len(wanted):
            better = sum(1 for other, _ in found if other == number)
            for at in islice(each.positions(_END), count + better):
                if (number, at) not in found:
                    closest.add(least, number, at)
            continue
        for match in _letters_in_order(wanted[used:]).finditer(each.names):
            start = each.start_of_name(match.start())
            began = start + 1 - before if used else match.start()
            spread = match.end(1) - 1 - began
            if (number, start) not in found:
                closest.add(spread, number, start)
    yield from closest


def _reachable(wanted: str, folders: _Folders) -> Iterator[tuple[int, int, int, int]]:
    """Yield the folders whose entries may match.

    Each with the least distance of a match, its number, how many characters the folder's path has,
    and the distance from the first of them to the end of that path.
    """
    letters = [_letters(wanted[used:]) for used in range(len(wanted) + 1)]
    for number, each in folders:
        used, first, at = _consumed(wanted, each.folder)
        before = len(each.folder) - first
        if used == len(wanted):
            yield at - first, number, used, before
            continue
        rest = letters[used]
        if (used or "/" in wanted) and each.name_letters & rest == rest:
            yield (before if used else 0) + len(wanted) - used - 1, number, used, before


def _consumed(wanted: str, path: str) -> tuple[int, int, int]:
    """Return how many characters a path has in order, and where the first and the last are."""
    first = at = -1
    for count, letter in enumerate(wanted):
        following = path.find(letter, at + 1)
        if following < 0:
            return count, first, at
        at = following
        first = at if count == 0 else first
    return len(wanted), first, at


def _letters_in_order(letters: str) -> re.Pattern[str]:
    """Return a pattern for the characters in order in one name, its group, and the name's rest."""
    first, *others = map(re.escape, letters)
    gaps = "".join(f"[^{_END}{letter}]*+{letter}" for letter in others)
    return re.compile(f"({first}{gaps})[^{_END}]*+")
