"""The conversation as messages for a provider, folded from the log.

Used by ``engine.request.context``. Valid for every prefix of a log: it starts with the user, sides
alternate, and each tool call is followed by its result. Closed messages stay the same objects, so
that providers can cache their encoded bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_ai_shoulders.core.restore.description import describe_restore
from jupyter_ai_shoulders.engine.guardrails.progress_guard import MODEL_NOTICES
from jupyter_ai_shoulders.engine.transcript.assistant_message import (
    AssistantMessageBuilder,
    PartEvent,
    background_run_message,
)
from jupyter_ai_shoulders.engine.transcript.compaction_range import (
    find_compactable_range,
    leading_results,
    replace_compacted_range,
)
from jupyter_ai_shoulders.engine.transcript.step_notice import step_notice
from jupyter_ai_shoulders.engine.transcript.user_messages import UserMessageBuffer
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.parts import (
    AssistantPart,
    ModelMessage,
    ReasoningPart,
    TextPart,
    UserMessage,
    UserPart,
)

_OTHERS_REBASES = frozenset({"model", "compaction"})
"""Rebases handled elsewhere: by adapters, and by ``Transcript.compact``."""


@dataclass(frozen=True, slots=True)
class CompactableRange:
    """The messages from ``start`` to ``end``, which a compaction may replace."""

    start: int
    end: int
    open: int
    """The start of the open turn, whose reasoning stays."""
    messages: tuple[ModelMessage, ...]
    """The messages without an earlier summary, and with the results that follow them."""
    previous: str | None
    """The earlier summary among them."""


class Transcript:
    """Takes events in order and returns the messages so far."""

    def __init__(self) -> None:
        self.user = UserMessageBuffer()
        """The next message to the model; also holds queued messages."""
        self._closed: list[ModelMessage] = []
        self._reply: AssistantMessageBuilder | None = None
        self._answers: list[ev.MessageAdd] = []
        """Messages that answered a question of the open reply; they follow its results."""
        self._starts: list[int] = []
        """The index of each turn's first message."""
        self._summary: str | None = None
        """The summary of the messages a compaction replaced."""

    @property
    def closed(self) -> list[ModelMessage]:
        """The messages that will not change; later ones may."""
        return self._closed

    def compactable_range(self) -> CompactableRange | None:
        """Return the range a compaction may replace now; None when all is protected."""
        span = find_compactable_range(self._starts)
        if span is None:
            return None
        start, end = span
        messages = self._closed[start + (self._summary is not None) : end]
        if not messages:
            return None
        results = leading_results(self._closed[end])
        whole = (*messages, *([results] if results else []))
        return CompactableRange(start, end, self._starts[-1], whole, self._summary)

    def messages(self, notices: Iterable[str] = ()) -> list[ModelMessage]:
        """Return all messages; ``notices`` are added to the last one.

        They become permanent when their step starts (``engine.transcript.step_notice``).
        """
        user: list[UserPart] = list(self.user.rendered().parts)
        messages = list(self._closed)
        said = self._reply.message() if self._reply else None
        if self._reply is not None and said is not None:
            messages += (_user_message(user), said)
            user = list(self._reply.call_results())
        last = self.user.with_remarks(user, notices)
        return [*messages, _user_message(last)] if last else messages

    def add(self, event: ev.Event) -> None:
        """Add the next event of the log."""
        match event:
            case ev.MessageAdd():
                self._message(event)
            case ev.MessageUpdate():
                queued = self.user.take_queued(event)
                if queued is not None:
                    self._say(queued)
            case ev.StepStart():
                self._close_reply()
                self.user.begin_step(step_notice(event.step, event.limit))
            case ev.ToolCall():
                self._open_reply().add_call(event)
            case ev.ToolResult():
                self._result(event)
            case ev.RunEnd():
                self._run_end(event)
            case ev.Restore():
                self._restored(event)
            case _ if isinstance(event, PartEvent):
                self._open_reply().add_part(event)
            case _:
                self._boundary(event)

    def rebase(self, kept_from: int | None = None) -> None:
        """Remove what depends on bytes that change now, and superseded copies.

        Reasoning depends on the text before it, at some providers by a signature. That of messages
        from ``kept_from`` on stays: it is required inside a tool loop, and adapters can send it
        without its signature.
        """
        self._close_reply()
        replaced = self.user.drop_superseded()
        for index, message in enumerate(self._closed):
            bound = kept_from is None or index < kept_from
            if any(_goes(part, replaced, bound=bound) for part in message.parts):
                kept = tuple(
                    part for part in message.parts if not _goes(part, replaced, bound=bound)
                )
                self._closed[index] = message.model_copy(update={"parts": kept})

    def compact(self, start: int, end: int, summary: str) -> None:
        """Replace messages by a summary; the next message states all workspace facts again."""
        self.rebase(kept_from=self._starts[-1])
        self._closed[:] = replace_compacted_range(self._closed, start, end, summary)
        self._summary = summary
        self._starts = [0, *(place - end + 2 for place in self._starts if place >= end)]
        self.user.forget_told_facts(
            {id(part) for message in self._closed for part in message.parts}
        )

    # user messages

    def _message(self, event: ev.MessageAdd) -> None:
        if event.answers is not None and self._reply is not None:
            self._answers.append(event)
        elif event.queued:
            self.user.queue(event)
        else:
            if event.replaces is not None:
                self.user.leave_queue()  # of an abandoned branch
            self._say(event)

    def _say(self, message: ev.MessageAdd) -> None:
        self._close_reply()
        self.user.say(message)

    # assistant messages

    def _open_reply(self) -> AssistantMessageBuilder:
        if self._reply is None:
            self._reply = AssistantMessageBuilder()
        return self._reply

    def _result(self, event: ev.ToolResult) -> None:
        if self._reply is None or event.call_id not in self._reply.calls:
            return
        self._reply.add_result(event, self.user.secret)
        if self._answers and self._reply.answered:
            self._close_reply()

    def _run_end(self, event: ev.RunEnd) -> None:
        """Add the end of a run between two steps."""
        self._close_reply()
        for part in background_run_message(event, self.user.secret):
            self.user.say(part)

    def _restored(self, event: ev.Restore) -> None:
        """Add a notice that documents were restored, unless the conversation was rewound too."""
        if event.conversation is None and event.documents:
            self._close_reply()
            said = f"[notice] The user took back what you did. {describe_restore(event)}"
            self.user.say(TextPart(text=f"{said} Read again what you want to change."))

    def _boundary(self, event: ev.Event) -> None:
        reply = self._reply
        match event:
            case ev.UsageUpdate() if reply is not None:
                reply.note_usage()
            case ev.Notice(code="interrupted") if reply is not None:
                reply.cut = True
            case ev.Notice() if event.code in MODEL_NOTICES:
                self.user.remind(f"[notice] {MODEL_NOTICES[event.code]}")
            case ev.EditResolve(decision="undo", by="user", document=str(document)):
                self.user.remind(f"[notice] The user undid a change of yours in {document}.")
            case ev.TurnResume() if reply is not None and not reply.complete and not reply.calls:
                self._reply = None  # the step is repeated
            case ev.TurnStart():
                self._begin_turn()
            case ev.ContextRebase() if event.reason not in _OTHERS_REBASES:
                self.rebase()
            case _:
                pass

    def _begin_turn(self) -> None:
        self._close_reply()
        here = len(self._closed)
        if self._starts[-1:] != [here]:  # a turn without an answer merges with the next
            self._starts.append(here)

    def _close_reply(self) -> None:
        reply, self._reply = self._reply, None
        said = reply.message() if reply else None
        if reply is not None and said is not None:
            self.user.settle()
            self._closed += (_user_message(self.user.rendered().parts), said)
            self.user.begin([*reply.call_results(), *self._answered(reply)])

    def _answered(self, reply: AssistantMessageBuilder) -> list[ev.MessageAdd]:
        """Return what answers contain besides their text, which is the question's result."""
        answers, self._answers = self._answers, []
        return [
            message.model_copy(update={"text": ""})
            if reply.has_result_for(message.answers)
            else message
            for message in answers
        ]


def _goes(part: UserPart | AssistantPart, replaced: set[int], *, bound: bool) -> bool:
    return (bound and isinstance(part, ReasoningPart)) or id(part) in replaced


def _user_message(parts: Iterable[UserPart]) -> UserMessage:
    """Return the user's message; two replies are never adjacent."""
    return UserMessage(parts=tuple(parts) or (TextPart(text="Go on."),))
