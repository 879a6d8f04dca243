"""The operation log on SQLite: stored rows, their order and their lifetime."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, StateUnavailable
from jupyter_ai_shoulders.core.operation_journal import ChangeOrigin, ChangeOutcome, LoggedChange
from jupyter_ai_shoulders.storage.operation_journal import SqliteOperationJournal, operations_page
from jupyter_ai_shoulders.storage.purge import Purge
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.wire.ids import BlobHash, CallId, OperationId, SessionId, TurnId, Version
from jupyter_ai_shoulders.wire.operations import Operation, OperationsPage, OperationsQuery
from tests.storage.store import OpenStore, Store

SESSION = SessionId("ses_one")


def journal(store: Store) -> SqliteOperationJournal:
    return SqliteOperationJournal(store.database, store.log, store.clock, CountingIds())


def edit(document: str = "a.txt", session: str | None = "ses_one", **more: object) -> LoggedChange:
    fields: dict[str, object] = {
        "session_id": session,
        "turn_id": "turn_1",
        "call_id": "call_1",
        **more,
    }
    made = ChangeOrigin(**fields)  # pyright: ignore[reportArgumentType] a test names what it needs
    return LoggedChange(
        "edit",
        document,
        made,
        before_version=Version("before"),
        after_version=Version("after"),
        before=BlobHash("b" * 64),
        after=BlobHash("a" * 64),
        mode=0o644,
    )


def page(store: Store, owner: str | None = None, **query: object) -> OperationsPage:
    wanted = OperationsQuery.model_validate(query)
    return operations_page(store.directory.database, wanted, owner)


def ids(found: OperationsPage) -> list[str]:
    return [row.id for row in found.operations]


def test_a_change_comes_back_as_it_was_written(store: Store) -> None:
    log = journal(store)
    change = edit(undoes=OperationId("operation_0"), batch="batch_1")
    operation_id = log.begin(change)
    begun = log.get(operation_id)
    log.end(operation_id, "done", ChangeOutcome(after_version=Version("later")))

    assert (begun.state, begun.can_undo, begun.reason) == (
        "begun",
        False,
        "It has not ended yet.",
    )
    row = log.get(operation_id)
    assert row.model_dump() == {
        "id": operation_id,
        "at": "2026-11-21T09:00:00.000Z",
        "session_id": SESSION,
        "turn_id": TurnId("turn_1"),
        "call_id": CallId("call_1"),
        "by": "agent",
        "kind": "edit",
        "document": "a.txt",
        "cell_id": None,
        "new_document": None,
        "before_version": "before",
        "after_version": "later",
        "batch": "batch_1",
        "state": "done",
        "undoes": "operation_0",
        "can_undo": True,
        "reason": None,
    }
    assert log.change(operation_id).before == "b" * 64


def test_a_change_without_a_way_back_says_why(store: Store) -> None:
    log = journal(store)
    operation_id = log.begin(edit())
    log.end(operation_id, "done", ChangeOutcome(cannot_undo="A command did it."))
    row = log.get(operation_id)
    assert (row.can_undo, row.reason) == (False, "A command did it.")


def test_a_change_of_a_cell_can_be_undone_also_where_its_row_names_the_turn_as_the_reason(
    store: Store,
) -> None:
    log = journal(store)
    operation_id = log.begin(edit())
    written = "Changes of cells are taken back with their turn, or in the notebook itself."
    log.end(operation_id, "done", ChangeOutcome(cannot_undo=written))
    row = log.get(operation_id)
    assert (row.can_undo, row.reason) == (True, None)


def test_an_undo_is_undone_and_done_again(store: Store) -> None:
    log = journal(store)
    first = log.begin(edit())
    log.end(first, "done")
    undo = log.begin(edit(undoes=first))
    assert log.get(first).state == "done"
    log.end(undo, "done")
    assert (log.get(first).state, log.get(first).can_undo) == ("undone", False)
    redo = log.begin(edit(undoes=undo))
    log.end(redo, "done")
    assert [log.get(row).state for row in (first, undo, redo)] == ["done", "undone", "done"]


def test_rows_are_found_by_session_turn_batch_and_path(store: Store) -> None:
    log = journal(store)
    first = log.begin(edit("a.txt", batch="batch_1"))
    store.clock.move(timedelta(seconds=-1))
    second = log.begin(edit("data/", turn_id="turn_2", batch="batch_1"))
    other = log.begin(edit("a.txt", session="ses_two"))
    moved = log.begin(LoggedChange("move", "c.txt", ChangeOrigin(None), new_document="a.txt"))

    def found(rows: Sequence[Operation]) -> list[str]:
        return [row.id for row in rows]

    assert found(log.recent()) == [moved, other, second, first]
    assert found(log.recent(path="a.txt")) == [moved, other, first]
    assert found(log.recent(path="data")) == [second]
    assert found(log.recent(session_id=SESSION, limit=1)) == [second]
    assert found(log.of_turn(SESSION, TurnId("turn_1"))) == [first]
    assert found(log.of_session(SESSION)) == [first, second]
    assert found(log.of_batch("batch_1")) == [first, second]
    assert found(log.unfinished()) == [first, second, other, moved]
    log.end(second, "failed")
    assert found(log.unfinished()) == [first, other, moved]


async def test_rows_survive_the_death_of_the_process(open_store: OpenStore) -> None:
    store = open_store()
    log = journal(store)
    operation_id = log.begin(edit())
    await log.sync()
    store.crash()
    again = journal(open_store())
    assert [row.id for row in again.unfinished()] == [operation_id]


def test_reading_makes_no_database(store: Store) -> None:
    assert journal(store).recent() == []
    assert page(store) == OperationsPage(operations=(), next_cursor=None)
    assert not store.directory.path.exists()
    with pytest.raises(NotFound):
        journal(store).get(OperationId("operation_9"))


def test_pages_follow_each_other(store: Store) -> None:
    log = journal(store)
    made = [log.begin(edit(f"{number}.txt")) for number in range(5)][::-1]
    first = page(store, limit=2)
    second = page(store, limit=2, cursor=first.next_cursor)
    third = page(store, limit=2, cursor=second.next_cursor)
    assert ids(first) + ids(second) + ids(third) == made
    assert third.next_cursor is None
    assert ids(page(store, path="3.txt")) == [made[1]]
    for wrong in ("x", "-1", "9" * 19, "١"):
        with pytest.raises(InvalidRequest):
            page(store, cursor=wrong)


def test_on_a_hub_only_ones_own_and_shared_rows_are_listed(store: Store) -> None:
    for name, owner in (("one", "ada"), ("two", "bob"), ("three", None)):
        store.add(name, owner=owner)
    log = journal(store)
    one, _two, three = (log.begin(edit(session=f"ses_{name}")) for name in ("one", "two", "three"))
    log.begin(edit(session=None))
    assert ids(page(store, "ada")) == [three, one]
    assert len(ids(page(store))) == 4


def test_a_purge_removes_rows_trash_and_contents_of_its_session_only(store: Store) -> None:
    store.add("one")
    store.add("two")
    log = journal(store)
    own, shared, foreign = (store.blobs.put(text) for text in (b"own", b"shared", b"foreign"))
    log.begin(LoggedChange("edit", "a", ChangeOrigin(SESSION), before=own, after=shared))
    gone = log.begin(LoggedChange("delete", "b", ChangeOrigin(SESSION)))
    kept = log.begin(LoggedChange("delete", "c", ChangeOrigin(SessionId("ses_two")), before=shared))
    log.begin(LoggedChange("edit", "d", ChangeOrigin(None), before=foreign))
    trash = store.directory.prepare_trash()
    for name in (gone, kept):
        (trash / name).write_text("x")
    store.sessions.delete(SESSION)
    store.clock.move(timedelta(days=31))

    assert Purge(store.database, store.clock).run() == [SESSION]

    assert [row.document for row in log.recent()] == ["d", "c"]
    assert [path.name for path in trash.iterdir()] == [kept]
    exist = [store.blobs.path(blob).exists() for blob in (own, shared, foreign)]
    assert exist == [False, True, True]


def test_rows_are_saved_from_a_damaged_database(open_store: OpenStore) -> None:
    store = open_store()
    store.add("one")
    log = journal(store)
    made = [log.begin(edit(f"{number}.txt")) for number in range(3)]
    store.database.checkpoint()
    store.crash()
    store.directory.damaged.touch()
    again = open_store()
    assert [row.id for row in journal(again).unfinished()][: len(made)] == made


def test_what_cannot_be_understood_hides_no_other_row(store: Store) -> None:
    log = journal(store)
    good = log.begin(edit())
    bad = log.begin(edit())
    connection = store.database.open()
    connection.execute("UPDATE operations SET body = '{}' WHERE id = ?", (bad,))
    assert [row.id for row in log.recent()] == [good]
    assert ids(page(store)) == [good]


def test_a_full_disk_is_said_before_anything_is_changed(store: Store) -> None:
    log = journal(store)
    store.add("one")
    (pages,) = store.database.rows("PRAGMA page_count")[0]
    store.database.open().execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StateUnavailable):
        log.begin(edit("x" * 20_000))
    assert log.recent() == []
