"""The outputs of one running cell, as they will be stored in the notebook, within limits.

Filled by ``notebook.kernels.execute_request`` from nbclient's processed messages; read by
``notebook.execution.cell_runner``, which sends changes to the pages and stores all outputs at the
end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_ai_shoulders.notebook.outputs.stream_text import StreamText
from jupyter_ai_shoulders.wire.base import Json, JsonObject


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """Limits of one run: characters of streams and of rich outputs, number of outputs.

    Three quarters are for the head; beyond that the head stays, and the newest quarter is kept.
    """

    text: int = 1_000_000
    rich: int = 48_000_000
    count: int = 2_000

    def head(self) -> OutputLimits:
        """Return the share of the beginning."""
        return OutputLimits(self.text * 3 // 4, self.rich * 3 // 4, self.count * 3 // 4)

    def tail(self) -> OutputLimits:
        """Return the share of the end."""
        return OutputLimits(self.text // 4, self.rich // 4, self.count // 4)


@dataclass(frozen=True, slots=True)
class OutputChange:
    """The outputs from position ``index`` on; ``size`` is in characters."""

    index: int
    outputs: tuple[JsonObject, ...]
    size: int


@dataclass(eq=False, slots=True)
class _Stream:
    name: str
    position: int
    text: StreamText = field(default_factory=StreamText)

    @property
    def size(self) -> int:
        return len(self.text)

    def rendered(self) -> JsonObject:
        return {"output_type": "stream", "name": self.name, "text": str(self.text)}


@dataclass(eq=False, slots=True)
class _Rich:
    output: JsonObject
    size: int
    position: int
    display_id: str | None

    def rendered(self) -> JsonObject:
        return self.output


class OutputCollector:
    """Adds, clears and updates outputs as the lab's output area does, and tracks changes."""

    def __init__(self, limits: OutputLimits | None = None) -> None:
        limits = limits or OutputLimits()
        self._head_limits, self._tail_limits = limits.head(), limits.tail()
        self._dirty: int | None = None
        self._reset()

    def _reset(self) -> None:
        self._head: list[_Stream | _Rich] = []
        self._tail: deque[_Stream | _Rich] = deque()
        self._displays: dict[str, list[_Rich]] = {}
        self._head_text = self._head_rich = self._tail_text = self._tail_rich = 0
        self._overflowing = False
        self._omitted_text = self._omitted_outputs = 0

    @property
    def omitted(self) -> str | None:
        """A notice about the text omitted between head and tail; None when nothing was."""
        counts = (("character", self._omitted_text), ("output", self._omitted_outputs))
        parts = [f"{count:,} {noun}{'s' * (count != 1)}" for noun, count in counts if count]
        return " and ".join(parts) or None

    def add(self, output: Mapping[str, Any], display_id: str | None = None) -> None:
        """Append an output in nbformat's form; text of one stream is joined."""
        if output["output_type"] == "stream":
            self._add_stream(str(output["name"]), str(output["text"]))
        else:
            self._add_rich(plain_output(output), display_id)

    def clear(self) -> None:
        """Remove all outputs."""
        self._reset()
        self._dirty = 0

    def update_display(self, display_id: str, output: Mapping[str, Any]) -> None:
        """Give every output shown under ``display_id`` new data and metadata."""
        fresh = plain_output(output)
        for entry in self._displays.get(display_id, ()):
            entry.output = {
                **entry.output,
                "data": fresh["data"],
                "metadata": fresh["metadata"],
            }
            self._resize(entry, output_size(fresh))
            self._touch(entry.position)

    def outputs(self) -> tuple[JsonObject, ...]:
        """Return all current outputs."""
        return tuple(entry.rendered() for entry in self._joined())

    def displays(self) -> list[tuple[str, int, JsonObject]]:
        """Return the displays: id, position, output."""
        return [
            (entry.display_id, index, entry.output)
            for index, entry in enumerate(self._joined() if self._displays else ())
            if isinstance(entry, _Rich) and entry.display_id is not None
        ]

    def take_change(self) -> OutputChange | None:
        """Return the change since the last call; None when there is none."""
        if self._dirty is None:
            return None
        entries = self._joined()[self._dirty :]
        change = OutputChange(
            self._dirty,
            tuple(entry.rendered() for entry in entries),
            sum(entry.size for entry in entries),
        )
        self._dirty = None
        return change

    def _add_stream(self, name: str, text: str) -> None:
        if not self._overflowing:
            room = self._head_limits.text - self._head_text
            text = self._write_head(name, text, room)
        if text:
            self._write_tail(name, text)

    def _write_head(self, name: str, text: str, room: int) -> str:
        """Write to the head up to its limit; return the rest."""
        entry = _open_stream(self._head, name)
        if entry is None:
            if len(self._head) >= self._head_limits.count or room <= 0:
                self._overflowing = True
                return text
            entry = _Stream(name, len(self._head))
            self._head.append(entry)
        before = entry.size
        entry.text.write(text[:room])
        self._head_text += entry.size - before
        self._touch(entry.position)
        self._overflowing = len(text) > room
        return text[room:]

    def _write_tail(self, name: str, text: str) -> None:
        entry = _open_stream(self._tail, name)
        if entry is None:
            entry = _Stream(name, len(self._head))
            self._tail.append(entry)
        before = entry.size
        entry.text.write(text)
        self._tail_text += entry.size - before
        self._trim()

    def _add_rich(self, output: JsonObject, display_id: str | None) -> None:
        size = output_size(output)
        entry = _Rich(output, size, len(self._head), display_id)
        fits = not self._head or (
            len(self._head) < self._head_limits.count
            and self._head_rich + size <= self._head_limits.rich
        )
        if fits and not self._overflowing:
            self._head.append(entry)
            self._head_rich += size
            self._touch(entry.position)
        else:
            self._overflowing = True
            self._tail.append(entry)
            self._tail_rich += size
            self._trim()
        if display_id is not None:
            self._displays.setdefault(display_id, []).append(entry)

    def _trim(self) -> None:
        limits = self._tail_limits
        while len(self._tail) > 1 and self._is_surplus(self._tail[0]):
            self._drop(self._tail.popleft())
        oldest = self._tail[0]
        if isinstance(oldest, _Stream) and self._tail_text > limits.text:
            dropped = oldest.text.drop_oldest(oldest.size - (self._tail_text - limits.text))
            self._tail_text -= dropped
            self._omitted_text += dropped
        self._touch(len(self._head))

    def _is_surplus(self, oldest: _Stream | _Rich) -> bool:
        """Return whether the tail is too long even without ``oldest``, or because of it."""
        excess = self._tail_text - self._tail_limits.text
        whole = not isinstance(oldest, _Stream) or oldest.size <= excess
        return (
            len(self._tail) > self._tail_limits.count
            or self._tail_rich > self._tail_limits.rich
            or (excess > 0 and whole)
        )

    def _drop(self, entry: _Stream | _Rich) -> None:
        if isinstance(entry, _Stream):
            self._tail_text -= entry.size
            self._omitted_text += entry.size
            return
        self._tail_rich -= entry.size
        self._omitted_outputs += 1
        if entry.display_id is not None:
            self._displays[entry.display_id].remove(entry)

    def _resize(self, entry: _Rich, size: int) -> None:
        if entry in self._tail:
            self._tail_rich += size - entry.size
        else:
            self._head_rich += size - entry.size
        entry.size = size

    def _touch(self, position: int) -> None:
        # Beyond the head, the notice and a stream that continues from the head change too.
        if self._overflowing:
            position = min(position, max(0, len(self._head) - 1))
        self._dirty = position if self._dirty is None else min(self._dirty, position)

    def _joined(self) -> list[_Stream | _Rich]:
        """Return head, notice and tail; a stream cut only by the border is joined again."""
        if self.omitted is not None:
            return [*self._head, _notice(self.omitted, len(self._head)), *self._tail]
        entries = [*self._head]
        for entry in self._tail:
            last = entries[-1] if entries else None
            if isinstance(entry, _Stream) and isinstance(last, _Stream) and last.name == entry.name:
                entries[-1] = _run_together(last, entry)
            else:
                entries.append(entry)
        return entries


def plain_output(output: Mapping[str, Any]) -> JsonObject:
    """Return an nbformat output as plain dicts and lists."""
    return cast("JsonObject", _plain(output))


def output_size(output: JsonObject) -> int:
    """Return about how many characters an output takes."""
    return _size(output)


def _plain(value: Any) -> Json:
    match value:
        case Mapping():
            pairs = cast("Mapping[str, Any]", value).items()
            return {str(key): _plain(item) for key, item in pairs}
        case list() | tuple():
            return [_plain(item) for item in cast("Iterable[Any]", value)]
        case _:
            return value


def _size(value: Json) -> int:
    match value:
        case str():
            return len(value)
        case dict():
            return sum(len(key) + _size(item) for key, item in value.items())
        case list():
            return sum(_size(item) + 1 for item in value)
        case _:
            return 8


def _open_stream(
    entries: list[_Stream | _Rich] | deque[_Stream | _Rich], name: str
) -> _Stream | None:
    last = entries[-1] if entries else None
    return last if isinstance(last, _Stream) and last.name == name else None


def _run_together(first: _Stream, second: _Stream) -> _Stream:
    joined = _Stream(first.name, first.position)
    joined.text.write(str(first.text))
    joined.text.write(str(second.text))
    return joined


def _notice(omitted: str, position: int) -> _Rich:
    text = f"… {omitted} left out here: the output was too long to keep …"
    output: JsonObject = {
        "output_type": "display_data",
        "data": {"text/plain": text},
        "metadata": {},
    }
    return _Rich(output, len(text), position, None)
