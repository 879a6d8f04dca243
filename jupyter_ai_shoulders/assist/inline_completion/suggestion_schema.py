"""The schema of an answer with suggestions, and an incremental parser for it. Pure.

Used by ``candidates``. A malformed answer holds no suggestions; nothing is guessed from it.
"""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json

MAX_SUGGESTIONS = 5
"""Suggestions of one request."""
MAX_ANSWER_LENGTH = 60_000
"""Characters of an answer that are read."""


class SuggestionAnswer(BaseModel):
    """What stands at the caret, and what could come there."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    prefix_end: str = Field(description="A copy of the last characters before the caret.")
    suffix_start: str = Field(
        description="A copy of the first characters after the caret, or EMPTY."
    )
    suggestions: list[str] = Field(
        min_length=3,
        max_length=MAX_SUGGESTIONS,
        description="Different texts to insert at the caret, the most likely first",
    )


def parse_suggestions(text: str, *, whole: bool) -> list[str]:
    """Return the suggestions of a JSON answer; of an unfinished one, those that are complete.

    A finished answer that is not the expected object has none. Text around the object is ignored
    before it and, where the object is fenced, after it.
    """
    start = text.find("{")
    if start < 0 or len(text) > MAX_ANSWER_LENGTH:
        return []
    inner = text[start : text.rfind("}") + 1] if whole else text[start:]
    try:
        found = from_json(inner, allow_inf_nan=False, allow_partial=not whole)
    except ValueError:
        return []
    return _texts(found)


def _texts(found: Any) -> list[str]:
    given = cast("dict[str, Any]", found).get("suggestions") if isinstance(found, dict) else None
    if not isinstance(given, list):
        return []
    items = cast("list[Any]", given)
    if not all(isinstance(item, str) for item in items):
        return []
    return [str(item) for item in items[:MAX_SUGGESTIONS]]
