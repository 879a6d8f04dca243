"""Bounded buffer for a command's output: head, tail and live output.

Used by ``tools.commands.run_command``. The buffered text is the result, which
``engine.calls.output_truncation`` truncates for the model and stores under a handle.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from jupyter_ai_shoulders.guard.process.program import Channel, OutputChunk
from jupyter_ai_shoulders.notebook.outputs.stream_text import StreamText
from jupyter_ai_shoulders.tools.base import Progress

HEAD_LIMIT = 768 * 1024
TAIL_LIMIT = 256 * 1024
"""Characters kept of the beginning and of the end."""
LIVE_LIMIT = 256 * 1024
"""Characters shown live; beyond that only the amount is shown."""
STATUS_SECONDS = 2.0


class CommandOutput:
    """The output of one command: both channels, in order of arrival."""

    def __init__(self) -> None:
        self._decoders = {
            channel: codecs.getincrementaldecoder("utf-8")("replace") for channel in _CHANNELS
        }
        self._head = ""
        self._tail = ""
        self._length = 0
        self._told_at = 0.0

    @property
    def length(self) -> int:
        """The number of characters received."""
        return self._length

    def add(self, output: OutputChunk, now: float) -> Iterator[Progress]:
        """Add a piece; yield the part to show live. ``now`` in monotonic seconds."""
        text = self._decoders[output.channel].decode(output.data)
        shown = text[: max(0, LIVE_LIMIT - self._length)]
        self._keep(text)
        if shown:
            yield Progress(output.channel, shown)
        elif now - self._told_at >= STATUS_SECONDS:
            self._told_at = now
            yield Progress("status", f"{self._length / 2**20:.1f} MiB of output")

    def text(self) -> str:
        """Return the buffered text, as a terminal would show it."""
        left_out = self._length - len(self._head) - len(self._tail)
        if left_out <= 0:
            return _rendered(self._head + self._tail)
        gap = f"\n[… {left_out} characters left out; they are not kept …]\n"
        return f"{_rendered(self._head)}{gap}{_rendered(self._tail)}"

    def _keep(self, text: str) -> None:
        self._length += len(text)
        room = HEAD_LIMIT - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if len(self._tail) + len(text) > 2 * TAIL_LIMIT:
            self._tail = (self._tail + text)[-TAIL_LIMIT:]
        else:
            self._tail += text


_CHANNELS: tuple[Channel, ...] = ("stdout", "stderr")


def _rendered(text: str) -> str:
    r"""Return text with ``\r`` and ``\b`` applied, so that a progress bar is one line."""
    if "\r" not in text and "\b" not in text:
        return text
    stream = StreamText()
    stream.write(text.replace("\r\n", "\n"))
    return str(stream)
