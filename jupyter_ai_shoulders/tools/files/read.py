"""The tool that shows the model a file or a folder.

Text is read from an open page or the disk. Documents, images and tables are converted; other files
are described.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import posixpath
from collections.abc import AsyncIterator
from typing import Protocol

from jupyter_ai_shoulders.core.errors import (
    InvalidNotebook,
    InvalidRequest,
    NotFound,
    ShouldersError,
)
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret, is_server_login
from jupyter_ai_shoulders.files.base import TextSnapshot
from jupyter_ai_shoulders.files.encoding import decode_text
from jupyter_ai_shoulders.files.previews.document_previews import SIZE_LIMIT, document_kind
from jupyter_ai_shoulders.files.previews.tables import read_delimited
from jupyter_ai_shoulders.files.word.file_names import is_word
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.images import fit_image
from jupyter_ai_shoulders.guard.search.directory_listing import DirectoryEntry, list_entries
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    text_content,
)
from jupyter_ai_shoulders.tools.files.access import (
    FileAccess,
    FolderAtPath,
    NothingAtPath,
    OtherFileAtPath,
    TextFileAtPath,
    is_notebook,
)
from jupyter_ai_shoulders.tools.files.binary_kinds import describe_kind
from jupyter_ai_shoulders.tools.files.edit import no_such_file
from jupyter_ai_shoulders.tools.files.numbered_lines import (
    NumberedLines,
)
from jupyter_ai_shoulders.tools.files.read_arguments import ReadFileArguments
from jupyter_ai_shoulders.tools.files.read_tracking import (
    FileReadTracker,
    opaque_file_seen,
    page_text,
)
from jupyter_ai_shoulders.tools.notebook.access import CellReadTracker, NotebookAccess, file_name
from jupyter_ai_shoulders.tools.notebook.read import cells_data, render_within_limits
from jupyter_ai_shoulders.tools.permissions.sealed_files import STATE_FOLDER
from jupyter_ai_shoulders.tools.word.read_document import WordOutlines, read_word
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.parts import ImagePart, ResultContent
from jupyter_ai_shoulders.wire.results import ResultMeta, SeenVersion, ToolEnvelope

ENTRIES = 500
TABLE_LINES = 100
"""A delimited file with more lines is shown as a table of its first rows."""
PICTURE_LIMIT = 40_000_000
LARGE_HEAD = 8 << 20
"""Bytes of a too large text file from which lines are shown."""

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_TABLES = {".csv": None, ".tsv": "\t"}


class PreviewReader(Protocol):
    """Converts documents to text; implemented by ``files.previews.document_previews``."""

    async def text(self, path: str, content: bytes) -> str:
        """Return a document's text. Raises ``InvalidRequest``, ``TooLarge``, ``PolicyRefusal``."""
        ...


def is_readable_secret(workspace: Workspace, given: str, path: WorkspacePath) -> bool:
    """Return whether a path is a secret file that the user may allow to be read; blocks.

    This excludes the state directory, folders of keys and login data of running servers.
    """
    if STATE_FOLDER in path.lower().split("/") or is_server_login(path):
        return False
    if not is_secret(path) and not is_secret(posixpath.basename(given)):
        return False
    with contextlib.suppress(NotFound):
        return workspace.kind(path) != "folder"
    return True


class ReadFile(BaseTool[ReadFileArguments]):
    """Shows a file, or the entries of a folder."""

    name = "read_file"
    category = "workspace"
    risk = "read"
    arguments = ReadFileArguments

    def __init__(
        self,
        access: FileAccess,
        versions: FileReadTracker,
        notebooks: NotebookAccess,
        cells: CellReadTracker,
        previews: PreviewReader,
        *,
        documents: WordOutlines | None = None,
    ) -> None:
        self._documents = documents
        self._access = access
        self._versions = versions
        self._notebooks = notebooks
        self._cells = cells
        self._previews = previews

    async def subject(self, args: ReadFileArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, without reading the file."""
        path, is_secret, warning = await asyncio.to_thread(self._checked, args.path)
        return CallSubject(
            title="Read file",
            target_label=file_name(path) or "the workspace",
            target=Target(path=path or "."),
            in_page=self._access.in_page(path),
            reads_secret=is_secret,
            always_ask_reason=warning,
        )

    async def run(
        self, args: ReadFileArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Read and show. A secret file is read only after the user has allowed it."""
        path, is_secret, _ = await asyncio.to_thread(self._checked, args.path)
        if is_secret:
            yield await asyncio.to_thread(self._secret, args, path)
            return
        there = await self._access.inspect(args.path) if path else FolderAtPath(path)
        match there:
            case NothingAtPath():
                raise await no_such_file(self._access, there.path)
            case FolderAtPath():
                yield await asyncio.to_thread(self._folder, there)
            case TextFileAtPath() if is_notebook(there.path):
                yield await self._notebook(args, there, context)
            case TextFileAtPath() if is_word(there.path) and self._documents is not None:
                wanted = args.paragraphs()
                yield await read_word(self._documents, self._versions, there, wanted, context)
            case TextFileAtPath():
                yield await self._text(args, there.snapshot, context)
            case OtherFileAtPath():
                yield await self._other(args, there)

    def _checked(self, given: str) -> tuple[WorkspacePath, bool, str | None]:
        """Return a path, whether it is a secret that may be read, and a hard link's warning."""
        path = self._access.workspace.path(given)
        secret = is_readable_secret(self._access.workspace, given, path)
        return path, secret, self._access.hard_link_warning(path)

    def _secret(self, args: ReadFileArguments, path: WorkspacePath) -> Result:
        """Return a secret file from the disk; it does not count as read, so it cannot be edited."""
        content = self._access.workspace.head(path, SIZE_LIMIT).content
        lines = args.lines(decode_text(content, path).text)
        meta = ResultMeta(total=lines.total, truncated=not lines.whole or None)
        return _shown(path, f'File "{path}"\n{lines.text}', meta=meta, lines=lines)

    async def _text(
        self, args: ReadFileArguments, snapshot: TextSnapshot, context: CallContext
    ) -> Result:
        if _is_table(args, snapshot):
            return await asyncio.to_thread(self._table, snapshot, context)
        lines = await asyncio.to_thread(args.lines, snapshot.text)
        known = context.seen.get((snapshot.path, None))
        seen = self._versions.note(snapshot, whole=lines.whole, before=known)
        return _shown(
            snapshot.path,
            page_text(snapshot, lines),
            (seen,) if lines.text or not lines.total else (),
            meta=ResultMeta(
                total=lines.total,
                truncated=not lines.whole or None,
                document_version=snapshot.version,
            ),
            lines=lines,
        )

    def _table(self, snapshot: TextSnapshot, context: CallContext) -> Result:
        """Return the first rows of a long table; it counts as partly read."""
        table = read_delimited(snapshot.text, _TABLES[_suffix(snapshot.path)])
        sign = {"\t": "tab"}.get(table.delimiter, table.delimiter)
        heading = (
            f'Table "{snapshot.path}" ({table.rows} rows with the heading × {table.columns} '
            f"columns, separated by {sign}; {snapshot.text.count(chr(10))} lines)"
        )
        hint = "[only the first rows are shown; use start_line and end_line for the lines as text]"
        seen = self._versions.note(
            snapshot, whole=False, before=context.seen.get((snapshot.path, None))
        )
        return _shown(
            snapshot.path,
            f"{heading}\n{table.text}\n{hint}",
            (seen,),
            meta=ResultMeta(total=table.rows, truncated=True, document_version=snapshot.version),
        )

    async def _notebook(
        self, args: ReadFileArguments, there: TextFileAtPath, context: CallContext
    ) -> Result:
        """Return the notebook's outline, as ``read_notebook`` does."""
        try:
            notebook = await self._notebooks.open(there.path)
            snapshot = await notebook.read()
        except InvalidNotebook:
            return await self._text(args, there.snapshot, context)
        rendering, warning = render_within_limits(snapshot, None)
        text = f"{rendering.text}\n\n{warning}" if warning else rendering.text
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="cells",
                data=cells_data(snapshot, None),
                warning=warning,
                meta=ResultMeta(total=len(snapshot.cells)),
            ),
            content=text_content(text),
            seen=tuple(
                self._cells.note(snapshot.path, cell)
                for cell in snapshot.cells
                if cell.id in rendering.whole
            ),
        )

    def _folder(self, there: FolderAtPath) -> Result:
        listed = list_entries(self._access.workspace, there.path, depth=1, limit=ENTRIES)
        total = f"{'' if listed.complete else 'more than '}{listed.total} entries"
        hidden = "hidden and ignored ones are not listed"
        heading = f'Folder "{there.path or "."}" ({total}; {hidden})'
        lines = [_entry_line(entry) for entry in listed.entries]
        if len(lines) < listed.total:
            lines.append(f"[… {listed.total - len(lines)} more; see list_files with a glob]")
        rows: list[Json] = [
            {"path": entry.path, "kind": entry.kind, "size": entry.size} for entry in listed.entries
        ]
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="listing",
                data={"path": there.path, "entries": rows},
                meta=ResultMeta(total=listed.total, truncated=len(rows) < listed.total or None),
            ),
            content=text_content("\n".join([heading, *lines])),
        )

    async def _other(self, args: ReadFileArguments, there: OtherFileAtPath) -> Result:
        seen = (opaque_file_seen(there.path, there.version),)
        size = f"{there.stat.size:,} bytes"
        if there.problem.info.code == "too_large" and document_kind(there.path) is None:
            return await asyncio.to_thread(self._large, args, there)
        if there.path.lower().endswith(_PICTURES):
            return await self._picture(there, seen)
        if document_kind(there.path) is not None:
            content = await asyncio.to_thread(self._bytes, there, SIZE_LIMIT)
            text = await self._previews.text(there.path, content)
            heading = f'Document "{there.path}" ({size}), converted to text'
            return _shown(there.path, f"{heading}\n{text}", seen, meta=ResultMeta(truncated=True))
        head = await asyncio.to_thread(self._bytes, there, 64)
        kind = describe_kind(there.path, head)
        return _shown(there.path, f"{there.path} is {kind} of {size}; it is not shown.", seen)

    async def _picture(self, there: OtherFileAtPath, seen: tuple[SeenVersion, ...]) -> Result:
        content = await asyncio.to_thread(self._bytes, there, PICTURE_LIMIT)
        try:
            picture = await asyncio.to_thread(fit_image, content)
        except ShouldersError as error:
            said = f"{there.path} ({there.stat.size:,} bytes) is not shown: {error.info.message}."
            return _shown(there.path, said, seen)
        data = await asyncio.to_thread(base64.b64encode, picture.content)
        said = f'Picture "{there.path}" ({picture.width} × {picture.height} pixels as shown)'
        part = ImagePart(media_type=picture.media_type, data=data.decode("ascii"))
        return _shown(there.path, said, seen, more=(part,))

    def _large(self, args: ReadFileArguments, there: OtherFileAtPath) -> Result:
        """Return lines of a text that is too large to read whole."""
        workspace, size = self._access.workspace, there.stat.size
        ending = args.tail_lines is not None
        read = workspace.tail if ending else workspace.head
        content = _whole_lines(read(there.path, LARGE_HEAD).content, ending=ending)
        try:
            text = decode_text(content, there.path).text
        except InvalidRequest:
            kind = describe_kind(there.path, content)
            return _shown(there.path, f"{there.path} is {kind} of {size:,} bytes; not shown.")
        part = "last" if ending else "first"
        heading = f'File "{there.path}" ({size >> 20} MB; too large to be read or edited as text)'
        hint = f"[lines are those of its {part} {LARGE_HEAD >> 20} MB]"
        lines = args.lines(text)
        if lines.last < lines.first:
            raise NotFound(
                f"Only the first {lines.total} lines of {there.path} can be shown: it is large.",
                hint="Use tail_lines for its end, search_content, or a command.",
            )
        return _shown(
            there.path,
            f"{heading}\n{lines.text}\n{hint}",
            (opaque_file_seen(there.path, there.version),),
            meta=ResultMeta(truncated=True),
        )

    def _bytes(self, there: OtherFileAtPath, limit: int) -> bytes:
        return self._access.workspace.head(there.path, limit + 1).content


def _is_table(args: ReadFileArguments, snapshot: TextSnapshot) -> bool:
    """Return whether a text is a long table and no range of lines is requested."""
    if _suffix(snapshot.path) not in _TABLES or args.has_range or args.max_chars is not None:
        return False
    return snapshot.text.count("\n") > TABLE_LINES


def _suffix(path: str) -> str:
    return posixpath.splitext(path)[1].lower()


def _whole_lines(content: bytes, *, ending: bool) -> bytes:
    """Return part of a file without its incomplete line."""
    return content[content.find(b"\n") + 1 :] if ending else content[: content.rfind(b"\n") + 1]


def _entry_line(entry: DirectoryEntry) -> str:
    match entry.kind:
        case "folder":
            return f"{entry.path}/"
        case "file" if entry.size is not None:
            return f"{entry.path} ({entry.size:,} bytes)"
        case _:
            return entry.path


def _shown(
    path: str,
    text: str,
    seen: tuple[SeenVersion, ...] = (),
    *,
    more: tuple[ResultContent, ...] = (),
    meta: ResultMeta | None = None,
    lines: NumberedLines | None = None,
) -> Result:
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="file",
            data={
                "path": path,
                "first_line": None if lines is None else lines.first,
                "last_line": None if lines is None else lines.last,
            },
            meta=meta or ResultMeta(),
        ),
        content=(*text_content(text), *more),
        seen=seen,
    )
