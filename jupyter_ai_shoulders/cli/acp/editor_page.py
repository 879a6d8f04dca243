"""The editor's text buffers, for the engine: answers its requests about text files.

To the engine an editor is a page that has every text file of its folder open. Made by
``cli.acp.editor_agent``, one for each engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast

from acp import RequestError
from acp.interfaces import Client as Editor
from pydantic import ValidationError

from jupyter_ai_shoulders.cli.chat.chat_backend import ChatPages, PageLink
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.core.clock import RandomIds
from jupyter_ai_shoulders.files.encoding import DecodedText
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import ClientId, Version
from jupyter_ai_shoulders.wire.versions import text_version, well_formed

GIVE_UP_SECONDS = 60.0
"""The engine stops waiting earlier; an answer until then still settles what became of a change."""
_MARK = "\ufeff"
_log = logging.getLogger(__name__)


class _RefusedByEditor(Exception):
    """The editor's error, as a sentence."""


class EditorPage:
    """The text files of an editor's folder, read and written over the protocol."""

    def __init__(self, editor: Editor, pages: ChatPages, folder: str) -> None:
        """``folder`` is the editor's, relative to the engine's workspace."""
        self.client_id = ClientId(RandomIds().new("editor"))
        self._editor = editor
        self._loop = asyncio.get_running_loop()
        self._link: PageLink | None = None
        self._session_id = ""
        self._prompts = 0
        """Prompts that are being answered."""
        self._pages = pages
        self._folder, self._cwd = PurePosixPath(folder), Path()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing = asyncio.Lock()

    async def aclose(self) -> None:
        """Disconnect; what the engine waits for fails."""
        link, self._link = self._link, None
        if link is not None:
            await asyncio.to_thread(link.close)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def begin(self, session_id: str, cwd: str) -> bool:
        """Answer for a conversation, whose prompt begins; return whether the engine can ask."""
        self._session_id, self._cwd = session_id, Path(cwd)
        self._prompts += 1
        said = self._announcement(answering=True)
        if self._link is not None:
            self._link.send(said)
            return await asyncio.to_thread(self._link.wait)
        connect = self._pages.connect_editor
        try:
            self._link = await asyncio.to_thread(connect, self.client_id, said, self._receive)
        except ClientError as error:
            _log.warning("Files are not read and written through the editor: %s", error)
            return False
        return await asyncio.to_thread(self._link.wait)

    def end(self) -> None:
        """End a prompt that has begun."""
        self._prompts -= 1
        if self._link is not None and not self._prompts:
            self._link.send(self._announcement(answering=False))

    def _announcement(self, *, answering: bool) -> frames.TextEditor:
        folder = "" if self._folder == PurePosixPath() else str(self._folder)
        return frames.TextEditor(folder=folder, answering=answering)

    def _receive(self, frame: frames.ServerFrame) -> None:
        """Take a frame of the engine, in its thread."""
        if isinstance(frame, frames.TextRead | frames.TextApply):
            with contextlib.suppress(RuntimeError):  # the loop was closed: the editor has left
                self._loop.call_soon_threadsafe(self._start, frame)

    def _start(self, frame: frames.TextRead | frames.TextApply) -> None:
        task = asyncio.create_task(self._answer(frame))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, frame: frames.TextRead | frames.TextApply) -> None:
        try:
            if isinstance(frame, frames.TextRead):
                answer = await self._read(frame)
            else:
                async with self._writing:
                    answer = await self._apply(frame)
        except _RefusedByEditor as error:
            answer = _refused(frame, "failed", str(error))
        if self._link is not None:
            await asyncio.to_thread(self._link.send, answer)

    async def _read(self, frame: frames.TextRead) -> frames.PageFrame:
        buffer = await self._buffer(frame.path)
        return frames.TextContent(
            operation_id=frame.operation_id, path=frame.path, text=buffer.text, dirty=False
        )

    async def _apply(self, frame: frames.TextApply) -> frames.PageFrame:
        """Replace the text if it is the expected one.

        The protocol has no such request, so the text is read directly before it is written; editors
        keep what was typed since the read. It is read again, since an editor may format it, or do
        nothing.
        """
        before = await self._buffer(frame.path)
        if time.time() * 1000 > frame.deadline_ms:
            return _refused(frame, "deadline", "it was too late")
        if text_version(before.text) != frame.expected:
            return frames.TextConflict(
                operation_id=frame.operation_id, text=before.text, dirty=True
            )
        problem = None
        try:
            await self._write(frame.path, before.with_text(frame.text))
        except _RefusedByEditor as error:
            problem = str(error)
        try:
            now = await self._buffer(frame.path)
        except _RefusedByEditor as error:
            return _refused(frame, "deadline", str(error))  # it is not known what became of it
        if now.text != frame.text and (problem or now.text == before.text):
            return _refused(frame, "failed", problem or "it did not change the text")
        version = Version(text_version(now.text))
        return frames.TextApplied(operation_id=frame.operation_id, version=version, saves=False)

    async def _buffer(self, path: str) -> DecodedText:
        async with _errors_of_editor():
            response = await self._editor.read_text_file(
                session_id=self._session_id, path=self._path(path)
            )
        raw = well_formed(response.content)
        mark = raw.startswith(_MARK)
        return DecodedText(raw.removeprefix(_MARK), "utf-8", _MARK.encode() if mark else b"")

    async def _write(self, path: str, text: DecodedText) -> None:
        async with _errors_of_editor():
            await self._editor.write_text_file(
                session_id=self._session_id,
                path=self._path(path),
                content=text.bom.decode() + text.raw,
            )

    def _path(self, path: str) -> str:
        return str(self._cwd / PurePosixPath(path).relative_to(self._folder))


@dataclass(frozen=True, slots=True)
class ConversationFiles:
    """The editor's files in one of its conversations; ``cwd`` is its own name of the folder."""

    page: EditorPage
    session_id: str
    cwd: str

    async def begin(self) -> bool:
        """See ``EditorPage.begin``."""
        return await self.page.begin(self.session_id, self.cwd)


def _refused(
    frame: frames.TextRead | frames.TextApply, reason: str, message: str
) -> frames.TextRefused:
    return frames.TextRefused.model_validate(
        {"operation_id": frame.operation_id, "reason": reason, "message": message}
    )


@contextlib.asynccontextmanager
async def _errors_of_editor() -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(GIVE_UP_SECONDS):
            yield
    except TimeoutError as error:
        raise _RefusedByEditor("it did not answer") from error
    except RequestError as error:
        raise _RefusedByEditor(_text(error)) from error
    except (ConnectionError, ValidationError) as error:
        raise _RefusedByEditor(f"it gave no usable answer ({type(error).__name__})") from error


def _text(error: RequestError) -> str:
    """Return the error's sentence, with the details that some editors add."""
    details = (
        cast("dict[str, Any]", error.data).get("details") if isinstance(error.data, dict) else None
    )
    return f"{error}: {details}" if isinstance(details, str) else str(error)
