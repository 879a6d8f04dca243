"""The conversation as a provider is sent it: a fold of the log into valid messages.

Used by ``engine.context``. Valid for every prefix of a log: it begins with the user, sides
alternate, and each tool call has its result right after it. Messages once closed stay the same
objects, so that providers can keep their encoded bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from jupyter_ai_shoulders.engine.attachments import AttachmentRecord, SkillRecord
from jupyter_ai_shoulders.engine.inner_call import call_said
from jupyter_ai_shoulders.engine.meta import IN_CONTEXT, FactRecord
from jupyter_ai_shoulders.engine.protected import leading_results, middle, without_middle
from jupyter_ai_shoulders.engine.step_notice import step_notice
from jupyter_ai_shoulders.engine.untrusted import marked_content
from jupyter_ai_shoulders.engine.user_message import Copy, Enclosed, Rendered, Setting, render
from jupyter_ai_shoulders.engine.watch import TOLD
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, PartId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ModelMessage,
    ReasoningPart,
    ResultContent,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
    UserPart,
)

NO_RESULT = "The call was interrupted; whether it took effect is not known."
"""Stands for the result of a call whose own is not in the log."""

_OWN_WORDS = frozenset({"todo", "complete", "clarify", "share_artifact", "load_tools"})
"""Tools whose results say what we or the user said; nothing in them was read somewhere."""
_OUTSIDE = frozenset({"ok", "error"})
"""Results that hold what a tool read; all others are the engine's own words."""

_OTHERS_REBASES = frozenset({"model", "compaction"})
"""Adapters know what is theirs; a compaction comes with its summary (``Transcript.compact``)."""

_PartEvent = (
    ev.TextStart
    | ev.ReasoningStart
    | ev.TextDelta
    | ev.ReasoningDelta
    | ev.TextEnd
    | ev.ReasoningEnd
)


@dataclass(slots=True)
class _OpenPart:
    part_id: PartId
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Reply:
    """The model's reply of one step, and the results of its calls."""

    parts: list[AssistantPart] = field(default_factory=list[AssistantPart])
    open: _OpenPart | None = None
    open_is_text: bool = False
    complete: bool = False
    cut: bool = False
    calls: dict[CallId, ToolCallPart] = field(default_factory=dict[CallId, ToolCallPart])
    labels: dict[CallId, str] = field(default_factory=dict[CallId, str])
    results: dict[CallId, ToolResultPart] = field(default_factory=dict[CallId, ToolResultPart])

    def message(self) -> AssistantMessage | None:
        """Return what was said and called.

        Reasoning that leads nowhere is left out: a message may not end with it (Anthropic).
        """
        parts = list(self.parts)
        if self.open is not None and self.open_is_text:
            parts.append(TextPart(text="".join(self.open.pieces)))
        kept = [part for part in parts if _says_something(part)]
        while kept and isinstance(kept[-1], ReasoningPart):
            kept.pop()
        return AssistantMessage(parts=tuple(kept)) if kept else None

    def took(self, call_id: CallId | None) -> bool:
        """Whether the call has the result that it was made for."""
        result = self.results.get(call_id) if call_id else None
        return result is not None and not result.is_error

    def outcome(self) -> list[UserPart]:
        """Return one result per call, in the order of the calls."""
        return [self.results.get(call.call_id) or _no_result(call) for call in self.calls.values()]


@dataclass(frozen=True, slots=True)
class Middle:
    """What a compaction may replace: the messages from ``start`` to ``end``."""

    start: int
    end: int
    open: int
    """Where the open turn begins; what is thought in it stays."""
    messages: tuple[ModelMessage, ...]
    """They, without an earlier summary, and with the results that stand in what follows."""
    previous: str | None
    """The earlier summary among them."""


class Transcript:
    """Takes events in order and gives the messages so far."""

    def __init__(self) -> None:
        self._setting = Setting()
        self._closed: list[ModelMessage] = []
        self._user: list[UserPart | ev.MessageAdd] = []
        """What the user's side says next; messages are settled when their first step begins."""
        self._reply: _Reply | None = None
        self._remarks: list[str] = []
        """What the guards say before the next step (``engine.watch``)."""
        self._queued: dict[MessageId, ev.MessageAdd] = {}
        self._answers: list[ev.MessageAdd] = []
        """Messages that answered a question of the open reply; they stand after its results."""
        self._enclosed: dict[MessageId, Enclosed] = {}
        self._told: Mapping[str, str] = {}
        """What the model has been told of the workspace, by name."""
        self._copies: list[Copy] = []
        """Contents of attachments in settled messages, oldest first."""
        self._starts: list[int] = []
        """The messages that turns begin with, by position."""
        self._summary: str | None = None
        """What stands for messages that a compaction replaced."""

    @property
    def closed(self) -> list[ModelMessage]:
        """The messages that will not change any more; the rest of ``messages`` may."""
        return self._closed

    # what the log says of messages to come

    def set_zone(self, zone: tzinfo) -> None:
        """Give local times in this zone from now on."""
        self._setting = replace(self._setting, zone=zone)

    def set_secret(self, secret: str) -> None:
        """Mark data with this secret from now on (``engine.untrusted``)."""
        self._setting = replace(self._setting, secret=secret)

    def set_facts(self, facts: tuple[FactRecord, ...]) -> None:
        """Say what the workspace is like now."""
        self._setting = replace(self._setting, facts=facts)

    def enclose(self, record: AttachmentRecord | SkillRecord) -> None:
        """Put into its message what was captured for it."""
        enclosed = self._enclosed.get(record.message_id, Enclosed())
        if isinstance(record, AttachmentRecord):
            attachments = {**enclosed.attachments, record.index: record}
            enclosed = replace(enclosed, attachments=attachments)
        else:
            enclosed = replace(enclosed, skills=(*enclosed.skills, record))
        self._enclosed[record.message_id] = enclosed

    def unsettled(self) -> list[tuple[ev.MessageAdd, Enclosed]]:
        """Return the messages that were never sent, with what was captured for them."""
        return [
            (item, self._enclosed.get(item.message_id, Enclosed()))
            for item in self._user
            if isinstance(item, ev.MessageAdd)
        ]

    def superseded(self) -> list[str]:
        """Return what stands in the conversation more than once; a rebase leaves the latest."""
        return list(dict.fromkeys(copy.key for copy in self._superseded()))

    def told(self) -> list[str]:
        """Return what the page said is in front of the user, as the model was told last."""
        return [f"{name}: {self._told[name]}" for name in IN_CONTEXT if name in self._told]

    def middle(self) -> Middle | None:
        """Return what a compaction may replace now; None when all of it is protected."""
        span = middle(self._starts)
        if span is None:
            return None
        start, end = span
        messages = self._closed[start + (self._summary is not None) : end]
        if not messages:
            return None
        results = leading_results(self._closed[end])
        whole = (*messages, *([results] if results else []))
        return Middle(start, end, self._starts[-1], whole, self._summary)

    def messages(self, notices: Iterable[str] = ()) -> list[ModelMessage]:
        """Return all messages; ``notices`` ride on the last one.

        They are kept when their step begins (``engine.step_notice``).
        """
        user = list(self._rendered().parts)
        messages = list(self._closed)
        said = self._reply.message() if self._reply else None
        if self._reply is not None and said is not None:
            messages += (_spoken(user), said)
            user = self._reply.outcome()
        told = map(_remark, (*self._remarks, *notices))
        last = [*user, *(part for part in told if part not in user[-1:])]
        return [*messages, _spoken(last)] if last else messages

    def add(self, event: ev.Event) -> None:
        """Take the next event of the log."""
        match event:
            case ev.MessageAdd() | ev.MessageUpdate():
                self._message(event)
            case ev.StepStart():
                self._close_reply()
                self._settle()
                for text in (*self._remarks, step_notice(event.step, event.limit)):
                    self._remark(text)
                self._remarks = []
            case ev.ToolCall():
                self._call(event)
            case ev.ToolResult():
                self._result(event)
            case _ if isinstance(event, _PartEvent):
                self._part(event)
            case _:
                self._boundary(event)

    def rebase(self, kept_from: int | None = None) -> None:
        """Take out what was bound to bytes that change now, and copies that were superseded.

        Reasoning is bound to what precedes it, at some providers by a signature. That of messages
        ``kept_from`` on stays: inside a tool loop it may not be missing, and adapters know how to
        send it when it is bound to something else.
        """
        self._close_reply()
        gone = {id(part) for copy in self._superseded() for part in copy.parts}
        self._copies = [copy for copy in self._copies if id(copy.parts[0]) not in gone]
        self._user = [part for part in self._user if id(part) not in gone]
        for index, message in enumerate(self._closed):
            bound = kept_from is None or index < kept_from
            if any(_goes(part, gone, bound=bound) for part in message.parts):
                kept = tuple(part for part in message.parts if not _goes(part, gone, bound=bound))
                self._closed[index] = message.model_copy(update={"parts": kept})

    def compact(self, start: int, end: int, summary: str) -> None:
        """Put a summary in the place of messages; the next one tells the workspace whole."""
        self.rebase(kept_from=self._starts[-1])
        self._closed[:] = without_middle(self._closed, start, end, summary)
        self._summary = summary
        self._told = {}
        self._starts = [0, *(place - end + 2 for place in self._starts if place >= end)]
        there = {id(part) for message in self._closed for part in message.parts}
        there |= {id(part) for part in self._user}
        self._copies = [copy for copy in self._copies if id(copy.parts[0]) in there]

    def _superseded(self) -> list[Copy]:
        """Return the settled copies that a later one replaces."""
        coming = self._rendered().copies
        later = {copy.key: place for place, copy in enumerate([*self._copies, *coming])}
        return [copy for place, copy in enumerate(self._copies) if later[copy.key] > place]

    # the user's side

    def _message(self, event: ev.MessageAdd | ev.MessageUpdate) -> None:
        if isinstance(event, ev.MessageUpdate):
            self._queued_message(event)
        elif event.answers is not None and self._reply is not None:
            self._answers.append(event)
        elif event.queued:
            self._queued[event.message_id] = event
        else:
            if event.replaces is not None:
                self._queued.clear()  # of a branch that was left; nothing waits when one edits
            self._say(event)

    def _queued_message(self, event: ev.MessageUpdate) -> None:
        queued = self._queued.pop(event.message_id, None)
        if queued is None:
            return
        if event.status == "queued":
            text = queued.text if event.text is None else event.text
            self._queued[event.message_id] = queued.model_copy(update={"text": text})
        elif event.status == "consumed":
            self._say(queued)

    def _say(self, message: ev.MessageAdd) -> None:
        self._close_reply()
        self._user.append(message)

    def _remark(self, notice: str | None) -> None:
        if notice is not None and _remark(notice) not in self._user[-1:]:
            self._user.append(_remark(notice))

    def _rendered(self) -> Rendered:
        """Return the user's side as it would be sent now."""
        whole = Rendered((), told=self._told)
        for item in self._user:
            if not isinstance(item, ev.MessageAdd):
                whole = replace(whole, parts=(*whole.parts, item))
                continue
            enclosed = self._enclosed.get(item.message_id, Enclosed())
            one = render(item, self._setting, enclosed, whole.told)
            parts, copies = (*whole.parts, *one.parts), (*whole.copies, *one.copies)
            whole = Rendered(parts, copies, one.told)
        return whole

    def _settle(self) -> None:
        """Keep the user's side as it is sent: a request with it is made now."""
        if any(isinstance(item, ev.MessageAdd) for item in self._user):
            rendered = self._rendered()
            self._user = list(rendered.parts)
            self._copies += rendered.copies
            self._told = rendered.told

    # the model's side

    def _open_reply(self) -> _Reply:
        if self._reply is None:
            self._reply = _Reply()
        return self._reply

    def _part(self, event: _PartEvent) -> None:
        reply = self._open_reply()
        match event:
            case ev.TextStart() | ev.ReasoningStart():
                reply.open = _OpenPart(event.part_id)
                reply.open_is_text = isinstance(event, ev.TextStart)
            case ev.TextDelta() | ev.ReasoningDelta():
                if reply.open is not None:
                    reply.open.pieces.append(event.text)
            case ev.TextEnd() | ev.ReasoningEnd():
                text = "".join(reply.open.pieces) if reply.open else ""
                kind = TextPart if isinstance(event, ev.TextEnd) else ReasoningPart
                reply.parts.append(kind(text=text, state=event.state))
                reply.open = None

    def _call(self, event: ev.ToolCall) -> None:
        reply = self._open_reply()
        tool, arguments = call_said(event)
        call = ToolCallPart(
            call_id=event.call_id, tool=tool, arguments=arguments, state=event.state
        )
        reply.parts.append(call)
        reply.calls[event.call_id] = call
        reply.labels[event.call_id] = " · ".join(filter(None, (event.tool, event.target)))

    def _result(self, event: ev.ToolResult) -> None:
        if self._reply is None or event.call_id not in self._reply.calls:
            return
        self._reply.results[event.call_id] = ToolResultPart(
            call_id=event.call_id,
            tool=self._reply.calls[event.call_id].tool,
            content=self._result_content(event, self._reply.labels[event.call_id]),
            is_error=event.status != "ok",
        )
        if self._answers and self._reply.calls.keys() == self._reply.results.keys():
            self._close_reply()

    def _result_content(self, event: ev.ToolResult, label: str) -> tuple[ResultContent, ...]:
        """Return a result's content; what a tool read is marked as data."""
        if event.tool in _OWN_WORDS or event.status not in _OUTSIDE:
            return event.content
        return marked_content(event.content, label, self._setting.secret)

    def _boundary(self, event: ev.Event) -> None:
        reply = self._reply
        match event:
            case ev.UsageUpdate() if reply is not None:
                reply.complete = reply.complete or not reply.cut
            case ev.Notice(code="interrupted") if reply is not None:
                reply.cut = True
            case ev.Notice() if event.code in TOLD:
                self._remarks.append(f"[notice] {TOLD[event.code]}")
            case ev.TurnResume() if reply is not None and not reply.complete and not reply.calls:
                self._reply = None  # the step is asked for again
            case ev.TurnStart():
                self._begin_turn()
            case ev.ContextRebase() if event.reason not in _OTHERS_REBASES:
                self.rebase()
            case _:
                pass

    def _begin_turn(self) -> None:
        self._close_reply()
        here = len(self._closed)
        if self._starts[-1:] != [here]:  # a turn without an answer is one with the next
            self._starts.append(here)

    def _close_reply(self) -> None:
        reply, self._reply = self._reply, None
        said = reply.message() if reply else None
        if reply is not None and said is not None:
            self._settle()
            self._closed += (_spoken(list(self._rendered().parts)), said)
            self._user = [*reply.outcome(), *self._answered(reply)]

    def _answered(self, reply: _Reply) -> list[ev.MessageAdd]:
        """Return what answers brought beside their text, which is the result of the question."""
        answers, self._answers = self._answers, []
        return [
            message.model_copy(update={"text": ""}) if reply.took(message.answers) else message
            for message in answers
        ]


def _goes(part: UserPart | AssistantPart, gone: set[int], *, bound: bool) -> bool:
    return (bound and isinstance(part, ReasoningPart)) or id(part) in gone


def _remark(text: str) -> UserPart:
    return TextPart(text=text)


def _spoken(parts: list[UserPart]) -> UserMessage:
    """Return the user's message; two replies never stand side by side."""
    return UserMessage(parts=tuple(parts) or (TextPart(text="Go on."),))


def _says_something(part: AssistantPart) -> bool:
    match part:
        case TextPart():
            return bool(part.text.strip())
        case ReasoningPart():
            return bool(part.text) or part.state is not None
        case ToolCallPart():
            return True


def _no_result(call: ToolCallPart) -> ToolResultPart:
    content = (TextPart(text=NO_RESULT),)
    return ToolResultPart(call_id=call.call_id, tool=call.tool, content=content, is_error=True)
