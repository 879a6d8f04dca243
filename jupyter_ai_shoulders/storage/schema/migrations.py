"""Migrations of the state database's schema. Called by ``storage.database`` when it opens.

A released step never changes: ``tests/golden_databases`` has a database of every version.
"""

from __future__ import annotations

import sqlite3

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import StateUnavailable

SEQ_BITS = 32
"""An event's row id is its session's number shifted left by this, plus its ``seq``.

So a session's events are adjacent, ``seq`` is unique without a second index, and a commit writes
one page of the log instead of two (9 against 15 µs, half the bytes).
"""

UNSTREAMED = "type NOT IN ('text-delta', 'reasoning-delta', 'tool-progress')"
"""The condition of the index by type, which keeps a delta's commit small.

A query must repeat it verbatim to use the index.
"""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sessions (
          number INTEGER PRIMARY KEY,
          id TEXT NOT NULL UNIQUE,
          kind TEXT NOT NULL,
          source TEXT NOT NULL,
          title TEXT NOT NULL,
          document TEXT,
          owner TEXT,
          open_turn TEXT,
          message_count INTEGER NOT NULL DEFAULT 0,
          updated_order INTEGER NOT NULL,
          deleted_at TEXT,
          body TEXT NOT NULL
        )
        """,
        "CREATE INDEX sessions_by_update ON sessions (updated_order)",
        "CREATE TABLE events (id INTEGER PRIMARY KEY, type TEXT NOT NULL, body TEXT NOT NULL)",
        f"CREATE INDEX events_by_type ON events (type) WHERE {UNSTREAMED}",
    ),
    (
        """
        CREATE TABLE operations (
          number INTEGER PRIMARY KEY,
          id TEXT NOT NULL UNIQUE,
          at TEXT NOT NULL,
          state TEXT NOT NULL,
          session TEXT,
          document TEXT NOT NULL,
          new_document TEXT,
          batch TEXT,
          body TEXT NOT NULL
        )
        """,
        "CREATE INDEX operations_by_session ON operations (session)",
        "CREATE INDEX operations_by_batch ON operations (batch) WHERE batch IS NOT NULL",
        "CREATE INDEX operations_begun ON operations (number) WHERE state = 'begun'",
    ),
    ("ALTER TABLE events ADD COLUMN checksum INTEGER",),
    (
        """
        CREATE TABLE schedules (
          number INTEGER PRIMARY KEY,
          id TEXT NOT NULL UNIQUE,
          owner TEXT,
          next_at TEXT,
          body TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE schedule_runs (
          number INTEGER PRIMARY KEY,
          id TEXT NOT NULL UNIQUE,
          schedule TEXT NOT NULL,
          started_at TEXT NOT NULL,
          is_open INTEGER NOT NULL,
          body TEXT NOT NULL
        )
        """,
        "CREATE INDEX schedule_runs_by_schedule ON schedule_runs (schedule, number)",
        "CREATE INDEX schedule_runs_by_start ON schedule_runs (started_at)",
        "CREATE INDEX schedule_runs_open ON schedule_runs (number) WHERE is_open",
    ),
)

SCHEMA_VERSION = len(MIGRATIONS)


def versions_are_sound(connection: sqlite3.Connection) -> bool:
    """Return whether the versions are consecutive steps; damage may have changed one."""
    if not connection.execute(
        "SELECT 1 FROM sqlite_schema WHERE name = 'schema_version'"
    ).fetchone():
        return True
    query = "SELECT version FROM schema_version ORDER BY version"
    versions = [version for (version,) in connection.execute(query)]
    return versions == list(range(1, len(versions) + 1))


def migrate(connection: sqlite3.Connection, at: str) -> None:
    """Migrate the database to the current schema, one transaction per step.

    Raises ``StateUnavailable`` when a newer version of the package wrote it.
    """
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_version "
        "(version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)"
    )
    (current,) = connection.execute(
        "SELECT coalesce(max(version), 0) FROM schema_version"
    ).fetchone()
    if current > SCHEMA_VERSION:
        raise StateUnavailable(
            "The conversations were written by a newer version "
            f"(schema {current}, this one knows {SCHEMA_VERSION}).",
            hint="Upgrade jupyter-ai-shoulders, or set Shoulders.state_dir to another directory.",
        )
    for version in range(current + 1, SCHEMA_VERSION + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in MIGRATIONS[version - 1]:
                connection.execute(statement)
            connection.execute("INSERT INTO schema_version VALUES (?, ?)", (version, at))
            crash_point("migrations.step.applied")
            connection.execute("COMMIT")
            crash_point("migrations.step.committed")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
