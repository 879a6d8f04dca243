"""Durations of the last cell runs, for the approval of the next run.

Recorded by ``tools.notebook.run`` for the agent's runs and stored in the state directory; durations
of the user's runs come from the timing the lab records in the cell. Short ones are omitted.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol, cast

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

log = logging.getLogger(__name__)

NOTABLE_MS = 10_000
MAX_CELLS = 1_000
"""Most cells remembered; the one that ran longest ago is forgotten first."""
VERSION = 1
_BEGAN, _ENDED = "iopub.execute_input", "shell.execute_reply"
"""Timestamps in a cell's ``metadata.execution``, written by JupyterLab when it records timing."""


class TextFile(Protocol):
    """A small text file; implemented by ``storage.state_file``."""

    def read(self) -> str | None:
        """Return the text, None if the file does not exist. Raises ``StateUnavailable``."""
        ...

    def write(self, text: str) -> None:
        """Replace the whole file. Raises ``StateUnavailable``."""
        ...


class RunDurations:
    """The last duration of each cell, in milliseconds; without a file, in memory only."""

    def __init__(self, file: TextFile | None = None) -> None:
        self._file = file
        self._times: dict[str, int] | None = None
        self._lock = asyncio.Lock()

    async def record(self, path: str, cell_id: CellId, duration_ms: int) -> None:
        """Record the duration of a cell's run. If it cannot be stored, it is kept in memory."""
        async with self._lock:
            times = await self._load()
            key = _key(path, cell_id)
            if duration_ms < NOTABLE_MS and key not in times:
                return
            times.pop(key, None)
            if duration_ms >= NOTABLE_MS:
                times[key] = duration_ms
            for old in list(times)[: max(len(times) - MAX_CELLS, 0)]:
                del times[old]
            await self._store(times)

    async def last(self, path: str, cell: NotebookCell) -> int | None:
        """Return the duration of the cell's last run; None if unknown or short."""
        async with self._lock:
            noted = (await self._load()).get(_key(path, cell.id))
        recorded = lab_recorded_ms(cell.metadata)
        return noted if noted is not None else recorded

    async def _load(self) -> dict[str, int]:
        if self._times is None:
            self._times = await asyncio.to_thread(self._read)
        return self._times

    def _read(self) -> dict[str, int]:
        try:
            kept: Any = json.loads((self._file.read() if self._file else None) or "{}")
            cells = cast("dict[str, Any]", kept["cells"]) if kept["version"] == VERSION else {}
        except (ShouldersError, ValueError, KeyError, TypeError):
            return {}
        return {key: ms for key, ms in cells.items() if isinstance(ms, int)}

    async def _store(self, times: Mapping[str, int]) -> None:
        if self._file is None:
            return
        text = json.dumps({"version": VERSION, "cells": dict(times)}, ensure_ascii=False)
        try:
            await asyncio.to_thread(self._file.write, text)
        except ShouldersError:
            log.info("How long a cell took was not stored", exc_info=True)


def lab_recorded_ms(metadata: Mapping[str, Any]) -> int | None:
    """Return the duration of the user's last run, if JupyterLab recorded it in the cell."""
    execution = metadata.get("execution")
    if not isinstance(execution, dict):
        return None
    known = cast("dict[str, Any]", execution)
    try:
        began, ended = (datetime.fromisoformat(str(known[name])) for name in (_BEGAN, _ENDED))
        took = round((ended - began).total_seconds() * 1000)
    except (KeyError, ValueError, TypeError):
        return None
    return took if took >= NOTABLE_MS else None


def duration_text(duration_ms: int) -> str:
    """Return a duration in words: ``25 s``, ``41 min``, ``2 h 5 min``."""
    seconds = round(duration_ms / 1000)
    if seconds < 120:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    parts = ((hours, "h"), (rest, "min"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


def _key(path: str, cell_id: CellId) -> str:
    return f"{path}#{cell_id}"
