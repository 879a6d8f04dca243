"""The user's limits for all workspaces, ``~/.shoulders/budget.json``.

Read by the ledger before each call (one ``stat`` when nothing changed), written by ``PUT budget``::

    {"version": 1, "month_micro_usd": 20000000, "day_micro_usd": null}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from jupyter_ai_shoulders.core.budget.account import LimitScope
from jupyter_ai_shoulders.core.budget.limits import SCOPES, SpendingLimits
from jupyter_ai_shoulders.core.errors import PolicyRefusal, StateUnavailable
from jupyter_ai_shoulders.core.json_positions import json_line_of
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile

NAME = "budget.json"
VERSION = 1
_KEYS: dict[LimitScope, str] = {scope: f"{scope}_micro_usd" for scope in SCOPES}


class BudgetFile:
    """The file in ``~/.shoulders``. All methods block and may run in any thread."""

    def __init__(self, folder: Path) -> None:
        self._file = StateFile(StateDirectory(folder), NAME)
        self._path = folder / NAME
        self._display_path = _display_path(self._path)
        self._cached: tuple[tuple[int, int] | None, SpendingLimits] | None = None

    def read(self) -> SpendingLimits:
        """Return the limits; no limits if there is no file.

        Raises ``PolicyRefusal`` when the file is invalid: it may contain a limit, so nothing is
        sent until it is corrected. Raises ``StateUnavailable``.
        """
        signature = self._signature()
        if self._cached is None or self._cached[0] != signature:
            text = None if signature is None else self._file.read()
            self._cached = (signature, _limits(text, self._display_path))
        return self._cached[1]

    def is_known_empty(self) -> bool:
        """Return whether the last read found no limit and the file has not changed since.

        Takes one ``stat``, like resolving a model: cheap enough for every call.
        """
        known = self._cached
        if known is None or known[1].any:
            return False
        try:
            return self._signature() == known[0]
        except StateUnavailable:
            return False

    def write(self, limits: SpendingLimits) -> None:
        """Replace the limits; other keys of a readable file stay. Raises ``StateUnavailable``."""
        content = {**self._others(), "version": VERSION}
        content |= {key: limits.of(scope) for scope, key in _KEYS.items()}
        self._file.write(json.dumps(content, indent=2) + "\n")

    def _others(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read() or "{}")
        except ValueError:
            return {}
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}

    def _signature(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StateUnavailable(
                f"{self._display_path} cannot be read: {error.strerror}.",
                hint=f"Make {self._path.parent} readable for you.",
                retryable=True,
            ) from error
        return (found.st_mtime_ns, found.st_size)


def _limits(text: str | None, display_path: str) -> SpendingLimits:
    if text is None or not text.strip():
        return SpendingLimits()
    try:
        found: Any = json.loads(text)
    except ValueError as error:
        line = f", line {error.lineno}," if isinstance(error, json.JSONDecodeError) else ""
        raise _refused(f"{display_path}{line} is not JSON ({error})", display_path) from error
    if not isinstance(found, dict):
        raise _refused(f"{display_path} does not hold a JSON object", display_path)
    values = cast("dict[str, Any]", found)
    if values.get("version", VERSION) != VERSION:
        raise _refused(
            f"{display_path}, line {json_line_of(text, ['version'])}, "
            f"has version {values['version']!r}; "
            f"this program reads version {VERSION}",
            display_path,
        )
    return SpendingLimits(*(_amount(text, values, _KEYS[scope], display_path) for scope in SCOPES))


def _amount(text: str, values: dict[str, Any], key: str, display_path: str) -> int | None:
    amount = values.get(key)
    if amount is None:
        return None
    if isinstance(amount, bool) or not isinstance(amount, int) or amount < 0:
        line = json_line_of(text, [key])
        raise _refused(
            f"{display_path}, line {line}: {key} must be a whole number of micro-dollars",
            display_path,
        )
    return amount


def _refused(problem: str, display_path: str) -> PolicyRefusal:
    return PolicyRefusal(
        f"No model was called, because your limits cannot be read: {problem}.",
        code="state_unavailable",
        hint=f"Correct or remove {display_path}, or set the limits again in the AI settings.",
    )


def _display_path(path: Path) -> str:
    """Return the path as shown to users, from ``.shoulders`` on."""
    parts = path.parts
    start = parts.index(".shoulders") if ".shoulders" in parts else len(parts) - 1
    return "/".join(["~", *parts[start:]])
