"""Which of many statements enter a request."""

import pytest

from jupyter_ai_shoulders.core.memory import selection
from jupyter_ai_shoulders.core.memory.memory_text import Statement
from jupyter_ai_shoulders.core.memory.selection import BUDGET, LINE_COST, select_statements

MANY = [
    Statement(f"p-{number:08x}", f"Sample {number} was measured in run {number * 7}.", "2026-01-01")
    for number in range(2000)
]


def _cost(statements: tuple[Statement, ...]) -> int:
    return sum(len(each.text) + LINE_COST for each in statements)


def test_few_statements_all_enter() -> None:
    assert select_statements(MANY[:20], "anything") == tuple(MANY[:20])


def test_the_newest_and_the_nearest_of_2000_fill_the_budget() -> None:
    near = Statement("p-aaaaaaaa", "The centrifuge is calibrated on Mondays.", "2020-01-01")

    found = select_statements([near, *MANY], "Plot what the centrifuge gave")

    assert near in found
    assert MANY[-1] in found
    assert BUDGET * 0.95 < _cost(found) <= BUDGET


def test_what_was_told_stays() -> None:
    told = {MANY[3].id, MANY[4].id}

    found = select_statements(MANY, "other", told)

    assert told <= {each.id for each in found}
    assert _cost(found) <= BUDGET


def test_the_work_of_a_full_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def counted(text: str) -> frozenset[str]:
        compared.append(text)
        return frozenset(text.split())

    monkeypatch.setattr(selection, "content_words", counted)
    many = [Statement(f"{n:08x}", f"sample {n} {'x' * 90}", "2026-01-01") for n in range(9_000)]

    select_statements(many, "sample 7")

    assert sum(map(len, compared)) < selection.COMPARED + 100
