"""Remembers the last error of the user's cells, for ``%ai fix``. Made by ``magics``."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from typing import Any

_LINES = 80
"""Maximum lines of a traceback, from its end."""


@dataclass(frozen=True, slots=True)
class CellFailure:
    """A cell that failed."""

    code: str
    error: str
    """Its traceback, plain text."""


class LastError:
    """Listens to cells (IPython's event ``post_run_cell``)."""

    def __init__(self) -> None:
        self._failure: CellFailure | None = None

    def on_cell_run(self, result: Any) -> None:
        """Record a failed cell; failures of our own magic are ignored."""
        error = result.error_in_exec or result.error_before_exec
        code = getattr(result.info, "raw_cell", None) or ""
        if error is None or code.lstrip().startswith(("%ai", "%%ai")):
            return
        self._failure = CellFailure(code, traceback_text(error))

    def failure(self, history: list[str]) -> CellFailure | None:
        """Return the last failure; for one before we listened, Python's last traceback."""
        error = getattr(sys, "last_value", None)
        if self._failure is None and isinstance(error, BaseException):
            code = next((each for each in reversed(history[:-1]) if each.strip()), "")
            return CellFailure(code, traceback_text(error))
        return self._failure


def traceback_text(error: BaseException) -> str:
    """Return a traceback without IPython's own frames; of a long one the end."""
    told = traceback.TracebackException.from_exception(error)
    for frames in (each.stack for each in _chain(told)):
        frames[:] = [frame for frame in frames if "IPython/core/" not in frame.filename]
    lines = "".join(told.format()).splitlines()
    return "\n".join(lines if len(lines) <= _LINES else ["[…]", *lines[-_LINES:]])


def _chain(told: traceback.TracebackException) -> list[traceback.TracebackException]:
    found: list[traceback.TracebackException] = []
    following: traceback.TracebackException | None = told
    while following is not None:
        found.append(following)
        following = following.__cause__ or following.__context__
    return found
