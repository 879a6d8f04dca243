"""What a request to the agent's database can fail with. Standard library only: for the worker."""

from __future__ import annotations

from typing import Literal

FailureKind = Literal[
    "statement",  # SQLite refuses the statement, such as a syntax error
    "refused",  # the authorizer or a limit refuses it
    "time",
    "memory",
    "full",
    "busy",
    "damaged",
    "unusable",  # the file is not one that may be opened
    "changed",  # undo: the database has changed since
    "missing",  # undo: the earlier content is no longer stored
]


class RequestFailed(Exception):
    """A request that was not carried out; nothing was changed."""

    def __init__(self, kind: FailureKind, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.hint = hint
