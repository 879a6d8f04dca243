"""Remembers suggestions, so that what was offered before is there at once (chapter 10).

Kept in memory, by the exact text around the caret; used by ``ghost.engine``. A suggestion whose
beginning is typed, instead of accepted, goes on with its rest.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from jupyter_ai_shoulders.wire.ids import ModelId

MAX_ENTRIES = 100


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Where something was suggested; ``setting`` is all else that was sent, and to whom."""

    prefix: str
    suffix: str
    setting: Hashable


@dataclass(frozen=True, slots=True)
class CachedSuggestions:
    """What was suggested there."""

    suggestions: tuple[str, ...]
    model: ModelId


class SuggestionCache:
    """The latest suggestions."""

    def __init__(self, most: int = MAX_ENTRIES) -> None:
        self._most = most
        self._entries: OrderedDict[CacheKey, CachedSuggestions] = OrderedDict()

    def find(self, key: CacheKey) -> CachedSuggestions | None:
        """Return what was suggested here, or what is left of what was suggested just before."""
        exact = self._entries.get(key)
        if exact is not None:
            self._entries.move_to_end(key)
            return exact
        for earlier, cached in reversed(self._entries.items()):
            rest = _typed_rest(key, earlier, cached)
            if rest is not None:
                return rest
        return None

    def store(self, key: CacheKey, cached: CachedSuggestions) -> None:
        """Remember what was suggested."""
        self._entries[key] = cached
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)


def _typed_rest(
    key: CacheKey, earlier: CacheKey, cached: CachedSuggestions
) -> CachedSuggestions | None:
    """Return the rests of the suggestions whose beginning was typed since."""
    typed = key.prefix[len(earlier.prefix) :]
    if not typed or not key.prefix.startswith(earlier.prefix):
        return None
    if (key.suffix, key.setting) != (earlier.suffix, earlier.setting):
        return None
    rests = tuple(
        rest
        for text in cached.suggestions
        if text.startswith(typed) and (rest := text.removeprefix(typed)).strip()
    )
    return CachedSuggestions(rests, cached.model) if rests else None
