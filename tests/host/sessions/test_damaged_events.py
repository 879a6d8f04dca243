"""A damaged event leaves the rest of its conversation readable, exportable and usable."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import nbformat
import pytest

from jupyter_ai_shoulders.engine.request.context import build_request_content
from jupyter_ai_shoulders.host.export.exporter import Exporter, Format
from jupyter_ai_shoulders.storage.schema.event_rows import DAMAGED
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, turn
from jupyter_ai_shoulders.wire.conversation.reducer import reduce_events
from jupyter_ai_shoulders.wire.events import Event, Notice, parse_event
from tests.engine.log_invariants import check_history, check_requests
from tests.host.sessions.test_forks import SOURCE, EngineSetup

Damage = Callable[[sqlite3.Connection, int], None]


def changed(change: Callable[[bytes], bytes]) -> Damage:
    """Damage that changes the stored bytes of an event."""

    def damage(connection: sqlite3.Connection, row: int) -> None:
        (body,) = connection.execute(
            "SELECT CAST(body AS BLOB) FROM events WHERE id = ?", (row,)
        ).fetchone()
        assert change(body) != body
        connection.execute(
            "UPDATE events SET body = CAST(? AS TEXT) WHERE id = ?", (change(body), row)
        )

    return damage


def flipped(mask: int) -> Callable[[bytes], bytes]:
    return lambda body: body[:30] + bytes([body[30] ^ mask]) + body[31:]


def of_old_schema(damage: Damage) -> Damage:
    """The same damage in a row from before there were checksums."""

    def both(connection: sqlite3.Connection, row: int) -> None:
        damage(connection, row)
        connection.execute("UPDATE events SET checksum = NULL WHERE id = ?", (row,))

    return both


def lost(connection: sqlite3.Connection, row: int) -> None:
    connection.execute("DELETE FROM events WHERE id = ?", (row,))


def checksum_changed(connection: sqlite3.Connection, row: int) -> None:
    connection.execute("UPDATE events SET checksum = checksum + 1 WHERE id = ?", (row,))


INVALID_JSON = changed(lambda body: body[:-1] + b"|")
UNKNOWN_TYPE = changed(lambda body: body.replace(b'"type":"', b'"type":"x-', 1))
WRONG_SEQ = changed(lambda body: body.replace(b'"seq":', b'"seq":9', 1))
INVALID_MODEL = changed(lambda body: body.replace(b'"seq"', b'"sec"', 1))
DAMAGES: dict[str, Damage] = {
    "one bit": changed(flipped(1)),
    "not UTF-8": changed(flipped(0x80)),
    "not JSON": INVALID_JSON,
    "another model": INVALID_MODEL,
    "wrong seq": WRONG_SEQ,
    "unknown type": UNKNOWN_TYPE,
    "empty": changed(lambda _: b""),
    "zeroed": changed(lambda body: bytes(len(body))),
    "lost": lost,
    "checksum": checksum_changed,
    "not JSON, old schema": of_old_schema(INVALID_JSON),
    "not UTF-8, old schema": of_old_schema(changed(lambda body: body[:-1] + b"\xff")),
    "wrong seq, old schema": of_old_schema(WRONG_SEQ),
    "unknown type, old schema": of_old_schema(UNKNOWN_TYPE),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state directory with a conversation of two turns, one of them with tool calls."""
    import asyncio

    folder = tmp_path_factory.mktemp("stored") / ".shoulders"

    async def talk() -> None:
        calls = turn(Say("Let me see."), Call("look", {"path": "a"}), Call("look", {"path": "b"}))
        place = EngineSetup(folder, calls, "One.", "Two.")
        place.store.add("source")
        await place.say("first")
        await place.say("second")
        await place.store.log.sync()
        place.store.crash()

    asyncio.run(talk())
    return folder


def damaged_copy(stored: Path, target: Path, seq: int, damage: Damage) -> EngineSetup:
    shutil.copytree(stored, target)
    with closing(sqlite3.connect(target / "state.db", isolation_level=None)) as connection:
        damage(connection, (1 << 32) + seq)
    return EngineSetup(target, "Three.")


def events_of(stored: Path) -> list[Event]:
    place = EngineSetup(stored)
    try:
        return place.events()
    finally:
        place.store.crash()


async def exported(place: EngineSetup, form: Format) -> str:
    pieces = Exporter(place.store.log).export(SOURCE, form)
    return "".join([piece async for piece in pieces])


async def check_readable(place: EngineSetup, whole: list[Event], seq: int) -> None:
    texts = place.store.log.texts(SOURCE)
    events = [parse_event(text.text) for text in texts]
    assert [event.seq for event in events] == [event.seq for event in whole]
    assert events == place.events()
    assert [n for n, event in enumerate(events, 1) if event != whole[n - 1]] == [seq]
    (notice,) = [event for event in events if isinstance(event, Notice) and event.code == DAMAGED]
    assert notice.text.startswith("This conversation is incomplete: 1 event is missing here")
    assert notice.text in repr(reduce_events(events).messages)
    check_history(build_request_content(events, place.store.blobs).messages)
    markdown = await exported(place, "md")
    assert "1 event could not be read and is missing below" in markdown
    lines = (await exported(place, "jsonl")).splitlines()
    assert len(lines) == len(whole)
    assert "unreadable" in json.loads(lines[seq - 1])
    nbformat.validate(nbformat.reads(await exported(place, "ipynb"), as_version=4))


async def check_continued(place: EngineSetup) -> None:
    """The conversation accepts a message and answers it, or first asks for a decision."""
    await place.engine.start()
    await place.say("third")
    assert place.source.status == "idle"
    check_requests(place.provider.requests)
    assert "Three." in repr(place.events())
    assert place.store.sessions.page(SessionFilter(text="third"), None, 9).sessions


@pytest.mark.parametrize("name", DAMAGES)
async def test_damage_of_every_kind_leaves_the_conversation_readable(
    stored: Path, tmp_path: Path, name: str
) -> None:
    place = damaged_copy(stored, tmp_path / "copy", 5, DAMAGES[name])
    await check_readable(place, events_of(stored), 5)
    await check_continued(place)
    place.store.crash()


async def test_damage_of_any_event_leaves_the_conversation_readable(
    stored: Path, tmp_path: Path
) -> None:
    whole = events_of(stored)
    for event in whole:
        damage = DAMAGES["not UTF-8"]
        place = damaged_copy(stored, tmp_path / str(event.seq), event.seq, damage)
        try:
            await check_readable(place, whole, event.seq)
            await check_continued(place)
        except Exception as error:
            raise AssertionError(f"event {event.seq} ({event.type})") from error
        finally:
            place.store.crash()


async def test_damaged_events_in_a_row_are_said_once(stored: Path, tmp_path: Path) -> None:
    def three(connection: sqlite3.Connection, row: int) -> None:
        for each in (row, row + 1, row + 2):
            INVALID_JSON(connection, each)

    place = damaged_copy(stored, tmp_path / "copy", 5, three)

    view = repr(reduce_events(place.events()))

    assert view.count("This conversation is incomplete") == 1
    assert "3 events are missing here (events 5 to 7)" in view
    assert "**3 events could not be read and are missing below**" in await exported(place, "md")
    place.store.crash()


async def test_a_damaged_row_of_a_session_is_read_from_its_events(
    stored: Path, tmp_path: Path
) -> None:
    def damage(connection: sqlite3.Connection, _: int) -> None:
        connection.execute("UPDATE sessions SET body = CAST(x'7bff7d' AS TEXT)")

    place = damaged_copy(stored, tmp_path / "copy", 1, damage)

    shown = place.store.sessions.page(SessionFilter(), None, 9).sessions

    assert [session.id for session in shown] == [SOURCE]
    await check_continued(place)
    place.store.crash()
