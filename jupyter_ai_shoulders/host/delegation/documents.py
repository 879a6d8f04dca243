"""Prepares the documents of a task: names the small ones, takes notes on those no context holds.

A long text is read in parts, a few at a time, by the cheapest permitted model; memory holds those
parts only. Used by ``host.delegation.service``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

from jupyter_ai_shoulders.assist.document_notes import (
    DocumentNotes,
    ReadingOrder,
    reading_room,
)
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    PolicyRefusal,
    ProviderError,
    ShouldersError,
)
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.core.token_estimates import ASCII_PER_TOKEN
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.delegation.document_parts import (
    DocumentPart,
    NotText,
    document_parts,
    numbered_lines,
)
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Target
from jupyter_ai_shoulders.tools.files.access import is_notebook
from jupyter_ai_shoulders.tools.permissions.rules import Deny, PermissionRequest, decide
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.wire.ids import BlobHash

AT_ONCE = 4
"""Parts that are read at the same time."""
MOST_PARTS = 600
"""Parts of one document; a longer one must be narrowed down first."""
WINDOW_SHARE = 0.25
"""A document that needs more of the sub-agent's window is read in parts."""
NOTES_SHARE = 0.1
"""Share of the window for the notes on one document."""
NOTES_TOKENS = 12_000
"""Tokens of the notes on one document, at most."""
_FAILURES = 5
"""Parts without notes that are named."""
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document of the task; ``notes`` only if it was read in parts."""

    name: str
    notes: str | None = None
    note: str | None = None
    """What the notes are, or why there are none."""
    lines: int | None = None
    """Its lines, if it is an output and was read here."""


class _Bytes(Protocol):
    def __call__(self) -> Iterable[bytes]: ...


@dataclass(frozen=True, slots=True)
class _Source:
    name: str
    size: int
    open: _Bytes
    is_output: bool


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """The dependencies of the documents of all sub-agents."""

    workspace: Workspace
    blobs: Blobs
    rules: PermissionStore
    notes: DocumentNotes

    async def prepared(
        self,
        names: Sequence[str],
        order: ReadingOrder,
        spec: ModelSpec,
        context: CallContext,
        report: Callable[[str], None],
    ) -> tuple[PreparedDocument, ...]:
        """Return the documents; ``spec`` is the sub-agent's model.

        Raises ``PolicyRefusal`` (not readable here, or the budget before anything was read),
        ``NotFound``, ``InvalidRequest``.
        """
        sources = [await asyncio.to_thread(self._source, name, context) for name in names]
        return tuple([await self._prepared(each, order, spec, report) for each in sources])

    def _source(self, name: str, context: CallContext) -> _Source:
        if name in context.handles:
            content = self.blobs.get(BlobHash(name))
            return _Source(name, len(content), lambda: (content,), is_output=True)
        path = self.workspace.path(name)
        self._check(path, context)
        if self.workspace.kind(path) == "folder":
            raise InvalidRequest(f"{name} is a folder.", hint="Name its files, or only the task.")
        size = self.workspace.stat(path).size
        return _Source(path, size, lambda: self.workspace.chunks(path, _CHUNK), is_output=False)

    def _check(self, path: str, context: CallContext) -> None:
        """Refuse what the conversation itself could not read without a question."""
        subject = CallSubject(
            title="Read file",
            target_label=path,
            target=Target(path=path),
            reads_secret=is_secret(path),
        )
        request = PermissionRequest("read_file", "read", False, subject)
        decision = decide(request, self.rules.rules, (), mode=context.mode, interactive=False)
        if isinstance(decision, Deny):
            raise PolicyRefusal(
                f"{path} is not given to a sub-agent: {decision.text}",
                hint="Leave it out, or read it in this conversation.",
            )

    async def _prepared(
        self, source: _Source, order: ReadingOrder, spec: ModelSpec, report: Callable[[str], None]
    ) -> PreparedDocument:
        tokens = source.size / ASCII_PER_TOKEN[spec.family]
        is_long = tokens > spec.window * WINDOW_SHARE
        if (is_notebook(source.name) or not is_long) and not source.is_output:
            return PreparedDocument(source.name)
        if not is_long:
            text = await asyncio.to_thread(_whole_text, source)
            return PreparedDocument(
                source.name, text, "the output, with line numbers", text.count("\n") + 1
            )
        reader = self.notes.reader(spec.id)
        if reader is None:
            return PreparedDocument(source.name, note="not read in parts: no model may read it")
        room = int(reading_room(reader) * ASCII_PER_TOKEN[reader.family])
        if source.size / room > MOST_PARTS:
            raise InvalidRequest(
                f"{source.name} would take more than {MOST_PARTS} calls to read.",
                hint="Narrow it down first, with search_content or a command.",
            )
        limit = min(int(spec.window * NOTES_SHARE), NOTES_TOKENS)
        reading = _Reading(source, room, self.notes, order, reader, report)
        return await reading.run(limit)


@dataclass(eq=False)
class _Reading:
    """One document that is read in parts."""

    source: _Source
    room: int
    notes: DocumentNotes
    order: ReadingOrder
    reader: ModelSpec
    report: Callable[[str], None]
    _found: dict[int, str] = field(default_factory=dict[int, str])
    """Notes by the first line of their part."""
    _failed: list[str] = field(default_factory=list[str])
    _budget: PolicyRefusal | None = None
    _last_line: int = 0

    async def run(self, limit: int) -> PreparedDocument:
        """Read all parts and merge the notes."""
        parts = _parts(self.source, self.room)
        lock = asyncio.Lock()
        try:
            with closing(parts):
                async with asyncio.TaskGroup() as group:
                    for _ in range(AT_ONCE):
                        group.create_task(self._work(parts, lock))
        except ExceptionGroup as failures:
            if failures.subgroup(NotText) is None:
                raise failures.exceptions[0] from None
            return PreparedDocument(self.source.name, note="not a text, so it was not read")
        if self._budget is not None and not self._found:
            raise self._budget
        in_order = [text for _, text in sorted(self._found.items())]
        try:
            merged = await self.notes.merged(self.order, self.reader, in_order, limit)
        except (PolicyRefusal, ProviderError) as error:
            self._failed.append(f"the notes could not be merged ({error.info.message})")
            merged = "\n".join(in_order)[: int(limit * ASCII_PER_TOKEN[self.reader.family])]
        return PreparedDocument(
            self.source.name, merged or "(nothing found)", self._summary(), self._last_line
        )

    async def _work(self, parts: Iterator[DocumentPart], lock: asyncio.Lock) -> None:
        while self._budget is None:
            async with lock:  # one thread at a time reads on
                part = await asyncio.to_thread(next, parts, None)
            if part is None:
                return
            self._last_line = max(self._last_line, part.last_line)
            await self._read(part)
            done, total = len(self._found) + len(self._failed), self._estimated_parts()
            self.report(f"Reading {self.source.name}: {done} of about {max(done, total)} parts")

    async def _read(self, part: DocumentPart) -> None:
        try:
            text = await self.notes.of_part(self.order, self.reader, self.source.name, part.text)
        except PolicyRefusal as error:
            self._budget = error
            self._failed.append(f"lines {part.first_line}-{part.last_line} and all after them")
        except ShouldersError as error:
            place = f"lines {part.first_line}-{part.last_line}"
            self._failed.append(f"{place} ({error.info.message.rstrip('.')})")
        else:
            self._found[part.first_line] = text

    def _estimated_parts(self) -> int:
        return max(1, -(-self.source.size // self.room))

    def _summary(self) -> str:
        count = len(self._found)
        said = f"notes on {count} parts that {self.reader.name} read for this task, not the text"
        if self._budget is not None:
            said += f"; reading stopped: {self._budget.info.message}"
        if not self._failed:
            return said
        named = "; ".join(self._failed[:_FAILURES])
        more = len(self._failed) - _FAILURES
        return f"{said}; not read: {named}{f'; and {more} more' if more > 0 else ''}"


def _parts(source: _Source, room: int) -> Generator[DocumentPart]:
    yield from document_parts(numbered_lines(source.open()), room)


def _whole_text(source: _Source) -> str:
    try:
        return "\n".join(numbered_lines(source.open()))
    except NotText:
        return "(not a text)"
