"""In-memory cache of suggestions, keyed by the exact text around the caret; used by ``service``.

When the user types the beginning of a cached suggestion, the cache returns the rest of it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from jupyter_ai_shoulders.wire.ids import ModelId

MAX_ENTRIES = 100


@dataclass(frozen=True, slots=True)
class CacheKey:
    """A caret and its surrounding text; ``setting`` covers everything else that was sent, and the
    model.
    """

    prefix: str
    suffix: str
    setting: Hashable


@dataclass(frozen=True, slots=True)
class CachedSuggestions:
    """The suggestions made at one caret."""

    suggestions: tuple[str, ...]
    model: ModelId


class SuggestionCache:
    """A least recently used cache of suggestions."""

    def __init__(self, most: int = MAX_ENTRIES) -> None:
        self._most = most
        self._entries: OrderedDict[CacheKey, CachedSuggestions] = OrderedDict()

    def find(self, key: CacheKey) -> CachedSuggestions | None:
        """Return the cached suggestions, or the rest of earlier ones whose beginning was typed."""
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
        """Cache suggestions, evicting the least recently used entry when full."""
        self._entries[key] = cached
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)


def _typed_rest(
    key: CacheKey, earlier: CacheKey, cached: CachedSuggestions
) -> CachedSuggestions | None:
    """Return the rest of each suggestion whose beginning was typed after ``earlier``."""
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
