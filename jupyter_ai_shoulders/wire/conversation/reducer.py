"""Reduces the log of a session to the conversation shown to a reader.

Pure; used by exports and tests. ``labextension/src/model/reducer/conversation.ts`` has the same
rules; the fixtures in ``tests/wire/fixtures/reducer`` test both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.conversation import views
from jupyter_ai_shoulders.wire.conversation.call_reducer import (
    CallEvent,
    QuestionEvent,
    TextEvent,
    reduce_call_event,
    reduce_question_event,
    reduce_text_event,
)
from jupyter_ai_shoulders.wire.conversation.change_reducer import (
    ChangeEvent,
    add_file_change,
    mark_turn_undone,
    reduce_change_event,
)
from jupyter_ai_shoulders.wire.conversation.part_updates import (
    Change,
    add_part,
    change_part,
    change_turn,
    clear_retry,
    close_parts,
    copy_with,
)
from jupyter_ai_shoulders.wire.conversation.views import Conversation, PartView, TurnView, UsageView

EMPTY = Conversation(
    session=None,
    last_seq=0,
    messages=(),
    branches=(),
    queued=(),
    turn=None,
    pending_call=None,
    changes=(),
    todo=(),
    agent=None,
    context_tokens=None,
    context_window=None,
    usage=UsageView(
        input_tokens=0,
        output_tokens=0,
        cache_read_tokens=0,
        cache_write_tokens=0,
        reasoning_tokens=0,
        cost_micro_usd=0,
        month_micro_usd=None,
        month_limit_micro_usd=None,
    ),
)
"""The conversation before its first event."""

SessionEvent = ev.SessionCreate | ev.SessionUpdate
MessageEvent = ev.MessageAdd | ev.MessageUpdate
TurnEvent = ev.TurnStart | ev.TurnResume | ev.StepStart | ev.RetryWait | ev.TurnEnd
CardEvent = (
    ev.ProposalAdd | ev.ProposalResolve | ev.ArtifactShare | ev.Notice | ev.Restore | ev.ErrorEvent
)
AgentEvent = ev.AgentActivity | ev.AgentState
TotalEvent = ev.TodoUpdate | ev.UsageUpdate | AgentEvent | ChangeEvent
UnseenEvent = ev.Checkpoint | ev.ContextRebase | ev.ContextAdd
"""Facts for restores and requests that are not shown."""


def reduce_events(events: Iterable[ev.Event], conversation: Conversation = EMPTY) -> Conversation:
    """Return the conversation after these events."""
    for event in events:
        conversation = reduce_event(conversation, event)
    return conversation


def reduce_event(conversation: Conversation, event: ev.Event) -> Conversation:
    """Return the conversation after one event; repeated events are ignored."""
    if event.seq <= conversation.last_seq:
        return conversation
    return copy_with(_dispatch(conversation, event), last_seq=event.seq)


def _dispatch(state: Conversation, event: ev.Event) -> Conversation:
    if isinstance(event, SessionEvent):
        folded = _session(state, event)
    elif isinstance(event, MessageEvent):
        folded = _message(state, event)
    elif isinstance(event, TurnEvent):
        folded = _turn(state, event)
    elif isinstance(event, TextEvent):
        folded = reduce_text_event(state, event)
    elif isinstance(event, CallEvent):
        folded = _called(state, event)
    elif isinstance(event, QuestionEvent):
        folded = reduce_question_event(state, event)
    elif isinstance(event, CardEvent):
        folded = _card(state, event)
    elif isinstance(event, TotalEvent):
        folded = _total(state, event)
    elif isinstance(event, UnseenEvent):  # pyright: ignore[reportUnnecessaryIsInstance]: keeps the next line honest
        folded = state
    else:
        assert_never(event)
    return folded


def _called(state: Conversation, event: CallEvent) -> Conversation:
    state = reduce_call_event(state, event)
    return add_file_change(state, event) if isinstance(event, ev.ToolResult) else state


# Sessions and messages


def _session(state: Conversation, event: SessionEvent) -> Conversation:
    state = copy_with(state, session=event.session)
    turn = state.turn
    if event.session.status == "interrupted" and turn is not None and turn.state != "ended":
        return close_parts(copy_with(state, turn=copy_with(turn, state="interrupted", retry=None)))
    return _paused(state, event)


def _paused(state: Conversation, event: SessionEvent) -> Conversation:
    """Record a pause without a question: at a spending limit, or for tool results."""
    shown = None if state.turn is None else (event.session.status, state.turn.state)
    if shown == ("waiting", "running"):
        return change_turn(close_parts(state), state="waiting")
    if shown == ("running", "waiting") and state.pending_call is None:
        return change_turn(state, state="running")
    return state


def _message(state: Conversation, event: MessageEvent) -> Conversation:
    match event:
        case ev.MessageAdd(queued=True):
            waiting = views.QueuedView(
                message_id=event.message_id,
                at=event.at,
                text=event.text,
                attachments=event.attachments,
                context=event.context,
            )
            return copy_with(state, queued=(*state.queued, waiting))
        case ev.MessageAdd():
            state = state if event.replaces is None else _rewound(state, event, event.replaces)
            message = views.UserView(
                message_id=event.message_id,
                seq=event.seq,
                at=event.at,
                text=event.text,
                attachments=event.attachments,
                context=event.context,
            )
            return copy_with(state, messages=(*state.messages, message))
        case ev.MessageUpdate():
            return _queued_message(state, event)
        case _:
            assert_never(event)


def _restored(state: Conversation, event: ev.Restore) -> Conversation:
    if event.conversation is not None:
        state = _rewound(state, event, event.conversation)
    restore = views.RestoreView(
        restore_id=event.restore_id,
        seq=event.seq,
        what=event.what,
        documents=event.documents,
        drift=event.drift,
        undone=event.undone,
        undone_turn=event.undone_turn,
    )
    return add_part(mark_turn_undone(state, event.undone_turn), event, restore)


def _rewound(
    state: Conversation, event: ev.MessageAdd | ev.Restore, replaced: ev.Replaced
) -> Conversation:
    """Hide the events after a message; their cost still counts."""
    branch = views.BranchView(
        message_id=replaced.message_id,
        seq=event.seq,
        at=event.at,
        first_seq=replaced.seq,
        last_seq=event.seq - 1,
    )
    return copy_with(
        state,
        messages=tuple(message for message in state.messages if message.seq < replaced.seq),
        branches=(*state.branches, branch),
        queued=(),
        turn=None,
        pending_call=None,
        todo=replaced.todo,
    )


def _queued_message(state: Conversation, event: ev.MessageUpdate) -> Conversation:
    found = next((item for item in state.queued if item.message_id == event.message_id), None)
    if found is None:
        return state
    if event.text is not None:
        found = copy_with(found, text=event.text)
    others = tuple(item for item in state.queued if item.message_id != event.message_id)
    match event.status:
        case "queued":
            changed = (
                found if item.message_id == found.message_id else item for item in state.queued
            )
            return copy_with(state, queued=tuple(changed))
        case "removed":
            return copy_with(state, queued=others)
        case "consumed":
            message = views.UserView(seq=event.seq, **dict(found))
            return copy_with(state, queued=others, messages=(*state.messages, message))
        case _:
            assert_never(event.status)


# Turns


def _turn(state: Conversation, event: TurnEvent) -> Conversation:
    match event:
        case ev.TurnStart():
            return copy_with(state, turn=_new_turn(event))
        case ev.TurnResume():
            resumed = _new_turn(event)
            if state.turn is not None:
                before = state.turn
                resumed = copy_with(resumed, step=before.step, started_at=before.started_at)
            return close_parts(copy_with(state, turn=resumed))
        case ev.StepStart():
            state = copy_with(state, context_tokens=event.tokens_used, context_window=event.window)
            step = {"state": "running", "step": event.step, "step_limit": event.limit}
            return close_parts(change_turn(state, retry=None, **step))
        case ev.RetryWait():
            retry = views.RetryView(
                attempt=event.attempt, delay_ms=event.delay_ms, reason=event.reason, at=event.at
            )
            return close_parts(change_turn(state, state="retrying", retry=retry))
        case ev.TurnEnd():
            end = views.EndView(
                turn_id=event.turn_id, exit=event.exit, error=event.error, summary=event.summary
            )
            state = change_turn(state, state="ended", retry=None, exit=event.exit)
            return add_part(close_parts(copy_with(state, pending_call=None)), event, end)
        case _:
            assert_never(event)


def _new_turn(event: ev.TurnStart | ev.TurnResume) -> TurnView:
    return TurnView(
        turn_id=event.turn_id,
        state="running",
        model=event.model,
        provider=event.provider,
        mode=event.mode,
        step=0,
        step_limit=event.step_limit,
        started_at=event.at,
        retry=None,
        exit=None,
    )


# Agents of other programs


def _agent(state: Conversation, event: AgentEvent) -> Conversation:
    if isinstance(event, ev.AgentState):
        return copy_with(state, agent=event)
    activity = views.ActivityView(
        activity_id=event.activity_id,
        title=event.title,
        kind=event.kind,
        status=event.status,
        locations=event.locations,
        content=event.content,
        input=event.input,
    )

    def change(part: PartView) -> PartView | None:
        same = isinstance(part, views.ActivityView) and part.activity_id == event.activity_id
        return activity if same else None

    changed = change_part(state, change)
    return add_part(clear_retry(state), event, activity) if changed is state else changed


# Cards and totals


def _card(state: Conversation, event: CardEvent) -> Conversation:
    match event:
        case ev.ProposalAdd():
            proposal = views.ProposalView(call_id=event.call_id, proposal=event.proposal)
            return add_part(state, event, proposal)
        case ev.ProposalResolve():
            return change_part(state, _resolved(event))
        case ev.ArtifactShare():
            artifact = views.ArtifactView(
                call_id=event.call_id,
                name=event.name,
                media_type=event.media_type,
                size=event.size,
                description=event.description,
            )
            return add_part(state, event, artifact)
        case ev.Notice():
            notice = views.NoticeView(
                level=event.level,
                code=event.code,
                text=event.text,
                call_id=event.call_id,
                details=event.details,
            )
            # A notice without text is one of several for damaged events; the first describes them
            # all.
            return add_part(state, event, notice) if event.text else state
        case ev.Restore():
            return _restored(state, event)
        case ev.ErrorEvent():
            return add_part(state, event, views.ErrorView(error=event.error))
        case _:
            assert_never(event)


def _resolved(event: ev.ProposalResolve) -> Change:
    def change(part: PartView) -> PartView | None:
        if isinstance(part, views.ProposalView) and part.proposal.id == event.proposal_id:
            return copy_with(part, proposal=copy_with(part.proposal, state=event.state))
        return None

    return change


def _total(state: Conversation, event: TotalEvent) -> Conversation:
    match event:
        case ev.TodoUpdate():
            return copy_with(state, todo=event.items)
        case ev.AgentActivity() | ev.AgentState():
            return _agent(state, event)
        case ev.UsageUpdate():
            return copy_with(state, usage=_add_usage(state.usage, event))
        case ev.EditPending() | ev.EditResolve() | ev.CellsChange():
            return reduce_change_event(state, event)
        case _:
            assert_never(event)


def _add_usage(total: UsageView, event: ev.UsageUpdate) -> UsageView:
    used = event.usage
    unknown = total.cost_micro_usd is None or event.cost_micro_usd is None
    cost = None if unknown else (total.cost_micro_usd or 0) + (event.cost_micro_usd or 0)
    return UsageView(
        input_tokens=total.input_tokens + used.input_tokens,
        output_tokens=total.output_tokens + used.output_tokens,
        cache_read_tokens=total.cache_read_tokens + used.cache_read_tokens,
        cache_write_tokens=total.cache_write_tokens + used.cache_write_tokens,
        reasoning_tokens=total.reasoning_tokens + used.reasoning_tokens,
        cost_micro_usd=cost,
        month_micro_usd=event.month_micro_usd,
        month_limit_micro_usd=event.month_limit_micro_usd,
    )
