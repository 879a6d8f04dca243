"""What running code asks the user to type: in the cell, in the chat, and the first answer wins.

``PendingInputs`` is one per runner: the chat's answers come there by call. ``RunInputs`` is one per
run: it shows the question in the pages, passes the answer on to the kernel, and keeps no text.
"""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.notebook.base import InputRecipient, RunInput, RunInputEnd
from jupyter_ai_shoulders.notebook.execution.run_view import RunView
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection, Message
from jupyter_ai_shoulders.wire.ids import CallId, SessionId

SubmitAnswer = Callable[[str], bool]
"""Passes an answer on; false when it comes too late."""
NOBODY = "StdinNotImplementedError: the code asks for input(), and nobody is there to answer it"


class PendingInputs:
    """The questions that wait, by the call whose code asks."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[SessionId, CallId], SubmitAnswer] = {}

    def register(self, asker: InputRecipient, give: SubmitAnswer) -> None:
        """Take answers for a call."""
        self._waiting[asker.session_id, asker.call_id] = give

    def unregister(self, asker: InputRecipient) -> None:
        """Take no more answers for a call."""
        self._waiting.pop((asker.session_id, asker.call_id), None)

    def answer(self, session_id: SessionId, call_id: CallId, text: str) -> bool:
        """Pass the text on to the code that waits for it; false when none does (any more)."""
        give = self._waiting.get((session_id, call_id))
        return give is not None and give(text)


class RunInputs:
    """The questions of one run, one after the other."""

    def __init__(
        self,
        *,
        connection: KernelConnection,
        view: RunView,
        desk: PendingInputs,
        asker: InputRecipient | None,
        tell: Callable[[RunInput | RunInputEnd], None],
        refuse: Callable[[], None],
    ) -> None:
        """``refuse`` is called when nobody is there to answer: the code must not wait for ever."""
        self._connection = connection
        self._view = view
        self._desk = desk
        self._asker = asker
        self._tell = tell
        self._refuse = refuse
        self._asked: Message | None = None

    @property
    def can_be_answered(self) -> bool:
        """Whether a question could be answered now: in the chat, or in a page."""
        return self._view.is_shown or (self._asker is not None and self._asker.interactive)

    def ask(self, message: Message) -> None:
        """Take an ``input_request`` of the kernel; called from the reading task."""
        if not self.can_be_answered:
            self._refuse()
            return
        self.close()
        self._asked = message
        content = message["content"]
        prompt, password = str(content.get("prompt", "")), bool(content.get("password"))
        self._view.ask(prompt, self.answer, password=password)
        if self._asker is not None:
            self._desk.register(self._asker, self.answer)
        self._tell(RunInput(prompt, password))

    def answer(self, text: str) -> bool:
        """Give the kernel what the user typed; false when it was given something already."""
        asked = self._asked
        if asked is None:
            return False
        self._connection.reply_input(asked, text)
        self._end(answered=True)
        return True

    def close(self) -> None:
        """Nobody waits for an answer any more: the run is over."""
        if self._asked is not None:
            self._end(answered=False)

    def _end(self, *, answered: bool) -> None:
        self._asked = None
        self._view.answered()
        if self._asker is not None:
            self._desk.unregister(self._asker)
        self._tell(RunInputEnd(answered))
