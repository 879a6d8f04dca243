"""The tool that lists the files of a folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.directory_listing import (
    DirectoryEntry,
    DirectoryListing,
    list_entries,
    list_indexed,
)
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
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
    portable_path,
    readable_folder,
)
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

SHOWN_ENTRIES = 300
DEPTH = 2
"""Levels shown by default."""
MAX_DEPTH = 40
"""Levels searched for a glob."""
_UNITS = ("B", "kB", "MB", "GB")


class ListFilesArguments(ToolArguments):
    """Arguments of ``list_files``."""

    path: str | None = Field(
        default=None, description="Workspace-relative path of the folder; none: the workspace."
    )
    depth: int | None = Field(
        default=None,
        ge=1,
        le=MAX_DEPTH,
        description=f"How many levels to show: {DEPTH}, with a glob all.",
    )
    glob: str | None = Field(
        default=None,
        min_length=1,
        description="List only files like this: *.csv by name, or data/**/*.csv by path.",
    )


class ListFiles(BaseTool[ListFilesArguments]):
    """Lists the contents of a folder."""

    name = "list_files"
    category = "workspace"
    risk = "read"
    arguments = ListFilesArguments

    def __init__(self, workspace: Workspace, index: PathIndex | None = None) -> None:
        """``index`` is shared with other searches."""
        self._workspace = workspace
        self._index = index or PathIndex(workspace)

    async def subject(self, args: ListFilesArguments, context: CallContext) -> CallSubject:
        path = await asyncio.to_thread(self._workspace.path, args.path or "")
        what = f"List {args.glob}" if args.glob else "List files"
        return CallSubject(
            title=f"{what} in {path}" if path else what,
            target_label=path or None,
            target=Target(path=path or None),
        )

    async def run(
        self, args: ListFilesArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """List them. Raises ``NotFound``, ``InvalidRequest``, ``PolicyRefusal``."""
        yield await asyncio.to_thread(self._listed, args)

    def _listed(self, args: ListFilesArguments) -> Result:
        folder = readable_folder(self._workspace, args.path or "")
        glob = Glob(args.glob) if args.glob else None
        depth = args.depth or (DEPTH if glob is None else MAX_DEPTH)
        if glob is not None and (self._index.is_built or not folder):
            found = self._indexed(folder, depth, glob)
            if found is not None:
                return _result(folder, args, depth, found)
        found = list_entries(self._workspace, folder, depth=depth, limit=SHOWN_ENTRIES, glob=glob)
        if glob is not None and not found.complete:
            found = self._indexed(folder, depth, glob) or found
        return _result(folder, args, depth, found)

    def _indexed(self, folder: str, depth: int, glob: Glob) -> DirectoryListing | None:
        tree = self._index.tree()
        return list_indexed(
            self._workspace, tree, folder, depth=depth, limit=SHOWN_ENTRIES, glob=glob
        )


def _result(folder: str, args: ListFilesArguments, depth: int, found: DirectoryListing) -> Result:
    place = folder or "the workspace"
    noun = ("file", "files") if args.glob else ("entry", "entries")
    what = noun[found.total != 1] + (f" like {args.glob}" if args.glob else "")
    levels = "" if args.glob else f", {depth} level{'s' * (depth != 1)} deep"
    more = f", the first {len(found.entries)} shown" if found.total > len(found.entries) else ""
    amount = f"{found.total}" if found.complete else f"At least {found.total}"
    head = f"{amount} {what} in {place}{levels}{more}."
    warning = None if found.complete else "There are too many entries to count; name a folder."
    lines = [head, *map(_line, found.entries), *([warning] if warning else [])]
    rows: list[Json] = [_row(entry) for entry in found.entries]
    truncated = found.total > len(found.entries) or not found.complete
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="listing",
            data={"path": folder, "entries": rows},
            warning=warning,
            meta=ResultMeta(total=found.total, truncated=truncated or None),
        ),
        content=text_content("\n".join(lines)),
    )


def _row(entry: DirectoryEntry) -> Json:
    return {"path": portable_path(entry.path), "kind": entry.kind, "size": entry.size}


def _line(entry: DirectoryEntry) -> str:
    path = portable_path(entry.path).replace("\n", "\\n")
    if entry.kind == "folder":
        return f"{path}/"
    facts = [] if entry.size is None else [_size(entry.size)]
    facts += [] if entry.kind == "file" else [entry.kind]
    facts += ["secret, not readable"] if is_secret(entry.path) else []
    return f"{path}  ({', '.join(facts)})" if facts else path


def _size(size: int) -> str:
    amount, unit = float(size), _UNITS[0]
    for larger in _UNITS[1:]:
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{size} {unit}" if unit == _UNITS[0] else f"{amount:.1f} {unit}"
