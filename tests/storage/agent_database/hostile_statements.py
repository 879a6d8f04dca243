"""Statements that try to leave the database, to use up the machine or to run for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BOMB = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
MANY = "SELECT value FROM json_each('[' || replace(hex(zeroblob(5000)), '0', '1,') || '1]')"


@dataclass(frozen=True, slots=True)
class Hostile:
    """A statement, and how its call may fail; ``ran``: it may end with a bounded answer."""

    sql: str
    kinds: tuple[str, ...] = ("refused",)
    tool: Literal["query", "execute"] = "execute"
    params: object = None


def _refused(*statements: str) -> list[Hostile]:
    return [Hostile(sql) for sql in statements]


def _both(*statements: str) -> list[Hostile]:
    return [
        Hostile(sql, ("refused", "statement"), tool)
        for sql in statements
        for tool in ("query", "execute")
    ]


LEAVING = [
    *_both(
        "ATTACH '/tmp/other.db' AS other",
        "ATTACH ':memory:' AS other",
        "ATTACH 'file:/etc/passwd?mode=ro' AS other",
        "SELECT load_extension('/tmp/evil.so')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('/tmp/taken', 'x')",
        "SELECT edit('x', 'vi')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT fts3_tokenizer('simple', x'0000000000000000')",
        "SELECT sqlite_log(1, 'x')",
        "SELECT sqlite_compileoption_get(1)",
        "SELECT * FROM dbstat",
        "SELECT * FROM sqlite_dbpage",
        "SELECT * FROM sqlite_stmt",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_module_list",
        "SELECT * FROM pragma_journal_mode",
        "SELECT * FROM fsdir('/')",
        "SELECT * FROM zipfile('/tmp/a.zip')",
    ),
    *_refused(
        "DETACH main",
        "PRAGMA writable_schema = ON",
        "PRAGMA journal_mode = OFF",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA synchronous = OFF",
        "PRAGMA trusted_schema = ON",
        "PRAGMA cell_size_check = OFF",
        "PRAGMA temp_store_directory = '/tmp'",
        "PRAGMA data_store_directory = '/tmp'",
        "PRAGMA temp_store = FILE",
        "PRAGMA mmap_size = 1000000000",
        "PRAGMA cache_size = 1000000",
        "PRAGMA max_page_count = 1000000000",
        "PRAGMA hard_heap_limit = 0",
        "PRAGMA locking_mode = EXCLUSIVE",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA query_only = OFF",
        "PRAGMA user_version = 7",
        "PRAGMA schema_version = 7",
        "PRAGMA foreign_keys = OFF",
        "PRAGMA recursive_triggers = ON",
        "PRAGMA key = 'x'",
        "PRAGMA incremental_vacuum",
        "PRAGMA shrink_memory",
        "BEGIN; CREATE TABLE taken (a); COMMIT",
        "COMMIT; ATTACH '/tmp/other.db' AS other",
        "END",
        "ROLLBACK",
        "SAVEPOINT a",
        "CREATE TEMP TABLE t (a)",
        "CREATE TEMP VIEW v AS SELECT 1",
        "CREATE TEMP TRIGGER r AFTER INSERT ON kept BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE v USING csv(filename='/etc/passwd')",
        "CREATE VIRTUAL TABLE v USING fts3(a)",
        "CREATE VIRTUAL TABLE v USING fts4(a, tokenize=icu)",
        "CREATE VIRTUAL TABLE v USING dbstat",
        "CREATE VIRTUAL TABLE v USING zipfile('/tmp/a.zip')",
        "CREATE TRIGGER r AFTER INSERT ON kept BEGIN SELECT load_extension('x'); END;"
        " INSERT INTO kept VALUES (9, 'x')",
        "CREATE TABLE g (a, b AS (load_extension(a))); INSERT INTO g VALUES ('x'); SELECT b FROM g",
        "CREATE INDEX i ON kept (load_extension(b))",
    ),
    *(
        Hostile(sql, ("statement",))
        for sql in (
            "UPDATE sqlite_master SET sql = 'x'",
            "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 2, 'CREATE TABLE x (a)')",
            "DELETE FROM sqlite_master",
            "DROP TABLE sqlite_master",
            "CREATE TABLE sqlite_taken (a)",
            "VACUUM",
            "VACUUM INTO '/tmp/copy.db'",
            "CREATE VIEW v AS SELECT load_extension('x'); SELECT * FROM v",
        )
    ),
]
"""Statements that SQLite or the authorizer refuses."""
WRITING_QUERIES = [
    Hostile(sql, ("refused", "statement"), "query")
    for sql in (
        "INSERT INTO kept VALUES (3, 'c')",
        "INSERT INTO kept VALUES (3, 'c') RETURNING a",
        "WITH x AS (SELECT 1) DELETE FROM kept",
        "DROP TABLE kept",
        "CREATE TABLE taken AS SELECT 1",
        "SELECT 1; DROP TABLE kept",
        "EXPLAIN SELECT 1; DELETE FROM kept",
        "ANALYZE",
    )
]
ENDLESS = [
    Hostile(f"{BOMB} SELECT count(*) FROM c", ("time",), "query"),
    Hostile(f"{BOMB} SELECT x FROM c WHERE x < 0", ("time",), "query"),
    Hostile(f"{BOMB} INSERT INTO kept SELECT x, 'z' FROM c WHERE x < 0", ("time",)),
    Hostile(
        f"WITH t AS ({MANY}) SELECT count(*) FROM t a, t b, t c, t d WHERE a.value <> b.value",
        ("time",),
        "query",
    ),
    Hostile(
        "SELECT count(*) FROM pragma_table_info('kept') a, pragma_table_info('kept') b, "
        + ", ".join(f"json_each('[1,2,3,4,5,6,7,8,9]') j{n}" for n in range(9)),
        ("time",),
        "query",
    ),
    Hostile(
        "CREATE TRIGGER r AFTER INSERT ON kept BEGIN INSERT INTO kept "
        f"{BOMB} SELECT x, 'z' FROM c WHERE x < 0; END; INSERT INTO kept VALUES (1, 'x')",
        ("time", "statement"),  # a trigger takes no WITH
    ),
    Hostile(
        f"SELECT {'%a' * 400!r} || '%b' AS p, replace(hex(zeroblob(40000)), '0', 'a') LIKE "
        f"'{'%a' * 400}%b'",
        ("time", "unknown", "ran"),  # old versions of SQLite try every way to match
        "query",
    ),
    Hostile(
        f"SELECT replace(hex(zeroblob(40000)), '0', 'a') GLOB '{'*a' * 400}*b'",
        ("time", "unknown", "ran"),  # old versions of SQLite try every way to match
        "query",
    ),
]
"""Statements that are stopped by their time."""
LARGE = [
    Hostile("SELECT zeroblob(1000000000)", ("statement", "memory"), "query"),
    Hostile("SELECT randomblob(2000000000)", ("statement", "memory"), "query"),
    Hostile("SELECT hex(zeroblob(9000000))", ("statement", "memory"), "query"),
    Hostile("SELECT printf('%.*c', 1000000000, 'x')", ("memory", "ran"), "query"),
    Hostile("SELECT printf('%1000000000d', 1)", ("memory", "ran"), "query"),
    Hostile(
        "SELECT replace(hex(zeroblob(4000000)), '0', 'xxxxxxxxxxxx')",
        ("statement", "memory"),
        "query",
    ),
    Hostile(
        f"{BOMB} SELECT group_concat(x, 'xxxxxxxxxxxxxxxxxxxxxxxxxx') FROM c",
        ("statement", "memory", "time"),
        "query",
    ),
    Hostile(f"{BOMB} SELECT json_group_array(x) FROM c", ("statement", "memory", "time"), "query"),
    Hostile(
        f"{BOMB} SELECT * FROM (SELECT randomblob(100000) r FROM c LIMIT 100000) ORDER BY r",
        ("memory", "time"),
        "query",
    ),
    Hostile(
        f"{BOMB} SELECT DISTINCT hex(randomblob(50000)) FROM c", ("memory", "time", "ran"), "query"
    ),
    Hostile("SELECT " + "(" * 500 + "1" + ")" * 500, ("statement",), "query"),
    Hostile("SELECT " + "+".join("1" * 2_000), ("statement",), "query"),
    Hostile(" UNION ALL ".join(["SELECT 1"] * 600), ("statement",), "query"),
    Hostile("SELECT " + ",".join("1" * 600), ("statement",), "query"),
    Hostile("CREATE TABLE wide (" + ",".join(f"c{n}" for n in range(600)) + ")", ("statement",)),
    Hostile(
        f"CREATE TABLE full AS {BOMB} SELECT randomblob(100000) FROM c LIMIT 1000",
        ("full", "time", "memory"),
    ),
    Hostile(
        f"{BOMB} INSERT INTO kept SELECT x, zeroblob(1000000) FROM c LIMIT 100000",
        ("full", "time", "memory"),
    ),
    Hostile("SELECT ?", ("refused",), "query", [2**70]),
    Hostile("SELECT ?", ("refused",), "query", [[1]]),
    Hostile("SELECT ?", ("refused",), "query", [{"a": 1}]),
    Hostile("SELECT ?", ("statement",), "query", []),
    Hostile("SELECT ?, ?", ("statement",), "query", [1]),
    Hostile("INSERT INTO kept VALUES (?, ?)", ("refused",), "execute", [[1, 2]] * 10_001),
    Hostile("INSERT INTO kept VALUES (1, 'a'); DELETE FROM kept", ("refused",), "execute", [1]),
    Hostile("", ("refused",)),
    Hostile("-- nothing", ("refused",)),
]
"""Statements that ask for too much memory, space or nesting."""
ALL = (*LEAVING, *WRITING_QUERIES, *ENDLESS, *LARGE)
