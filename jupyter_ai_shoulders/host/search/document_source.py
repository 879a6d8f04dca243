"""The documents of the workspace that are searched: files, and unsaved texts of pages.

Implements ``retrieval.ports.DocumentSource`` but for conversations, which
``host.search.conversation_source`` adds. Left out are what git ignores, hidden and generated
folders, files that usually hold secrets, private cells, and what the settings exclude.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from jupyter_ai_shoulders.core.errors import ShouldersError, TooLarge
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret, secret_names
from jupyter_ai_shoulders.files.encoding import decode_text
from jupyter_ai_shoulders.files.previews.document_previews import DocumentPreviews
from jupyter_ai_shoulders.files.text_router import TextRouter
from jupyter_ai_shoulders.guard.filesystem.workspace import FileContent, Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.path_index import IndexedFolder, PathIndex
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.formats.notebook_file import RawCell, parse_notebook
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.retrieval.chunk import Chunk, ChunkedDocument
from jupyter_ai_shoulders.retrieval.chunking import notebook_chunks
from jupyter_ai_shoulders.retrieval.document_kinds import (
    MOST_CHUNKS,
    document_kind,
    size_limit,
    split_text,
)
from jupyter_ai_shoulders.retrieval.word_index import FileStamp
from jupyter_ai_shoulders.wire.api.search import FileKind
from jupyter_ai_shoulders.wire.api.settings import SearchSettings
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

MOST_FILES = 50_000
"""Files that are indexed, the most recently changed ones."""
OUTPUT_CELL_CHARACTERS = 256 << 10
"""Size of the largest cell, with its outputs as stored, of which the outputs are searched."""


class WorkspaceDocuments:
    """The documents of one workspace."""

    def __init__(
        self,
        workspace: Workspace,
        paths: PathIndex,
        *,
        notebooks: NotebookRouter,
        live: OpenNotebooks,
        texts: TextRouter,
        settings: Callable[[], SearchSettings],
    ) -> None:
        self._workspace = workspace
        self._paths = paths
        self._notebooks = notebooks
        self._live = live
        self._texts = texts
        self._settings = settings
        self._previews = DocumentPreviews()
        self._globs = _Globs(settings())
        self._listed: dict[str, tuple[IndexedFolder, tuple[str, ...]]] = {}
        self._left_out = 0

    # files

    def files(self) -> Mapping[str, FileStamp]:
        """See ``DocumentSource.files``."""
        settings = self._settings()
        if settings != self._globs.settings:
            self._globs, self._listed = _Globs(settings), {}
        tree = self._paths.tree(max_age=0.5)
        listed = {
            path: self._searched(folder)
            for path, folder in tree.folders.items()
            if not self._workspace.is_closed(path)
        }
        self._listed = listed
        found: dict[str, FileStamp] = {}
        for folder, names in listed.values():
            prefix = f"{folder.path}/" if folder.path else ""
            for name in names:
                if stamp := _stamp(f"{folder.location}/{name}"):
                    found[f"{prefix}{name}"] = stamp
        self._left_out = max(len(found) - MOST_FILES, 0)
        if self._left_out:
            newest = sorted(found.items(), key=lambda item: -item[1].mtime_ns)
            found = dict(newest[:MOST_FILES])
        return found

    def stamp(self, path: str) -> FileStamp | None:
        """See ``DocumentSource.stamp``."""
        return _stamp(str(self._workspace.directory / path))

    def notices(self) -> Sequence[str]:
        """See ``DocumentSource.notices``."""
        if not self._left_out:
            return ()
        most = f"there are more than {MOST_FILES}, and the most recently changed ones are"
        return (f"{self._left_out} files are not searched: {most}.",)

    def reason(self, path: str) -> str:
        """See ``DocumentSource.reason``."""
        folder, _, name = path.rpartition("/")
        if is_secret(path):
            return "Its name is one of files that usually hold keys or passwords."
        if self._globs.excludes(path):
            return "The settings of search exclude it."
        if self._globs.kind(path) is None:
            return "Files of this kind are not searched unless the settings include them."
        listed = self._listed.get(folder)
        if listed is None or name not in listed[0].files:
            if self.stamp(path) is None:
                return "There is no such file."
            return "It is hidden, ignored by git, or in a generated folder."
        return ""

    def read(self, path: str) -> ChunkedDocument | None:
        """See ``DocumentSource.read``."""
        kind = self._globs.kind(path) or "text"
        if kind == "document":
            return None
        try:
            content = self._read(path, kind)
            chunks = _chunks(path, kind, content.content)
        except ShouldersError as error:
            return ChunkedDocument(path, kind, (), problem=str(error))
        return ChunkedDocument(path, kind, chunks, _digest(content.content))

    async def preview(self, path: str) -> ChunkedDocument:
        """See ``DocumentSource.preview``."""
        try:
            content = await asyncio.to_thread(self._read, path, "document")
            text = await self._previews.text(path, content.content)
        except ShouldersError as error:
            return ChunkedDocument(path, "document", (), problem=str(error))
        chunks = split_text(path, "document", text)
        return ChunkedDocument(path, "document", chunks, _digest(content.content))

    def _searched(self, folder: IndexedFolder) -> tuple[IndexedFolder, tuple[str, ...]]:
        known = self._listed.get(folder.path)
        if known is not None and known[0] is folder:
            return known
        prefix = f"{folder.path}/" if folder.path else ""
        secret = set(secret_names(folder.path, folder.files))
        return folder, tuple(
            name
            for name in folder.files
            if name not in folder.kinds
            and name not in secret
            and self._globs.kind(f"{prefix}{name}") is not None
            and not self._globs.excludes(f"{prefix}{name}")
        )

    def _read(self, path: str, kind: FileKind) -> FileContent:
        name = self._workspace.path(path)
        size, limit = self._workspace.stat(name).size, size_limit(kind)
        if size > limit:
            raise TooLarge(f"It has {size / 1e6:.0f} MB; at most {limit >> 20} MB are read.")
        return self._workspace.read(name)

    # unsaved texts

    async def unsaved(self) -> Sequence[ChunkedDocument]:
        """See ``DocumentSource.unsaved``."""
        found = [await self._notebook(path) for path in self._live.unsaved("")]
        found += [await self._text(path) for path in self._texts.unsaved("")]
        return [document for document in found if document is not None]

    async def _notebook(self, path: WorkspacePath) -> ChunkedDocument | None:
        if not self._is_searched(path):
            return None
        try:
            snapshot = await self._notebooks.open(path).read()
        except ShouldersError:  # the page does not answer; the file is searched
            return None
        chunks = await asyncio.to_thread(_cell_chunks, snapshot.cells)
        return ChunkedDocument(path, "notebook", chunks, _digest_of_chunks(chunks))

    async def _text(self, path: str) -> ChunkedDocument | None:
        kind = self._globs.kind(path)
        if kind is None or kind == "notebook" or not self._is_searched(path):
            return None
        try:
            text = (await self._texts.read(path)).text
        except ShouldersError:
            return None
        chunks = await asyncio.to_thread(split_text, path, kind, text)
        return ChunkedDocument(path, kind, chunks, _digest_of_chunks(chunks))

    def _is_searched(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        listed = self._listed.get(folder)
        return listed is not None and name in listed[1]


class _Globs:
    """What the settings include and exclude."""

    def __init__(self, settings: SearchSettings) -> None:
        self.settings = settings
        self._include = [Glob(text) for text in settings.include]
        self._exclude = [Glob(text) for text in settings.exclude]

    def kind(self, path: str) -> FileKind | None:
        """Return as what a file is searched."""
        found = document_kind(path)
        if found is None and any(glob.matches(path) for glob in self._include):
            return "text"
        return found

    def excludes(self, path: str) -> bool:
        return any(glob.matches(path) for glob in self._exclude)


def _chunks(path: str, kind: FileKind, content: bytes) -> tuple[Chunk, ...]:
    """Return a file's chunks. Raises ``InvalidNotebook``, ``InvalidRequest`` (binary)."""
    if kind != "notebook":
        return split_text(path, kind, decode_text(content, path).text)
    cells = parse_notebook(content, path).cells
    return _cell_chunks(map(_with_outputs, cells))


def _with_outputs(cell: RawCell) -> NotebookCell:
    shown = cell.view()
    if cell.cell_type == "code" and cell.summaries and len(cell.text) <= OUTPUT_CELL_CHARACTERS:
        return shown.model_copy(update={"outputs": cell.outputs()})
    return shown


def _cell_chunks(cells: Iterable[NotebookCell]) -> tuple[Chunk, ...]:
    return tuple(islice(notebook_chunks(cells), MOST_CHUNKS))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_of_chunks(chunks: Sequence[Chunk]) -> str:
    places = (f"{chunk.cell_id} {chunk.line} {chunk.digest}" for chunk in chunks)
    return hashlib.sha256("\n".join(places).encode()).hexdigest()


def _stamp(location: str) -> FileStamp | None:
    try:
        found = os.stat(location, follow_symlinks=False)  # noqa: PTH116 a Path would double the time
    except OSError:
        return None
    return FileStamp(found.st_size, found.st_mtime_ns)
