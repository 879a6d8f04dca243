"""What was suggested before."""

from __future__ import annotations

from jupyter_ai_shoulders.assist.inline_completion.cache import (
    CachedSuggestions,
    CacheKey,
    SuggestionCache,
)
from jupyter_ai_shoulders.wire.ids import ModelId

MODEL = ModelId("small")


def kept(*texts: str) -> CachedSuggestions:
    return CachedSuggestions(texts, MODEL)


def test_the_same_place_has_the_same_suggestions() -> None:
    cache = SuggestionCache()
    cache.store(CacheKey("x = ", "\n", "s"), kept("sum(y)"))

    assert cache.find(CacheKey("x = ", "\n", "s")) == kept("sum(y)")
    assert cache.find(CacheKey("x = ", "", "s")) is None
    assert cache.find(CacheKey("x = ", "\n", "another cell was edited")) is None


def test_what_is_typed_of_a_suggestion_leaves_the_rest_of_it() -> None:
    cache = SuggestionCache()
    cache.store(CacheKey("x = ", "", "s"), kept("df.sum()", "df.head()", "other", "df."))

    assert cache.find(CacheKey("x = df.", "", "s")) == kept("sum()", "head()")
    assert cache.find(CacheKey("x = df.h", "", "s")) == kept("ead()")
    assert cache.find(CacheKey("x = df.x", "", "s")) is None
    assert cache.find(CacheKey("x = df.sum()", "", "s")) is None, "nothing is left of it"
    assert cache.find(CacheKey("df.", "", "s")) is None, "another line"


def test_in_an_empty_cell_what_is_typed_goes_on_too() -> None:
    cache = SuggestionCache()
    cache.store(CacheKey("", "", "s"), kept("import os"))

    assert cache.find(CacheKey("imp", "", "s")) == kept("ort os")


def test_the_oldest_is_forgotten_first_unless_it_was_asked_for() -> None:
    cache = SuggestionCache(most=2)
    first, second, third = (CacheKey(name, "", "s") for name in "abc")
    cache.store(first, kept("1"))
    cache.store(second, kept("2"))
    cache.find(first)
    cache.store(third, kept("3"))

    assert [cache.find(spot) for spot in (first, second, third)] == [kept("1"), None, kept("3")]
