"""Handles the user's responses to waiting calls: approvals, answers, input and results.

Made and called by ``engine.engine``. The first response counts; one to a call of an interrupted
turn resumes it. See docs/design/engine.md#approvals.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.engine.calls.approval_integrity import DEFINITION
from jupyter_ai_shoulders.engine.loop.commands import (
    ApprovalAnswered,
    QuestionAnswered,
    ResultSupplied,
    ResumeInterrupted,
)
from jupyter_ai_shoulders.engine.loop.operations import Signal
from jupyter_ai_shoulders.engine.loop.state import CallState, Interrupted
from jupyter_ai_shoulders.engine.loop.synthetic_results import supplied_result
from jupyter_ai_shoulders.engine.session.cache import SessionCache
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.tools.permissions.grants import narrowest_rule, target_of
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    SupplyResult,
)
from jupyter_ai_shoulders.wire.ids import CallId, SessionId
from jupyter_ai_shoulders.wire.parts import TextPart


class UserResponses:
    """Handles responses to calls in all sessions."""

    def __init__(self, cache: SessionCache, services: EngineServices) -> None:
        self._cache = cache
        self._services = services
        self._answering = asyncio.Lock()

    async def answer_approval(
        self, session_id: SessionId, call_id: CallId, command: AnswerApproval
    ) -> None:
        """Answer a pending approval; resumes an interrupted turn.

        Raises ``NotFound``, ``Conflict`` (``already_answered``), ``InvalidRequest`` (scope not
        offered), ``StateUnavailable`` (the rule could not be stored).
        """
        async with self._answering:  # storing a rule takes time, and the first answer counts
            await self._take_answer(session_id, call_id, command)
        await self._services.log.sync()
        crash_point("approvals.answer.synced")

    async def answer_question(
        self, session_id: SessionId, call_id: CallId, command: AnswerQuestion
    ) -> None:
        """Answer a question; resumes an interrupted turn.

        Raises ``NotFound``, ``Conflict`` (``already_answered``), ``InvalidRequest`` (blank).
        """
        driver = await self._get_driver_of_call(session_id, call_id)
        picks = tuple(pick.strip() for pick in command.picks)
        if not all(picks):
            raise InvalidRequest("answer: the answer is empty.")
        if driver.question != call_id:
            raise Conflict("This question has already been answered.", code="already_answered")
        dispatch_user_response(driver, QuestionAnswered(call_id, picks))
        crash_point("questions.answer.committed")
        await self._services.log.sync()

    async def answer_input(
        self, session_id: SessionId, call_id: CallId, command: AnswerInput
    ) -> None:
        """Give the code of a running call its input, which is not stored.

        Raises ``NotFound``, ``Conflict`` (``already_answered``: nothing waits any more).
        """
        await self._get_driver_of_call(session_id, call_id)
        if not self._services.inputs.answer(session_id, call_id, command.text):
            raise Conflict("Nothing is waiting for this input any more.", code="already_answered")
        crash_point("stdin.answer.taken")

    async def supply_result(
        self, session_id: SessionId, call_id: CallId, command: SupplyResult
    ) -> None:
        """Record the result of a call that the user made (``parse_only``).

        Raises ``NotFound``, ``Conflict`` (``already_answered``, or tools are not ``parse_only``).
        """
        driver = await self._get_driver_of_call(session_id, call_id)
        turn = driver.state.turn
        call = turn.call(call_id) if turn else None
        if call is None or call.settled:
            raise Conflict("This call already has a result.", code="already_answered")
        if self._services.sessions.get(session_id).tools != "parse_only":
            raise Conflict("The tools of this conversation run here; their results come from them.")
        if isinstance(driver.state.phase, Interrupted):
            driver.plan_resumed_turn()  # may refuse, before anything is stored
        given = command.content or "(no output)"
        content, handle = driver.truncator.truncate([TextPart(text=given)])
        result = supplied_result(call, content, handle, ok=command.ok)
        dispatch_user_response(driver, ResultSupplied(result))
        crash_point("results.supplied.committed")
        await self._services.log.sync()

    async def _take_answer(
        self, session_id: SessionId, call_id: CallId, command: AnswerApproval
    ) -> None:
        driver, call = await self._waiting(session_id, call_id)
        if command.scope not in call.scopes:
            offered = ", ".join(call.scopes)
            raise InvalidRequest(
                f"scope: {command.scope!r} was not offered; offered are {offered}."
            )
        if isinstance(driver.state.phase, Interrupted):
            driver.plan_resumed_turn()  # may refuse, before anything is stored
        if command.decision == "allow" and command.scope == "always":
            target = target_of(call.arguments or {}, call.tool)
            definition = call.shown.hashes.get(DEFINITION) if call.shown else None
            rule = narrowest_rule(call.tool, replace(target, definition=definition))
            await asyncio.to_thread(self._services.rules.add, rule)
            crash_point("approvals.rule.stored")
            driver, _ = await self._waiting(session_id, call_id)  # the state may have changed
        dispatch_user_response(driver, ApprovalAnswered(call_id, command))
        crash_point("approvals.answer.committed")

    async def _waiting(
        self, session_id: SessionId, call_id: CallId
    ) -> tuple[SessionDriver, CallState]:
        """Return the session and the call that waits for an approval. Raises ``Conflict``."""
        driver = await self._get_driver_of_call(session_id, call_id)
        turn = driver.state.turn
        call = turn.call(call_id) if turn else None
        if call is None or not call.waits:
            raise Conflict("This call has already been answered.", code="already_answered")
        return driver, call

    async def _get_driver_of_call(self, session_id: SessionId, call_id: CallId) -> SessionDriver:
        driver = await self._cache.get_driver(session_id)
        if call_id not in driver.index.call_ids:
            raise NotFound(f"This conversation has no call {call_id}.")
        return driver


def dispatch_user_response(driver: SessionDriver, signal: Signal) -> None:
    """Dispatch a response and resume the turn if it is interrupted."""
    again = driver.plan_resumed_turn() if isinstance(driver.state.phase, Interrupted) else None
    driver.dispatch(signal)
    if again is not None:
        driver.dispatch(ResumeInterrupted(again))
