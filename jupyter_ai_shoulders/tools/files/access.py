"""Path lookup and write checks shared by the file tools.

Secrets and the state directory are refused by ``files.path_permissions``.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import posixpath
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.files.base import ChangeOrigin, FileChanges, TextDocuments, TextSnapshot
from jupyter_ai_shoulders.files.path_permissions import permitted_path
from jupyter_ai_shoulders.files.word.file_names import SUFFIXES as WORD_SUFFIXES
from jupyter_ai_shoulders.files.word.file_names import is_word
from jupyter_ai_shoulders.guard.filesystem.workspace import FileStat, Workspace, WorkspacePath
from jupyter_ai_shoulders.tools.base import CallContext
from jupyter_ai_shoulders.wire.ids import Version
from jupyter_ai_shoulders.wire.versions import ABSENT

NOTEBOOK = ".ipynb"


HASHED = 64 << 20
"""Largest non-text file, in bytes, whose version is a hash of its content."""

_CONVERTED = frozenset(
    {
        *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
        *(".doc", ".odt", ".rtf"),
        *(".pptx", ".ppt", ".odp", ".pdf", ".parquet"),
    }
)
"""Types of documents that cannot be written as text."""


@dataclass(frozen=True, slots=True)
class NothingAtPath:
    """The path does not exist."""

    path: WorkspacePath
    version: Version = ABSENT
    links: int = 1


@dataclass(frozen=True, slots=True)
class FolderAtPath:
    """The path is a folder."""

    path: WorkspacePath
    version: None = None
    links: int = 1


@dataclass(frozen=True, slots=True)
class TextFileAtPath:
    """A text file with its text, from a page or the disk; ``links`` is its number of hard links."""

    path: WorkspacePath
    snapshot: TextSnapshot
    links: int = 1

    @property
    def version(self) -> Version:
        """Return the version of the text."""
        return self.snapshot.version


@dataclass(frozen=True, slots=True)
class OtherFileAtPath:
    """A file that cannot be read as text; ``problem`` says why."""

    path: WorkspacePath
    version: Version
    stat: FileStat
    problem: ShouldersError
    links: int = 1


PathContent = NothingAtPath | FolderAtPath | TextFileAtPath | OtherFileAtPath


class FileAccess:
    """Inspects files for the tools."""

    def __init__(self, workspace: Workspace, texts: TextDocuments, changes: FileChanges) -> None:
        self.workspace = workspace
        self.texts = texts
        self.changes = changes

    async def inspect(self, given: str) -> PathContent:
        """Return the current content of a path.

        Raises ``InvalidRequest`` (outside, a device), ``PolicyRefusal`` (secret), ``Conflict`` (a
        page does not answer).
        """
        path = await asyncio.to_thread(permitted_path, self.workspace, given)
        try:
            snapshot = await self.texts.read(path)
        except NotFound:
            return NothingAtPath(path)
        except InvalidRequest as error:
            return await asyncio.to_thread(self._no_text, path, error)
        links = await asyncio.to_thread(self._links, path)
        return TextFileAtPath(path, snapshot, links)

    async def writable(self, given: str) -> NothingAtPath | TextFileAtPath:
        """Return the content of a path that text may be written to. Raises like ``inspect``.

        Raises ``InvalidRequest`` for notebooks, office documents, folders and binary files.
        """
        check_text_name(given)
        there = await self.inspect(given)
        check_text_name(there.path)
        match there:
            case NothingAtPath() | TextFileAtPath():
                return there
            case FolderAtPath():
                raise InvalidRequest(f"{there.path} is a folder.", hint="Name a file in it.")
            case OtherFileAtPath():
                raise there.problem

    async def proposable(self, given: str) -> NothingAtPath | TextFileAtPath:
        """Return the content of a path that a change may be proposed for.

        That is text, and a Word document as lines of paragraphs. Raises as ``writable``.
        """
        if not is_word(given):
            return await self.writable(given)
        there = await self.inspect(given)
        match there:
            case NothingAtPath() | TextFileAtPath():
                return there
            case FolderAtPath():
                raise InvalidRequest(f"{there.path} is a folder.", hint="Name a file in it.")
            case OtherFileAtPath():
                raise there.problem

    async def destination(self, given: str, moved: str) -> WorkspacePath:
        """Return the destination of a file: within the folder of this name, or the name itself."""
        path = await asyncio.to_thread(permitted_path, self.workspace, given)
        return await asyncio.to_thread(self._inside, path, given, moved)

    async def similar_paths(self, path: str) -> list[str]:
        """Return the existing files beside a missing path that may be meant."""
        return await asyncio.to_thread(self._near, path)

    def hard_link_warning(self, path: WorkspacePath) -> str | None:
        """Return why reading a file needs approval: it has another hard link. Blocks."""
        return hard_link_note(path, self._links(path))

    def in_page(self, path: str) -> bool:
        """Return whether a page has the file open."""
        return self.texts.in_page(path)

    def _no_text(
        self, path: WorkspacePath, error: InvalidRequest
    ) -> FolderAtPath | OtherFileAtPath:
        try:
            kind = self.workspace.kind(path)
        except ShouldersError:
            raise error from None
        if kind == "folder":
            return FolderAtPath(path)
        if kind == "other":
            raise error
        stat = self.workspace.stat(path)
        if stat.size <= HASHED:
            version = Version(self.workspace.digest(path).sha256)
        else:
            version = Version(f"{stat.inode:x}-{stat.size:x}-{stat.mtime_ns:x}")
        return OtherFileAtPath(path, version, stat, error, stat.links)

    def _links(self, path: WorkspacePath) -> int:
        with contextlib.suppress(ShouldersError):  # only in a page, or deleted just now
            return self.workspace.stat(path).links
        return 1

    def _inside(self, path: WorkspacePath, given: str, moved: str) -> WorkspacePath:
        with contextlib.suppress(NotFound):
            if self.workspace.kind(path) == "folder":
                return WorkspacePath(f"{path}/{posixpath.basename(moved)}")
        if given.endswith("/"):
            return WorkspacePath(f"{path}/{posixpath.basename(moved)}")
        return path

    def _near(self, path: str) -> list[str]:
        folder, name = posixpath.split(path)
        try:
            names = self.workspace.names(WorkspacePath(folder))
        except ShouldersError:
            return []
        found = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
        return [posixpath.join(folder, near) for near in found]


def check_text_name(path: str) -> None:
    """Raise ``InvalidRequest`` if a file of this name must not be written as text."""
    suffix = posixpath.splitext(path)[1].lower()
    if suffix == NOTEBOOK:
        raise InvalidRequest(
            f"{path} is a notebook; it is not written as text.",
            code="invalid_arguments",
            hint="Use create_notebook, add_cell, edit_cell and the other notebook tools.",
        )
    if suffix in WORD_SUFFIXES:
        raise InvalidRequest(
            f"{path} is a Word document; it is not written as text.",
            code="invalid_arguments",
            hint="Use edit_document_file to change one, of the category word (load_tools). Make a "
            "new one with code, or write Markdown.",
        )
    if suffix in _CONVERTED:
        raise InvalidRequest(
            f"{path} would not be a text file; it cannot be written here.",
            code="invalid_arguments",
            hint="Write CSV, TSV or Markdown instead, or make it with code.",
        )


def is_notebook(path: str) -> bool:
    """Return whether a path names a notebook."""
    return path.lower().endswith(NOTEBOOK)


def origin_of(context: CallContext) -> ChangeOrigin:
    """Return the author of a call's changes, for the log."""
    return ChangeOrigin(context.session_id, context.turn_id, context.call_id)


def path_hard_link_note(there: PathContent) -> str | None:
    """Return why a change of a file always needs approval: it has another hard link."""
    return hard_link_note(there.path, there.links)


def hard_link_note(path: str, links: int) -> str | None:
    """Return the warning about a file with several hard links; None for a single link."""
    if links < 2:
        return None
    return f"{path} has {links} names (hard links); others may be outside of the workspace."
