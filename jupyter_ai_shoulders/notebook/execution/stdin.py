"""Questions of running code for input: shown in the cell and in the chat; the first answer counts.

``PendingInputs`` is one per runner and takes the chat's answers by call. ``RunInputs`` is one per
run: it shows the question in the pages, passes the answer to the kernel, and keeps no text.
"""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.notebook.base import InputRecipient, RunInput, RunInputEnd
from jupyter_ai_shoulders.notebook.execution.run_view import RunView
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection, Message
from jupyter_ai_shoulders.wire.ids import CallId, SessionId

SubmitAnswer = Callable[[str], bool]
"""Passes an answer on; false when it is too late."""
NOBODY = "StdinNotImplementedError: the code asks for input(), and nobody is there to answer it"


class PendingInputs:
    """Open questions, by the call whose code asks."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[SessionId, CallId], SubmitAnswer] = {}

    def register(self, asker: InputRecipient, submit: SubmitAnswer) -> None:
        """Accept answers for a call."""
        self._waiting[asker.session_id, asker.call_id] = submit

    def unregister(self, asker: InputRecipient) -> None:
        """Stop accepting answers for a call."""
        self._waiting.pop((asker.session_id, asker.call_id), None)

    def answer(self, session_id: SessionId, call_id: CallId, text: str) -> bool:
        """Pass the text to the waiting code; false when none waits."""
        submit = self._waiting.get((session_id, call_id))
        return submit is not None and submit(text)


class RunInputs:
    """The questions of one run, one at a time."""

    def __init__(
        self,
        *,
        connection: KernelConnection,
        view: RunView,
        pending: PendingInputs,
        asker: InputRecipient | None,
        report: Callable[[RunInput | RunInputEnd], None],
        refuse: Callable[[], None],
    ) -> None:
        """``refuse`` is called when nobody can answer: the code must not wait for ever."""
        self._connection = connection
        self._view = view
        self._pending = pending
        self._asker = asker
        self._report = report
        self._refuse = refuse
        self._question: Message | None = None

    @property
    def can_be_answered(self) -> bool:
        """Whether a question can be answered now, in the chat or in a page."""
        return self._view.is_shown or (self._asker is not None and self._asker.interactive)

    def ask(self, message: Message) -> None:
        """Handle an ``input_request`` of the kernel; called from the reading task."""
        if not self.can_be_answered:
            self._refuse()
            return
        self.close()
        self._question = message
        content = message["content"]
        prompt, password = str(content.get("prompt", "")), bool(content.get("password"))
        self._view.ask(prompt, self.answer, password=password)
        if self._asker is not None:
            self._pending.register(self._asker, self.answer)
        self._report(RunInput(prompt, password))

    def answer(self, text: str) -> bool:
        """Send the user's input to the kernel; false when it already got some."""
        question = self._question
        if question is None:
            return False
        self._connection.reply_input(question, text)
        self._end(answered=True)
        return True

    def close(self) -> None:
        """End open questions: the run is over."""
        if self._question is not None:
            self._end(answered=False)

    def _end(self, *, answered: bool) -> None:
        self._question = None
        self._view.answered()
        if self._asker is not None:
            self._pending.unregister(self._asker)
        self._report(RunInputEnd(answered))
