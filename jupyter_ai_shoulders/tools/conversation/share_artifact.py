"""The tool that shares a file in the conversation.

Registered by ``host``. Stores a copy, so that the card shows the shared content even if the file
changes. A directory becomes a zip archive without hidden, ignored and secret files.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import mimetypes
import posixpath
import re
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    TooLarge,
)
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.file_tree import file_tree
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    refusal,
    text_content,
)
from jupyter_ai_shoulders.tools.permissions.sealed_files import STATE_FOLDER
from jupyter_ai_shoulders.wire.events import ArtifactShare
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.results import ToolEnvelope

SIZE_LIMIT = 50 << 20
"""Bytes of one shared file, or of all files of a shared directory."""
FILES_LIMIT = 1_000
DEPTH_LIMIT = 20
NAME_LIMIT = 120
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time of archive members, fixed so that equal files give equal archives."""


class ArtifactStore(Protocol):
    """Stores copies of shared files."""

    def put(self, session_id: SessionId, name: str, content: bytes) -> str:
        """Store a copy; return its name. Blocks. Raises ``StateUnavailable``."""
        ...


class ShareArtifactArguments(ToolArguments):
    """Arguments of ``share_artifact``; empty strings count as absent."""

    path: str | None = Field(
        default=None, description="Workspace-relative path of a file or directory that exists."
    )
    content: str | None = Field(default=None, description="Instead of path: the text to share.")
    filename: str | None = Field(
        default=None, description="With content: the file's name, with its extension."
    )
    description: str | None = Field(
        default=None, max_length=500, description="One line for the card."
    )


@dataclass(frozen=True, slots=True)
class _Shared:
    name: str
    content: bytes


class ShareArtifact(BaseTool[ShareArtifactArguments]):
    """Stores a copy of a file and shows it."""

    name = "share_artifact"
    category = "loop"
    risk = "read"
    arguments = ShareArtifactArguments

    def __init__(self, workspace: Workspace, artifacts: ArtifactStore) -> None:
        self._workspace = workspace
        self._artifacts = artifacts

    async def subject(self, args: ShareArtifactArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown; permission rules apply to the shared file."""
        path = args.path or None
        if path is not None:
            path = await asyncio.to_thread(self._existing_path, path, context.active_document)
        shown = posixpath.basename((path or args.filename or "a file").rstrip("/"))
        return CallSubject(title=f"Share {shown}", target_label=path, target=Target(path=path))

    async def run(
        self, args: ShareArtifactArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        if bool(args.path) == bool(args.content):
            yield refusal(
                "Nothing was shared: path and content are both empty."
                if not args.path
                else "Nothing was shared: path and content are both given.",
                "Give the path of something that exists, or content with a filename.",
            )
            return
        try:
            shared = await asyncio.to_thread(self._shared, args, context)
            name = await asyncio.to_thread(
                self._artifacts.put, context.session_id, shared.name, shared.content
            )
        except ShouldersError as error:
            hint = error.info.hint or "Nothing was shared."
            yield refusal(f"Nothing was shared: {error.info.message}", hint, error.info.code)
            return
        yield _done(args, context, name, len(shared.content))

    def _shared(self, args: ShareArtifactArguments, context: CallContext) -> _Shared:
        if args.content:
            content = args.content.encode("utf-8", "replace")
            return _Shared(safe_file_name(args.filename or ""), _bounded(content))
        assert args.path, "path or content is given"
        tried: list[str] = []
        for candidate in _candidates(args.path, context.active_document):
            path = self._workspace.path(candidate)
            _refuse_secret(path, candidate)
            try:
                return self._read(path)
            except NotFound:
                tried.append(path)
        raise NotFound(
            f"There is no {args.path}; tried {', '.join(tried)}.",
            hint="Write the file first, or list the files to find its name.",
        )

    def _existing_path(self, path: str, active_document: str | None) -> str:
        """Return the normalised path of the existing candidate, else the path as given."""
        for candidate in _candidates(path, active_document):
            with contextlib.suppress(ShouldersError):  # ``run`` reports the error
                found = self._workspace.path(candidate)
                self._workspace.kind(found)  # raises ``NotFound`` if it does not exist
                return found or path
        return path

    def _read(self, path: str) -> _Shared:
        checked = self._workspace.path(path)
        try:
            stat = self._workspace.stat(checked)
        except InvalidRequest:
            if self._workspace.kind(checked) != "folder":
                raise
            return self._archive(checked)
        if stat.links > 1:
            raise PolicyRefusal(
                f"{checked} has several names (hard links), perhaps outside of the workspace.",
                hint="Copy what is needed into a new file and share that.",
            )
        if stat.size > SIZE_LIMIT:
            raise _too_large(checked)
        return _Shared(
            safe_file_name(posixpath.basename(checked)), self._workspace.read(checked).content
        )

    def _archive(self, folder: str) -> _Shared:
        listed = file_tree(self._workspace, folder, limit=FILES_LIMIT, depth=DEPTH_LIMIT)
        if not listed.complete:
            raise TooLarge(f"{folder or 'The workspace'} has more than {FILES_LIMIT} files.")
        left = SIZE_LIMIT
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in listed.paths:
                path = self._workspace.path(name)
                if name.endswith("/") or STATE_FOLDER in name.split("/") or is_secret(path):
                    continue
                stat = self._workspace.stat(path)
                if stat.links > 1:
                    continue
                left -= stat.size
                if left < 0:
                    raise _too_large(folder)
                inside = name.removeprefix(f"{folder}/") if folder else name
                member = zipfile.ZipInfo(inside, _EPOCH)
                archive.writestr(member, self._workspace.read(path).content, zipfile.ZIP_DEFLATED)
        return _Shared(
            f"{safe_file_name(posixpath.basename(folder) or 'workspace')}.zip", target.getvalue()
        )


def _refuse_secret(path: str, given: str) -> None:
    """Raise ``PolicyRefusal`` for files that must not be copied to a freely readable place."""
    names = (path,) if posixpath.isabs(given) else (path, given)
    if STATE_FOLDER in path.split("/"):
        raise PolicyRefusal(f"{path} belongs to the state directory and is not shared.")
    if any(is_secret(name) or is_secret(f"{name}/x") for name in names):
        raise PolicyRefusal(
            f"{given} usually holds keys or passwords and is not shared.",
            code="forbidden",
            hint="Ask the user to open it.",
        )


def safe_file_name(name: str) -> str:
    """Return a file name without folders and characters that are unsafe on any system.

    Raises ``InvalidRequest`` if nothing remains.
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = re.sub(r"[\x00-\x1f\x7f:*?\"<>|]", "", last).strip().lstrip(".")
    if not kept:
        raise InvalidRequest("The filename is empty.", hint='Give a filename such as "report.md".')
    stem, suffix = posixpath.splitext(kept)
    return stem[: NAME_LIMIT - len(suffix[:20])] + suffix[:20]


def _candidates(path: str, active_document: str | None) -> list[str]:
    """Return the candidates for a path: from the root, or relative to the active document."""
    beside = posixpath.join(posixpath.dirname(active_document or ""), path)
    return list(dict.fromkeys([path, beside])) if not posixpath.isabs(path) else [path]


def _bounded(content: bytes) -> bytes:
    if len(content) > SIZE_LIMIT:
        raise _too_large("The content")
    return content


def _too_large(what: str) -> TooLarge:
    return TooLarge(
        f"{what} has more than {SIZE_LIMIT >> 20} MB.", hint="Share a smaller part of it."
    )


def _done(args: ShareArtifactArguments, context: CallContext, name: str, size: int) -> Result:
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    event = ArtifactShare(
        call_id=context.call_id,
        name=name,
        media_type=media_type,
        size=size,
        description=args.description or None,
    )
    return Result(
        envelope=ToolEnvelope(ok=True, kind="text", data={"name": name, "size": size}),
        content=text_content(f"The user can open {name} ({size} bytes) in the conversation."),
        events=(event,),
    )
