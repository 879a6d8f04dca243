"""Shows the agent's runs in collaboration rooms; wraps the kernels' ``Pages`` of live notebooks.

The room carries the outputs to every page and into the file, so pages are not sent them otherwise.
Pages with this extension are sent the start and the end of a run: they trust its outputs, and
report when the user takes the cell over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.live_documents.page_requests import PageTransport
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import OutputSelection
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.backends.shared.notebooks import (
    SharedNotebooks,
    agent_transaction,
)
from jupyter_ai_shoulders.notebook.backends.shared.rooms import Room
from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import (
    set_outputs,
    to_page_json,
    ycells_of,
)
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted, NotebookSnapshot, RunQuestion
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import CellRunEnd, CellRunStart
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, RunId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit

if TYPE_CHECKING:
    from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import YMap

LIVE_CHARACTERS = 60_000
"""While a cell prints more, only both ends of its text are shown, as pages do without a room."""
LIVE_END = 20_000
OMISSION = "\n⋯\n"
SLOW_SECONDS = 1.0
"""Seconds between two states of a long output: a document keeps a trace of its whole history."""


class RoomPages:
    """``Pages`` for notebooks in rooms and others."""

    def __init__(
        self,
        workspace: Workspace,
        shared: SharedNotebooks,
        live: OpenNotebooks,
        transport: PageTransport,
        pause: float = SLOW_SECONDS,
    ) -> None:
        self._workspace = workspace
        self._shared = shared
        self._live = live
        self._transport = transport
        self._pause = pause
        self._runs: dict[RunId, RoomRun] = {}

    def owner(self, path: str) -> ClientId | None:
        """Return the id that represents the notebook's room, or its page.

        A room without pages may be closed at any time, and changes to a room that is being loaded
        again are lost: then there is no owner, and the outputs are stored at the end of the run.
        """
        room = self._find(path)
        if room is None:
            return self._live.owner(path)
        return ClientId(f"room {room.id}") if room.has_pages and room.is_settled else None

    async def read(self, path: str, outputs: OutputSelection) -> NotebookSnapshot:
        """See ``Pages.read``; from pages, not rooms."""
        return await self._live.read(path, outputs)

    async def apply(
        self, path: str, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """See ``Pages.apply``; in pages, not rooms."""
        return await self._live.apply(path, edits, expected)

    def run_started(self, path: str, cell_id: CellId, run_id: RunId) -> None:
        """Show the cell as running for everyone in the room, or in every page."""
        room = self._find(path)
        if room is None:
            self._live.run_started(path, cell_id, run_id)
            return
        if self.run_taken(run_id):
            return
        # The pages first: they trust the outputs that arrive after the old ones are cleared.
        for client, page_path in self._live.pages(path):
            frame = CellRunStart(run_id=run_id, path=page_path, cell_id=cell_id, in_room=True)
            self._transport.send(client, frame)
        run = self._runs.setdefault(run_id, RoomRun(room, path, cell_id, self._pause))
        run.start()

    def run_output(
        self, path: str, cell_id: CellId, run_id: RunId, index: int, outputs: Sequence[JsonObject]
    ) -> None:
        """Replace the running cell's outputs from position ``index`` on."""
        run = self._runs.get(run_id)
        if run is None:
            self._live.run_output(path, cell_id, run_id, index, outputs)
        elif not self.run_taken(run_id):
            run.show(index, outputs)

    def run_ended(
        self, path: str, cell_id: CellId, run_id: RunId, execution_count: int | None
    ) -> None:
        """Show the cell as finished."""
        run = self._runs.pop(run_id, None)
        if run is None or self.run_taken(run_id):
            self._live.run_ended(path, cell_id, run_id, execution_count)
        else:
            run.end(execution_count)
            for client, page_path in self._live.pages(path):
                frame = CellRunEnd(
                    run_id=run_id,
                    path=page_path,
                    cell_id=cell_id,
                    execution_count=execution_count,
                )
                self._transport.send(client, frame)
        if run is not None:
            run.stop()

    def run_taken(self, run_id: RunId) -> bool:
        """Return whether the user runs the cell now."""
        return self._live.run_taken(run_id)

    def run_asks(self, path: str, cell_id: CellId, run_id: RunId, question: RunQuestion) -> None:
        """Show an input field in our pages; a room has none."""
        self._live.run_asks(path, cell_id, run_id, question)

    def run_answered(self, path: str, cell_id: CellId, run_id: RunId, number: int) -> None:
        """Remove the input field."""
        self._live.run_answered(path, cell_id, run_id, number)

    def _find(self, path: str) -> Room | None:
        """Return the room; a room that shows a run of this path stays its room after a rename."""
        for run in self._runs.values():
            if run.path == path and run.room.is_open:
                return run.room
        if not self._shared.has_rooms:
            return None
        try:
            return self._shared.find(self._live.current(self._workspace.path(path)))
        except ShouldersError:
            return None


class RoomRun:
    """One run shown in one room; limits what a flood of output leaves in the document."""

    def __init__(self, room: Room, path: str, cell_id: CellId, pause: float) -> None:
        self.room = room
        self.path = path
        self._pause = pause
        self._cell_id = cell_id
        self._outputs: tuple[JsonObject, ...] = ()
        self._known = 0
        """The number of leading outputs that are the same in the room."""
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Clear the cell and mark it as running, for everyone."""

        def begin(ycell: YMap) -> None:
            set_outputs(ycell, ())
            ycell["execution_count"] = None
            ycell["execution_state"] = "running"
            # As for the user's own run: from here on only current outputs are shown.
            ycell["metadata"]["trusted"] = True

        self._outputs, self._known = (), 0
        self._change(begin)

    def show(self, index: int, outputs: Sequence[JsonObject]) -> None:
        """Show these outputs from position ``index`` on, now or a little later."""
        self._outputs = (*self._outputs[:index], *outputs)
        self._known = min(self._known, index)
        if self._timer is None:
            self._write()

    def stop(self) -> None:
        """Cancel delayed updates."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def end(self, execution_count: int | None) -> None:
        """Show all outputs, and that the run is over."""

        def finish(ycell: YMap) -> None:
            set_outputs(ycell, self._outputs, self._known)
            ycell["execution_count"] = to_page_json(execution_count)
            ycell["execution_state"] = "idle"

        self._change(finish)

    def _write(self) -> None:
        """Update the room; a long text is shortened, and the next update delayed."""
        self._timer = None
        shown = shorten_outputs(self._outputs)
        if not self._change(lambda ycell: set_outputs(ycell, shown, self._known)):
            return
        pairs = zip(shown, self._outputs, strict=True)
        self._known = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
        if self._known < len(shown):
            self._timer = asyncio.get_running_loop().call_later(self._pause, self._catch_up, shown)

    def _catch_up(self, shown: tuple[JsonObject, ...]) -> None:
        """Show outputs that arrived since the last update."""
        self._timer = None
        if shorten_outputs(self._outputs) != shown:
            self._write()

    def _change(self, change: Callable[[YMap], None]) -> bool:
        """Change the cell in the room, if both exist; return whether it was done."""
        if not (self.room.is_open and self.room.is_settled):
            return False
        document = self.room.document
        ycells = ycells_of(document)
        with agent_transaction(document):
            ycell = next((cell for cell in ycells if cell.get("id") == self._cell_id), None)
            if ycell is None or ycell.get("cell_type") != "code":
                return False
            change(ycell)
            document.dirty = True
        return True


def shorten_outputs(outputs: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """Return the outputs as they are shown while more are coming."""
    if sum(len(_text_of(output)) for output in outputs) <= LIVE_CHARACTERS:
        return outputs
    return tuple(map(_shortened_one, outputs))


def _shortened_one(output: JsonObject) -> JsonObject:
    text = _text_of(output)
    if len(text) <= 2 * LIVE_END:
        return output
    return {**output, "text": f"{text[:LIVE_END]}{OMISSION}{text[-LIVE_END:]}"}


def _text_of(output: JsonObject) -> str:
    text = output.get("text")
    return text if output.get("output_type") == "stream" and isinstance(text, str) else ""
