"""Small parts beside the loop: interruption texts, joined deltas, titles, edge cases."""

from __future__ import annotations

import asyncio
import gc
from datetime import UTC

import pytest

from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.engine.calls.delta_buffer import DeltaBuffer
from jupyter_ai_shoulders.engine.environment.attachments import describe_attachment
from jupyter_ai_shoulders.engine.environment.workspace_facts import local_time
from jupyter_ai_shoulders.engine.loop.interruption_text import describe_interruption
from jupyter_ai_shoulders.engine.loop.state import CallState, TurnState
from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.testing.scripted_provider import Call as Made
from jupyter_ai_shoulders.testing.scripted_provider import Gate, Say, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire import messages as ms
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.events import CallStatus
from jupyter_ai_shoulders.wire.ids import (
    CallId,
    CellId,
    MessageId,
    ModelId,
    ProviderId,
    SessionId,
    TurnId,
)
from jupyter_ai_shoulders.wire.sessions import Session
from tests.engine.engine_harness import SESSION, make_engine, make_session, make_settings
from tests.engine.loop.test_turns import check

OUTCOMES: dict[CallStatus, str] = {
    "ok": "was done",
    "error": "failed",
    "denied": "was not allowed",
    "skipped": "was skipped",
    "cancelled": "was cancelled",
    "unknown": "may have taken effect",
}


def open_turn(*calls: CallState, step: int = 2, whole: bool = True) -> TurnState:
    return TurnState(
        TurnId("t"),
        ModelId("m"),
        ProviderId("p"),
        "ask",
        25,
        step=step,
        reply_complete=whole,
        calls=calls,
    )


@pytest.mark.parametrize(("status", "words"), OUTCOMES.items())
def test_interruption_says_how_each_call_ended(status: CallStatus, words: str):
    call = CallState(CallId("c"), "t", {}, None, "write", "Edit cell 4", status=status)
    assert describe_interruption(open_turn(call)) == (
        f"The turn was interrupted in step 2: “Edit cell 4” {words}. Resume or discard it."
    )


def test_interruption_outside_of_calls_is_said_too():
    assert "before its first step" in describe_interruption(open_turn(step=0))
    assert "the reply was complete" in describe_interruption(open_turn())
    assert "reply was cut off" in describe_interruption(open_turn(whole=False))


# joined deltas


async def test_first_piece_goes_out_at_once_and_later_ones_together():
    out: list[str] = []
    ticked = asyncio.Event()

    def emit(text: str) -> None:
        out.append(text)
        if len(out) == 2:
            ticked.set()

    joined = DeltaBuffer(0.05, emit)
    for piece in ("a", "b", "c"):
        joined.push(piece)
    assert out == ["a"]
    await ticked.wait()
    assert out == ["a", "bc"]
    joined.push("d")
    joined.flush()
    joined.flush()
    assert out == ["a", "bc", "d"]


@pytest.mark.parametrize(("interval", "sent"), [(0.0, ["a", "bc"]), (60.0, ["a"])])
async def test_what_arrives_together_goes_out_at_once_when_the_last_piece_left_long_ago(
    interval: float, sent: list[str]
):
    out: list[str] = []
    joined = DeltaBuffer(interval, out.append)
    for piece in ("a", "b", "c"):
        joined.push(piece)
    assert out == ["a"]
    await asyncio.sleep(0)
    assert out == sent
    joined.flush()
    assert out == ["a", "bc"]


async def test_failure_on_the_timer_is_raised_by_the_next_piece():
    failed = asyncio.Event()

    def emit(text: str) -> None:
        if text == "b":
            failed.set()
            raise StateUnavailable("The disk is full.")

    joined = DeltaBuffer(0.05, emit)
    joined.push("a")
    joined.push("b")
    await failed.wait()
    with pytest.raises(StateUnavailable):
        joined.push("c")


async def test_deltas_of_a_slow_stream_are_not_held_back():
    gate = Gate()
    w = make_engine(
        turn(Say("one two three"), gate, Say("four")), limits=make_settings(delta_interval_s=60.0)
    )
    await w.send()
    await gate.reached.wait()
    assert [event.text for event in w.of(ev.TextDelta)] == ["one ", "two three"]
    gate.open.set()
    await w.settle()


# titles and attachments

TITLES = [
    ("Fix cell 4", "Fix cell 4"),
    ("\n\n  Fix cell 4  \nplease", "Fix cell 4"),
    ("x" * 80, "x" * 59 + "…"),
    (" ", ""),
]


@pytest.mark.parametrize(("text", "title"), TITLES)
def test_title_is_the_first_line_of_the_first_message(text: str, title: str):
    index = SessionIndex()
    index.add(ev.MessageAdd(message_id=MessageId("m"), text=text))
    assert index.title == title


async def test_title_that_was_given_stays():
    w = make_engine("Hi.", given=make_session(title="Mine"))
    await w.say("Other")
    assert w.session.title == "Mine"


ATTACHMENTS: list[tuple[ms.Attachment, str]] = [
    (ms.FolderAttachment(kind="folder", path="data\n[x]"), "folder: data [x]"),
    (
        ms.ErrorAttachment(kind="error", path="a.ipynb", cell_id=CellId("c")),
        "error output of cell c of a.ipynb",
    ),
    (
        ms.OutputAttachment(kind="output", path="a.ipynb", cell_id=CellId("c"), index=1),
        "output 1 of cell c of a.ipynb",
    ),
    (
        ms.VariableAttachment(kind="variable", path="a.ipynb", name="df"),
        "variable df of a.ipynb",
    ),
    (
        ms.ThreadAttachment(kind="thread", session_id=SessionId("s2")),
        "conversation s2",
    ),
    (ms.ImageAttachment(kind="image", media_type="image/png", data="AA", blob=None), "image"),
]


@pytest.mark.parametrize(("attachment", "text"), ATTACHMENTS, ids=[a.kind for a, _ in ATTACHMENTS])
def test_attachment_is_named_on_one_line(attachment: ms.Attachment, text: str):
    assert describe_attachment(attachment) == text


def test_unstamped_event_has_a_time_all_the_same():
    assert local_time("", UTC) == "Thursday 1970-01-01 00:00 UTC"


# edge cases


async def test_session_deleted_while_its_turn_runs():
    gate = Gate()
    w = make_engine(turn(Say("Half"), gate))
    await w.send()
    await gate.reached.wait()
    get = w.store.get

    def deleted(session_id: SessionId) -> Session:
        raise NotFound("There is no conversation s1.")

    w.store.get = deleted
    gate.open.set()
    await w.settle()
    assert w.exits() == ["final_response"]
    w.store.get = get


async def test_model_that_is_gone_when_queued_messages_wait_is_said():
    gate = Gate()
    w = make_engine(turn(gate, Made("look", {"path": "a"})), limits=make_settings(step_limit=1))
    await w.send()
    await gate.reached.wait()
    await w.send("Then this")
    w.models.specs.clear()
    gate.open.set()
    await w.settle()
    (error,) = w.of(ev.ErrorEvent)
    assert error.error.code == "unknown_model"
    assert w.session.status == "error"
    assert w.of(ev.MessageUpdate) == []
    check(w)


async def test_permissions_that_cannot_be_read_end_the_turn_with_that_error():
    w = make_engine(turn(Made("look", {"path": "a"}, "c1")))
    await w.send()

    def unreadable() -> str | None:
        raise StateUnavailable("tools.json cannot be read.")

    await w.reached(ev.StepStart)
    w.file.read = unreadable
    await w.settle()
    (end,) = w.of(ev.TurnEnd)
    assert (end.exit, end.error and end.error.code) == ("error", "state_unavailable")
    assert w.results() == [("c1", "cancelled")]
    check(w)


async def test_idle_sessions_are_put_away_and_read_again():
    w = make_engine("One.", "Other.", "Two.", limits=make_settings(cached_sessions=1))
    other = SessionId("s2")
    w.store.add(make_session(id=other))
    await w.say("Hi", message="m1")
    await w.engine.send(other, SendMessage(id=MessageId("x"), text="Hi"))
    await w.engine.settled(other)
    await w.say("Again", message="m2")
    assert await w.send("Hi", message="m1")
    assert w.exits() == ["final_response", "final_response"]
    assert len(w.provider.requests[2].messages) == 3
    assert [request.cache_key for request in w.provider.requests] == [SESSION, other, SESSION]


def drivers_in_memory() -> list[SessionDriver]:
    return [each for each in gc.get_objects() if isinstance(each, SessionDriver)]


async def test_session_that_was_put_away_is_in_no_circle_of_references():
    w = make_engine("One.", "Other.", limits=make_settings(cached_sessions=1))
    other = SessionId("s2")
    w.store.add(make_session(id=other))
    others = drivers_in_memory()
    gc.disable()  # what it would find late must go at once
    try:
        await w.say("Hi", message="m1")
        await w.engine.send(other, SendMessage(id=MessageId("x"), text="Hi"))
        await w.engine.settled(other)
        left = [each.session_id for each in drivers_in_memory() if each not in others]
    finally:
        gc.enable()
    assert left == [other]
