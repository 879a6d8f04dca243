"""The bibliographies of a workspace: read, searched and changed.

Used by the tools here and by ``host.references``. Texts come from pages before the disk; changes go
through ``TextDocuments`` and ``FileChanges``, so that encoding, review, log and undo are those of
other files. Parsing runs in a thread and is kept until a file changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import Conflict, NotFound, ShouldersError
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextEditConflict, TextSnapshot
from jupyter_ai_shoulders.files.path_permissions import permitted_path
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
from jupyter_ai_shoulders.references.bibtex.bibliography import (
    BibEntry,
    Bibliography,
    parse_bibliography,
)
from jupyter_ai_shoulders.references.bibtex.editing import append_entry, delete_entry, edit_entry
from jupyter_ai_shoulders.references.latex_text import escaped_latex
from jupyter_ai_shoulders.references.reference_list import ListedReference, listed, to_reference
from jupyter_ai_shoulders.tools.files.access import FileAccess
from jupyter_ai_shoulders.wire.api.references import BibliographyProblem, Reference
from jupyter_ai_shoulders.wire.api.settings import ReferenceSettings
from jupyter_ai_shoulders.wire.ids import Version

FILE_LIMIT = 200
"""Bibliographies of a workspace that are read."""
INDEX_AGE = 2.0
"""Seconds for which the list of the workspace's files may be old."""
ATTEMPTS = 3
"""Attempts to change a file that the user changes at the same moment."""


@dataclass(frozen=True, slots=True)
class BibliographyText:
    """A bibliography with its references."""

    path: str
    snapshot: TextSnapshot
    content: Bibliography
    references: tuple[ListedReference, ...]
    pdfs: frozenset[str]
    """The PDFs of the workspace that its references were compared with."""


@dataclass(frozen=True, slots=True)
class LibraryContent:
    """All bibliographies; the main one first, then by path."""

    files: tuple[BibliographyText, ...]
    problems: tuple[BibliographyProblem, ...]
    main_file: str
    """Where new references are added; it may not exist yet."""

    @property
    def references(self) -> list[ListedReference]:
        """All references."""
        return [reference for file in self.files for reference in file.references]

    def keys(self) -> set[str]:
        """Return the keys of all entries, broken ones included, as they are compared."""
        entries = {entry.key for file in self.files for entry in file.content.entries}
        broken = {place.key for file in self.files for place in file.content.broken}
        return {key.casefold() for key in entries | broken if key}

    def find(self, key: str, path: str | None = None) -> tuple[BibliographyText, BibEntry]:
        """Return the first entry with a key. Raises ``NotFound``, ``Conflict`` (it is broken)."""
        files = [file for file in self.files if path in {None, file.path}]
        for file in files:
            entry = file.content.find(key)
            if entry is not None:
                return file, entry
        for file in files:
            for place in file.content.broken:
                if place.key == key:
                    raise Conflict(
                        f"The entry {key} in {file.path}, line {place.line}, is broken:"
                        f" {place.message}",
                        hint="Correct it in the file first.",
                    )
        raise NotFound(
            f"No bibliography of the workspace has the key {key}.",
            hint="Search for the reference, or add it.",
        )


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A change of a bibliography that was not made yet; ``version`` is None for a new file."""

    path: str
    before: str
    after: str
    version: Version | None


@dataclass(frozen=True, slots=True)
class MadeChange:
    """A change that was made; ``after_version`` is that of the new text."""

    plan: PlannedChange
    after_version: Version | None


class Library:
    """The bibliographies of one workspace."""

    def __init__(
        self, access: FileAccess, paths: PathIndex, settings: Callable[[], ReferenceSettings]
    ) -> None:
        self.access = access
        self._paths = paths
        self.settings = settings
        self._parsed: dict[str, BibliographyText] = {}
        self._parsing = asyncio.Lock()

    async def content(self) -> LibraryContent:
        """Return all bibliographies as they are now.

        Raises ``InvalidRequest`` where bibtexparser is not installed. Files that cannot be read are
        problems.
        """
        main = self.settings().main_file
        paths, pdfs = await asyncio.to_thread(self._listed)
        files: list[BibliographyText] = []
        problems: list[BibliographyProblem] = []
        async with self._parsing:
            for path in dict.fromkeys((main, *paths[:FILE_LIMIT])):
                try:
                    file = await self._file(path, pdfs)
                except NotFound:
                    continue
                except ShouldersError as error:
                    if "pip install" in (error.info.hint or ""):
                        raise
                    problems.append(BibliographyProblem(file=path, line=1, message=str(error)))
                    continue
                files.append(file)
                problems += (
                    BibliographyProblem(file=path, line=place.line, message=place.message)
                    for place in file.content.broken
                )
            self._parsed = {file.path: file for file in files}
        return LibraryContent(tuple(files), tuple(problems), main)

    async def plan_edit(
        self, key: str, path: str | None, fields: Mapping[str, str | None]
    ) -> PlannedChange:
        r"""Return the change of an entry's fields; bare ``& % # _`` in values are escaped.

        Raises like ``edit_entry``.
        """
        content = await self.content()
        file, entry = content.find(key, path)
        values = {
            name: value if value is None else escaped_latex(value, name)
            for name, value in fields.items()
        }
        after = await asyncio.to_thread(edit_entry, file.content, entry.key, values)
        return PlannedChange(file.path, file.content.text, after, file.snapshot.version)

    async def plan_deletion(self, key: str, path: str | None) -> PlannedChange:
        """Return the removal of an entry. Raises ``NotFound``, ``Conflict``."""
        file, entry = (await self.content()).find(key, path)
        after = await asyncio.to_thread(delete_entry, file.content, entry.key)
        return PlannedChange(file.path, file.content.text, after, file.snapshot.version)

    async def plan_addition(self, entry: str) -> PlannedChange:
        """Return the addition of an entry to the main file, which may not exist yet.

        Raises ``InvalidRequest`` (not an entry), and what reading the file raises.
        """
        path = await asyncio.to_thread(
            permitted_path, self.access.workspace, self.settings().main_file
        )
        try:
            snapshot = await self.access.texts.read(path)
        except NotFound:
            return PlannedChange(path, "", await asyncio.to_thread(append_entry, "", entry), None)
        after = await asyncio.to_thread(append_entry, snapshot.text, entry)
        return PlannedChange(path, snapshot.text, after, snapshot.version)

    async def apply(self, plan: PlannedChange, origin: ChangeOrigin) -> MadeChange | None:
        """Make a change; None if the file was changed since it was planned.

        Raises what ``TextDocuments.replace`` and ``FileChanges.create`` raise.
        """
        if plan.version is None:
            created = await self.access.changes.create(plan.path, plan.after, origin)
            return MadeChange(plan, created.after)
        if plan.after == plan.before:
            return MadeChange(plan, plan.version)
        outcome = await self.access.texts.replace(plan.path, plan.after, plan.version, origin)
        if isinstance(outcome, TextEditConflict):
            return None
        return MadeChange(plan, outcome.after)

    def in_page(self, path: str) -> bool:
        """Return whether a page has a bibliography open."""
        return self.access.in_page(path)

    def _listed(self) -> tuple[list[str], frozenset[str]]:
        """Return the bibliographies and the PDFs of the workspace."""
        bibliographies: list[str] = []
        pdfs: set[str] = set()
        for folder in self._paths.tree(max_age=INDEX_AGE).folders.values():
            prefix = f"{folder.path}/" if folder.path else ""
            for name in folder.files:
                if name.lower().endswith(".bib"):
                    bibliographies.append(f"{prefix}{name}")
                elif name.lower().endswith(".pdf"):
                    pdfs.add(f"{prefix}{name}")
        return sorted(bibliographies), frozenset(pdfs)

    async def _file(self, path: str, pdfs: frozenset[str]) -> BibliographyText:
        snapshot = await self.access.texts.read(path)
        kept = self._parsed.get(path)
        if kept is not None and kept.snapshot.version == snapshot.version and kept.pdfs == pdfs:
            return kept
        return await asyncio.to_thread(_parsed, path, snapshot, pdfs)


async def make_change(
    library: Library, plan: Callable[[], Awaitable[PlannedChange]], origin: ChangeOrigin
) -> MadeChange:
    """Plan and make a change, again if the user changes the file at the same moment.

    Raises what planning raises, and ``Conflict``.
    """
    for _ in range(ATTEMPTS):
        made = await library.apply(await plan(), origin)
        if made is not None:
            return made
    raise Conflict(
        "The bibliography was changed at the same moment; nothing was changed here.",
        hint="Try again.",
        retryable=True,
    )


def _parsed(path: str, snapshot: TextSnapshot, pdfs: frozenset[str]) -> BibliographyText:
    content = parse_bibliography(snapshot.text)
    references = tuple(listed(to_reference(path, entry, pdfs)) for entry in content.entries)
    return BibliographyText(path, snapshot, content, references, pdfs)


def reference_of(file: BibliographyText, entry: BibEntry) -> Reference:
    """Return the reference of an entry of a file."""
    return next(
        item.reference
        for item in file.references
        if item.reference.key == entry.key and item.reference.line == entry.line
    )
