"""One question of a magic and its answer, streamed into the cell, with the user's decisions.

Made by ``magics`` and the panel for each use. The turn runs on the server, so an interrupt has to
stop it there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from jupyter_ai_shoulders.client.approval_text import effects_line
from jupyter_ai_shoulders.client.client import Client
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.client.interrupts import defer_interrupt
from jupyter_ai_shoulders.client.lazy_imports import ev, wire
from jupyter_ai_shoulders.client.turn import Turn, waiting_text
from jupyter_ai_shoulders.client.turn_reader import Answer
from jupyter_ai_shoulders.wire.hidden_characters import visible

REFRESH_SECONDS = 0.1
"""Between two updates of a growing answer."""
_ASIDE = (
    "· The agent runs code in this kernel, which this cell would block, so the cell ends here. "
    "The conversation goes on in the side panel."
)


def notebook_context(client: Client) -> wire.MessageContext | None:
    """Return the context of a message from this kernel: its notebook."""
    notebook = client.notebook()
    if notebook is None:
        return None
    return wire.MessageContext(active_document=notebook, open_documents=(notebook,))


class TurnDisplay(Protocol):
    """The cell's output."""

    def show(self, text: str) -> None:
        """Show the answer so far."""
        ...

    def write_line(self, line: str) -> None:
        """Print a line."""
        ...

    def ask(self, prompt: str, *, password: bool = False) -> str:
        """Ask the user for input."""
        ...


class MagicTurn:
    """Starts a turn and follows it until it ends."""

    def __init__(
        self,
        start: Callable[[], Turn],
        screen: TurnDisplay,
        kernel_id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``start`` sends the message.

        ``kernel_id`` names this kernel, which waits for the answer and can do nothing else.
        """
        self.moved_to_panel = False
        """Whether the turn needs the kernel that we block: it continues in the panel."""
        self._start = start
        self._screen = screen
        self._kernel_id = kernel_id
        self._clock = clock
        self._texts: list[str] = []
        self._shown_at = float("-inf")

    def answer(self) -> Answer:
        """Return the answer, or the partial one of a turn that continues in the panel.

        Raises ``ClientError``, and ``KeyboardInterrupt`` once the turn is stopped.
        """
        turn: Turn | None = None
        try:
            with defer_interrupt() as held:
                turn = self._start()
            if held.received:
                raise KeyboardInterrupt
            self._follow(turn)
        except KeyboardInterrupt:
            if turn is not None:
                turn.cancel()
                self._screen.write_line("Stopped.")
            raise
        if self.moved_to_panel:
            self._screen.write_line(_ASIDE)
            return turn.so_far()
        return turn.outcome()

    def _follow(self, turn: Turn) -> None:
        while True:
            for event in turn:
                self._take(event)
                if isinstance(event, ev.ToolStart) and self._blocks(event):
                    self.moved_to_panel = True
                    return
            asked = turn.waits_for
            if asked is None:
                return
            self._decide(turn, asked)

    def _blocks(self, event: ev.ToolStart) -> bool:
        return event.kernel_id is not None and event.kernel_id == self._kernel_id

    def _take(self, event: ev.Event) -> None:
        match event:
            case ev.TextStart():
                self._texts.append("")
            case ev.TextDelta() if self._texts:
                self._texts[-1] += event.text
                self._refresh()
            case ev.ToolCall():
                target = f" · {event.target}" if event.target else ""
                self._screen.write_line(f"· {event.title}{target}")
            case ev.RetryWait():
                self._screen.write_line(
                    f"· {event.reason} Next try in {event.delay_ms / 1000:.0f} s."
                )
            case ev.Notice() if event.level != "info":
                self._screen.write_line(f"· {event.text}")
            case _:
                pass

    def _refresh(self) -> None:
        now = self._clock()
        if now - self._shown_at >= REFRESH_SECONDS:
            self._shown_at = now
            self._screen.show("\n\n".join(filter(None, self._texts)))

    def _decide(self, turn: Turn, question: ev.Event) -> None:
        """Ask the user for the decision that the turn waits for. Raises ``ClientError`` where
        nobody can be asked.
        """
        match question:
            case ev.ApprovalRequest():
                self._approve(turn, question)
            case ev.ClarifyRequest():
                self._clarify(turn, question)
            case ev.StdinRequest():
                turn.reply(self._screen.ask(question.prompt, password=question.password))
            case _:
                raise ClientError(f"{waiting_text(question)} The side panel offers what to do.")

    def _approve(self, turn: Turn, question: ev.ApprovalRequest) -> None:
        preview = visible(question.preview or str(question.arguments))
        said = (visible(question.reason.text), preview, effects_line(question))
        self._screen.write_line("\n\n".join(part for part in said if part) + "\n")
        answer = self._screen.ask(f"Allow {question.tool}? [y/N, or what to do instead] ").strip()
        if answer.lower() in {"y", "yes"}:
            turn.allow()
        else:
            turn.deny(None if answer.lower() in {"", "n", "no"} else answer)

    def _clarify(self, turn: Turn, question: ev.ClarifyRequest) -> None:
        choices = [f"{number}. {option}" for number, option in enumerate(question.options, 1)]
        self._screen.write_line("\n".join([question.question, *choices]))
        answer = ""
        while not answer:
            answer = self._screen.ask("Your answer: ").strip()
        turn.reply(*_picked(answer, question))


def _picked(answer: str, question: ev.ClarifyRequest) -> tuple[str, ...]:
    """Return the options picked by number, else the answer verbatim."""
    numbers = answer.replace(",", " ").split()
    if not question.options or not all(each.isdecimal() for each in numbers):
        return (answer,)
    chosen = [
        question.options[int(each) - 1]
        for each in numbers
        if 0 < int(each) <= len(question.options)
    ]
    if len(chosen) != len(numbers) or (len(chosen) > 1 and not question.allow_multiple):
        return (answer,)
    return tuple(dict.fromkeys(chosen))
