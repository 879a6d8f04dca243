"""The tool that searches the content of files and the cells of notebooks.

ripgrep searches files. Notebooks are searched by the source of their cells, and files with unsaved
changes in the page's version. Hidden, ignored, binary and secret files are excluded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.files.base import TextSnapshot
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.tree_search import (
    MatchingLine,
    SearchResult,
    TreeQuery,
    search_file,
    search_text,
    search_tree,
    searchable_notebooks,
)
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
from jupyter_ai_shoulders.tools.files.workspace_paths import (
    is_file,
    portable_path,
    readable_folder,
    readable_path,
)
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook.line_search import (
    CellLine,
    format_matches,
    matching_cell_lines,
    quote_query,
    read_notebooks,
    shorten_line,
)
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

SHOWN_MATCHES = 100
_NOTEBOOK = ".ipynb"


class SearchContentArguments(ToolArguments):
    """Arguments of ``search_content``."""

    query: str = Field(min_length=1, description="Text that a line must contain.")
    is_regex: bool | None = Field(
        default=None,
        description="Whether query is a regular expression, which ignores case; text does not.",
    )
    path: str | None = Field(
        default=None,
        description="Workspace-relative path of a folder or file; none: the whole workspace.",
    )
    glob: str | None = Field(
        default=None,
        min_length=1,
        description="Search only files like this: *.py by name, or src/**/*.py by path.",
    )


@dataclass(slots=True)
class _Matches:
    """Matches in files and cells, with notes."""

    files: list[MatchingLine] = field(default_factory=list[MatchingLine])
    cells: list[CellLine] = field(default_factory=list[CellLine])
    notes: list[str] = field(default_factory=list[str])
    whole: bool = True

    @property
    def total(self) -> int:
        return len(self.files) + len(self.cells)


class UnsavedTexts(Protocol):
    """The text files with unsaved changes in pages; implemented by ``files``."""

    def unsaved(self, path: str) -> Sequence[str]:
        """Return the files with unsaved text at or below a path."""
        ...

    async def read(self, path: str) -> TextSnapshot:
        """Return the page's text. Raises ``ShouldersError``."""
        ...


class SearchContent(BaseTool[SearchContentArguments]):
    """Finds the lines of files and cells that contain a text or match a pattern."""

    name = "search_content"
    category = "workspace"
    risk = "read"
    arguments = SearchContentArguments

    def __init__(
        self, workspace: Workspace, access: NotebookAccess, unsaved: UnsavedTexts | None = None
    ) -> None:
        self._workspace = workspace
        self._access = access
        self._unsaved = unsaved

    async def subject(self, args: SearchContentArguments, context: CallContext) -> CallSubject:
        path = await asyncio.to_thread(self._workspace.path, args.path or "")
        place = f" in {args.glob}" if args.glob else ""
        return CallSubject(
            title=f"Search files{place} for {quote_query(args.query)}",
            target_label=path or None,
            target=Target(path=path or None),
        )

    async def run(
        self, args: SearchContentArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Search. Raises ``InvalidRequest``, ``NotFound``, ``PolicyRefusal``."""
        if "\n" in args.query and args.is_regex is not True:
            raise InvalidRequest(
                "The text has more than one line; lines are searched one by one.",
                hint="Search for one line of it.",
            )
        path = await asyncio.to_thread(readable_path, self._workspace, args.path or "")
        if await asyncio.to_thread(is_file, self._workspace, path):
            yield _result(args, await self._search_one(path, args))
        else:
            yield _result(args, await self._search_all(args))

    async def _search_one(self, path: WorkspacePath, args: SearchContentArguments) -> _Matches:
        matches = _Matches()
        if path.endswith(_NOTEBOOK):
            await self._search_notebooks([path], args, matches)
        else:
            query = TreeQuery(args.query, is_regex=args.is_regex is True)
            found = await asyncio.to_thread(search_file, self._workspace, path, query)
            _note(matches, found)
            await self._search_unsaved(path, query, matches)
        return matches

    async def _search_all(self, args: SearchContentArguments) -> _Matches:
        folder = await asyncio.to_thread(readable_folder, self._workspace, args.path or "")
        glob = Glob(args.glob) if args.glob else None
        query = TreeQuery(args.query, is_regex=args.is_regex is True, folder=folder, glob=glob)
        matches = _Matches()
        _note(matches, await asyncio.to_thread(search_tree, self._workspace, query))
        await self._search_unsaved(folder, query, matches)
        notebooks = await asyncio.to_thread(searchable_notebooks, self._workspace, folder, glob)
        await self._search_notebooks(notebooks, args, matches)
        return matches

    async def _search_unsaved(self, place: str, query: TreeQuery, matches: _Matches) -> None:
        """Search unsaved texts of pages in place of the files on disk."""
        if self._unsaved is None:
            return
        for path in self._unsaved.unsaved(place):
            below = path.removeprefix(query.folder).lstrip("/")
            if is_secret(path) or path.endswith(_NOTEBOOK):
                continue
            if query.glob is not None and not query.glob.matches(below):
                continue
            try:
                text = (await self._unsaved.read(portable_path(path))).text
            except ShouldersError as error:
                matches.notes.append(f"{path} was searched as it was saved: {error}")
                continue
            found = await asyncio.to_thread(search_text, path, text, query)
            others = [line for line in matches.files if line.path != path]
            matches.files = sorted([*others, *found.lines], key=lambda line: (line.path, line.line))

    async def _search_notebooks(
        self, paths: Sequence[str], args: SearchContentArguments, matches: _Matches
    ) -> None:
        snapshots, notes = await read_notebooks(
            self._access, [portable_path(path) for path in paths]
        )
        is_regex = args.is_regex is True
        matches.cells = await asyncio.to_thread(
            matching_cell_lines, snapshots, args.query, is_regex=is_regex
        )
        matches.notes += notes


def _note(matches: _Matches, found: SearchResult) -> None:
    matches.files = found.lines
    if found.stopped is not None:
        matches.whole = False
        matches.notes.append(f"{found.stopped} Search for less, in a folder or with a glob.")
    if found.linked:
        matches.notes.append(
            f"{found.linked} matching files were left out: they have several names (hard links). "
            "Use read_file for them."
        )


def _result(args: SearchContentArguments, matches: _Matches) -> Result:
    # Cells come first: there are few, and the user works in notebooks.
    cells = matches.cells[:SHOWN_MATCHES]
    files = matches.files[: SHOWN_MATCHES - len(cells)]
    lines = [
        _head(args, matches, len(cells) + len(files)),
        *format_matches(cells),
        *_by_file(files),
    ]
    warning = " ".join(matches.notes) or None
    rows: list[Json] = [*(cell.row() for cell in cells), *(_row(line) for line in files)]
    truncated = matches.total > len(rows) or not matches.whole
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="matches",
            data={"query": args.query, "matches": rows},
            warning=warning,
            meta=ResultMeta(total=matches.total, truncated=truncated or None),
        ),
        content=text_content("\n".join([*lines, *([warning] if warning else [])])),
    )


def _head(args: SearchContentArguments, matches: _Matches, shown: int) -> str:
    where = {line.path for line in (*matches.files, *matches.cells)}
    if not where:
        return f"No line with {quote_query(args.query)}."
    total = f"{'' if matches.whole else 'At least '}{matches.total}"
    more = f", the first {shown} shown" if matches.total > shown else ""
    lines = f"{total} line{'s' * (matches.total != 1)}"
    files = f"{len(where)} file{'s' * (len(where) != 1)}"
    return f"{lines} of {files} with {quote_query(args.query)}{more}."


def _by_file(found: Sequence[MatchingLine]) -> list[str]:
    lines: list[str] = []
    path = None
    for line in found:
        if line.path != path:
            path = line.path
            lines.append(f"--- {portable_path(path)}")
        lines.append(f"> {line.line}: {shorten_line(line.text)}")
    return lines


def _row(line: MatchingLine) -> Json:
    return {
        "path": portable_path(line.path),
        "cell_id": None,
        "index": None,
        "line": line.line,
        "text": shorten_line(line.text),
    }
