"""What an editor's conversation does with events that come at awkward moments."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any, cast

from acp import schema

from jupyter_ai_shoulders.cli.acp.conversation import EditorConversation
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.events import ApprovalReason
from jupyter_ai_shoulders.wire.ids import CallId, SessionId, TurnId
from tests.cli.acp.editor import FakeEditor
from tests.engine.engine_harness import make_session

CALL, TURN = CallId("call"), TurnId("turn")
QUESTION = ev.ApprovalRequest(
    turn_id=TURN,
    call_id=CALL,
    tool="run_command",
    arguments={"command": "true"},
    arguments_hash="",
    preview="true",
    language="shell",
    reason=ApprovalReason(kind="mode", text=""),
    scopes=("once",),
)


class EagerChat:
    """A ``ChatBackend`` whose question is answered before the message's command returns."""

    def __init__(self) -> None:
        self.approved: list[CallId] = []
        self._events: Queue[ev.Event | None] = Queue()
        self._answered = threading.Event()

    def events(self, session_id: SessionId, after: int) -> Iterator[ev.Event]:
        del session_id, after
        yield from iter(self._events.get, None)

    def send(self, session_id: SessionId, message: SendMessage) -> None:
        del session_id
        self._events.put(ev.MessageAdd(message_id=message.id, text=message.text))
        self._events.put(QUESTION)
        assert self._answered.wait(10)

    def approve(self, session_id: SessionId, call_id: CallId, answer: Any) -> None:
        """Take the answer, which is in the log a while later."""
        del session_id, answer
        self.approved.append(call_id)
        self._answered.set()

    def end(self) -> None:
        self._events.put(ev.TurnEnd(turn_id=TURN, exit="final_response"))

    def close(self) -> None:
        self._events.put(None)


async def test_a_question_answered_while_the_prompt_is_sent_is_asked_once() -> None:
    chat, editor = EagerChat(), FakeEditor()
    conversation = EditorConversation(
        cast("Any", chat), make_session(), Path(), cast("Any", editor)
    )
    block = schema.TextContentBlock(type="text", text="Do it")
    prompt = asyncio.create_task(conversation.prompt([block]))
    await asyncio.sleep(0.3)  # the prompt asks what is open once its message is sent
    chat.end()
    assert await prompt == "end_turn"
    conversation.close()
    chat.close()
    assert (len(editor.asked), chat.approved) == (1, [CALL])
