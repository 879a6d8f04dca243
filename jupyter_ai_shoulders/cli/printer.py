"""Writes a run's events to the terminal, or as JSON for scripts. Made by ``run``."""

from __future__ import annotations

import json
from typing import TextIO

from jupyter_ai_shoulders.cli.demo import DEMO
from jupyter_ai_shoulders.wire import events as ev

_DEMO_NOTE = "The demo answers, which is no AI model. jupyter shoulders models says what else can."
_CONTROLS = (*range(9), *range(11, 32), *range(127, 160))
"""All but tab and line feed."""
_HIDDEN = {code: f"\\x{code:02x}" for code in _CONTROLS}


class Printer:
    """The answer goes to ``out``; what happens on the way to ``log``, so that pipes stay clean."""

    def __init__(self, out: TextIO, log: TextIO, *, quiet: bool = False) -> None:
        self._out = out
        self._log = log
        self._quiet = quiet
        self._open = False

    def take(self, event: ev.Event) -> None:
        """Show an event."""
        match event:
            case ev.TextDelta():
                self._out.write(plain(event.text))
                self._out.flush()
                self._open = True
            case ev.TextEnd() | ev.TurnEnd():
                self._close_line()
            case ev.TurnStart() if event.provider == DEMO:
                self._log.write(f"· {_DEMO_NOTE}\n")
            case ev.ToolCall():
                self._note(event.title + (f" · {event.target}" if event.target else ""))
            case ev.ToolResult() if event.result.error is not None:
                self._note(f"{event.tool}: {event.result.error.message}")
            case ev.RetryWait():
                self._note(f"{event.reason} Next try in {event.delay_ms / 1000:.0f} s.")
            case ev.Notice():
                self._note(event.text)
            case _:
                pass

    def _note(self, text: str) -> None:
        if not self._quiet:
            self._close_line()
            self._log.write(f"· {plain(text)}\n")
            self._log.flush()

    def _close_line(self) -> None:
        if self._open:
            self._open = False
            self._out.write("\n")
            self._out.flush()


class JsonPrinter:
    """One event a line."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def take(self, event: ev.Event) -> None:
        """Write an event."""
        self._out.write(json.dumps(event.model_dump(mode="json", by_alias=True)) + "\n")
        self._out.flush()


def plain(text: str) -> str:
    """Return text that cannot steer a terminal: control characters as codes."""
    return text.translate(_HIDDEN)
