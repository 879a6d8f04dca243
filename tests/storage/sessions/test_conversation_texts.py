"""What was said in conversations, as a search reads it in a thread."""

from __future__ import annotations

from jupyter_ai_shoulders.storage.sessions.conversation_texts import ConversationTexts
from jupyter_ai_shoulders.wire.events import (
    Event,
    MessageAdd,
    MessageUpdate,
    Replaced,
    TextDelta,
    TextStart,
)
from jupyter_ai_shoulders.wire.ids import MessageId, PartId, SessionId
from tests.storage.store import OpenStore, Store

FIRST, SECOND = MessageId("msg_1"), MessageId("msg_2")


def user(message_id: MessageId, text: str, replaces: Replaced | None = None) -> MessageAdd:
    return MessageAdd(message_id=message_id, text=text, replaces=replaces)


def agent(part: str, *pieces: str) -> list[Event]:
    part_id = PartId(part)
    return [
        TextStart(part_id=part_id),
        *(TextDelta(part_id=part_id, text=piece) for piece in pieces),
    ]


def log(store: Store, session_id: SessionId, *events: Event) -> None:
    for event in events:
        store.log.append(session_id, event)


def said(store: Store, session_id: SessionId) -> list[tuple[str | None, str]]:
    texts = ConversationTexts(store.database).texts(session_id)
    return [(message_id, text) for message_id, text in texts]


def test_messages_and_replies_in_order(open_store: OpenStore) -> None:
    store = open_store()
    session_id = store.add("a").id
    log(store, session_id, *agent("p0", "Before."), user(FIRST, "Why?"))
    log(store, session_id, *agent("p1", "Be", "cause."), *agent("p2", "So."), user(SECOND, "Ah."))
    assert said(store, session_id) == [
        (None, "Before."),
        (FIRST, "Why?"),
        (FIRST, "Because."),
        (FIRST, "So."),
        (SECOND, "Ah."),
    ]


def test_what_does_not_count_any_more_is_left_out(open_store: OpenStore) -> None:
    store = open_store()
    session_id = store.add("a").id
    log(store, session_id, user(FIRST, "Old?"), *agent("p1", "Old."))
    replaced = Replaced(message_id=FIRST, seq=2, messages=1, todo=())
    log(store, session_id, user(SECOND, "New?", replaced), user(MessageId("m3"), "queued"))
    log(store, session_id, MessageUpdate(message_id=MessageId("m3"), status="removed"))
    log(store, session_id, user(MessageId("m4"), "draft"))
    log(store, session_id, MessageUpdate(message_id=MessageId("m4"), status="queued", text="final"))
    log(store, session_id, MessageUpdate(message_id=MessageId("m4"), status="consumed"))
    log(store, session_id, *agent("p2", "kept ", "damaged ", "kept"))
    last = store.log.last_seq(session_id)
    with store.database.transaction("damage a row") as connection:
        connection.execute(
            "UPDATE events SET body = 'x' WHERE id = (SELECT max(id) - 1 FROM events)"
        )
    assert store.log.last_seq(session_id) == last
    assert said(store, session_id) == [(SECOND, "New?"), ("m4", "final"), ("m4", "kept kept")]


def test_a_head_changes_with_the_texts_and_ends_with_the_conversation(
    open_store: OpenStore,
) -> None:
    store = open_store()
    made = store.add("a", owner="ann", title="Plots")
    run = store.add("run", kind="run")
    texts = ConversationTexts(store.database)
    (before,) = texts.heads()
    log(store, made.id, user(FIRST, "Why?"))
    asked = texts.head(made.id)
    store.sessions.update(made.model_copy(update={"status": "idle"}))
    answered = texts.head(made.id)
    store.sessions.delete(made.id)

    assert (before.owner, before.title) == ("ann", "Plots")
    assert run.id != before.session_id
    assert len({before, asked, answered}) == 3
    assert texts.head(made.id) is None
    assert texts.heads() == []
    assert list(texts.texts(made.id)) == []


def test_nothing_is_read_before_the_database_is_open(open_store: OpenStore) -> None:
    store = open_store()
    texts = ConversationTexts(store.database)
    assert texts.available is None
    store.add("a")
    assert texts.available is True
