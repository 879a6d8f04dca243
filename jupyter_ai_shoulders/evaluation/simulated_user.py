"""The user of a case: sends messages, answers questions, presses stop. Used by ``case_run``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from jupyter_ai_shoulders.evaluation.case import User
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerQuestion,
    ResumeTurn,
    SendMessage,
)
from jupyter_ai_shoulders.wire.ids import SessionId

PAUSES = frozenset({"turn_limit", "session_limit"})
"""Codes of notices of turns that wait at a spending limit."""


class SimulatedUser:
    """The user of one conversation."""

    def __init__(self, user: User, host: Host, session_id: SessionId) -> None:
        self._user = user
        self._host = host
        self._session_id = session_id
        self._answers = list(user.answers)
        self._stop = asyncio.Event()
        self._pressed = False

    async def send(self, message: SendMessage) -> None:
        """Send, and return when the turn has ended or waits for an answer that never comes."""
        self._host.hub.follow(self._session_id, self)
        try:
            async with asyncio.TaskGroup() as group:
                stopping = group.create_task(self._stops())
                await self._host.engine.send(self._session_id, message)
                await self._host.engine.settled(self._session_id)
                while await self._responds():
                    await self._host.engine.settled(self._session_id)
                stopping.cancel()
        finally:
            self._host.hub.unfollow(self._session_id, self)

    def on_event(self, logged: LoggedEvent) -> None:
        """Press stop at the event that the user waits for (``EventListener``)."""
        wanted = self._user.stops_at
        if wanted is not None and not self._pressed and wanted(logged.event):
            self._pressed = True
            self._stop.set()

    async def _stops(self) -> None:
        await self._stop.wait()
        self._stop.clear()
        await self._host.engine.cancel(self._session_id)

    async def _responds(self) -> bool:
        """Answer a pending question; return False if there is none."""
        pending = waiting_for([logged.event for logged in self._host.log.read(self._session_id)])
        engine = self._host.engine
        match pending:
            case ev.ApprovalRequest():
                command = AnswerApproval(decision=self._user.decides(pending))
                await engine.responses.answer_approval(self._session_id, pending.call_id, command)
            case ev.ClarifyRequest() if self._answers:
                answer = AnswerQuestion(answer=self._answers.pop(0))
                await engine.responses.answer_question(self._session_id, pending.call_id, answer)
            case ev.Notice():
                limit = self._user.raised_limit
                decision = "discard" if limit is None else "resume"
                resume = ResumeTurn(decision=decision, limit_micro_usd=limit)
                await engine.resume(self._session_id, resume)
            case _:
                return False
        return True


def waiting_for(
    events: Sequence[ev.Event],
) -> ev.ApprovalRequest | ev.ClarifyRequest | ev.Notice | None:
    """Return the event that the open turn waits for."""
    settled = {
        event.call_id
        for event in events
        if isinstance(event, ev.ApprovalAnswer | ev.ClarifyAnswer | ev.ToolResult)
    }
    for event in reversed(events):
        if isinstance(event, ev.ApprovalRequest | ev.ClarifyRequest):
            if event.call_id not in settled:
                return event
        elif isinstance(event, ev.Notice) and event.code in PAUSES:
            return event
        elif isinstance(event, ev.TurnStart | ev.TurnResume | ev.TurnEnd):
            return None
    return None
