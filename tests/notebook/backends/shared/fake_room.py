"""A collaboration room over a real document, and a page that follows it as the lab does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from jupyter_ydoc import YNotebook
from pycrdt import Array, ArrayEvent, Map, TextEvent

from jupyter_ai_shoulders.notebook.backends.shared.rooms import Room
from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import ycells_of


def notebook_of(*cells: dict[str, Any]) -> dict[str, Any]:
    """A notebook's JSON."""
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"language": "x"}, "cells": [*cells]}


def code(cell_id: str, source: str = "", *outputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A code cell's JSON."""
    return {
        "id": cell_id,
        "cell_type": "code",
        "metadata": {},
        "source": source,
        "execution_count": None,
        "outputs": [*outputs],
        **more,
    }


def prose(cell_id: str, source: str = "", **more: Any) -> dict[str, Any]:
    """A markdown cell's JSON."""
    return {"id": cell_id, "cell_type": "markdown", "metadata": {}, "source": source, **more}


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    """A stream output's JSON."""
    return {"output_type": "stream", "name": name, "text": text}


def document_of(*cells: dict[str, Any]) -> YNotebook:
    """A shared document of a notebook, as a room loads it."""
    document = YNotebook()
    document.set(notebook_of(*cells))
    return document


def twin(document: YNotebook) -> YNotebook:
    """Return a synchronised copy of the document."""
    other = YNotebook()
    other.ydoc.apply_update(document.ydoc.get_update())
    return other


def sync(one: YNotebook, other: YNotebook) -> None:
    """Exchange the changes of two documents."""
    for source, target in ((one, other), (other, one)):
        target.ydoc.apply_update(source.ydoc.get_update(target.ydoc.get_state()))


def ycell(document: YNotebook, cell_id: str) -> Map[Any]:
    """A cell of the document."""
    return next(cell for cell in ycells_of(document) if cell["id"] == cell_id)


@dataclass
class FakeRoom:
    """A room that saves on demand."""

    id: str
    path: str | None
    document: YNotebook
    file: Path
    has_pages: bool = True
    is_open: bool = True
    is_settled: bool = True
    loaded: asyncio.Event = field(default_factory=asyncio.Event)
    saves: int = 0
    on_save: Callable[[], object] | None = None
    """Replaces a save."""

    async def settle(self) -> None:
        """See ``Room.settle``."""
        if not self.is_settled:
            await self.loaded.wait()

    async def save(self) -> None:
        """See ``Room.save``."""
        self.saves += 1
        if self.on_save is not None:
            self.on_save()
            return
        written = self.file.with_suffix(".new")
        written.write_text(nbformat.writes(nbformat.from_dict(self.document.get())))
        written.replace(self.file)
        self.document.dirty = False


@dataclass
class FakeRooms:
    """The rooms of a server."""

    rooms: list[FakeRoom] = field(default_factory=list[FakeRoom])
    available: bool = True

    def all(self) -> Sequence[Room]:
        """See ``Rooms.all``."""
        return [room for room in self.rooms if room.is_open]


@dataclass
class OutputArea:
    """The outputs of a cell that JupyterLab shows when others write them.

    After ``CodeCellModel._onSharedModelChanged`` and ``OutputAreaModel`` (JupyterLab 4.6): of one
    change the first one to a stream counts, and only for the last output; an inserted output comes
    last, and joins a stream of the name that was added last.
    """

    cell: Map[Any]
    shown: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    last_stream: str = ""

    def __post_init__(self) -> None:
        outputs: Array[Any] = self.cell["outputs"]
        for output in outputs.to_py() or []:
            self._add(output)
        self.cell.observe_deep(self._changed)

    def _changed(self, events: list[Any]) -> None:
        streams = [e for e in events if isinstance(e, TextEvent) and e.path[:1] == ["outputs"]]
        for part in streams[0].delta if streams else []:
            self._stream(part)
        lists = [e for e in events if isinstance(e, ArrayEvent) and e.path == ["outputs"]]
        position = 0
        for part in lists[0].delta if lists else []:
            position += part.get("retain", 0)
            for _ in range(part.get("delete", 0)):
                del self.shown[position]
            for output in part.get("insert", []):
                self._add(output.to_py())

    def _stream(self, part: dict[str, Any]) -> None:
        last = self.shown[-1]
        if "delete" in part:
            encoded = last["text"].encode()
            last["text"] = encoded[: len(encoded) - part["delete"]].decode()
        last["text"] += part.get("insert", "")

    def _add(self, output: dict[str, Any]) -> None:
        name = output.get("name", "")
        if name and name == self.last_stream and self.shown:
            self.shown[-1]["text"] += output["text"]
        else:
            self.shown.append(output)
        self.last_stream = name
