"""Allows the statements of the agent by lists of what is harmless; everything else is refused.

SQLite asks for each action while it compiles a statement, also inside views, triggers and the
definitions of a database that came with a folder. For the worker: standard library only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection

_READ_ACTIONS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_WRITE_ACTIONS = frozenset(
    {
        *(sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE),
        *(sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_ALTER_TABLE),
        *(sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_DROP_INDEX, sqlite3.SQLITE_REINDEX),
        *(sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_DROP_VIEW, sqlite3.SQLITE_ANALYZE),
        *(sqlite3.SQLITE_CREATE_TRIGGER, sqlite3.SQLITE_DROP_TRIGGER),
        sqlite3.SQLITE_DROP_VTABLE,
    }
)
_MODULES = frozenset({"fts5", "rtree", "rtree_i32"})
"""Virtual tables that keep their data in the database itself."""
_READABLE_MODULES = _MODULES | {"fts5vocab", "json_each", "json_tree"}
_PRAGMAS = frozenset(
    {
        *("table_info", "table_xinfo", "index_info", "index_xinfo", "index_list", "table_list"),
        *("foreign_key_list", "foreign_key_check"),
    }
)
"""Pragmas that only read; their argument names a table or an index."""
_PRAGMAS_WITHOUT_VALUE = frozenset(
    {
        *("foreign_keys", "encoding", "page_count", "page_size", "max_page_count", "user_version"),
        "data_version",
    }
)
"""The same without an argument; FTS5 asks for the last one."""
_FUNCTIONS = frozenset(
    {
        *("->", "->>", "abs", "avg", "bm25", "changes", "char", "coalesce", "concat", "concat_ws"),
        *("count", "cume_dist", "current_date", "current_time", "current_timestamp", "date"),
        *("datetime", "dense_rank", "first_value", "format", "glob", "group_concat", "hex"),
        *("highlight", "ifnull", "if", "iif", "instr", "json", "json_array", "json_array_length"),
        *("json_error_position", "json_extract", "json_group_array", "json_group_object"),
        *("json_insert", "json_object", "json_patch", "json_pretty", "json_quote", "json_remove"),
        *("json_replace", "json_set", "json_type", "json_valid", "julianday", "lag"),
        *("last_insert_rowid", "last_value", "lead", "length", "like", "likelihood", "likely"),
        *("lower", "ltrim", "match", "max", "median", "min", "nth_value", "ntile", "nullif"),
        *("octet_length", "percent_rank", "percentile", "percentile_cont", "percentile_disc"),
        *("printf", "quote", "random", "randomblob", "rank", "replace", "round", "row_number"),
        *("rtrim", "sign", "snippet", "soundex", "sqlite_version", "strftime", "string_agg"),
        *("substr", "substring", "subtype", "sum", "time", "timediff", "total", "total_changes"),
        *("trim", "typeof", "unhex", "unicode", "unistr", "unistr_quote", "unixepoch", "unlikely"),
        *("upper", "zeroblob", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh"),
        *("ceil", "ceiling", "cos", "cosh", "degrees", "exp", "floor", "ln", "log", "log10"),
        *("log2", "mod", "pi", "pow", "power", "radians", "sin", "sinh", "sqrt", "tan", "tanh"),
        *("trunc", "fts5", "rtreecheck"),
    }
)
_OF_ALTER_TABLE = ("sqlite_rename_", "sqlite_drop_column", "sqlite_add_")
"""Functions that ``ALTER TABLE`` calls inside; statements cannot."""
_SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_schema"})
"""Virtual tables announce themselves as if they wrote here; SQLite refuses statements that do."""
_TEMPORARY = frozenset(
    {
        *(sqlite3.SQLITE_CREATE_TEMP_TABLE, sqlite3.SQLITE_CREATE_TEMP_INDEX),
        *(sqlite3.SQLITE_CREATE_TEMP_VIEW, sqlite3.SQLITE_CREATE_TEMP_TRIGGER),
    }
)


class Authorizer:
    """The callback of ``set_authorizer``; ``reason`` says what it refused last."""

    def __init__(self, modules: Collection[str], *, writes: bool) -> None:
        """``modules`` are the virtual table modules of this SQLite."""
        self._closed_tables = {name.lower() for name in modules} - _READABLE_MODULES
        self._writes = writes
        self.reason: str | None = None

    def __call__(
        self,
        action: int,
        first: str | None,
        second: str | None,
        _database: str | None,
        _source: str | None,
        /,
    ) -> int:
        """Return SQLite's answer for one action."""
        reason = self._refusal(action, first or "", second)
        if reason is None:
            return sqlite3.SQLITE_OK
        self.reason = reason
        return sqlite3.SQLITE_DENY

    def _refusal(self, action: int, first: str, second: str | None) -> str | None:
        if action in _READ_ACTIONS:
            return self._read(first) if action == sqlite3.SQLITE_READ else None
        check = _CHECKS.get(action)
        if check is not None:
            return check(first, second)
        if action in _WRITE_ACTIONS or action == sqlite3.SQLITE_CREATE_VTABLE:
            return self._write(action, first, second)
        if action in _TEMPORARY:
            return "Temporary tables would be gone after the call; make an ordinary table."
        return "This kind of statement is not allowed."

    def _write(self, action: int, first: str, second: str | None) -> str | None:
        if not self._writes and not (action == sqlite3.SQLITE_UPDATE and first in _SCHEMA_TABLES):
            return "This statement writes; db_query only reads. Use db_execute."
        if action == sqlite3.SQLITE_CREATE_VTABLE and (second or "").lower() not in _MODULES:
            return f"Virtual tables of {second} are not allowed; fts5 and rtree are."
        return None

    def _read(self, table: str) -> str | None:
        name = table.lower()
        if name in self._closed_tables or name == "sqlite_dbpage":
            return f"The table {table} of SQLite itself cannot be read."
        return None


def _function(_first: str, name: str | None) -> str | None:
    lowered = (name or "").lower()
    if lowered in _FUNCTIONS or lowered.startswith(_OF_ALTER_TABLE):
        return None
    return f"The function {name} is not allowed."


def _pragma(name: str, value: str | None) -> str | None:
    lowered = name.lower()
    if lowered in _PRAGMAS or (lowered in _PRAGMAS_WITHOUT_VALUE and value is None):
        return None
    return f"PRAGMA {name} is not allowed."


def _attach(_first: str, _second: str | None) -> str:
    return "Other files cannot be attached, and VACUUM is not available."


def _transaction(_first: str, _second: str | None) -> str:
    return "Each call is one transaction already; leave out BEGIN, COMMIT, ROLLBACK and SAVEPOINT."


_CHECKS: dict[int, Callable[[str, str | None], str | None]] = {
    sqlite3.SQLITE_FUNCTION: _function,
    sqlite3.SQLITE_PRAGMA: _pragma,
    sqlite3.SQLITE_ATTACH: _attach,
    sqlite3.SQLITE_DETACH: _attach,
    sqlite3.SQLITE_TRANSACTION: _transaction,
    sqlite3.SQLITE_SAVEPOINT: _transaction,
}
