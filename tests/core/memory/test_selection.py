"""Which of many statements enter a request."""

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
