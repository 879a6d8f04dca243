"""Finds the places that a summary cites, and checks that they exist."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.base import Notebooks
from jupyter_ai_shoulders.tools.agent.delegate import Citation
from jupyter_ai_shoulders.wire.ids import CellId

MOST_CITATIONS = 50
"""Places that are checked; further ones count as not found."""
MARK = " – not found"
_CITATION = re.compile(
    r"\[(?P<path>[^\[\]\n#]{1,300}?)"
    r"(?::L?(?P<first>\d{1,9})(?:[-–]L?(?P<last>\d{1,9}))?|#(?P<cell>[\w-]{1,64}))?\](?!\()"
)
_FILE = re.compile(r"[^\s].*\.\w{1,10}")
"""What a bare path must look like, so that other words in brackets are left alone."""


def cited_places(summary: str) -> list[tuple[re.Match[str], Citation]]:
    """Return the citations of a text in order, not yet looked for."""
    found: list[tuple[re.Match[str], Citation]] = []
    for match in _CITATION.finditer(summary):
        path, first, cell = match["path"].strip(), match["first"], match["cell"]
        if first is None and cell is None and not _FILE.fullmatch(path):
            continue
        last = match["last"] or first
        found.append(
            (
                match,
                Citation(
                    path=path,
                    found=False,
                    first_line=int(first) if first else None,
                    last_line=int(last) if last else None,
                    cell_id=CellId(cell) if cell else None,
                ),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class CitationChecker:
    """Looks for cited places in the workspace."""

    workspace: Workspace
    notebooks: Notebooks

    async def checked(
        self, summary: str, handles: Mapping[str, int]
    ) -> tuple[str, tuple[Citation, ...]]:
        """Return the summary with the places marked that do not exist, and all places.

        ``handles`` has the number of lines of each output that may be cited by its handle.
        """
        places = cited_places(summary)
        known: dict[Citation, Citation] = {}
        for _, place in places[:MOST_CITATIONS]:
            if place not in known:
                is_found = (
                    await self._has_cell(place)
                    if place.cell_id is not None
                    else await asyncio.to_thread(self._has_lines, place, handles)
                )
                known[place] = replace(place, found=is_found)
        pieces: list[str] = []
        end = 0
        for match, place in places:
            pieces.append(summary[end : match.end() - 1])
            pieces.append("]" if known.get(place, place).found else f"{MARK}]")
            end = match.end()
        pieces.append(summary[end:])
        cited = dict.fromkeys(known.get(place, place) for _, place in places)
        return "".join(pieces), tuple(cited)[:MOST_CITATIONS]

    async def _has_cell(self, place: Citation) -> bool:
        try:
            snapshot = await self.notebooks.open(place.path).read()
        except ShouldersError:
            return False
        return any(cell.id == place.cell_id for cell in snapshot.cells)

    def _has_lines(self, place: Citation, handles: Mapping[str, int]) -> bool:
        first, last = place.first_line or 1, place.last_line or 1
        if not 1 <= first <= last:
            return False
        if place.path in handles:
            return last <= handles[place.path]
        try:
            path = self.workspace.path(place.path)
            if is_secret(path):
                return False
            if place.first_line is None:
                return self.workspace.kind(path) != "folder" or bool(path)
            return self._reaches(path, last)
        except ShouldersError:
            return False

    def _reaches(self, path: str, line: int) -> bool:
        """Return whether a file has so many lines; reads no further than needed."""
        ends, last_byte = 0, b""
        for chunk in self.workspace.chunks(self.workspace.path(path)):
            ends += chunk.count(b"\n")
            last_byte = chunk[-1:]
            if ends >= line:
                return True
        return ends + (last_byte not in {b"", b"\n"}) >= line
