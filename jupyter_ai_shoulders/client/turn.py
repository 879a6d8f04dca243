"""A turn for its caller: event by event, or its answer. Made by ``client``."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.client.errors import BudgetReached, TurnFailed, Waiting, describe_error
from jupyter_ai_shoulders.client.lazy_imports import ev, wire
from jupyter_ai_shoulders.client.turn_reader import Answer, TurnReader
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId

_ANSWERED = frozenset({"final_response", "ended_by_tool", "step_cap"})
_MESSAGES = {
    "cancelled": "The turn was cancelled.",
    "tool_rejected": "The turn ended because a call was refused.",
    "interrupted": "The turn was interrupted and discarded.",
}


class Turn:
    """One turn. Iterate for its events until it ends or waits for the user."""

    def __init__(
        self,
        connection: Connection,
        session_id: SessionId,
        after: int,
        message_id: MessageId | None = None,
        *,
        patient: bool = False,
        known: int = 0,
    ) -> None:
        """``patient``: continue while the turn waits; somebody else answers, in the side panel.

        Events up to ``known`` are past: what waited then may be answered already.
        """
        self.session_id = session_id
        self._connection = connection
        self._reader = TurnReader(session_id, message_id)
        self._patient = patient
        self._after = after
        self._known = known

    @property
    def waits_for(
        self,
    ) -> ev.ApprovalRequest | ev.ClarifyRequest | ev.StdinRequest | ev.Notice | None:
        """The request to the user that the turn waits for now, if any."""
        return self._reader.waits_for

    def __iter__(self) -> Iterator[ev.Event]:
        events = self._connection.events(self.session_id, self._after)
        try:
            yield from self._until_it_rests(events)
        finally:
            events.close()

    def allow(self, scope: ev.ApprovalScope = "once") -> None:
        """Allow the waiting call. Raises ``Refused``, also when it was already decided."""
        self._decide(wire.AnswerApproval(decision="allow", scope=scope))

    def deny(self, feedback: str | None = None) -> None:
        """Refuse the waiting call; ``feedback`` tells the model why."""
        self._decide(wire.AnswerApproval(decision="deny", feedback=feedback))

    def reply(self, *picks: str) -> None:
        """Answer the waiting question, or give waiting code its input."""
        asked = self._reader.waits_for
        if isinstance(asked, ev.StdinRequest):
            self._answer(f"stdin/{asked.call_id}", wire.AnswerInput(text="".join(picks)))
        elif isinstance(asked, ev.ClarifyRequest):
            answer = picks[0] if len(picks) == 1 else picks
            self._answer(f"clarifications/{asked.call_id}", wire.AnswerQuestion(answer=answer))
        else:
            raise ValueError("The turn asks no question now.")  # noqa: TRY004 no matter of types

    def cancel(self) -> None:
        """Stop the turn. Raises ``Refused``, ``Unreachable``."""
        self._connection.send("POST", f"sessions/{self.session_id}/cancel")

    def answer(self) -> Answer:
        """Follow the turn to its end and return the answer.

        Raises ``Waiting`` when it needs the user, ``BudgetReached``, ``TurnFailed``.
        """
        for _ in self:
            pass
        return self.outcome()

    def outcome(self) -> Answer:
        """Return the answer of a completed turn; raises as ``answer`` does."""
        reader = self._reader
        answer = reader.answer()
        if reader.waits_for is not None:
            raise Waiting(waiting_text(reader.waits_for), reader.waits_for)
        if answer.exit in _ANSWERED:
            return answer
        if answer.exit == "budget_exhausted":
            raise BudgetReached(failure_text(answer), answer)
        raise TurnFailed(failure_text(answer), answer)

    def so_far(self) -> Answer:
        """Return the answer so far, also of a turn that waits or failed."""
        return self._reader.answer()

    def _until_it_rests(self, events: Generator[ev.Event]) -> Iterator[ev.Event]:
        reader = self._reader
        if reader.ended is not None:
            return
        for event in events:
            self._after = event.seq
            if not reader.take(event):
                continue
            yield event
            if event.seq >= self._known and self._rests():
                return

    def _rests(self) -> bool:
        reader = self._reader
        over = reader.ended is not None or reader.interrupted
        return over or (reader.waits_for is not None and not self._patient)

    def _decide(self, command: wire.AnswerApproval) -> None:
        asked = self._reader.waits_for
        if not isinstance(asked, ev.ApprovalRequest):
            raise ValueError("No call waits for a decision now.")  # noqa: TRY004 no matter of types
        self._answer(f"approvals/{asked.call_id}", command)

    def _answer(
        self, path: str, command: wire.AnswerApproval | wire.AnswerInput | wire.AnswerQuestion
    ) -> None:
        self._connection.send("POST", f"sessions/{self.session_id}/{path}", command)
        self._reader.waits_for = None


def failure_text(answer: Answer) -> str:
    """Return why a turn has no answer, and what to do."""
    if answer.error is not None:
        return describe_error(answer.error)
    if answer.exit is None:
        return (
            "The turn was interrupted because the server stopped. "
            "The conversation in the side panel offers to resume it."
        )
    return _MESSAGES.get(answer.exit, f"The turn ended: {answer.exit}.")


def waiting_text(event: ev.Event) -> str:
    """Return what the turn needs from the user."""
    match event:
        case ev.ApprovalRequest():
            return f"The turn waits for your approval of {event.tool}: {event.reason.text}"
        case ev.ClarifyRequest():
            return f"The model asks: {event.question}"
        case ev.StdinRequest():
            return f"Running code waits for input: {event.prompt}"
        case ev.Notice():
            return event.text
        case _:
            return "The turn waits for you."
