"""Brings the items of one answer together again, before the results of its calls.

Programs that run each call as they come to it put its result right behind it; other vendors want
an answer whole, with the reasoning it begins with. Called by ``decode``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from jupyter_ai_shoulders.proxy.openai_responses.schema import InputItem, OutputItem

_OURS = re.compile(r"(?:msg|rs|fc)_(.+)_\d+")
"""The ids ``body.item_id`` makes; the middle names the answer."""


def group_answer_items(items: Iterable[InputItem]) -> list[InputItem]:
    """Return the items, results after the answer that waits for them."""
    ordered: list[InputItem] = []
    results: list[InputItem] = []
    answer: str | None = None
    for item in items:
        if isinstance(item, OutputItem):
            results.append(item)
            continue
        name = _answer_of(item)
        if name is None or name != answer:
            ordered += results
            results, answer = [], name
        ordered.append(item)
    return ordered + results


def _answer_of(item: InputItem) -> str | None:
    """Return the name of the answer an item is of; None if we did not make it."""
    found = _OURS.fullmatch(item.id or "")
    return found.group(1) if found else None
