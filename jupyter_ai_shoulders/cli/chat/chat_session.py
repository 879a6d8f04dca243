"""The conversation of a terminal chat: its turns, model and mode. Made by ``chat_command``."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import closing

from jupyter_ai_shoulders.cli.chat.chat_backend import ChatBackend
from jupyter_ai_shoulders.cli.chat.event_display import EventDisplay
from jupyter_ai_shoulders.cli.chat.review import Review
from jupyter_ai_shoulders.cli.chat.terminal import TerminalScreen
from jupyter_ai_shoulders.cli.chat.turn_undo import redo_last_turn, undo_last_turn
from jupyter_ai_shoulders.cli.chat.user_prompts import UserPrompter, pause_answer, resume_answer
from jupyter_ai_shoulders.cli.exit_codes import ExitCode
from jupyter_ai_shoulders.client.errors import ClientError, describe_error
from jupyter_ai_shoulders.client.interrupts import defer_interrupt
from jupyter_ai_shoulders.client.turn_reader import TurnReader
from jupyter_ai_shoulders.client.wire_models import Question
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    CreateSession,
    PatchSession,
    SendMessage,
)
from jupyter_ai_shoulders.wire.ids import MessageId, ModelId, SessionId
from jupyter_ai_shoulders.wire.sessions import Mode, Session

_MESSAGES_SHOWN = 3
"""User messages, with their answers, that are shown when a conversation is opened."""
_OPEN = "The turn stays open: jupyter shoulders chat resumes it."


class LeaveChat(Exception):
    """The user leaves the chat."""

    def __init__(self, code: ExitCode = ExitCode.OK) -> None:
        super().__init__()
        self.code = code


class ChatSession:
    """The current conversation; it is created with its first message."""

    def __init__(
        self,
        backend: ChatBackend,
        screen: TerminalScreen,
        model: str | None = None,
        mode: Mode | None = None,
    ) -> None:
        self.backend = backend
        self.screen = screen
        self.session: Session | None = None
        self.review = Review(backend, screen)
        self._model = None if model is None else ModelId(model)
        self._mode: Mode | None = mode

    @property
    def model(self) -> ModelId | None:
        """The model that answers; None when none is set up."""
        chosen = self._model if self.session is None else self.session.model
        return chosen or self.backend.models().default

    @property
    def mode(self) -> Mode | None:
        """The permission mode; None before the first message: the default."""
        return self._mode if self.session is None else self.backend.session(self.session.id).mode

    def choose(self, model: str | None = None, mode: Mode | None = None) -> None:
        """Change the model or the mode, of this and of later conversations."""
        chosen = None if model is None else ModelId(model)
        if self.session is not None and (chosen or mode):
            command = PatchSession(model=chosen, mode=mode)
            self.session = self.backend.change(self.session.id, command)
        self._model = chosen or self._model
        self._mode = mode or self._mode

    def new(self) -> None:
        """Start another conversation with the next message."""
        self.session = None

    def open(self, session: str) -> None:
        """Continue a conversation: show its end, and follow an open turn."""
        self.session = self.backend.session(SessionId(session))
        events = self.backend.past(self.session.id)
        reader = TurnReader(self.session.id)
        for event in _last_turn(events):
            reader.take(event)
        self.screen.write_lines(f"{self.session.title or 'Untitled'} ({self.session.id})", "bold")
        EventDisplay(self.screen).show_history(_last_messages(events))
        after = events[-1].seq if events else 0
        if self.session.status == "interrupted" and not isinstance(reader.waits_for, ev.Notice):
            self._offer(reader, after)
        elif self.session.status in {"running", "waiting", "interrupted"}:
            self._follow(reader, after)
        else:
            self.review.announce()

    def send(self, text: str) -> None:
        """Send a message and follow its turn to the end."""
        if self.session is None:
            command = CreateSession(kind="chat", source="cli", model=self._model, mode=self._mode)
            self.session = self.backend.create(command)
        session_id = self.session.id
        message = SendMessage(id=MessageId(f"msg_{secrets.token_hex(12)}"), text=text)
        after = self.backend.session(session_id).last_seq
        reader = TurnReader(session_id, message.id)
        self._follow(reader, after, lambda: self.backend.send(session_id, message))

    def undo_turn(self, session_id: SessionId) -> None:
        """Undo the changes of documents by a conversation's last turn."""
        self._restored(undo_last_turn(self.backend, session_id))

    def redo_turn(self, session_id: SessionId) -> None:
        """Revert the undo of the last turn."""
        self._restored(redo_last_turn(self.backend, session_id))

    def _restored(self, lines: list[str]) -> None:
        self.review.forget()
        self.screen.write_lines("\n".join(lines))

    def _offer(self, reader: TurnReader, after: int) -> None:
        session_id, command = reader.session_id, resume_answer(self.screen)
        if command is None:
            self.new()
            self.screen.write_lines(f"It stays open: /open {session_id}")
        else:
            reader.interrupted = False
            if command.decision == "discard":  # else pending requests wait again, asked once
                reader.waits_for = None
            self._follow(reader, after, lambda: self.backend.resume(session_id, command))

    def _follow(
        self, reader: TurnReader, after: int, begin: Callable[[], None] | None = None
    ) -> None:
        self.review.forget()
        _TurnFollower(self.backend, self.screen, reader, after).run(begin)


class _TurnFollower:
    """Follows a turn from start to end, and asks the user when it waits."""

    def __init__(
        self, backend: ChatBackend, screen: TerminalScreen, reader: TurnReader, after: int
    ) -> None:
        self._backend = backend
        self._screen = screen
        self._reader = reader
        self._after = after
        self._shown = EventDisplay(screen)
        self._asker = UserPrompter(backend, screen, reader.session_id)
        self._ended = False
        self._stopping = False

    def run(self, begin: Callable[[], None] | None) -> None:
        """Follow the turn; the first Ctrl+C stops it, another one raises ``LeaveChat``."""
        try:
            if begin is not None:
                with defer_interrupt() as held:
                    begin()
                if held.received:
                    raise KeyboardInterrupt
            self._go_on()
        except KeyboardInterrupt:
            self._stop()
        except EOFError:
            self._screen.write_lines(_OPEN)
            raise LeaveChat from None

    def _stop(self) -> None:
        try:
            self._screen.write_lines("Stopping the turn. Ctrl+C again leaves.")
            self._stopping, self._reader.waits_for = True, None
            self._backend.cancel(self._reader.session_id)
            self._go_on()
        except KeyboardInterrupt:
            raise LeaveChat(ExitCode.CANCELLED) from None

    def _go_on(self) -> None:
        while not self._ended:
            self._until_it_rests()
            if self._reader.waits_for is not None:
                self._ask(self._reader.waits_for)

    def _until_it_rests(self) -> None:
        if self._rests():
            return
        with closing(self._backend.events(self._reader.session_id, self._after)) as events:
            for event in events:
                self._after = event.seq
                if self._reader.take(event):
                    self._shown.take(event)
                if self._rests():
                    return
        self._ended = True

    def _rests(self) -> bool:
        if self._stopping:  # open questions are cancelled too
            self._reader.waits_for = None
        self._ended = self._ended or self._reader.ended is not None or self._reader.interrupted
        return self._ended or self._reader.waits_for is not None

    def _ask(self, asked: Question | ev.Notice) -> None:
        try:
            if isinstance(asked, ev.Notice):
                self._pause(asked)
            else:
                self._asker.ask(asked)
                self._reader.waits_for = None
        except (ClientError, ShouldersError) as error:
            self._screen.warn(error_text(error))
            if not isinstance(asked, ev.Notice):  # answered elsewhere first; the turn continues
                self._reader.waits_for = None

    def _pause(self, notice: ev.Notice) -> None:
        command = pause_answer(self._screen, notice)
        if command is None:
            self._ended = True
            self._screen.write_lines(f"It stays open: /open {self._reader.session_id}")
        else:
            self._backend.resume(self._reader.session_id, command)
        self._reader.waits_for = None


def error_text(error: ClientError | ShouldersError) -> str:
    """Return the error and what to do."""
    return describe_error(error.info) if isinstance(error, ShouldersError) else str(error)


def _last_turn(events: list[ev.Event]) -> list[ev.Event]:
    starts = [at for at, event in enumerate(events) if isinstance(event, ev.TurnStart)]
    return events[starts[-1] :] if starts else []


def _last_messages(events: list[ev.Event]) -> list[ev.Event]:
    starts = [at for at, event in enumerate(events) if isinstance(event, ev.MessageAdd)]
    return events[starts[-_MESSAGES_SHOWN:][0] :] if starts else []
