"""The output of a running cell, as bounded text for the conversation.

Used by ``notebook.execution.cell_runner``. The cell shows everything; the conversation keeps the
beginning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from jupyter_ai_shoulders.notebook.base import RunProgress

TEXT_LIMIT = 20_000
"""Characters of one run that enter the conversation while it runs."""
LINE_LIMIT = 200
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

Channel = Literal["stdout", "stderr", "output", "status"]


class RunLog:
    """Coalesces output since the last call, per channel and in order."""

    def __init__(self, limit: int = TEXT_LIMIT) -> None:
        self._room = limit
        self._pieces: list[tuple[Channel, str]] = []

    def add_output(self, output: Mapping[str, Any]) -> None:
        """Add an output in nbformat's form."""
        if self._room <= 0:
            return
        match output["output_type"]:
            case "stream":
                text = _terminal_text(str(output["text"])[: self._room * 2])
                self._add("stderr" if output["name"] == "stderr" else "stdout", text)
            case "error":
                self._add("output", f"{output['ename']}: {output['evalue']}\n")
            case _:
                self._add("output", _one_line(output["data"]) + "\n")

    def add_status(self, text: str) -> None:
        """Add a remark about the run itself; always kept."""
        self._pieces.append(("status", text))

    def take(self) -> list[RunProgress]:
        """Return the output since the last call."""
        merged: list[tuple[Channel, list[str]]] = []
        for channel, text in self._pieces:
            if not merged or merged[-1][0] != channel or channel == "status":
                merged.append((channel, []))
            merged[-1][1].append(text)
        self._pieces = []
        return [RunProgress(channel, "".join(texts)) for channel, texts in merged]

    def _add(self, channel: Channel, text: str) -> None:
        if not text:
            return
        self._pieces.append((channel, text[: self._room]))
        self._room -= len(text)
        if self._room <= 0:
            self.add_status("More output follows; it is in the cell.")


def _terminal_text(text: str) -> str:
    """Return text without colours and without the parts that a carriage return overwrote."""
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    return "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))


def _one_line(data: Mapping[str, Any]) -> str:
    image = next((kind for kind in data if kind.startswith("image/")), None)
    if image is not None:
        return f"[{image}]"
    text = data.get("text/plain")
    if isinstance(text, str) and text:
        first, _, rest = text.partition("\n")
        return first[:LINE_LIMIT] + (" …" if rest or len(first) > LINE_LIMIT else "")
    return f"[{', '.join(data) or 'empty output'}]"
