"""One conversation of an editor: prompts, questions and updates. Made by ``cli.acp.editor_agent``.

The conversation lives in the engine's log; it can be continued in JupyterLab, whose answers to
questions count here as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, Literal

from acp import schema
from acp.interfaces import Client as Editor

from jupyter_ai_shoulders.cli.acp.approvals import (
    approval_answer,
    approval_content,
    approval_options,
    question_answer,
    question_options,
)
from jupyter_ai_shoulders.cli.acp.editor_page import ConversationFiles
from jupyter_ai_shoulders.cli.acp.event_follower import EventFollower
from jupyter_ai_shoulders.cli.acp.prompt_blocks import PromptContent, prompt_content
from jupyter_ai_shoulders.cli.acp.updates import (
    UpdateTranslator,
    commands,
    error_text,
    text_content,
)
from jupyter_ai_shoulders.cli.chat.chat_backend import ChatBackend
from jupyter_ai_shoulders.cli.chat.turn_undo import redo_last_turn, undo_last_turn
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
_COMMANDS = {"/undo": undo_last_turn, "/redo": redo_last_turn}
"""Prompts that are commands of ours."""
_CONTINUES = frozenset({"final_response", "step_cap", "tool_rejected", "ended_by_tool"})
"""Exits of a turn after which the next one takes up queued messages."""
_NOT_SEEN = "The server is not connected to the editor's files: unsaved text is not seen now."
_WAITS = "Your message waits in the conversation; it is sent with your next prompt."
_PAUSED = (
    "The turn is paused. Continue it in JupyterLab; another prompt here starts a new turn instead."
)

Question = ev.ApprovalRequest | ev.ClarifyRequest | ev.StdinRequest

_log = logging.getLogger(__name__)


class EditorConversation:
    """A conversation that an editor leads; turns led elsewhere are shown as they happen."""

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
        self._seq = session.last_seq
        """The last event that was shown."""
        self._following: asyncio.Task[None] | None = None
        self._turn: asyncio.Future[StopReason] | None = None
        """The prompt that is being answered."""
        self._open: dict[CallId, Question] = {}
        """Questions without an answer."""
        self._asking: dict[CallId, asyncio.Task[None]] = {}
        self._requested: set[CallId] = set()
        """Questions that the editor got in this prompt; their answers may be on their way."""
        self._input: CallId | None = None
        """The call that waits for a line of input; the next prompt is the line."""
        self._question: CallId | None = None
        """The question that the next prompt answers."""
        self._sent: set[MessageId] = set()
        """Our messages, which the editor shows itself."""
        self._awaited: MessageId | None = None
        """Our message, until a turn has taken it up: turns before it are not ours."""
        self._queued = False
        """Whether our message waits for the end of another turn."""
        self._cancelled = False
        self._paused = False

    async def replay(self) -> None:
        """Send everything said so far."""
        for event in await asyncio.to_thread(self.chat.past, self.session.id):
            await self._show(event)
            self._note(event)
            self._seq = event.seq

    def start(self) -> None:
        """Show events from now on, as soon as the editor has got the answer to its request."""
        if self._following is None or self._following.done():
            follower = EventFollower(self.chat, self.session.id, self._seq)
            self._following = asyncio.create_task(self._follow(follower))
            self._following.add_done_callback(self._followed)

    async def announce(self, notice: str | None = None) -> None:
        """Offer commands, and say what the editor asked for in vain."""
        if notice is not None:
            await self.say(notice)
        try:
            skills = await asyncio.to_thread(self.chat.skills)
        except (ClientError, ShouldersError) as error:
            _log.warning("The skills cannot be offered: %s", error)
            return
        await self._update(commands(skills))

    def close(self) -> None:
        """Show nothing more."""
        if self._following is not None:
            self._following.cancel()

    async def prompt(self, blocks: Sequence[Any]) -> StopReason:
        """Send a prompt and return why its turn ended.

        Raises ``Conflict`` (a prompt is being answered), ``ClientError``, ``ShouldersError``,
        ``EOFError`` (the engine stopped).
        """
        if self._turn is not None:
            raise Conflict("A prompt of this conversation is being answered.", hint="Cancel it.")
        self.start()
        turn = self._turn = asyncio.get_running_loop().create_future()
        self._cancelled = self._queued = False
        try:
            if self._files is not None and not await self._files.begin():
                await self.say(_NOT_SEEN)
            content = prompt_content(blocks, self.workspace)
            command = _COMMANDS.get(content.text)
            if command is not None:
                lines = await asyncio.to_thread(command, self.chat, self.session.id)
                await self.say("\n".join(lines))
                return "end_turn"
            await self._send(content)
            if self._cancelled:  # before the turn had begun
                await self.cancel()
            for question in list(self._open.values()):
                self._ask_user(question)
            return await turn
        finally:
            self._turn = None
            if self._files is not None:
                self._files.page.end()
            for task in self._asking.values():
                task.cancel()
            self._asking.clear()
            self._requested.clear()

    async def cancel(self) -> None:
        """Stop the running turn; a message that waits for its turn stays in the conversation."""
        self._cancelled = True
        try:
            await asyncio.to_thread(self.chat.cancel, self.session.id)
        finally:
            if self._queued:
                self._end("cancelled")

    def _end(self, reason: StopReason) -> None:
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(reason)

    async def change(self, *, mode: Mode | None = None, model: ModelId | None = None) -> None:
        """Change the mode or the model. Raises ``ClientError``, ``ShouldersError``."""
        command = PatchSession(mode=mode, model=model)
        self.session = await asyncio.to_thread(self.chat.change, self.session.id, command)

    async def _send(self, content: PromptContent) -> None:
        if self._input is not None:
            call_id, self._input = self._input, None
            command = AnswerInput(text=content.text)
            await asyncio.to_thread(self.chat.type_in, self.session.id, call_id, command)
            return
        message_id = MessageId(RandomIds().new("msg"))
        self._sent.add(message_id)
        self._awaited = message_id if self._question is None else None
        self._question, self._paused = None, False
        message = SendMessage(
            id=message_id,
            text=content.text,
            attachments=content.attachments,
            context=MessageContext(),
            client_id=None if self._files is None else self._files.page.client_id,
        )
        await asyncio.to_thread(self.chat.send, self.session.id, message)

    async def _follow(self, follower: EventFollower) -> None:
        """Show events until the engine or the connection to it ends."""
        try:
            while True:
                event = await follower.next()
                self._seq = event.seq
                await self._show(event)
                self._note(event)
                reason = await self._handle(event)
                if reason is not None:
                    self._end(reason)
        finally:
            follower.close()

    def _followed(self, following: asyncio.Task[None]) -> None:
        """End the prompt with the error that ended the events; the next one follows again."""
        error = None if following.cancelled() else following.exception()
        if error is None:
            return
        if self._turn is not None and not self._turn.done():
            self._turn.set_exception(error)
        else:
            _log.warning("The events of %s are not shown any more: %s", self.session.id, error)

    def _note(self, event: ev.Event) -> None:
        """Note questions and answers, and whether a turn has taken up our message."""
        match event:
            case ev.MessageAdd(message_id=self._awaited):
                self._queued = event.queued
                self._awaited = self._awaited if event.queued else None
            case ev.MessageUpdate(message_id=self._awaited, status="consumed" | "removed"):
                self._awaited, self._queued = None, False
                if event.status == "removed":
                    self._end("cancelled")
            case ev.ApprovalRequest() | ev.ClarifyRequest() | ev.StdinRequest():
                self._opened(event)
            case ev.ApprovalAnswer() | ev.ClarifyAnswer() | ev.StdinAnswer() | ev.ToolResult():
                self._closed(event.call_id)
            case _:
                pass

    def _opened(self, question: Question) -> None:
        self._open[question.call_id] = question
        if isinstance(question, ev.StdinRequest):
            self._input = question.call_id
        elif _is_answered_in_words(question):
            self._question = question.call_id

    def _closed(self, call_id: CallId) -> None:
        self._open.pop(call_id, None)
        if self._question == call_id:
            self._question = None
        if self._input == call_id:
            self._input = None
        task = self._asking.pop(call_id, None)
        if task is not None:
            task.cancel()

    async def _handle(self, event: ev.Event) -> StopReason | None:
        """Ask, or say what is not shown otherwise; return why the prompt is over."""
        match event:
            case ev.ApprovalRequest() | ev.ClarifyRequest() | ev.StdinRequest():
                return await self._asked(event)
            case ev.Notice(code=code) if code in _PAUSES:
                self._paused = True
            case ev.SessionUpdate():
                return await self._session_changed(event.session)
            case ev.TurnEnd():
                reason = await self._ended(event)
                if self._queued and event.exit not in _CONTINUES:
                    await self.say(_WAITS)
                    return reason
                return reason if self._awaited is None or self._cancelled else None
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

    async def _asked(self, question: Question) -> StopReason | None:
        """Ask; what needs words is answered by the next prompt, so this one is over.

        An editor is asked only while it waits for an answer; else JupyterLab has the question, and
        the next prompt asks what is still open.
        """
        match question:
            case ev.ClarifyRequest() if _is_answered_in_words(question):
                options = "".join(f"\n- {option}" for option in question.options)
                await self.say(f"{question.question}{options}")
                return "end_turn"
            case ev.StdinRequest():
                await self.say(question.prompt or "The running code asks for input.")
                return "end_turn"
            case _:
                if self._turn is not None:
                    self._ask_user(question)
                return None

    def _ask_user(self, question: Question) -> None:
        if question.call_id in self._requested:
            return
        match question:
            case ev.ApprovalRequest():
                self._ask(question.call_id, self._approve(question))
            case ev.ClarifyRequest() if not _is_answered_in_words(question):
                self._ask(question.call_id, self._clarify(question))
            case _:
                pass  # answered in words

    def _ask(self, call_id: CallId, work: Coroutine[Any, Any, None]) -> None:
        self._requested.add(call_id)
        self._asking[call_id] = asyncio.create_task(work)

    async def _approve(self, question: ev.ApprovalRequest) -> None:
        response = await self._editor.request_permission(
            session_id=self.session.id,
            tool_call=_questioned(question.call_id, approval_content(question, self.workspace)),
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
            tool_call=_questioned(question.call_id, [text_content(question.question)]),
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
        if isinstance(event, ev.MessageAdd) and event.message_id not in self._sent:
            await self._update(self._translator.past_message(event))
        for update in self._translator.updates(event):
            await self._update(update)

    async def say(self, text: str) -> None:
        """Send text of our own."""
        await self._update(self._translator.message(f"\n\n{text}\n"))

    async def _update(self, update: Any) -> None:
        await self._editor.session_update(session_id=self.session.id, update=update)


def _is_answered_in_words(question: Question) -> bool:
    return isinstance(question, ev.ClarifyRequest) and (
        not question.options or question.allow_multiple
    )


def _questioned(call_id: CallId, content: list[Any]) -> schema.ToolCallUpdate:
    return schema.ToolCallUpdate(tool_call_id=call_id, status="pending", content=content)
