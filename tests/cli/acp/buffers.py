"""Text buffers of an editor, unsaved text included."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from acp import RequestError

from jupyter_ai_shoulders.core.text_merge import merge_texts


@dataclass
class Buffers:
    """Reads and writes as Zed does: typing since the last read is kept, the rest replaced."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Buffers by absolute path; other files are loaded from the disk."""
    saves: bool = False
    """Whether a write is saved."""
    refuses: frozenset[str] = frozenset()
    """Kinds of requests that are refused: ``read``, ``write``."""
    hangs: frozenset[str] = frozenset()
    """Kinds of requests that are never answered."""
    typed: Callable[[str], str] | None = None
    """What the user types directly before the next write arrives."""
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    started: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a request hangs."""
    _read: dict[str, str] = field(default_factory=dict[str, str])

    async def read(self, path: str) -> str:
        """Return a buffer, or a file."""
        await self._begin("read", path)
        if path not in self.texts:
            self.texts[path] = _loaded(path)
        self._read[path] = self.texts[path]
        return self.texts[path]

    async def write(self, path: str, content: str) -> None:
        """Replace a buffer."""
        if self.typed is not None:
            self.texts[path], self.typed = self.typed(self.texts[path]), None
        await self._begin("write", path)
        merged = merge_texts(self._read[path], self.texts[path], content)
        assert merged is not None
        self.texts[path] = merged
        if self.saves:
            _save(path, merged)

    async def _begin(self, kind: str, path: str) -> None:
        self.asked.append((kind, Path(path).name))
        if kind in self.hangs:
            self.started.set()
            await asyncio.Event().wait()
        if kind in self.refuses:
            raise RequestError(-32603, f"no {kind} today")


def _loaded(path: str) -> str:
    try:
        return Path(path).read_bytes().decode()
    except FileNotFoundError as error:
        raise RequestError.resource_not_found(path) from error


def _save(path: str, text: str) -> None:
    Path(path).write_bytes(text.encode())
