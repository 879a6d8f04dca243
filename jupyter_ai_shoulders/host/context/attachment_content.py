"""Reads the content of attachments when a message is sent; part of ``host.context.environment``.

All reads are guarded: files beneath the workspace's root, notebooks through their port,
conversations of the same owner. Files whose names suggest secrets are refused.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from typing import Protocol, assert_never

from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
)
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.images import EncodedImage, fit_image
from jupyter_ai_shoulders.guard.search.file_tree import file_tree
from jupyter_ai_shoulders.host.context.text_file_content import (
    OpenTexts,
    open_text,
    stored_text,
    unshown,
)
from jupyter_ai_shoulders.host.sessions.recent_messages import recent_messages
from jupyter_ai_shoulders.notebook.base import Notebooks, NotebookSnapshot
from jupyter_ai_shoulders.notebook.kernels.variable_info import variable_lines
from jupyter_ai_shoulders.notebook.kernels.variables import Variables
from jupyter_ai_shoulders.notebook.outputs.text import join_text, output_text
from jupyter_ai_shoulders.notebook.render import Rendering, render_notebook
from jupyter_ai_shoulders.storage.base import Blobs, EventLog, Sessions
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache
from jupyter_ai_shoulders.wire.api.settings import DataValues
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import BlobHash, SessionId
from jupyter_ai_shoulders.wire.messages import (
    Attachment,
    CellAttachment,
    ErrorAttachment,
    FileAttachment,
    FolderAttachment,
    ImageAttachment,
    McpPromptAttachment,
    McpResourceAttachment,
    OutputAttachment,
    SelectionAttachment,
    ThreadAttachment,
    VariableAttachment,
)
from jupyter_ai_shoulders.wire.parts import ImagePart, ResultContent, TextPart
from jupyter_ai_shoulders.wire.results import SeenVersion
from jupyter_ai_shoulders.wire.sessions import Session

FOLDER_ENTRIES = 200
FOLDER_DEPTH = 3
THREAD_MESSAGES = 8
THREAD_MESSAGE = 1_500
"""Maximum characters of one message of another conversation."""
VARIABLE_SECONDS = 3.0
"""How long a message waits for the kernel of an attached variable."""
IMAGE_FILE_LIMIT = 40_000_000
LONG = 100_000
"""Pictures with more characters than this are decoded in a thread, not on the event loop."""

_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class ServerResources(Protocol):
    """Reads resources of MCP servers."""

    async def capture(self, server: str, uri: str, *, images: bool) -> AttachmentContent:
        """Return a resource's content. Raises ``ShouldersError``."""
        ...


class AttachmentReader:
    """Reads the content of attachments."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        notebooks: Notebooks,
        blobs: Blobs,
        log: EventLog,
        sessions: Sessions,
        redact: Callable[[str], str],
        seen_texts: ReadTextCache | None = None,
        variables: Variables | None = None,
        level: Callable[[], DataValues] = lambda: "schema_only",
        is_named: Callable[[BlobHash, str | None], bool] = lambda _blob, _owner: False,
        resources: ServerResources | None = None,
        texts: OpenTexts | None = None,
    ) -> None:
        """``is_named`` returns whether an owner may see a blob; it blocks."""
        self._workspace = workspace
        self._notebooks = notebooks
        self._blobs = blobs
        self._log = log
        self._sessions = sessions
        self._redact = redact
        self._seen_texts = seen_texts or ReadTextCache()
        self._variables = variables
        self._level = level
        self._is_named = is_named
        self._resources = resources
        self._texts = texts

    async def capture(
        self, attachment: Attachment, session: Session, *, images: bool
    ) -> AttachmentContent | None:
        """See ``Environment.capture``."""
        captured = await self._opened(attachment, session, images=images)
        return None if captured is None else self._redacted(captured)

    async def _opened(
        self, attachment: Attachment, session: Session, *, images: bool
    ) -> AttachmentContent | None:
        match attachment:
            case SelectionAttachment() | McpPromptAttachment():
                if isinstance(attachment, SelectionAttachment):
                    _refuse_secret(attachment.path)
                return None  # its text is part of the message
            case ThreadAttachment():
                return await self._thread(attachment.session_id, session)
            case FolderAttachment():
                return await asyncio.to_thread(self._folder, attachment.path)
            case VariableAttachment() | McpResourceAttachment():
                return await self._from_elsewhere(attachment, images=images)
            case _:
                return await self._maybe_pictured(attachment, session, images=images)

    async def _from_elsewhere(
        self, attachment: VariableAttachment | McpResourceAttachment, *, images: bool
    ) -> AttachmentContent:
        if isinstance(attachment, VariableAttachment):
            return await self._variable(attachment)
        if self._resources is None:
            return unshown("MCP servers cannot be reached from here")
        return await self._resources.capture(attachment.server, attachment.uri, images=images)

    async def _maybe_pictured(
        self,
        attachment: FileAttachment
        | ImageAttachment
        | CellAttachment
        | OutputAttachment
        | ErrorAttachment,
        session: Session,
        *,
        images: bool,
    ) -> AttachmentContent:
        match attachment:
            case ImageAttachment():
                return await self._image(attachment, session.owner, images=images)
            case FileAttachment():
                return await self._file(attachment.path, images=images)
            case CellAttachment() | OutputAttachment() | ErrorAttachment():
                return await self._of_notebook(attachment, images=images)
            case _:
                assert_never(attachment)

    def _redacted(self, captured: AttachmentContent) -> AttachmentContent:
        content = tuple(
            TextPart(text=self._redact(part.text)) if isinstance(part, TextPart) else part
            for part in captured.content
        )
        return AttachmentContent(content, captured.note, captured.warn, captured.seen)

    # files

    async def _file(self, given: str, *, images: bool) -> AttachmentContent:
        path = await asyncio.to_thread(self._allowed, given)
        if path.endswith(".ipynb"):
            snapshot = await self._notebooks.open(path).read()
            return self._rendered(snapshot, render_notebook(snapshot))
        if path.lower().endswith(_IMAGES):
            content = await asyncio.to_thread(self._bytes, path, IMAGE_FILE_LIMIT)
            return await _pictured(content, images=images)
        captured, text = await self._text_file(path)
        for seen in captured.seen:
            self._seen_texts.add(seen.version, text)
        return captured

    async def _text_file(self, path: WorkspacePath) -> tuple[AttachmentContent, str]:
        """Return a text as it is open, unsaved changes included, or as it is on the disk."""
        try:
            opened = None if self._texts is None else await self._texts.open_text(path)
        except (InvalidRequest, NotFound):  # no text: the file on the disk says what it is
            opened = None
        if opened is not None:
            return await asyncio.to_thread(open_text, opened)
        return await asyncio.to_thread(stored_text, self._workspace, path)

    def _allowed(self, given: str) -> WorkspacePath:
        """Return the file's canonical path. Raises ``PolicyRefusal`` for a secret file."""
        _refuse_secret(given)
        path = self._workspace.path(given)
        _refuse_secret(path)
        return path

    def _bytes(self, path: str, limit: int) -> bytes:
        return self._workspace.head(self._workspace.path(path), limit).content

    def _folder(self, given: str) -> AttachmentContent:
        path = self._allowed(given)
        if self._workspace.kind(path) != "folder":
            raise NotFound(f"There is no folder {given}.")
        found = file_tree(self._workspace, path, limit=FOLDER_ENTRIES, depth=FOLDER_DEPTH)
        note = None if found.complete else f"only {len(found.paths)} entries are shown"
        text = "\n".join(found.paths) or "(nothing to show)"
        return AttachmentContent((TextPart(text=text),), note)

    # notebooks

    def _rendered(self, snapshot: NotebookSnapshot, rendering: Rendering) -> AttachmentContent:
        cells = [cell for cell in snapshot.cells if cell.id in rendering.whole]
        for cell in cells:
            self._seen_texts.add(cell.version, cell.source)
        seen = tuple(
            SeenVersion(path=snapshot.path, cell_id=cell.id, version=cell.version) for cell in cells
        )
        return AttachmentContent((TextPart(text=rendering.text),), seen=seen)

    async def _of_notebook(
        self, attachment: CellAttachment | OutputAttachment | ErrorAttachment, *, images: bool
    ) -> AttachmentContent:
        path = await asyncio.to_thread(self._allowed, attachment.path)
        cell_id = attachment.cell_id
        snapshot = await self._notebooks.open(path).read(outputs=[cell_id])
        cell = snapshot.cell(cell_id)
        if cell is None:
            raise NotFound(f"{path} no longer has this cell.", code="cell_not_found")
        if isinstance(attachment, CellAttachment):
            return self._rendered(snapshot, render_notebook(snapshot, [cell_id]))
        number = (snapshot.position(cell_id) or 0) + 1
        outputs = cell.outputs or ()
        if isinstance(attachment, ErrorAttachment):
            errors = [item for item in outputs if item.get("output_type") == "error"]
            output = errors[-1] if errors else None
        else:
            output = outputs[attachment.index] if 0 <= attachment.index < len(outputs) else None
        if output is None:
            return unshown(f"cell {number} no longer has this output")
        return await _output(output, number, images=images)

    async def _variable(self, attachment: VariableAttachment) -> AttachmentContent:
        """Describe a variable; its values only as far as the user's settings allow."""
        if self._variables is None:
            return AttachmentContent(note="its value is not included")
        path = await asyncio.to_thread(self._allowed, attachment.path)
        try:
            async with asyncio.timeout(VARIABLE_SECONDS):
                look = await self._variables.describe(path, self._level(), [attachment.name])
        except TimeoutError:
            return unshown("its kernel did not answer in time")
        if not look.namespace.variables:
            return unshown("the kernel has no such variable")
        old = f"as it was {look.age_s:.0f} s ago: {look.why_old}" if look.why_old else None
        return AttachmentContent((TextPart(text="\n".join(variable_lines(look.namespace))),), old)

    # other attachments

    async def _image(
        self, attachment: ImageAttachment, owner: str | None, *, images: bool
    ) -> AttachmentContent:
        try:
            if attachment.blob is not None:
                content = await asyncio.to_thread(self._stored, attachment.blob, owner)
            else:
                data = attachment.data or ""
                content = (
                    await asyncio.to_thread(_from_base64, data)
                    if len(data) > LONG
                    else _from_base64(data)
                )
        except (binascii.Error, ValueError) as error:
            raise InvalidRequest("its base64 cannot be read") from error
        return await _pictured(content, images=images)

    def _stored(self, blob: BlobHash, owner: str | None) -> bytes:
        """Return a blob of the user's own conversations; the client's hash alone proves nothing."""
        content = self._blobs.get(blob)
        if not self._is_named(blob, owner):
            raise NotFound(f"There is no stored content {blob}.")
        return content

    async def _thread(self, session_id: SessionId, asking: Session) -> AttachmentContent:
        """Return the last messages of another conversation of the same owner."""
        try:
            other = self._sessions.get(session_id)
        except ShouldersError as error:
            raise NotFound("There is no such conversation.") from error
        if other.owner not in {None, asking.owner}:
            raise NotFound("There is no such conversation.")
        said = await recent_messages(self._log, session_id)
        lines = [f"{who}: {_cut(text)}" for who, text in said[-THREAD_MESSAGES:]]
        title = f"“{other.title}”, its last messages" if other.title else "its last messages"
        text = "\n\n".join(lines) or "(nothing was said in it)"
        return AttachmentContent((TextPart(text=text),), note=" ".join(title.split()))


def _refuse_secret(path: str) -> None:
    if is_secret(path.replace("\\", "/")):
        raise PolicyRefusal(
            "a file with this name usually holds secrets, so its content is never sent",
            code="forbidden",
        )


async def _output(output: JsonObject, number: int, *, images: bool) -> AttachmentContent:
    text = TextPart(text=f"--- output of cell {number}\n{output_text(output)}")
    picture = _picture_of(output)
    if picture is None:
        return AttachmentContent((text,))
    pictured = await _pictured(picture, images=images)
    return AttachmentContent((text, *pictured.content), pictured.note)


def _from_base64(data: str) -> bytes:
    """Decode in pieces, so that other threads can run in between. Raises ``ValueError``."""
    if "=" in data[:-2]:
        raise binascii.Error("padding before the end")
    pieces = (data[at : at + LONG] for at in range(0, len(data), LONG))
    return b"".join(base64.b64decode(piece, validate=True) for piece in pieces)


def _picture_of(output: JsonObject) -> bytes | None:
    data = output.get("data")
    if not isinstance(data, dict):
        return None
    for mime in ("image/png", "image/jpeg", "image/webp", "image/gif"):
        if mime in data:
            try:
                return base64.b64decode(join_text(data[mime]))
            except binascii.Error:
                return None  # the accompanying text says that there is a picture
    return None


async def _pictured(content: bytes, *, images: bool) -> AttachmentContent:
    picture = await asyncio.to_thread(fit_image, content)
    if not images:
        size = f"{picture.width} × {picture.height} pixels"
        return unshown(f"a picture of {size}, which this model cannot read")
    return AttachmentContent((_image_part(picture),))


def _image_part(picture: EncodedImage) -> ResultContent:
    data = base64.b64encode(picture.content).decode()
    return ImagePart(media_type=picture.media_type, data=data)


def _cut(text: str) -> str:
    return text if len(text) <= THREAD_MESSAGE else text[:THREAD_MESSAGE] + " […]"
