"""The part of a matrix that a default run tries."""

import pytest

from tests.support.case_selection import sample_matrix

MODELS = 7
BOTH = 2


@pytest.mark.parametrize("step", [2, 4, 6, 100])
def test_each_value_of_each_parameter_is_tried_whatever_the_step(step: int) -> None:
    cases = [
        {"model": model, "stream": stream} for model in range(MODELS) for stream in range(BOTH)
    ]

    kept = sample_matrix(cases, step)

    assert set(range(0, len(cases), step)) <= kept
    assert {cases[number]["model"] for number in kept} == set(range(MODELS))
    assert {cases[number]["stream"] for number in kept} == set(range(BOTH))
    assert len(kept) < len(cases)


def test_a_table_with_one_parameter_is_tried_by_the_step() -> None:
    cases = [{"row": number} for number in range(9)]

    assert sample_matrix(cases, 4) == {0, 4, 8}
