"""A browser page for tests of live documents: a notebook in memory that uses the frame protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.base import Conflicted
from jupyter_ai_shoulders.notebook.cells import make_cell, with_outputs, with_source
from jupyter_ai_shoulders.notebook.edits import apply_edits
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import (
    AnnouncedCell,
    CellRunEnd,
    CellRunOutput,
    CellRunStart,
    DocumentAnnounce,
    DocumentApplied,
    DocumentApply,
    DocumentChange,
    DocumentClose,
    DocumentConflict,
    DocumentContent,
    DocumentElsewhere,
    DocumentFocus,
    DocumentOpen,
    DocumentRead,
    DocumentRecovered,
    DocumentRecovery,
    DocumentRecoveryAnswer,
    DocumentRefused,
    DocumentRename,
    DocumentSaved,
    PageFrame,
    ServerFrame,
)
from jupyter_ai_shoulders.wire.ids import CellId, ClientId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from tests.notebook.cell_changes import cell_changes


class StillClock:
    """A clock that advances only on demand, with sleepers."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 21, tzinfo=UTC)
        self.sleepers: list[tuple[datetime, asyncio.Event]] = []

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    async def sleep(self, seconds: float) -> None:
        waker = asyncio.Event()
        self.sleepers.append((self.time + timedelta(seconds=seconds), waker))
        await waker.wait()

    async def advance(self, seconds: float) -> None:
        """Advance, and run the sleepers that are due."""
        await asyncio.sleep(0)  # woken tasks go to sleep again
        self.time += timedelta(seconds=seconds)
        for until, waker in self.sleepers:
            if until <= self.time:
                waker.set()
        for _ in range(3):
            await asyncio.sleep(0)


class CountingIds:
    """Identifiers in order."""

    def __init__(self) -> None:
        self.count = 0

    def new(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}_{self.count}"


class MemoryRecovery:
    """A recovery store in memory."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def put(self, name: str, text: str) -> None:
        self.texts[name] = text

    def remove(self, name: str) -> None:
        self.texts.pop(name, None)

    def read_all(self) -> Mapping[str, str]:
        return dict(self.texts)

    @property
    def copies(self) -> list[dict[str, Any]]:
        return [json.loads(text) for name, text in self.texts.items() if name != "moves"]


class FakeSockets:
    """The transport to all pages of a test."""

    def __init__(self) -> None:
        self.pages: dict[ClientId, FakePage] = {}

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        page = self.pages.get(client_id)
        if page is not None:
            page.receive(frame)


class FakePage:
    """One page with one notebook open, as the lab would have it after loading the file."""

    def __init__(
        self, name: str, file: Path, sockets: FakeSockets, live: OpenNotebooks, clock: StillClock
    ) -> None:
        self.client = ClientId(name)
        self.file = file
        self.path = file.name
        self.live = live
        self.clock = clock
        self.sockets = sockets
        self.epoch = 0
        self.dirty = False
        self.saved_at = _modified(file)
        self.mute = False
        self.writable = True
        self.frames: list[ServerFrame] = []
        self.offers: dict[str, DocumentRecovery] = {}
        self.asked = asyncio.Event()
        self.announced: tuple[AnnouncedCell, ...] | None = None
        self.sent: tuple[NotebookCell, ...] | None = None
        self.revision = 0
        self.answers: set[asyncio.Task[None]] = set()
        content = json.loads(file.read_text())
        self.metadata: JsonObject = content["metadata"]
        self.cells = [_loaded(cell) for cell in content["cells"]]

    # actions of the user

    async def open(self) -> None:
        """Connect and announce the notebook with all its text."""
        self.sockets.pages[self.client] = self
        self.live.connected(self.client)
        await self.claim()

    async def claim(self) -> None:
        """Announce the whole notebook."""
        self.announced, self.epoch = None, self.epoch + 1
        await self._announce(DocumentOpen)

    async def type(self, cell_id: str, source: str) -> None:
        """Change a cell and announce it."""
        self.replace(with_source(self.cell(cell_id), source))
        self.dirty = True
        await self._announce(DocumentChange)

    def change_silently(self, cell_id: str, source: str) -> None:
        """Change a cell without an announcement: the socket is lost."""
        self.replace(with_source(self.cell(cell_id), source))
        self.dirty = True

    async def insert(self, position: int, cell_id: str, source: str) -> None:
        """Insert a code cell and announce it."""
        self.cells.insert(position, make_cell(CellId(cell_id), "code", source, outputs=()))
        self.dirty = True
        await self._announce(DocumentChange)

    async def save(self) -> None:
        """Write the file and announce that everything is saved."""
        content = json.loads(self.file.read_text())
        content["cells"] = [_stored(cell) for cell in self.cells]
        self.file.write_text(json.dumps(content))
        self.dirty = False
        self.saved_at = _modified(self.file)
        await self._announce(DocumentChange)

    async def rename(self, name: str) -> None:
        """Rename the file and announce it."""
        old, self.path = self.path, name
        self.file = self.file.rename(self.file.parent / name)
        await self.say(DocumentRename(path=old, new_path=name))

    async def restore(self, offer: DocumentRecovery) -> None:
        """Restore an offer: in place of an unchanged text, else as a separate cell."""
        for cell in offer.cells:
            here = self.sources.get(cell.id)
            if here is not None and here == cell.base:
                self.replace(with_source(self.cell(cell.id), cell.source))
            else:
                new = CellId(f"{cell.id}-{len(self.cells)}" if here is not None else cell.id)
                self.cells.append(make_cell(new, "raw", cell.source))
        self.dirty = True
        await self._announce(DocumentChange)
        await self.answer(offer, "restored")

    async def answer(self, offer: DocumentRecovery, action: Any) -> None:
        """Answer an offer."""
        name = offer.recovery_id
        await self.say(DocumentRecoveryAnswer(path=self.path, recovery_id=name, action=action))

    async def follow(self, file: Path) -> None:
        """Follow a rename made elsewhere, and announce it."""
        old, self.path, self.file = self.path, file.name, file
        await self.say(DocumentRename(path=old, new_path=file.name))

    async def announce_change(self) -> None:
        """Announce the current notebook."""
        await self._announce(DocumentChange)

    def modified(self) -> str:
        """When the file was written."""
        return _modified(self.file)

    async def focus(self) -> None:
        await self.say(DocumentFocus(path=self.path))

    async def close(self, *, discarded: bool) -> None:
        await self.say(DocumentClose(path=self.path, discarded=discarded))

    def vanish(self) -> None:
        """Lose the socket: reload, crash and network look the same."""
        del self.sockets.pages[self.client]
        self.live.disconnected(self.client)

    async def answered(self) -> None:
        """Let all requests to the page be answered, with their effects."""
        while self.answers:
            await asyncio.gather(*self.answers)

    # observations of a test

    def cell(self, cell_id: str) -> NotebookCell:
        return next(cell for cell in self.cells if cell.id == cell_id)

    @property
    def sources(self) -> dict[str, str]:
        return {cell.id: cell.source for cell in self.cells}

    # the page's own code

    async def say(self, frame: PageFrame) -> None:
        await self.live.handle(self.client, frame)

    def receive(self, frame: ServerFrame) -> None:
        self.frames.append(frame)
        self.asked.set()
        if self.mute:
            return
        match frame:
            case DocumentRead() | DocumentApply():
                self._answer(self.asked_for(frame))
            case DocumentAnnounce():
                self._run(self.claim())
            case CellRunStart():
                self._show(frame.cell_id, (), None)
            case CellRunOutput():
                shown = self.cell(frame.cell_id).outputs or ()
                self._show(frame.cell_id, (*shown[: frame.index], *frame.outputs), None)
            case CellRunEnd():
                shown = self.cell(frame.cell_id).outputs or ()
                self._show(frame.cell_id, shown, frame.execution_count)
            case DocumentSaved() | DocumentElsewhere():
                pass
            case DocumentRecovery():
                self.offers[frame.recovery_id] = frame
            case DocumentRecovered():
                self.offers.pop(frame.recovery_id, None)
            case _:
                raise AssertionError(frame)

    def asked_for(self, frame: DocumentRead | DocumentApply) -> PageFrame:
        return self.read(frame) if isinstance(frame, DocumentRead) else self.apply(frame)

    def read(self, frame: DocumentRead) -> PageFrame:
        if frame.claim_epoch != self.epoch:
            return self.refused(frame, "epoch")
        before, now = self.sent if frame.since == self.revision else None, tuple(self.cells)
        order, changed = cell_changes(before, now) if before != now else (None, ())
        self.sent, self.revision = now, self.revision + (before != now)
        sent = {cell.id for cell in changed} | {*frame.outputs}
        cells = (
            cell if cell.id in frame.outputs else cell.model_copy(update={"outputs": None})
            for cell in self.cells
            if cell.id in sent
        )
        return DocumentContent(
            operation_id=frame.operation_id,
            path=self.path,
            cells=tuple(cells),
            metadata=self.metadata if before is None else None,
            dirty=self.dirty,
            order=order,
            revision=self.revision,
        )

    def apply(self, frame: DocumentApply) -> PageFrame:
        if frame.claim_epoch != self.epoch:
            return self.refused(frame, "epoch")
        if self.clock.now().timestamp() * 1000 > frame.deadline_ms:
            return self.refused(frame, "deadline")
        if not self.writable:
            return self.refused(frame, "read_only")
        by_id = {cell.id: cell for cell in self.cells}
        outcome = apply_edits(list(by_id), by_id.__getitem__, frame.edits, frame.expected)
        if isinstance(outcome, Conflicted):
            return DocumentConflict(operation_id=frame.operation_id, conflicts=outcome.conflicts)
        by_id.update(outcome.changed)
        self.cells = [by_id[cell_id] for cell_id in outcome.order]
        self.dirty = True
        return DocumentApplied(
            operation_id=frame.operation_id,
            versions=dict(outcome.applied.versions),
            inverse=outcome.applied.inverse,
        )

    def refused(self, frame: DocumentRead | DocumentApply, reason: Any) -> PageFrame:
        return DocumentRefused(
            operation_id=frame.operation_id, reason=reason, message="The page refused."
        )

    def _answer(self, answer: PageFrame) -> None:
        async def send() -> None:
            if isinstance(answer, DocumentApplied):
                await self._announce(DocumentChange)
            await self.say(answer)

        self._run(send())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self.answers.add(task)
        task.add_done_callback(self.answers.discard)

    async def _announce(self, kind: type[DocumentOpen | DocumentChange]) -> None:
        cells = tuple(
            AnnouncedCell(
                id=cell.id, cell_type=cell.cell_type, version=cell.version, source=cell.source
            )
            for cell in self.cells
        )
        order, changed = cell_changes(self.announced, cells)
        self.announced = cells
        frame: JsonObject = {
            "path": self.path,
            "claim_epoch": self.epoch,
            "dirty": self.dirty,
            "saved_at": self.saved_at,
            "kernel_id": None,
        }
        if kind is DocumentOpen:
            await self.say(DocumentOpen.model_validate({**frame, "cells": cells}))
        else:
            changes = {"cells": changed, "order": order}
            await self.say(DocumentChange.model_validate({**frame, **changes}))

    def _show(self, cell_id: CellId, outputs: tuple[JsonObject, ...], count: int | None) -> None:
        cell = with_outputs(self.cell(cell_id), outputs)
        self.replace(cell.model_copy(update={"execution_count": count}))
        self.dirty = True

    def replace(self, cell: NotebookCell) -> None:
        self.cells = [cell if item.id == cell.id else item for item in self.cells]


def _modified(file: Path) -> str:
    """The time stamp the contents manager gives."""
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()


def _loaded(cell: dict[str, Any]) -> NotebookCell:
    made = make_cell(
        cell["id"],
        cell["cell_type"],
        "".join(cell["source"]),
        metadata=cell["metadata"],
        execution_count=cell.get("execution_count"),
    )
    return with_outputs(made, tuple(cell.get("outputs", ())))


def _stored(cell: NotebookCell) -> dict[str, Any]:
    stored: dict[str, Any] = {
        "cell_type": cell.cell_type,
        "id": cell.id,
        "metadata": cell.metadata,
        "source": cell.source.splitlines(keepends=True),
    }
    if cell.cell_type == "code":
        stored["outputs"] = list(cell.outputs or ())
        stored["execution_count"] = cell.execution_count
    return stored
