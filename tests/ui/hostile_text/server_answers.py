"""Answers of the server with given text in every free field: names, titles, reasons, paths.

``test_secondary_surfaces`` sends them to pages that show no conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any, cast

from playwright.sync_api import Page, Route

_FREE = frozenset(
    (
        *("name", "label", "title", "provider_name", "host", "key_name", "message", "hint"),
        *("text", "description", "path", "tool", "reason", "problem", "document", "detail"),
        *("session_title", "feedback", "unavailable_reason", "category", "key", "file"),
        *("command", "notebook", "domain", "preview", "provider", "model", "request_id"),
    )
)
"""Fields whose text comes from files, models, services or people."""
_LISTS = frozenset({"problems", "match", "not_match"})
_ROUTES = re.compile(
    r"/api/v1/(models|tools|skills|settings|status|budget|usage|instructions|sessions|audit"
    r"|operations|edits|providers/[^/]+/(check|test))(\?|$)"
)
ROWS = 40
_AT = "2026-11-22T06:00:00Z"
_OPERATION: Mapping[str, Any] = {
    "at": _AT,
    "session_id": "ses_1",
    "turn_id": None,
    "call_id": None,
    "by": "agent",
    "kind": "move",
    "document": "old.py",
    "cell_id": None,
    "new_document": "new.py",
    "before_version": None,
    "after_version": None,
    "batch": None,
    "state": "done",
    "undoes": None,
    "can_undo": False,
    "reason": "It was changed since.",
}
_DECISION: Mapping[str, Any] = {
    "session_id": "ses_1",
    "session_title": "Wines",
    "owner": None,
    "deleted": False,
    "turn_id": None,
    "call_id": "call_1",
    "at": _AT,
    "tool": "run_command",
    "arguments_hash": "0123456789abcdef" * 4,
    "reason": {"kind": "mode", "text": "Commands ask."},
    "decision": "deny",
    "scope": "once",
    "feedback": "Not now.",
    "by": "user",
}
_EDIT: Mapping[str, Any] = {
    "session_id": "ses_1",
    "turn_id": None,
    "document": "data/wines.py",
    "cell_id": None,
    "cell_type": None,
    "position": None,
    "baseline": "a\n",
    "baseline_version": "v1",
    "current": "b\n",
    "current_version": "v2",
    "hunks": [{"before_from": 0, "before_to": 1, "after_from": 0, "after_to": 1}],
    "conflict": False,
    "error": None,
}
_ERROR: Mapping[str, Any] = {
    "code": "internal",
    "message": "It failed.",
    "hint": "Try again.",
    "details": {},
    "retryable": False,
    "provider": "simulator",
    "model": "simulated",
    "request_id": "req_1",
}


class Answers:
    """Adds rows to the server's answers, and replaces their texts."""

    def __init__(self, page: Page, texts: Sequence[str] = ()) -> None:
        self._texts: Iterator[str] = cycle(texts)
        self._is_changed = bool(texts)
        page.route(_ROUTES, self._answer)

    def _answer(self, route: Route) -> None:
        if route.request.method not in {"GET", "POST"}:
            route.continue_()
            return
        response = route.fetch()
        if not response.ok:
            route.fulfill(response=response)
            return
        answer = _with_rows(route.request.url, response.json())
        route.fulfill(response=response, json=self._changed(answer))

    def _changed(self, value: Any, name: str = "") -> Any:
        if not self._is_changed:
            return value
        match value:
            case dict():
                fields = cast("dict[str, Any]", value)
                return {key: self._changed(each, key) for key, each in fields.items()}
            case list() if name in _LISTS:
                return [next(self._texts), next(self._texts)]
            case list():
                return [self._changed(each, name) for each in cast("list[Any]", value)]
            case str() if name in _FREE:
                return next(self._texts)
            case _:
                return value


def _with_rows(url: str, answer: Any) -> Any:
    numbers = range(ROWS)
    if "/audit" in url:
        return {**answer, "entries": [{**_DECISION, "seq": number} for number in numbers]}
    if "/operations" in url:
        rows = [{**_OPERATION, "id": f"op_{number}"} for number in numbers]
        return {**answer, "operations": rows}
    if "/edits" in url:
        rows = [
            {**_EDIT, "id": f"edit_{number}", "document": f"data/wines {number}.py"}
            for number in numbers
        ]
        return {**answer, "edits": rows}
    if "/status" in url:
        return {**answer, "state_directory_error": _ERROR}
    return answer
