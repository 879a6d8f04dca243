"""Chooses the statements of the memory that enter a request. Pure; used by ``engine.request``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import log

from jupyter_ai_shoulders.core.memory.memory_text import Statement
from jupyter_ai_shoulders.core.memory.similarity import content_words

BUDGET = 6_000
"""Characters of all statements in a request, about 1500 tokens: a hundred short statements, and not
more than a tenth of what the system prompt and the tools take.
"""
LINE_COST = 4
"""Characters around each statement."""
COMPARED = 200_000
"""Characters of the newest statements that are compared with the conversation, 50 ms of work."""
_NEWEST_SHARE = 0.5
"""Share of the budget for the newest; the nearest to the conversation get the rest."""


def select_statements(
    statements: Sequence[Statement],
    conversation: str,
    sent: Collection[str] = (),
    budget: int = BUDGET,
) -> tuple[Statement, ...]:
    """Return the statements to send, in the given order.

    Those in ``sent`` (ids of the last request) stay first of all, so that a conversation keeps what
    it began with. Then come the newest and those nearest to the text of the conversation.
    """
    if statements_cost(each.text for each in statements) <= budget:
        return tuple(statements)
    newest = _newest(statements)
    known = [each for each in newest if each.id in sent]
    chosen: dict[str, Statement] = {}
    left = _take(known, chosen, budget)
    reserve = int(left * (1 - _NEWEST_SHARE))
    left = _take(newest, chosen, left - reserve) + reserve
    compared: dict[str, Statement] = {}
    _take(newest, compared, COMPARED)
    left = _take(_nearest(tuple(compared.values()), conversation), chosen, left)
    _take(newest, chosen, left)
    return tuple(each for each in statements if each.id in chosen)


def statements_cost(texts: Iterable[str]) -> int:
    """Return the characters that statements take in a request."""
    return sum(len(text) + LINE_COST for text in texts)


def _take(ranked: Iterable[Statement], chosen: dict[str, Statement], left: int) -> int:
    """Add statements while they fit; return the characters left."""
    for each in ranked:
        if each.id not in chosen and (cost := statements_cost((each.text,))) <= left:
            chosen[each.id] = each
            left -= cost
    return left


def _newest(statements: Sequence[Statement]) -> list[Statement]:
    """Return the newest first; later lines of a file and lines without a date count as newer."""
    numbered = list(enumerate(statements))
    numbered.sort(key=lambda pair: (pair[1].date or "9999", pair[0]), reverse=True)
    return [each for _, each in numbered]


def _nearest(statements: Sequence[Statement], conversation: str) -> list[Statement]:
    """Return those with words of the conversation, those with rare words first."""
    asked = content_words(conversation)
    if not asked:
        return []
    held = {each.id: content_words(each.text) for each in statements}
    count = {word: sum(word in found for found in held.values()) for word in asked}
    weight = {word: log(1 + len(statements) / number) for word, number in count.items() if number}

    def score(each: Statement) -> float:
        common = held[each.id] & asked
        return sum(weight[word] for word in common) / (1 + 0.05 * len(held[each.id]))

    near = [(score(each), each) for each in statements]
    near.sort(key=lambda pair: -pair[0])
    return [each for found, each in near if found > 0]
