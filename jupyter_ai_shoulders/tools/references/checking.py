"""Checks the citations of a document, or of all documents of a workspace. Used by ``host``."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Callable
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
from jupyter_ai_shoulders.notebook.base import Notebooks
from jupyter_ai_shoulders.references.check_rules import (
    CitedPlace,
    CitingText,
    ListedEntry,
    cited_places,
    cites_everything,
    most_serious_first,
    offline_findings,
)
from jupyter_ai_shoulders.references.register_check import check_registers
from jupyter_ai_shoulders.references.registers.lookup import RegisterLookup
from jupyter_ai_shoulders.tools.files.access import is_notebook
from jupyter_ai_shoulders.tools.references.cite import LATEX, MARKDOWN
from jupyter_ai_shoulders.tools.references.library import INDEX_AGE, Library, LibraryContent
from jupyter_ai_shoulders.wire.api.references import (
    PostReferenceCheck,
    ReferenceCheck,
    ReferenceFinding,
)

DOCUMENT_LIMIT = 2_000
"""Documents of a workspace that are read."""
SECONDS = 40.0
"""How long registers are asked."""
_WRITING = MARKDOWN - {".txt"}


@dataclass(frozen=True, slots=True)
class _Documents:
    """The texts of the checked documents."""

    texts: list[CitingText]
    unread: list[str]
    """Sentences about documents that were not read."""


class ReferenceChecker:
    """Checks one workspace."""

    def __init__(
        self,
        library: Library,
        notebooks: Notebooks,
        paths: PathIndex,
        lookup: Callable[[], RegisterLookup],
        check_allowed: Callable[[], None],
    ) -> None:
        """``check_allowed`` raises why registers may not be asked; it may read files."""
        self._library = library
        self._notebooks = notebooks
        self._paths = paths
        self._lookup = lookup
        self._check_allowed = check_allowed

    async def check(self, command: PostReferenceCheck, seconds: float = SECONDS) -> ReferenceCheck:
        """Return the problems.

        Raises what reading the named document raises, and ``InvalidRequest`` for one that cannot
        cite.
        """
        content = await self._library.content()
        documents = await self._documents(command.path)
        places = await asyncio.to_thread(cited_places, documents.texts)
        entries = _entries(content)
        findings = await asyncio.to_thread(
            offline_findings,
            entries,
            content.problems,
            places,
            _broken_keys(content),
            reports_uncited=not cites_everything(documents.texts),
        )
        not_checked = list(documents.unread)
        if command.online:
            asked = entries if command.path is None else _cited(entries, places)
            said, found = await self._ask_registers(asked, seconds)
            findings += found
            not_checked += said
        else:
            not_checked.append("Registers were not asked for dead DOIs and retractions.")
        citing = {place.path for place in places}
        return ReferenceCheck(
            findings=most_serious_first(findings),
            documents=1 if command.path is not None else len(citing),
            references=len(entries),
            not_checked=" ".join(not_checked),
        )

    async def _ask_registers(
        self, entries: list[ListedEntry], seconds: float
    ) -> tuple[list[str], list[ReferenceFinding]]:
        try:
            await asyncio.to_thread(self._check_allowed)
        except ShouldersError as error:
            return [f"Registers were not asked for dead DOIs and retractions: {error}"], []
        found = await check_registers(self._lookup(), entries, seconds)
        return found.not_checked, found.findings

    async def _documents(self, path: str | None) -> _Documents:
        if path is not None:
            return _Documents(await self._texts(path), [])
        paths = await asyncio.to_thread(self._listed)
        texts: list[CitingText] = []
        unread: list[str] = []
        for each in paths[:DOCUMENT_LIMIT]:
            try:
                texts += await self._texts(each)
            except NotFound:
                continue  # deleted just now
            except ShouldersError as error:
                unread.append(f"{each} was not read: {error}")
        if len(paths) > DOCUMENT_LIMIT:
            unread.append(f"{len(paths) - DOCUMENT_LIMIT} more documents were not read.")
        return _Documents(texts, unread)

    async def _texts(self, path: str) -> list[CitingText]:
        suffix = posixpath.splitext(path)[1].lower()
        if is_notebook(path):
            snapshot = await self._notebooks.open(path).read()
            return [
                CitingText(snapshot.path, cell.source, cell.id)
                for cell in snapshot.cells
                if cell.cell_type == "markdown"
            ]
        if suffix not in MARKDOWN | LATEX:
            raise InvalidRequest(
                f"{path} is not a document that cites.",
                hint="Check a notebook, or a Markdown, Quarto or LaTeX file.",
            )
        snapshot = await self._library.access.texts.read(path)
        return [CitingText(snapshot.path, snapshot.text, latex=suffix in LATEX)]

    def _listed(self) -> list[str]:
        """Return the documents of the workspace that may cite."""
        found: list[str] = []
        for folder in self._paths.tree(max_age=INDEX_AGE).folders.values():
            prefix = f"{folder.path}/" if folder.path else ""
            for name in folder.files:
                suffix = posixpath.splitext(name)[1].lower()
                if suffix in _WRITING | LATEX or is_notebook(name):
                    found.append(f"{prefix}{name}")
        return sorted(found)


def _entries(content: LibraryContent) -> list[ListedEntry]:
    return [
        ListedEntry(item, entry)
        for file in content.files
        for item, entry in zip(file.references, file.content.entries, strict=True)
    ]


def _broken_keys(content: LibraryContent) -> frozenset[str]:
    broken = (place.key for file in content.files for place in file.content.broken)
    return frozenset(key.casefold() for key in broken if key)


def _cited(entries: list[ListedEntry], places: list[CitedPlace]) -> list[ListedEntry]:
    keys = {place.key.casefold() for place in places}
    return [listed for listed in entries if listed.entry.key.casefold() in keys]
