"""Migrations of the ledger's schema. Called by ``storage.ledger.database`` when it opens.

A released step never changes. Several processes may open the ledger at once, so each step checks
the version again in its transaction.
"""

from __future__ import annotations

import sqlite3

from jupyter_ai_shoulders.core.errors import StateUnavailable

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # state: open (sent, the money is held), booked, or presumed (its process died, see
        # docs/budgets.md); cost null: unknown
        """
        CREATE TABLE calls (
          number INTEGER PRIMARY KEY,
          call TEXT NOT NULL UNIQUE,
          owner TEXT NOT NULL,
          state TEXT NOT NULL,
          at TEXT NOT NULL,
          day TEXT NOT NULL,
          month TEXT NOT NULL,
          provider TEXT NOT NULL,
          model TEXT NOT NULL,
          purpose TEXT NOT NULL,
          session TEXT,
          turn TEXT,
          held_micro_usd INTEGER,
          input_tokens INTEGER NOT NULL,
          output_tokens INTEGER NOT NULL,
          cache_read_tokens INTEGER NOT NULL,
          cache_write_tokens INTEGER NOT NULL,
          reasoning_tokens INTEGER NOT NULL,
          cost_micro_usd INTEGER,
          estimated INTEGER NOT NULL,
          ok INTEGER NOT NULL,
          duration_ms INTEGER NOT NULL
        )
        """,
        "CREATE INDEX calls_by_day ON calls (day)",
        "CREATE INDEX open_calls ON calls (owner) WHERE state = 'open'",
        """
        CREATE TABLE spent (
          scope TEXT NOT NULL,
          key TEXT NOT NULL,
          micro_usd INTEGER NOT NULL,
          PRIMARY KEY (scope, key)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE raised (
          scope TEXT NOT NULL,
          key TEXT NOT NULL,
          micro_usd INTEGER NOT NULL,
          PRIMARY KEY (scope, key)
        ) WITHOUT ROWID
        """,
        "CREATE TABLE notices (notice TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID",
    ),
)

SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate the ledger to the current schema, one transaction per step.

    Raises ``StateUnavailable`` when a newer version of the package wrote it.
    """
    while (version := _version(connection)) < SCHEMA_VERSION:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(connection) == version:  # else another process migrated it first
                for statement in MIGRATIONS[version]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    if version > SCHEMA_VERSION:
        raise StateUnavailable(
            f"The usage ledger was written by a newer version (schema {version}, this one knows "
            f"{SCHEMA_VERSION}).",
            hint="Upgrade jupyter-ai-shoulders in this environment.",
        )


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
