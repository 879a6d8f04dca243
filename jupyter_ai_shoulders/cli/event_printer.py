"""Writes a run's events to the terminal, or as JSON for scripts. Made by ``run``."""

from __future__ import annotations

from jupyter_ai_shoulders.cli.default_model import DEMO
from jupyter_ai_shoulders.cli.output import StreamedAnswer, write_error, write_json, write_out
from jupyter_ai_shoulders.wire import events as ev

_DEMO_NOTE = "This is the demo, not an AI model. To see other models: jupyter shoulders models"
_MODEL_REPLACED = "model_replaced"
"""Notice that another model answers than the requested one; always shown."""


class Printer:
    """Prints the answer to standard output, progress to standard error."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._answer = StreamedAnswer()
        self._quiet = quiet
        self._open = False

    def take(self, event: ev.Event) -> None:
        """Print an event."""
        match event:
            case ev.TextStart():
                self._answer = StreamedAnswer()
            case ev.TextDelta():
                self._answer.write(event.text)
                self._open = True
            case ev.TextEnd() | ev.TurnEnd():
                self._close_line()
            case ev.TurnStart() if event.provider == DEMO:
                write_error(f"· {_DEMO_NOTE}\n")
            case ev.ToolCall():
                self._note(event.title + (f" · {event.target}" if event.target else ""))
            case ev.ToolResult() if event.result.error is not None:
                self._note(f"{event.tool}: {event.result.error.message}")
            case ev.RetryWait():
                self._note(f"{event.reason} Next try in {event.delay_ms / 1000:.0f} s.")
            case _:
                self._take_note(event)

    def _take_note(self, event: ev.Event) -> None:
        match event:
            case ev.Notice() if event.code == _MODEL_REPLACED:
                write_error(f"· {event.text}\n")
            case ev.Notice():
                self._note(event.text)
            case ev.AgentActivity():
                self._activity(event)
            case _:
                pass

    def _activity(self, event: ev.AgentActivity) -> None:
        if event.status in {"pending", "failed"}:
            self._note(f"Failed: {event.title}" if event.status == "failed" else event.title)

    def _note(self, text: str) -> None:
        if not self._quiet:
            self._close_line()
            write_error(f"· {text}\n")

    def _close_line(self) -> None:
        if self._open:
            self._open = False
            write_out("\n")


class JsonPrinter:
    """Prints one event per line as JSON."""

    def take(self, event: ev.Event) -> None:
        """Print an event."""
        write_json(event.model_dump(mode="json", by_alias=True), indent=None)
