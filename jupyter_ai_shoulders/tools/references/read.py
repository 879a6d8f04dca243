"""The tools that read bibliographies: ``search_references`` and ``get_reference``."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.references.latex_text import decoded
from jupyter_ai_shoulders.references.reference_list import search_references
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.notebook.line_search import quote_query
from jupyter_ai_shoulders.tools.references.library import Library, LibraryContent, reference_of
from jupyter_ai_shoulders.wire.api.references import (
    REFERENCE_QUERY_LIMIT,
    REFERENCE_RESULT_LIMIT,
    Reference,
)
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

DEFAULT_LIMIT = 20
NAMES_SHOWN = 3


class SearchReferencesArguments(ToolArguments):
    """Arguments of ``search_references``."""

    query: str = Field(
        max_length=REFERENCE_QUERY_LIMIT,
        description="Words of title, authors, year, journal or key; empty lists all.",
    )
    limit: int | None = Field(
        default=None, ge=1, le=REFERENCE_RESULT_LIMIT, description="Most results; none: 20."
    )


class ReferenceKeyArguments(ToolArguments):
    """Arguments of ``get_reference``."""

    key: str = Field(min_length=1, max_length=256, description="The citation key.")


class ElsewhereReferences(Protocol):
    """Finds references outside of the workspace, in Zotero; implemented by ``host``."""

    async def elsewhere(self, query: str) -> Sequence[Reference]:
        """Return what matches; nothing where there is none. Never raises."""
        ...


class SearchReferences(BaseTool[SearchReferencesArguments]):
    """Finds references in the workspace's bibliographies and in Zotero."""

    name = "search_references"
    category = "references"
    risk = "read"
    arguments = SearchReferencesArguments

    def __init__(self, library: Library, elsewhere: ElsewhereReferences) -> None:
        self._library = library
        self._elsewhere = elsewhere

    async def subject(self, args: SearchReferencesArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown."""
        title = (
            f"Search the references for {quote_query(args.query)}"
            if args.query.strip()
            else "List the references"
        )
        return CallSubject(title=title, target_label=None, target=Target())

    async def run(
        self, args: SearchReferencesArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Search. Raises ``InvalidRequest`` (bibtexparser is not installed)."""
        content = await self._library.content()
        found = await asyncio.to_thread(search_references, content.references, args.query)
        others = await self._elsewhere.elsewhere(args.query)
        yield _listing(args, content, found, others)


class GetReference(BaseTool[ReferenceKeyArguments]):
    """Shows an entry of a bibliography."""

    name = "get_reference"
    category = "references"
    risk = "read"
    arguments = ReferenceKeyArguments

    def __init__(self, library: Library, versions: FileReadTracker) -> None:
        self._library = library
        self._versions = versions

    async def subject(self, args: ReferenceKeyArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown."""
        path = None
        with contextlib.suppress(ShouldersError):  # ``run`` says it
            path = (await self._library.content()).find(args.key)[0].path
        return CallSubject(
            title=f"Read the reference {args.key}", target_label=path, target=Target(path=path)
        )

    async def run(
        self, args: ReferenceKeyArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Show the entry. Raises ``NotFound`` with similar keys, ``Conflict`` (it is broken)."""
        content = await self._library.content()
        try:
            file, entry = content.find(args.key)
        except NotFound as error:
            raise no_such_key(content, args.key) from error
        reference = reference_of(file, entry)
        bibtex = file.content.text[entry.start : entry.end]
        known = context.seen.get((file.path, None))
        fields = {name: decoded(value) for name, value in entry.values.items()}
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="text",
                data={
                    "reference": reference.model_dump(mode="json"),
                    "fields": {**fields},
                    "bibtex": bibtex,
                },
            ),
            content=text_content(f"{file.path}, line {entry.line}:\n{bibtex}"),
            seen=(self._versions.note(file.snapshot, whole=False, before=known),),
        )


def no_such_key(content: LibraryContent, key: str) -> NotFound:
    """Return the error for a key that no bibliography has, with similar keys."""
    keys = [item.reference.key for item in content.references]
    near = difflib.get_close_matches(key, keys, n=3, cutoff=0.5)
    hint = (
        f"Did you mean {', '.join(near)}?"
        if near
        else "Use search_references to find it, or add_reference to add it."
    )
    return NotFound(f"No bibliography of the workspace has the key {key}.", hint=hint)


def reference_line(reference: Reference) -> str:
    """Return a reference in a line."""
    names = ", ".join(reference.authors[:NAMES_SHOWN])
    more = " et al." if len(reference.authors) > NAMES_SHOWN else ""
    year = f" ({reference.year})" if reference.year else ""
    place = reference.file or "Zotero, not in the workspace: add it by its DOI before citing it"
    parts = (f"{names}{more}{year}", reference.title, reference.venue, reference.doi)
    marks = "unverified" if reference.unverified else ""
    marks += "; a duplicate key" if reference.is_duplicate else ""
    note = f" [{marks.lstrip('; ')}]" if marks else ""
    return f"- {reference.key}: {'. '.join(filter(None, parts))} — {place}{note}"


def _listing(
    args: SearchReferencesArguments,
    content: LibraryContent,
    found: Sequence[Reference],
    others: Sequence[Reference],
) -> Result:
    dois = {reference.doi.lower() for reference in found if reference.doi}
    everything = [
        *found,
        *(item for item in others if item.doi.lower() not in dois or not item.doi),
    ]
    shown = everything[: args.limit or DEFAULT_LIMIT]
    if not content.files and not everything:
        head = f"The workspace has no bibliography yet; add_reference makes {content.main_file}."
    elif not everything:
        head = f"No reference matches {quote_query(args.query)}."
    else:
        more = f", {len(shown)} shown" if len(shown) < len(everything) else ""
        head = f"{len(everything)} reference{'s' * (len(everything) != 1)}{more}:"
    broken = [
        f"{problem.file}, line {problem.line}: {problem.message}"
        for problem in content.problems[:5]
    ]
    warning = f"Broken entries: {'; '.join(broken)}" if broken else None
    lines = [head, *map(reference_line, shown), *([warning] if warning else [])]
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="listing",
            data={"references": [item.model_dump(mode="json") for item in shown]},
            warning=warning,
            meta=ResultMeta(total=len(everything)),
        ),
        content=text_content("\n".join(lines)),
    )
