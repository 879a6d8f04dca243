"""Reduces a turn's events to its answer, and to whether it waits for the user. Pure.

Fed by ``turn`` with a server's stream, and by the command line with an engine's own events.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.client.lazy_imports import ev, wire
from jupyter_ai_shoulders.wire.hidden_characters import legible
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, PartId, SessionId, TurnId

PAUSES = frozenset({"turn_limit", "session_limit", "compaction_ask"})
"""Codes of notices that stop a turn until the user decides."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a turn ended, and the model's last text."""

    session_id: SessionId
    turn_id: TurnId | None
    text: str
    """Text of the last step that has one; Markdown."""
    exit: ev.Exit | None
    """None while the turn is open."""
    summary: str | None
    """The model's summary, if it ended the turn with ``complete``."""
    question: str | None
    """The model's question, if nobody could be asked."""
    denied: bool
    """Whether a call was refused because nobody could approve it."""
    error: wire.ErrorInfo | None
    cost_micro_usd: int | None
    """None when a price is unknown, or no model was called."""

    def __str__(self) -> str:
        return self.text or self.summary or self.question or ""

    def _repr_markdown_(self) -> str:
        return legible(str(self))


class TurnReader:
    """Follows the turn of one message, or the open one."""

    def __init__(self, session_id: SessionId, message_id: MessageId | None = None) -> None:
        """Events before the message are skipped; without a message all are taken."""
        self.session_id = session_id
        self.waits_for: wire.Question | ev.Notice | None = None
        self.ended: ev.TurnEnd | None = None
        self.interrupted = False
        self.turn_id: TurnId | None = None
        self._message_id = message_id
        self._started = message_id is None
        self._texts: dict[PartId, str] = {}
        self._step: dict[PartId, str] = {}
        self._questions: dict[CallId, str] = {}
        self._denied = False
        self._cost: int | None = None
        self._priced = True

    def take(self, event: ev.Event) -> bool:
        """Process an event; return whether it belongs to the turn."""
        if not self._started:
            self._started = (
                isinstance(event, ev.MessageAdd) and event.message_id == self._message_id
            )
        if self._started and self.ended is None:
            self._take(event)
        return self._started

    def answer(self) -> Answer:
        """Return the answer so far."""
        end = self.ended
        return Answer(
            session_id=self.session_id,
            turn_id=self.turn_id,
            text="\n\n".join(filter(None, (self._step or self._texts).values())),
            exit=None if end is None else end.exit,
            summary=None if end is None else end.summary,
            question=next(reversed(self._questions.values()), None),
            denied=self._denied,
            error=None if end is None else end.error,
            cost_micro_usd=self._cost if self._priced else None,
        )

    def _take(self, event: ev.Event) -> None:
        self.turn_id = event.turn_id or self.turn_id
        match event:
            case ev.StepStart():
                self._texts, self._step = self._step or self._texts, {}
            case ev.TextDelta():
                self._step[event.part_id] = self._step.get(event.part_id, "") + event.text
            case ev.UsageUpdate():
                self._priced = self._priced and event.cost_micro_usd is not None
                self._cost = (self._cost or 0) + (event.cost_micro_usd or 0)
            case ev.TurnEnd():
                self.ended, self.waits_for = event, None
            case ev.TurnStart() | ev.TurnResume():
                self.interrupted = False
            case ev.SessionUpdate():
                self.interrupted = event.session.status == "interrupted"
            case _:
                self._take_call(event)

    def _take_call(self, event: ev.Event) -> None:
        match event:
            case ev.ApprovalRequest() | ev.ClarifyRequest() | ev.StdinRequest():
                self.waits_for = event
            case ev.ApprovalAnswer() | ev.ClarifyAnswer() | ev.StdinAnswer():
                self.waits_for = None
            case ev.Notice() if event.code in PAUSES:
                self.waits_for = event
            case ev.ToolCall() if event.tool == "clarify" and event.arguments is not None:
                self._questions[event.call_id] = str(event.arguments.get("question", ""))
            case ev.ToolResult():
                self._take_result(event)
            case _:
                pass

    def _take_result(self, event: ev.ToolResult) -> None:
        error = event.result.error
        self._denied = self._denied or (error is not None and error.code == "approval_required")
        if event.tool == "clarify" and event.status != "ok":
            self._questions.pop(event.call_id, None)
