"""The tools that open and list task threads of a conversation.

A thread is a separate conversation with an anchor in a document. It runs concurrently and has its
own card for approvals. ``host.threads.service`` opens it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field, model_validator

from jupyter_ai_shoulders.core.anchors.text import CONTEXT, Utf16Text, utf16_range
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
from jupyter_ai_shoulders.tools.editing.text_replacement import near_matches
from jupyter_ai_shoulders.tools.files.access import FileAccess, NothingAtPath, is_notebook
from jupyter_ai_shoulders.tools.files.edit import no_such_file
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess, failure_result, file_name
from jupyter_ai_shoulders.wire.api.anchors import LONGEST_QUOTE
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId, CellId, SessionId, Version
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Anchor, Mode, Session

PROMPT_LIMIT = 20_000
LISTED_THREADS = 50
MAX_THREADS = 200
"""Most threads that are listed or counted."""
_LINE = 160


@dataclass(frozen=True, slots=True)
class ThreadRequest:
    """A request to open a thread."""

    anchor: Anchor
    prompt: str
    opened_by: SessionId
    mode: Mode
    call_id: CallId


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """A thread and its last message."""

    session: Session
    last_message: str


class TaskThreads(Protocol):
    """Opens and lists threads; implemented by ``host.threads.service``."""

    async def open(self, request: ThreadRequest) -> Session:
        """Open a thread and send its prompt.

        Raises ``PolicyRefusal`` (threads that opened each other) and the errors of sending a
        message, after which no thread exists.
        """
        ...

    async def list_threads(self, by: SessionId, document: str | None) -> Sequence[ThreadSummary]:
        """Return the threads visible to a conversation, newest first, at most ``MAX_THREADS``.

        Only the first ``LISTED_THREADS`` include their last message.
        """
        ...


class AddTaskArguments(ToolArguments):
    """Arguments of ``add_task``."""

    path: str = Field(min_length=1, description="Workspace-relative path of the notebook or file.")
    cell_id: CellId | None = Field(
        default=None, description="Id of the cell, as read_notebook shows it; for notebooks only."
    )
    quote: str | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST_QUOTE,
        description="The exact text it is about; must occur once. None: the whole cell.",
    )
    prompt: str = Field(
        min_length=1, max_length=PROMPT_LIMIT, description="What is to be done there."
    )

    @model_validator(mode="after")
    def _is_complete(self) -> AddTaskArguments:
        if not self.prompt.strip():
            raise ValueError("say in prompt what is to be done")
        if is_notebook(self.path) != (self.cell_id is not None):
            raise ValueError("give cell_id for a notebook, and for nothing else")
        if self.cell_id is None and self.quote is None:
            raise ValueError("give the quote that the task is about")
        return self


class AddTask(BaseTool[AddTaskArguments]):
    """Opens a thread at an anchor and starts its work."""

    name = "add_task"
    category = "threads"
    risk = "execute"
    arguments = AddTaskArguments

    def __init__(self, cells: NotebookAccess, files: FileAccess, threads: TaskThreads) -> None:
        self._cells = cells
        self._files = files
        self._threads = threads

    async def subject(self, args: AddTaskArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the exact prompt."""
        found = await self._find(args)
        return CallSubject(
            title=f"Open a task at {found.label}",
            target_label=file_name(found.path),
            target=Target(path=found.path, cell_id=args.cell_id),
            preview=args.prompt,
            language="markdown",
            preview_is_complete=True,
        )

    async def run(
        self, args: AddTaskArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        found = await self._find(args)
        positions = [] if args.quote is None else _positions(found.text, args.quote)
        if args.quote is not None and len(positions) != 1:
            yield _quote_refusal(found, args.quote, len(positions))
            return
        anchor = _anchor(found, args, positions[0] if positions else None)
        session = await self._threads.open(
            ThreadRequest(anchor, args.prompt, context.session_id, context.mode, context.call_id)
        )
        yield Result(
            envelope=ToolEnvelope(ok=True, kind="text", data={"task_id": session.id}),
            content=text_content(
                f"Task {session.id} is open at {found.label} and at work. Look at it with "
                "read_tasks; the user sees it beside the text."
            ),
        )

    async def _find(self, args: AddTaskArguments) -> _TaskTarget:
        if args.cell_id is None:
            there = await self._files.writable(args.path)
            if isinstance(there, NothingAtPath):
                raise await no_such_file(self._files, there.path)
            shot = there.snapshot
            return _TaskTarget(shot.path, shot.path, shot.text, shot.version)
        place = await self._cells.find_cell(args.path, args.cell_id)
        return _TaskTarget(place.snapshot.path, place.label, place.cell.source, place.cell.version)


@dataclass(frozen=True, slots=True)
class _TaskTarget:
    path: str
    label: str
    text: str
    version: Version


class ReadTasksArguments(ToolArguments):
    """Arguments of ``read_tasks``."""

    path: str | None = Field(default=None, description="Only tasks of this document.")


class ReadTasks(BaseTool[ReadTasksArguments]):
    """Lists threads with their status and last message."""

    name = "read_tasks"
    category = "threads"
    risk = "read"
    arguments = ReadTasksArguments

    def __init__(self, threads: TaskThreads) -> None:
        self._threads = threads

    async def subject(self, args: ReadTasksArguments, context: CallContext) -> CallSubject:
        label = None if args.path is None else file_name(args.path)
        return CallSubject(title="Read tasks", target_label=label, target=Target(path=args.path))

    async def run(
        self, args: ReadTasksArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        found = await self._threads.list_threads(context.session_id, args.path)
        lines = [_summary_line(news) for news in found[:LISTED_THREADS]]
        about = f" of {args.path}" if args.path else ""
        counted = f"{len(found)} task{'' if len(found) == 1 else 's'}{about}:"
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="listing",
                data=[_summary_data(news) for news in found[:LISTED_THREADS]],
                meta=ResultMeta(total=len(found), truncated=len(found) > LISTED_THREADS),
            ),
            content=text_content("\n".join([counted, *lines]) if lines else f"No tasks{about}."),
        )


def _positions(text: str, quote: str) -> list[int]:
    positions: list[int] = []
    at = text.find(quote)
    while at >= 0:
        positions.append(at)
        at = text.find(quote, at + 1)
    return positions


def _quote_refusal(found: _TaskTarget, quote: str, times: int) -> Result:
    """Return the refusal for a quote that does not occur exactly once."""
    if times:
        return failure_result(
            ErrorInfo(
                code="ambiguous",
                message=f"The quote occurs {times} times in {found.label}; no task was opened.",
                hint="Give more of the text around the place you mean.",
            )
        )
    near = "\n".join(near_matches(found.text, quote))
    return failure_result(
        ErrorInfo(
            code="not_found",
            message=f"The quote does not occur in {found.label}; no task was opened.",
            hint="It must match exactly, with spaces and line ends, without line numbers.",
        ),
        f"The most similar lines:\n{near}" if near else None,
        kind="not_found",
    )


def _anchor(found: _TaskTarget, args: AddTaskArguments, start: int | None) -> Anchor:
    quote = args.quote or ""
    units = Utf16Text(found.text)
    place = None
    if start is not None:
        place = utf16_range(units.unit_at(start), units.unit_at(start + len(quote)))
    before = "" if start is None else found.text[max(0, start - CONTEXT) : start]
    after = "" if start is None else found.text[start + len(quote) :][:CONTEXT]
    return Anchor(
        document=found.path,
        cell_id=args.cell_id,
        target="cell" if start is None else "source",
        range=place,
        quote=quote,
        prefix=before,
        suffix=after,
        version=found.version,
    )


def _summary_line(news: ThreadSummary) -> str:
    session, anchor = news.session, news.session.anchor
    where = "" if anchor is None else f" · {anchor.document}"
    if anchor is not None and anchor.cell_id is not None:
        where += f" · cell id={anchor.cell_id}"
    doubt = "" if anchor is None or anchor.certainty == "exact" else f" · {anchor.certainty}"
    title = f" · {_short(session.title)}" if session.title else ""
    said = f"\n    {_short(news.last_message)}" if news.last_message else ""
    return f"- {session.id} · {session.status}{where}{doubt}{title}{said}"


def _summary_data(news: ThreadSummary) -> JsonObject:
    session, anchor = news.session, news.session.anchor
    return {
        "task_id": session.id,
        "status": session.status,
        "title": session.title,
        "document": anchor.document if anchor else None,
        "cell_id": anchor.cell_id if anchor else None,
        "last": news.last_message,
    }


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE else f"{line[:_LINE]} …"
