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
"""Cells remembered; the one that ran longest ago is forgotten first."""
VERSION = 1
_BEGAN, _ENDED = "iopub.execute_input", "shell.execute_reply"
"""Times the lab writes to a cell's ``metadata.execution`` when it records timing."""


class TextFile(Protocol):
    """One small file; implemented by ``storage.state_file``."""

    def read(self) -> str | None:
        """Return the text, None when there is no file. Raises ``StateUnavailable``."""
        ...

    def write(self, text: str) -> None:
        """Replace the file whole. Raises ``StateUnavailable``."""
        ...


class RunDurations:
    """The last duration of each cell, in milliseconds; without a file for this process alone."""

    def __init__(self, file: TextFile | None = None) -> None:
        self._file = file
        self._times: dict[str, int] | None = None
        self._lock = asyncio.Lock()

    async def record(self, path: str, cell_id: CellId, duration_ms: int) -> None:
        """Remember how long a cell took. What cannot be stored is forgotten with the process."""
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
        """Return how long the cell took last time; None when that is not known, or was short."""
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
    """Return how long the user's last run took, where the lab wrote it to the cell."""
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
    """Return a duration as people say it: ``25 s``, ``41 min``, ``2 h 5 min``."""
    seconds = round(duration_ms / 1000)
    if seconds < 120:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    parts = ((hours, "h"), (rest, "min"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


def _key(path: str, cell_id: CellId) -> str:
    return f"{path}#{cell_id}"
