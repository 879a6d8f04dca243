"""Remembers suggestions, so that what was offered before is there at once (chapter 10).

Kept in memory, by the exact text around the caret; used by ``ghost.engine``. A suggestion whose
beginning is typed, instead of accepted, goes on with its rest.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from jupyter_ai_shoulders.wire.ids import ModelId

MOST = 100


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

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[CacheKey, CachedSuggestions] = OrderedDict()

    def find(self, spot: CacheKey) -> CachedSuggestions | None:
        """Return what was suggested here, or what is left of what was suggested just before."""
        exact = self._kept.get(spot)
        if exact is not None:
            self._kept.move_to_end(spot)
            return exact
        for earlier, kept in reversed(self._kept.items()):
            rest = _rest(spot, earlier, kept)
            if rest is not None:
                return rest
        return None

    def keep(self, spot: CacheKey, kept: CachedSuggestions) -> None:
        """Remember what was suggested."""
        self._kept[spot] = kept
        self._kept.move_to_end(spot)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


def _rest(spot: CacheKey, earlier: CacheKey, kept: CachedSuggestions) -> CachedSuggestions | None:
    """Return the rests of the suggestions whose beginning was typed since."""
    typed = spot.prefix[len(earlier.prefix) :]
    if not typed or not spot.prefix.startswith(earlier.prefix):
        return None
    if (spot.suffix, spot.setting) != (earlier.suffix, earlier.setting):
        return None
    rests = tuple(
        rest
        for text in kept.suggestions
        if text.startswith(typed) and (rest := text.removeprefix(typed)).strip()
    )
    return CachedSuggestions(rests, kept.model) if rests else None
