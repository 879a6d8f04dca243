"""The program that touches the agent's database: ``python -m`` this module, a request on stdin.

Started for each request by ``storage.agent_database.requests``; ends within its time, and cannot
use more memory than its limits. Standard library only, so that it starts in 40 ms.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.guard.process.worker_limits import end_process, limit_process
from jupyter_ai_shoulders.storage.agent_database import changing, exporting, reading
from jupyter_ai_shoulders.storage.agent_database.failures import RequestFailed
from jupyter_ai_shoulders.storage.agent_database.opening import translated_errors

STATEMENT_MEMORY = 256 << 20
"""Address space while a statement runs."""
COPIES = 6
"""Copies of the database that undo may have in memory, with those of SQLite."""
_PARQUET_MEMORY = 2 << 30
"""Arrow maps much, and uses little of it."""
_CPU_SECONDS = 60


def main() -> None:
    """Carry out one request and answer it."""
    request: dict[str, Any] = json.load(sys.stdin)
    limit: int = request["limit"]
    whole = STATEMENT_MEMORY + COPIES * limit
    first = _PARQUET_MEMORY if request.get("form") == "parquet" else STATEMENT_MEMORY
    limit_process(max(whole, first), _CPU_SECONDS, file_size=4 * limit + (64 << 20), now=first)
    try:
        with translated_errors(limit, seconds=request["seconds"]):
            answer = _answer(request)
    except RequestFailed as error:
        answer = {"failed": error.kind, "message": str(error), "hint": error.hint}
    end_process(json.dumps(answer))


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    path, seconds = Path(request["path"]), request["seconds"]
    answers: dict[str, Callable[[], dict[str, Any]]] = {
        "query": lambda: reading.query(
            path, request["sql"], request["params"], request["rows"], seconds
        ),
        "tables": lambda: reading.tables(path, seconds),
        "page": lambda: reading.table_page(path, reading.PageQuery(**request["page"]), seconds),
        "export": lambda: exporting.export(
            path, request["table"], Path(request["target"]), request["form"], seconds
        ),
        "version": lambda: changing.version(
            path, Path(request["differences"]), request["operation"]
        ),
        "execute": lambda: changing.execute(_change(request), request["sql"], request["params"]),
        "undo": lambda: changing.undo(_change(request), request["undone"]),
    }
    return answers[request["action"]]()


def _change(request: dict[str, Any]) -> changing.Change:
    return changing.Change(
        Path(request["path"]),
        Path(request["differences"]),
        request["operation"],
        request["limit"],
        request["seconds"],
        request["server"],
    )


if __name__ == "__main__":
    main()
