"""Database files that came with a folder: data damaged, crafted or no file at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError
from tests.storage.agent_database.conftest import Place, turn


def crafted(*statements: str) -> Callable[[Path], None]:
    """Return what writes a database with definitions that our statements could not make."""

    def write(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t (a, b)")
            connection.execute("INSERT INTO t VALUES (1, 'x')")
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    return write


def schema(name: str, kind: str, sql: str) -> Callable[[Path], None]:
    """Return what writes a definition into the schema past SQLite's checks."""

    def write(path: Path) -> None:
        crafted()(path)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(
                "INSERT INTO sqlite_master VALUES (?, ?, 't', 0, ?)", (kind, name, sql)
            )
            connection.commit()

    return write


def changed(start: int, content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        crafted("CREATE INDEX i ON t (b)")(path)
        with path.open("r+b") as file:
            file.seek(start)
            file.write(content)

    return write


def super_journal(path: Path) -> None:
    crafted()(path)
    name = b"/etc/passwd"
    tail = name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big")
    Path(f"{path}-journal").write_bytes(bytes(600) + tail + bytes.fromhex("d9d505f920a163d7"))


FILES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "no database": lambda path: path.write_bytes(b"no database" * 1_000),
    "header only": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "random": lambda path: path.write_bytes(b"SQLite format 3\0" + os.urandom(20_000)),
    "huge page count": changed(28, b"\xff\xff\xff\xfe"),
    "free list to nowhere": changed(32, b"\0\xff\xff\xff\0\0\0\x09"),
    "wrong page size": changed(16, b"\x02\x01"),
    "corrupt schema page": changed(100, os.urandom(400)),
    "corrupt table page": changed(4096, os.urandom(4096)),
    "corrupt index page": changed(8192, os.urandom(4096)),
    "view with a function of files": schema("v", "view", "CREATE VIEW v AS SELECT readfile('x')"),
    "trigger that loads code": schema(
        "r",
        "trigger",
        "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT load_extension('x'); END",
    ),
    "generated column that loads code": schema(
        "g", "table", "CREATE TABLE g (a, b AS (load_extension(a)))"
    ),
    "default that loads code": schema("d", "table", "CREATE TABLE d (a DEFAULT (readfile('x')))"),
    "virtual table of a file": schema(
        "c", "table", "CREATE VIRTUAL TABLE c USING csv(filename='/etc/passwd')"
    ),
    "statement as definition": schema("e", "table", "ATTACH '/tmp/taken.db' AS x"),
    "view of itself": schema("w", "view", "CREATE VIEW w AS SELECT * FROM w"),
    "endless view": crafted(
        "CREATE VIEW e AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
        "SELECT count(*) FROM c"
    ),
    "link": lambda path: path.symlink_to(_other(path)),
    "hard link": lambda path: path.hardlink_to(_other(path)),
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "journal with another file": super_journal,
}


def _other(path: Path) -> Path:
    other = path.parent.parent / "other.db"
    crafted()(other)
    return other


@pytest.mark.parametrize("name", FILES)
async def test_a_hostile_file_gives_an_answer_or_a_clear_error(place: Place, name: str) -> None:
    place.store.directory.prepare()
    FILES[name](place.path)

    shown = await place.service.overview()
    outcomes = [shown.problem]
    for call in (
        lambda: place.rows("SELECT * FROM t"),
        lambda: place.execute("INSERT INTO t VALUES (2, 'y')"),
        lambda: place.rows("SELECT * FROM e" if name == "endless view" else "SELECT * FROM v"),
    ):
        try:
            await call()
        except ShouldersError as error:
            outcomes.append(str(error))
    assert all(text is None or text.strip() for text in outcomes)
    if name in {"link", "hard link", "folder", "pipe"}:
        assert shown.problem is not None
        assert "not opened" in shown.problem
    if "journal" in name:
        assert "refers to another file" in (shown.problem or "")
    if name == "no database":
        assert "no SQLite database" in (shown.problem or "")
    other = place.path.parent.parent / "other.db"
    if other.exists():
        with closing(sqlite3.connect(other)) as connection:
            assert connection.execute("SELECT * FROM t").fetchall() == [(1, "x")]


async def test_definitions_of_a_folder_run_nothing_beyond_the_file(place: Place) -> None:
    place.store.directory.prepare()
    FILES["trigger that loads code"](place.path)
    with pytest.raises(ShouldersError, match=r"load_extension|unsafe"):
        await place.execute("INSERT INTO t VALUES (2, 'y')")
    assert await place.rows("SELECT a, b FROM t") == [[1, "x"]]


async def test_a_sound_file_of_a_folder_can_be_read_changed_and_restored(place: Place) -> None:
    place.store.directory.prepare()
    crafted("PRAGMA journal_mode = DELETE", "CREATE VIEW v AS SELECT a FROM t")(place.path)
    assert [table.name for table in await place.service.tables()] == ["t", "v"]
    await place.execute("INSERT INTO t VALUES (2, 'y')")
    last = place.undo.latest(None)
    assert last is not None
    await place.undo.undo(last.id, turn(5))
    assert await place.rows("SELECT a, b FROM t") == [[1, "x"]]


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
async def test_folders_that_are_links_lose_no_files_of_the_user(
    place: Place, tmp_path: Path
) -> None:
    await place.execute("CREATE TABLE t (a)")
    photos = tmp_path / "photos"
    photos.mkdir()
    old = photos / "old.jpg"
    old.write_bytes(b"")
    os.truncate(old, 100_000_000)  # more than four times the limit
    os.utime(old, (0, 0))
    undo = place.store.directory.agent_database_undo
    undo.rename(tmp_path / "elsewhere")
    undo.symlink_to(photos)
    (place.path.parent / "agent-exports").symlink_to(photos)

    with pytest.raises(ShouldersError, match=r"agent-undo is a link"):
        await place.execute("INSERT INTO t VALUES (1)", number=2)
    with pytest.raises(ShouldersError, match=r"agent-exports is a link"):
        async for _ in place.service.export("t", "csv"):
            pass

    assert old.exists()
    assert await place.rows() == []
