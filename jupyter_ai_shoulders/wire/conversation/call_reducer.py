"""Reduces events of model output: text, tool calls, questions to the user.

Part of ``wire.conversation.reducer``.
"""

from __future__ import annotations

from typing import assert_never

from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.conversation import views
from jupyter_ai_shoulders.wire.conversation.part_updates import (
    Change,
    add_part,
    change_call,
    change_part,
    change_turn,
    clear_retry,
    copy_with,
)
from jupyter_ai_shoulders.wire.conversation.views import CallView, Conversation, PartView
from jupyter_ai_shoulders.wire.ids import CallId

TextEvent = (
    ev.TextStart
    | ev.TextDelta
    | ev.TextEnd
    | ev.ReasoningStart
    | ev.ReasoningDelta
    | ev.ReasoningEnd
)
CallEvent = ev.ToolCall | ev.ToolStart | ev.ToolProgress | ev.ToolResult | ev.RunEnd
QuestionEvent = (
    ev.ApprovalRequest
    | ev.ApprovalAnswer
    | ev.ClarifyRequest
    | ev.ClarifyAnswer
    | ev.StdinRequest
    | ev.StdinAnswer
)


def reduce_text_event(state: Conversation, event: TextEvent) -> Conversation:
    """Reduce a text or reasoning event."""
    match event:
        case ev.TextStart():
            part = views.TextView(part_id=event.part_id, text="", open=True)
            return add_part(clear_retry(state), event, part)
        case ev.ReasoningStart():
            part = views.ReasoningView(part_id=event.part_id, text="", open=True)
            return add_part(clear_retry(state), event, part)
        case ev.TextDelta() | ev.ReasoningDelta():
            return change_part(state, _longer(event))
        case ev.TextEnd() | ev.ReasoningEnd():
            return change_part(state, _closed(event))
        case _:
            assert_never(event)


def _longer(event: ev.TextDelta | ev.ReasoningDelta) -> Change:
    def change(part: PartView) -> PartView | None:
        if isinstance(part, views.TextView | views.ReasoningView) and part.part_id == event.part_id:
            return copy_with(part, text=part.text + event.text)
        return None

    return change


def _closed(event: ev.TextEnd | ev.ReasoningEnd) -> Change:
    def change(part: PartView) -> PartView | None:
        if isinstance(part, views.TextView | views.ReasoningView) and part.part_id == event.part_id:
            return copy_with(part, open=False)
        return None

    return change


def reduce_call_event(state: Conversation, event: CallEvent) -> Conversation:
    """Reduce an event of a tool call."""
    match event:
        case ev.ToolCall():
            return add_part(clear_retry(state), event, _new_call(event))
        case ev.ToolStart():
            return change_call(state, event.call_id, lambda call: copy_with(call, state="running"))
        case ev.ToolProgress():
            return change_call(state, event.call_id, lambda call: _progress(call, event))
        case ev.ToolResult() | ev.RunEnd():
            settled = change_call(state, event.call_id, lambda call: _result(call, event))
            return _answered(settled, event.call_id)
        case _:
            assert_never(event)


def _new_call(event: ev.ToolCall) -> CallView:
    return CallView(
        call_id=event.call_id,
        tool=event.tool,
        arguments=event.arguments,
        raw=event.raw,
        invalid=event.invalid,
        risk=event.risk,
        external=event.external,
        title=event.title,
        target=event.target,
        state="proposed",
        approval=None,
        answer=None,
        progress=(),
        result=None,
        content=(),
        duration_ms=None,
        handle=None,
    )


def _progress(call: CallView, event: ev.ToolProgress) -> CallView:
    pieces = call.progress
    if pieces and pieces[-1].channel == event.channel:
        last = copy_with(pieces[-1], text=pieces[-1].text + event.text)
        return copy_with(call, progress=(*pieces[:-1], last))
    piece = views.ProgressView(channel=event.channel, text=event.text)
    return copy_with(call, progress=(*pieces, piece))


def _result(call: CallView, event: ev.ToolResult | ev.RunEnd) -> CallView:
    goes_on = isinstance(event, ev.ToolResult) and event.run is not None
    return copy_with(
        call,
        state="running" if goes_on else event.status,
        result=event.result,
        content=event.content,
        duration_ms=event.duration_ms,
        handle=event.handle,
    )


# Questions to the user


def reduce_question_event(state: Conversation, event: QuestionEvent) -> Conversation:
    """Reduce a question to the user or its answer."""
    match event:
        case ev.ApprovalRequest():
            approval = views.ApprovalView(
                arguments=event.arguments,
                arguments_hash=event.arguments_hash,
                preview=event.preview,
                language=event.language,
                reason=event.reason,
                scopes=event.scopes,
                sandboxed=event.sandboxed,
                network=event.network,
                read_only=event.read_only,
                reach=event.reach,
                effects=event.effects,
            )
            asked = change_call(
                state,
                event.call_id,
                lambda call: copy_with(call, state="waiting", approval=approval),
            )
            return _waiting(asked, event.call_id)
        case ev.ClarifyRequest():
            question = views.ClarifyView(
                call_id=event.call_id,
                question=event.question,
                options=event.options,
                allow_multiple=event.allow_multiple,
                answer=None,
            )
            return _waiting(add_part(state, event, question), event.call_id)
        case ev.StdinRequest():
            prompt = views.StdinView(
                call_id=event.call_id,
                prompt=event.prompt,
                password=event.password,
                choices=event.choices,
                answered=None,
            )
            asked = add_part(state, event, prompt)
            if asked.turn is not None and asked.turn.state == "ended":  # its run continues
                return copy_with(asked, pending_call=event.call_id)
            return _waiting(asked, event.call_id)
        case ev.ApprovalAnswer() | ev.ClarifyAnswer() | ev.StdinAnswer():
            return _answered(change_part(state, _answer(event)), event.call_id)
        case _:
            assert_never(event)


def _answer(event: ev.ApprovalAnswer | ev.ClarifyAnswer | ev.StdinAnswer) -> Change:
    """Answer only the call's newest question: cells may request input twice."""

    def change(part: PartView) -> PartView | None:
        match part, event:
            case CallView(call_id=event.call_id), ev.ApprovalAnswer():
                answer = views.AnswerView(
                    decision=event.decision,
                    scope=event.scope,
                    feedback=event.feedback,
                    by=event.by,
                )
                return copy_with(part, state="proposed", answer=answer)
            case views.ClarifyView(call_id=event.call_id), ev.ClarifyAnswer():
                return copy_with(part, answer=event.answer)
            case views.StdinView(call_id=event.call_id), ev.StdinAnswer():
                return copy_with(part, answered=event.answered)
            case _:
                return None

    return change


def _waiting(state: Conversation, call_id: CallId) -> Conversation:
    return change_turn(copy_with(state, pending_call=call_id), state="waiting")


def _answered(state: Conversation, call_id: CallId) -> Conversation:
    if state.pending_call != call_id:
        return state
    state = copy_with(state, pending_call=None)
    waiting = state.turn is not None and state.turn.state == "waiting"
    return change_turn(state, state="running") if waiting else state
