"""Combines the ranking by words and the one by meaning into one list of places. Pure.

Reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009): a place scores the weighted sum of
``1 / (20 + rank)`` over the rankings that have it. Scores of the two kinds need not be comparable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from jupyter_ai_shoulders.retrieval.word_index import IndexedChunk

RANK_OFFSET = 20
"""Keeps the first ranks from outweighing all others; the paper has 60."""
MEANING_WEIGHT = 0.4
"""Of the ranking by meaning beside that by words. Of weights from 0.2 to 1 and offsets from 5 to 60
on public notebooks those around these find most, see docs/design/search.md; 1 finds less than words
alone.
"""

CONVERSATION_WEIGHT = 0.5
"""Of the score of a conversation: it repeats the words of the documents that it is about, and a
document that matches as well is what is looked for.
"""

MatchedBy = Literal["words", "meaning", "both"]


@dataclass(frozen=True, slots=True)
class RankedPlace:
    """A place, with the chunk that shows it."""

    chunk: IndexedChunk
    score: float
    matched_by: MatchedBy


def rank_places(
    by_words: Sequence[IndexedChunk], by_meaning: Sequence[IndexedChunk]
) -> list[RankedPlace]:
    """Return each place once, best first: a cell, or a chunk of another document.

    Without a ranking by meaning the scores are those of the words.
    """
    words, meaning = _places(_weighted(by_words)), _places(by_meaning)
    if not meaning:
        return [RankedPlace(chunk, chunk.score, "words") for chunk in words.values()]
    scores: dict[tuple[str, object], float] = {}
    for ranking, weight in ((words, 1.0), (meaning, MEANING_WEIGHT)):
        for rank, place in enumerate(ranking, start=1):
            scores[place] = scores.get(place, 0.0) + weight / (RANK_OFFSET + rank)
    return [
        RankedPlace(
            words.get(place) or meaning[place],
            score,
            _matched_by(place in words, place in meaning),
        )
        for place, score in sorted(scores.items(), key=lambda item: -item[1])
    ]


def _matched_by(words: bool, meaning: bool) -> MatchedBy:
    if words and meaning:
        return "both"
    return "words" if words else "meaning"


def _weighted(found: Sequence[IndexedChunk]) -> list[IndexedChunk]:
    """Return chunks by score, with that of conversations reduced."""
    weighted = [
        replace(each, score=each.score * CONVERSATION_WEIGHT)
        if each.kind == "conversation"
        else each
        for each in found
    ]
    return sorted(weighted, key=lambda each: -each.score)


def _places(found: Sequence[IndexedChunk]) -> dict[tuple[str, object], IndexedChunk]:
    """Return the best chunk of each place, best first."""
    places: dict[tuple[str, object], IndexedChunk] = {}
    for each in found:
        places.setdefault((each.path, each.chunk.cell_id or each.chunk.line), each)
    return places
