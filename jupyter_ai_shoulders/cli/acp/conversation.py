"""One conversation of an editor: prompts, questions and updates. Made by ``cli.acp.editor_agent``.

The conversation lives in the engine's log; it can be continued in JupyterLab, whose answers to
questions count here as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from acp import schema
from acp.interfaces import Client as Editor

from jupyter_ai_shoulders.cli.acp.approvals import (
    approval_answer,
    approval_options,
    approval_text,
    question_answer,
    question_options,
)
from jupyter_ai_shoulders.cli.acp.editor_page import ConversationFiles
from jupyter_ai_shoulders.cli.acp.event_follower import EventFollower
from jupyter_ai_shoulders.cli.acp.prompt_blocks import prompt_content
from jupyter_ai_shoulders.cli.acp.updates import UpdateTranslator, error_text, text_content
from jupyter_ai_shoulders.cli.chat.chat_backend import ChatBackend
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.core.clock import RandomIds
from jupyter_ai_shoulders.core.errors import Conflict, ShouldersError
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import AnswerInput, PatchSession, SendMessage
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId
from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.sessions import Mode, Session

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
_STOP_REASONS: dict[ev.Exit, StopReason] = {
    "cancelled": "cancelled",
    "interrupted": "cancelled",
    "step_cap": "max_turn_requests",
    "context_overflow": "max_tokens",
}
_PAUSES = frozenset({"turn_limit", "session_limit", "compaction_ask"})
"""Codes of notices after which a turn waits without a question."""
_PAUSED = (
    "The turn is paused. Continue it in JupyterLab; another prompt here starts a new turn instead."
)

_log = logging.getLogger(__name__)


class EditorConversation:
    """A conversation that an editor leads."""

    def __init__(
        self,
        chat: ChatBackend,
        session: Session,
        workspace: Path,
        editor: Editor,
        files: ConversationFiles | None = None,
    ) -> None:
        """``files`` if text files are read and written through the editor."""
        self.chat = chat
        self.session = session
        self.workspace = workspace
        self._editor = editor
        self._files = files
        self._translator = UpdateTranslator(workspace)
        self._follower: EventFollower | None = None
        self._asking: dict[CallId, asyncio.Task[None]] = {}
        self._input: CallId | None = None
        """The call that waits for a line of input; the next prompt is the line."""
        self._question = False
        """Whether the next prompt answers a question of the agent."""
        self._awaited: MessageId | None = None
        """Our message, until the log has it: turns before it are not ours."""
        self._paused = False
        self._busy = False

    async def replay(self) -> None:
        """Send everything said so far."""
        for event in await asyncio.to_thread(self.chat.past, self.session.id):
            if isinstance(event, ev.MessageAdd):
                await self._update(self._translator.past_message(event))
            await self._show(event)

    async def prompt(self, blocks: Sequence[Any]) -> StopReason:
        """Send a prompt and return why its turn ended.

        Raises ``Conflict`` (a prompt is being answered), ``ClientError``, ``ShouldersError``,
        ``EOFError`` (the engine stopped).
        """
        if self._busy:
            raise Conflict("A prompt of this conversation is being answered.", hint="Cancel it.")
        self._busy = True
        try:
            await self._send(blocks)
            return await self._follow()
        finally:
            self._busy = False
            for task in self._asking.values():
                task.cancel()
            self._asking.clear()

    async def cancel(self) -> None:
        """Stop the running turn."""
        await asyncio.to_thread(self.chat.cancel, self.session.id)

    async def change(self, *, mode: Mode | None = None, model: ModelId | None = None) -> None:
        """Change the mode or the model. Raises ``ClientError``, ``ShouldersError``."""
        command = PatchSession(mode=mode, model=model)
        self.session = await asyncio.to_thread(self.chat.change, self.session.id, command)

    async def _send(self, blocks: Sequence[Any]) -> None:
        content = prompt_content(blocks, self.workspace)
        if self._files is not None:
            self._files.lead()
        if self._follower is None:
            self._follower = EventFollower(self.chat, self.session.id, await self._last_seq())
        if self._input is not None:
            call_id, self._input = self._input, None
            command = AnswerInput(text=content.text)
            await asyncio.to_thread(self.chat.type_in, self.session.id, call_id, command)
            return
        message_id = MessageId(RandomIds().new("msg"))
        self._awaited = None if self._question else message_id
        self._question = self._paused = False
        message = SendMessage(
            id=message_id,
            text=content.text,
            attachments=content.attachments,
            context=MessageContext(),
            client_id=None if self._files is None else self._files.page.client_id,
        )
        await asyncio.to_thread(self.chat.send, self.session.id, message)

    async def _last_seq(self) -> int:
        current = await asyncio.to_thread(self.chat.session, self.session.id)
        return current.last_seq

    async def _follow(self) -> StopReason:
        assert self._follower is not None
        while True:
            event = await self._follower.next()
            await self._show(event)
            reason = await self._handle(event)
            if reason is not None:
                return reason

    async def _handle(self, event: ev.Event) -> StopReason | None:
        """Ask, or note an answer; return why the prompt is over."""
        match event:
            case ev.MessageAdd(message_id=self._awaited):
                self._awaited = None
            case ev.ApprovalRequest() | ev.ClarifyRequest() | ev.StdinRequest():
                return await self._ask_user(event)
            case ev.ApprovalAnswer() | ev.ClarifyAnswer() | ev.StdinAnswer():
                task = self._asking.pop(event.call_id, None)
                if task is not None:
                    task.cancel()
            case ev.Notice(code=code) if code in _PAUSES:
                self._paused = True
            case ev.SessionUpdate():
                return await self._session_changed(event.session)
            case ev.TurnEnd() if self._awaited is None:
                return await self._ended(event)
            case _:
                pass
        return None

    async def _session_changed(self, session: Session) -> StopReason | None:
        if session.title != self.session.title:
            await self._update(
                schema.SessionInfoUpdate(session_update="session_info_update", title=session.title)
            )
        if session.mode != self.session.mode:
            await self._update(
                schema.CurrentModeUpdate(
                    session_update="current_mode_update", current_mode_id=session.mode
                )
            )
        self.session = session
        if session.status == "waiting" and self._paused:
            await self.say(_PAUSED)
            return "end_turn"
        if session.status == "interrupted" and self._awaited is None:
            await self.say("The turn was interrupted.")
            return "cancelled"
        return None

    async def _ended(self, event: ev.TurnEnd) -> StopReason:
        if event.error is not None:
            await self.say(error_text(event.error))
        elif event.summary:
            await self.say(event.summary)
        return _STOP_REASONS.get(event.exit, "end_turn")

    async def _ask_user(
        self, question: ev.ApprovalRequest | ev.ClarifyRequest | ev.StdinRequest
    ) -> StopReason | None:
        """Ask; what needs words is answered by the next prompt, so this one is over."""
        match question:
            case ev.ApprovalRequest():
                self._ask(question.call_id, self._approve(question))
                return None
            case ev.ClarifyRequest() if question.options and not question.allow_multiple:
                self._ask(question.call_id, self._clarify(question))
                return None
            case ev.ClarifyRequest():
                options = "".join(f"\n- {option}" for option in question.options)
                await self.say(f"{question.question}{options}")
                self._question = True
            case ev.StdinRequest():
                self._input = question.call_id
                await self.say(question.prompt or "The running code asks for input.")
        return "end_turn"

    def _ask(self, call_id: CallId, work: Coroutine[Any, Any, None]) -> None:
        self._asking[call_id] = asyncio.create_task(work)

    async def _approve(self, question: ev.ApprovalRequest) -> None:
        response = await self._editor.request_permission(
            session_id=self.session.id,
            tool_call=_questioned(question.call_id, approval_text(question)),
            options=approval_options(question),
        )
        self._asking.pop(question.call_id, None)
        answer = approval_answer(question, response)
        try:
            await asyncio.to_thread(self.chat.approve, self.session.id, question.call_id, answer)
        except (ClientError, ShouldersError) as error:  # answered elsewhere, or stopped
            _log.info("The answer to %s came too late: %s", question.call_id, error)

    async def _clarify(self, question: ev.ClarifyRequest) -> None:
        response = await self._editor.request_permission(
            session_id=self.session.id,
            tool_call=_questioned(question.call_id, question.question),
            options=question_options(question),
        )
        self._asking.pop(question.call_id, None)
        answer = question_answer(question, response)
        if answer is None:
            await self.say(f"{question.question}\n\nStop this turn, then answer in words.")
            return
        try:
            await asyncio.to_thread(self.chat.answer, self.session.id, question.call_id, answer)
        except (ClientError, ShouldersError) as error:
            _log.info("The answer to %s came too late: %s", question.call_id, error)

    async def _show(self, event: ev.Event) -> None:
        for update in self._translator.updates(event):
            await self._update(update)

    async def say(self, text: str) -> None:
        """Send text of our own."""
        await self._update(self._translator.message(f"\n\n{text}\n"))

    async def _update(self, update: Any) -> None:
        await self._editor.session_update(session_id=self.session.id, update=update)


def _questioned(call_id: CallId, text: str) -> schema.ToolCallUpdate:
    content = cast("Any", [text_content(text)])
    return schema.ToolCallUpdate(tool_call_id=call_id, status="pending", content=content)
